//! Plain text: the AI SDK's text stream protocol (`TextStreamChatTransport`, `useCompletion` with
//! `streamProtocol: 'text'`, `useObject`).
//!
//! The response contains only the visible text, with a blank line between the texts of two steps. The protocol cannot
//! express a failure. The response of a failed run therefore [is cut off](Encoder::is_cut), so that no client mistakes
//! a partial answer for a complete one.
//!
//! ```
//! use bytes::BytesMut;
//! use omniassist_core::RunEvent;
//! use omniassist_core::dialect::DialectEncoder;
//! use omniassist_core::dialect::text::Encoder;
//! use omniassist_core::event::BlockId;
//!
//! let mut encoder = Encoder::new();
//! let mut out = BytesMut::new();
//! encoder.encode(&RunEvent::TextDelta { id: BlockId(0), delta: "Hello".into() }, &mut out);
//! encoder.finish(&mut out);
//! assert_eq!(out, "Hello");
//! assert!(encoder.is_cut(), "the run has not ended");
//! ```

use bytes::{BufMut, BytesMut};

use super::DialectEncoder;
use super::text_flow::TextFlow;
use crate::RunEvent;
use crate::event::{ComponentEvent, FinishReason};

/// Response headers.
pub const HEADERS: &[(&str, &str)] = &[
    ("content-type", "text/plain; charset=utf-8"),
    ("cache-control", "no-cache, no-store, no-transform"),
    ("x-accel-buffering", "no"),
];

/// Writes a run's text.
#[derive(Debug, Clone, Default)]
pub struct Encoder {
    flow: TextFlow,
    whole_only: bool,
    ended_well: bool,
}

impl Encoder {
    /// Returns an encoder at the start of a response.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether an answer that the model did not complete (token limit, content filter, refusal) is cut off like
    /// that of a failed run. Set it where a partial answer is of no use, such as a JSON value. Default: `false`, the
    /// text just ends.
    #[must_use]
    pub fn whole_only(mut self, whole_only: bool) -> Self {
        self.whole_only = whole_only;
        self
    }
}

impl Encoder {
    /// Writes an event other than a text delta.
    fn other(&mut self, event: &RunEvent, out: &mut BytesMut) {
        match event {
            RunEvent::StepStart => self.flow.step(),
            RunEvent::Component(event) => {
                if let ComponentEvent::Text { text, .. } = &**event {
                    self.flow.step();
                    self.text(text, out);
                    self.flow.step();
                }
            }
            RunEvent::Finish { reason, .. } => {
                self.ended_well = match reason {
                    FinishReason::Stop => true,
                    FinishReason::Error | FinishReason::Interrupted => false,
                    _ => !self.whole_only,
                };
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, out: &mut BytesMut) {
        out.put_slice(self.flow.separator(text).as_bytes());
        out.put_slice(text.as_bytes());
    }
}

impl DialectEncoder for Encoder {
    fn encode(&mut self, event: &RunEvent, out: &mut BytesMut) {
        match event {
            RunEvent::TextDelta { delta, .. } => self.text(delta, out),
            event => self.other(event, out),
        }
    }

    fn finish(&mut self, _out: &mut BytesMut) {}

    fn takes_comments(&self) -> bool {
        false
    }

    fn is_cut(&self) -> bool {
        !self.ended_well
    }
}
