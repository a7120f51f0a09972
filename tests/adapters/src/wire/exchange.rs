use tokio::time::timeout;

use super::answer::{Answer, Head};
use super::{PATIENCE, http1, http2, soon};

/// A sent request and its answer as it arrives. Dropping it disconnects the client: over HTTP/1 the connection closes
/// unless a `Connection` keeps it, and over HTTP/2 the stream is reset.
pub(crate) struct Exchange {
    wire: Wire,
    head: Option<Head>,
    seen: Vec<u8>,
}

enum Wire {
    Http1(http1::Answering),
    Http2(http2::Answering),
}

/// The error of a body that did not end regularly.
type Cut = Box<dyn std::error::Error + Send + Sync>;

impl Exchange {
    pub(super) fn http1(wire: http1::Answering) -> Self {
        Self { wire: Wire::Http1(wire), head: None, seen: Vec::new() }
    }

    pub(super) fn http2(wire: http2::Answering) -> Self {
        Self { wire: Wire::Http2(wire), head: None, seen: Vec::new() }
    }

    async fn try_head(&mut self) -> Result<&Head, Cut> {
        if self.head.is_none() {
            let head = match &mut self.wire {
                Wire::Http1(wire) => soon("a response begins", wire.head()).await?,
                Wire::Http2(wire) => soon("a response begins", wire.head()).await?,
            };
            self.head = Some(head);
        }
        Ok(self.head.as_ref().unwrap())
    }

    /// Waits until the response has begun.
    pub(crate) async fn head(&mut self) -> &Head {
        self.try_head().await.unwrap_or_else(|cut| panic!("no response: {cut:?}"))
    }

    /// Reads the next part of the body. Returns `false` at its end.
    pub(crate) async fn more(&mut self) -> Result<bool, Cut> {
        self.try_head().await?;
        let data = match &mut self.wire {
            Wire::Http1(wire) => timeout(PATIENCE, wire.data()).await.map(|data| data.map_err(Cut::from)),
            Wire::Http2(wire) => timeout(PATIENCE, wire.data()).await.map(|data| data.map_err(Cut::from)),
        };
        match data {
            Err(_) => panic!("nothing more arrives after {}", self.seen_text()),
            Ok(Err(cut)) => Err(cut),
            Ok(Ok(None)) => Ok(false),
            Ok(Ok(Some(data))) => {
                self.seen.extend_from_slice(&data);
                Ok(true)
            }
        }
    }

    fn seen_text(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// Reads until `wanted` arrives. Returns everything that was read.
    pub(crate) async fn until(&mut self, wanted: &str) -> String {
        while !self.seen_text().contains(wanted) {
            match self.more().await {
                Ok(true) => {}
                Ok(false) => panic!("the answer ended without {wanted:?}: {}", self.seen_text()),
                Err(cut) => panic!("the answer was cut before {wanted:?}: {cut:?}: {}", self.seen_text()),
            }
        }
        self.seen_text()
    }

    /// Reads a complete answer. Panics if it is cut.
    pub(crate) async fn whole(mut self) -> Answer {
        loop {
            match self.more().await {
                Ok(true) => {}
                Ok(false) => return self.answer(),
                Err(cut) => panic!("the answer was cut: {cut:?}: {}", self.seen_text()),
            }
        }
    }

    /// Reads an answer that is cut. Panics if it is complete.
    pub(crate) async fn cut(mut self) -> Answer {
        loop {
            match self.more().await {
                Ok(true) => {}
                Ok(false) => panic!("the answer is complete: {}", self.seen_text()),
                Err(_) => return self.answer(),
            }
        }
    }

    /// Reads until the answer ends or is cut.
    pub(crate) async fn gone(mut self) {
        while let Ok(true) = self.more().await {}
    }

    fn answer(self) -> Answer {
        Answer { head: self.head.unwrap_or_default(), body: self.seen.into() }
    }
}
