use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Buf as _;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

/// Time limit for draining an unread request body.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

pin_project! {
    /// A request body that counts how much of it was read.
    ///
    /// Many requests are answered before their body is read, for example because nothing is at the path. Servers then
    /// close or reset the connection after the answer, and a client that is still sending may never see it. The
    /// rest of the body is therefore received and discarded first; see [`drain`](Self::drain).
    pub(super) struct DrainBody<B> {
        #[pin]
        body: B,
        read: usize,
        has_ended: bool,
    }
}

impl<B: Body> DrainBody<B> {
    pub(super) fn new(body: B) -> Self {
        Self { body, read: 0, has_ended: false }
    }

    /// Discards the rest of the body, until `limit` bytes were read in all or 5 s have passed.
    pub(super) async fn drain(mut self: Pin<&mut Self>, limit: usize) {
        let rest = async {
            while !self.has_ended && !self.is_end_stream() && self.read <= limit {
                if poll_fn(|cx| self.as_mut().poll_frame(cx)).await.is_none_or(|frame| frame.is_err()) {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(DRAIN_TIMEOUT, rest).await;
    }
}

impl<B: Body> Body for DrainBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = self.project();
        let frame = ready!(this.body.poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                let bytes = frame.data_ref().map_or(0, |data| data.remaining());
                *this.read = this.read.saturating_add(bytes);
            }
            Some(Err(_)) | None => *this.has_ended = true,
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
