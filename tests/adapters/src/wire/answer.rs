use std::fmt::Write as _;

use bytes::Bytes;
use serde_json::Value;

/// Headers that differ between frameworks and protocols.
const VOLATILE: [&str; 5] = ["connection", "date", "keep-alive", "server", "transfer-encoding"];

/// Status and headers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    pub(crate) status: u16,
    /// The headers in the order of their arrival, with names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// A whole response.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) head: Head,
    /// The body without its framing.
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.status
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is text")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    /// Returns the data of the server-sent events as JSON, without `[DONE]`.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.text().lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
    }

    /// Returns the first event of this type.
    pub(crate) fn event(&self, kind: &str) -> Value {
        let events = self.events();
        let found = events.iter().find(|event| event["type"] == kind);
        found.unwrap_or_else(|| panic!("no {kind}: {}", self.text())).clone()
    }

    /// Returns the joined text deltas of the AI SDK's stream.
    pub(crate) fn words(&self) -> String {
        let events = self.events();
        let deltas = events.iter().filter(|event| event["type"] == "text-delta");
        deltas.filter_map(|event| event["delta"].as_str()).collect()
    }

    /// Returns the status, the headers sorted by name without the volatile ones, and the body.
    pub(crate) fn steady(&self) -> String {
        let mut headers: Vec<_> = self.head.headers.iter().collect();
        headers.retain(|(name, _)| !VOLATILE.contains(&name.as_str()));
        headers.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut steady = format!("{}\n", self.head.status);
        for (name, value) in headers {
            let _ = writeln!(steady, "{name}: {value}");
        }
        steady.push('\n');
        steady.push_str(&String::from_utf8_lossy(&self.body));
        steady
    }
}
