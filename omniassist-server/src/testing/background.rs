//! The background responses of a fake provider.
//!
//! Protocol: <https://platform.openai.com/docs/guides/background>.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use bytes::Bytes;
use serde_json::{Value, json};

use super::reply::Reply;
use super::request::FakeRequest;

/// A change of the reply to a request for the rest of a response.
type Change = Box<dyn FnOnce(Reply) -> Reply + Send>;

/// The responses that can be fetched, by id.
#[derive(Default)]
pub(super) struct Kept {
    responses: HashMap<String, Response>,
    changes: VecDeque<Change>,
}

/// A response, complete from the beginning: a model that writes while no client is connected.
struct Response {
    body: Bytes,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    Running,
    Cancelled,
    Expired,
}

impl Kept {
    pub(super) fn change(&mut self, change: Change) {
        self.changes.push_back(change);
    }

    pub(super) fn expire(&mut self) {
        self.responses.values_mut().for_each(|response| response.state = State::Expired);
    }

    /// Keeps the reply to a request for a background response.
    pub(super) fn keep(&mut self, request: &FakeRequest, reply: &Reply) {
        let created = events(&reply.body)
            .find_map(|(_, event)| event.pointer("/response/id")?.as_str().map(str::to_owned));
        if let (true, Some(id)) = (request.json().get("background") == Some(&Value::Bool(true)), created) {
            self.responses.insert(id, Response { body: reply.body.clone(), state: State::Running });
        }
    }

    /// Returns the reply to a request for a response that was kept, or `None` for another request.
    pub(super) fn reply(&mut self, request: &FakeRequest) -> Option<Reply> {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let (_, rest) = path.split_once("/responses/")?;
        let id = rest.strip_suffix("/cancel").unwrap_or(rest);
        let response = self.responses.get_mut(id)?;
        if response.state == State::Expired {
            let message = format!("Response with id '{id}' not found.");
            return Some(Reply::json(404, &json!({ "error": { "message": message } })));
        }
        if rest.ends_with("/cancel") {
            response.state = State::Cancelled;
            return Some(Reply::json(200, &json!({ "id": id, "object": "response", "status": "cancelled" })));
        }
        let query = |name| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        let after: Option<u64> = query("starting_after").and_then(|after| after.parse().ok());
        let reply = match query("stream") {
            Some("true") => Reply::sse(response.after(after)),
            _ => Reply::json(200, &json!({ "id": id, "object": "response", "status": "in_progress" })),
        };
        let change = self.changes.pop_front();
        Some(match change {
            Some(change) => change(reply),
            None => reply,
        })
    }
}

impl Response {
    /// Returns the events after a number.
    fn after(&self, after: Option<u64>) -> String {
        let is_wanted = |event: &Value| {
            after.is_none_or(|after| event.get("sequence_number").and_then(Value::as_u64) > Some(after))
        };
        let wanted = events(&self.body).filter(|(_, event)| is_wanted(event)).map(|(text, _)| text);
        if self.state != State::Cancelled {
            return wanted.collect();
        }
        // The text of a response that was cancelled ends before its last event.
        let mut wanted: Vec<_> = wanted.collect();
        wanted.pop();
        let last = events(&self.body).count();
        let end = json!({ "type": "response.cancelled", "sequence_number": last, "response": { "status": "cancelled" } });
        wanted.push(format!("event: response.cancelled\ndata: {end}\n\n"));
        wanted.concat()
    }
}

/// Returns the events of a body, each with its text.
fn events(body: &[u8]) -> impl Iterator<Item = (String, Value)> {
    let body = String::from_utf8_lossy(body);
    let events: Vec<_> = body
        .split_inclusive("\n\n")
        .filter_map(|text| {
            let data = text.lines().find_map(|line| line.strip_prefix("data: "))?;
            Some((text.to_owned(), serde_json::from_str(data).ok()?))
        })
        .collect();
    events.into_iter()
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("responses", &self.responses.keys()).finish_non_exhaustive()
    }
}
