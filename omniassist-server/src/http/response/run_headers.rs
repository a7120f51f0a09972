use std::fmt;

use http::{HeaderName, HeaderValue, Response};

use crate::store::RunId;

/// The id of the run, for the routes below `/runs`.
pub(super) const RUN: HeaderName = HeaderName::from_static("x-omniassist-run");

/// The name of the run for the AI SDK's `WorkflowChatTransport`.
const WORKFLOW_RUN: HeaderName = HeaderName::from_static("x-workflow-run-id");

/// The number of the last chunk, for that transport. The first chunk has the number 0.
const TAIL_INDEX: HeaderName = HeaderName::from_static("x-workflow-stream-tail-index");

/// A run and the epoch of a response, in which its chunks are counted: `run` or `run.epoch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) struct RunName {
    pub(in crate::http) id: RunId,
    pub(in crate::http) epoch: Option<u32>,
}

impl RunName {
    /// Parses a name. Returns `None` for any other text, such as the id of a chat.
    pub(in crate::http) fn parse(text: &str) -> Option<Self> {
        let (id, epoch) = match text.split_once('.') {
            Some((id, epoch)) => (id, Some(epoch.parse().ok()?)),
            None => (text, None),
        };
        let name = Self { id: RunId::parse(id)?, epoch };
        (name.to_string() == text).then_some(name)
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)?;
        self.epoch.map_or(Ok(()), |epoch| write!(f, ".{epoch}"))
    }
}

/// Adds the headers that name the run of a response.
pub(in crate::http) fn add<B>(response: &mut Response<B>, name: RunName) {
    insert(response, RUN, &name.id);
    insert(response, WORKFLOW_RUN, &name);
}

/// Adds the header from which a transport that counts from the end computes its position.
pub(in crate::http) fn add_tail_index<B>(response: &mut Response<B>, chunks: u64) {
    insert(response, TAIL_INDEX, &(i128::from(chunks) - 1));
}

fn insert<B>(response: &mut Response<B>, name: HeaderName, value: &dyn fmt::Display) {
    if let Ok(value) = HeaderValue::from_str(&value.to_string()) {
        response.headers_mut().insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_run_with_or_without_its_epoch() {
        let id = RunId::random();
        for epoch in [None, Some(1), Some(u32::MAX)] {
            let name = RunName { id, epoch };
            assert_eq!(RunName::parse(&name.to_string()), Some(name));
        }
        for text in ["", "chat-1", "a.b", &format!("{id}."), &format!("{id}.01"), &format!("{id}.-1")] {
            assert_eq!(RunName::parse(text), None, "{text}");
        }
    }
}
