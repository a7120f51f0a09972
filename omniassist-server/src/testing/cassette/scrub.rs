//! Removal of secrets from a recording.

use http::HeaderMap;
use omniassist_core::secret::{Secrets, is_secret_name};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;

use super::file::{RequestLine, encode};
use crate::testing::FakeRequest;

/// The replacement of a secret in a request.
pub(super) use omniassist_core::secret::REDACTED;

/// Shortest secret; shorter values would remove ordinary words.
const MIN_SECRET: usize = 6;
/// The same for headers whose names do not suggest credentials.
const MIN_OTHER: usize = 12;

/// Characters that are escaped in a query.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

const PLAIN_HEADERS: [&str; 12] = [
    "accept",
    "accept-encoding",
    "anthropic-beta",
    "anthropic-version",
    "connection",
    "content-length",
    "content-type",
    "host",
    "openai-beta",
    "traceparent",
    "tracestate",
    "user-agent",
];
/// Headers of answers that are kept, since decoding and retries depend on them.
#[cfg(feature = "__transport")]
const KEPT_HEADERS: [&str; 4] = ["content-type", "content-encoding", "retry-after", "retry-after-ms"];
const PLAIN_PARAMETERS: [&str; 5] = ["alt", "api-version", "api_version", "beta", "model"];

/// The secrets of a recording: those that its requests contained, and strings that look like one.
pub(super) struct Scrubber {
    secrets: Secrets,
}

impl Scrubber {
    pub(super) fn new<'a>(
        requests: impl IntoIterator<Item = &'a FakeRequest>,
        further: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut found: Vec<String> = further.into_iter().filter(|secret| !secret.is_empty()).collect();
        for request in requests {
            header_secrets(&request.headers, &mut found);
            for (_, value) in parameters(&request.path).filter(|(name, _)| !PLAIN_PARAMETERS.contains(name)) {
                push(&mut found, value, MIN_SECRET);
                push(&mut found, &percent_decode_str(value).decode_utf8_lossy(), MIN_SECRET);
            }
            field_secrets(&request.json(), &mut found);
        }
        let mut secrets = Vec::with_capacity(found.len());
        for secret in found {
            // A secret may come back inside a JSON string or a URL.
            let json = Value::from(secret.as_str()).to_string();
            secrets.push(json.trim_matches('"').to_owned());
            secrets.push(utf8_percent_encode(&secret, UNRESERVED).to_string());
            secrets.push(secret);
        }
        Self { secrets: Secrets::new(secrets) }
    }

    /// Returns the path without secrets, and its query without the values of parameters that may be secret.
    pub(super) fn path(&self, path: &str) -> String {
        let mut clean = self.text(path.split('?').next().unwrap_or_default());
        let mut separator = '?';
        for (name, value) in parameters(path) {
            clean.push(std::mem::replace(&mut separator, '&'));
            clean.push_str(&self.text(name));
            clean.push('=');
            let plain = PLAIN_PARAMETERS.contains(&name);
            clean.push_str(&if plain { self.text(value) } else { REDACTED.to_owned() });
        }
        clean
    }

    /// Returns the headers of an answer that are kept.
    #[cfg(feature = "__transport")]
    pub(super) fn headers<'a>(
        &'a self,
        headers: &'a HeaderMap,
    ) -> impl Iterator<Item = (String, String)> + 'a {
        KEPT_HEADERS.iter().filter_map(|name| {
            let value = headers.get(*name)?.to_str().ok()?;
            Some(((*name).to_owned(), self.text(value)))
        })
    }

    pub(super) fn json(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                *text = self.text(text);
                // Arguments of tools are JSON inside a string.
                if text.starts_with('{')
                    && let Ok(before @ Value::Object(_)) = serde_json::from_str::<Value>(text)
                {
                    let mut inner = before.clone();
                    self.json(&mut inner);
                    if inner != before {
                        *text = inner.to_string();
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.json(item)),
            Value::Object(fields) => {
                let entries = std::mem::take(fields);
                for (name, mut value) in entries {
                    if is_secret_name(&name) && value.is_string() {
                        value = REDACTED.into();
                    }
                    self.json(&mut value);
                    fields.insert(self.text(&name), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    pub(super) fn text(&self, text: &str) -> String {
        self.secrets.redact(text)
    }

    /// Masks secrets in an answer's body byte for byte, so that its chunks keep their lengths.
    #[cfg(feature = "__transport")]
    pub(super) fn blot(&self, body: &mut [u8]) {
        for spot in self.secrets.ranges(body) {
            if let Some(secret) = body.get_mut(spot) {
                secret.fill(b'*');
            }
        }
    }
}

/// Returns a request as it is written to a cassette.
pub(super) fn scrubbed(request: &FakeRequest, scrubber: &Scrubber) -> RequestLine {
    let mut json: Option<Value> = serde_json::from_slice(&request.body).ok();
    let (text, base64) = if json.is_some() { (None, None) } else { encode(&request.body) };
    json.iter_mut().for_each(|json| scrubber.json(json));
    let text = text.map(|text| scrubber.text(&text));
    RequestLine { method: request.method.clone(), path: scrubber.path(&request.path), json, text, base64 }
}

fn push(into: &mut Vec<String>, secret: &str, shortest: usize) {
    if secret.len() >= shortest {
        into.push(secret.to_owned());
    }
}

fn header_secrets(headers: &HeaderMap, found: &mut Vec<String>) {
    for (name, value) in headers {
        let name = name.as_str();
        let Ok(value) = value.to_str() else { continue };
        if PLAIN_HEADERS.contains(&name) {
            continue;
        }
        let is_credential =
            is_secret_name(name) || ["key", "session", "signature"].iter().any(|word| name.contains(word));
        if !is_credential {
            push(found, value, MIN_OTHER);
            continue;
        }
        // In `Bearer KEY` and `name=value; name=value`, the parts are as secret as the whole.
        push(found, value, MIN_SECRET);
        for part in value.split([' ', ';', ',']) {
            push(found, part, MIN_SECRET);
            if let Some((_, value)) = part.split_once('=') {
                push(found, value, MIN_SECRET);
            }
        }
    }
    found.retain(|secret| !["Bearer", "Basic"].contains(&secret.as_str()));
}

/// Returns strings under the name of a secret.
fn field_secrets(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| field_secrets(item, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if is_secret_name(name) => push(found, text, MIN_SECRET),
                    other => field_secrets(other, found),
                }
            }
        }
        _ => {}
    }
}

/// Returns the parameters of a path's query, as they are written.
fn parameters(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}
