use omniassist_core::dialect::DialectEncoder;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::BytesMut;
use futures_core::Stream;
use omniassist_core::dialect::ai_sdk::{Encoder, Framing};
use omniassist_core::{JsonText, Text};

use super::BridgeStream;

/// A stream of UI message chunks without framing, for tests and for clients in this process.
///
/// Dropping it ends the subscription.
#[must_use = "a stream does nothing unless polled"]
pub struct BridgeChunks {
    stream: BridgeStream,
    encoder: Encoder,
    buffer: BytesMut,
    ready: VecDeque<JsonText>,
}

impl BridgeStream {
    /// Converts the stream into chunks of the UI message stream, each a JSON object.
    pub fn into_chunks(self) -> BridgeChunks {
        let encoder = self.options.encoder(Framing::Ndjson);
        BridgeChunks { stream: self, encoder, buffer: BytesMut::new(), ready: VecDeque::new() }
    }
}

impl Stream for BridgeChunks {
    type Item = JsonText;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<JsonText>> {
        let this = &mut *self;
        loop {
            if let Some(chunk) = this.ready.pop_front() {
                return Poll::Ready(Some(chunk));
            }
            let event = match this.stream.poll_event(cx) {
                Poll::Ready(Some(event)) => event,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            };
            // Some events are two chunks.
            this.encoder.encode(&event, &mut this.buffer);
            let lines = Text::from_utf8(this.buffer.split().freeze()).unwrap_or_default();
            this.ready.extend(lines.lines().filter_map(|line| JsonText::parse(lines.slice_ref(line)).ok()));
        }
    }
}

impl fmt::Debug for BridgeChunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BridgeChunks").field("stream", &self.stream).finish_non_exhaustive()
    }
}
