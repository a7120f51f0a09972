use std::mem;

use crate::Text;

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent {
    /// The value of the event's `event` field; empty if there is none, which means `message`.
    pub event: Text,
    /// The values of its `data` fields, joined by line feeds.
    pub data: Text,
    /// `true` if the event ended with a blank line. Only [`SseDecoder::finish`](super::SseDecoder::finish) returns an
    /// event without one.
    pub terminated: bool,
}

/// The `data` lines of the event in progress. A single line, the usual case, stays a view into its chunk.
#[derive(Default)]
pub(super) enum Data {
    #[default]
    None,
    View(Text),
    Joined(String),
}

impl Data {
    pub(super) fn push(&mut self, line: Text) {
        *self = match mem::take(self) {
            Self::None => Self::View(line),
            Self::View(first) => {
                let mut joined = String::with_capacity(first.len() + 1 + line.len());
                joined.push_str(&first);
                joined.push('\n');
                joined.push_str(&line);
                Self::Joined(joined)
            }
            Self::Joined(mut joined) => {
                joined.push('\n');
                joined.push_str(&line);
                Self::Joined(joined)
            }
        };
    }

    /// Returns the data of the whole event, or `None` if it had no `data` line.
    pub(super) fn into_text(self) -> Option<Text> {
        match self {
            Self::None => None,
            Self::View(text) => Some(text),
            Self::Joined(text) => Some(text.into()),
        }
    }
}
