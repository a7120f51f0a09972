use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Buf as _;
use http::{HeaderMap, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use omniassist_core::Limits;
use pin_project_lite::pin_project;
use tokio::time::timeout;

use super::receive::Paced;
use crate::http::AssistantBody;
use crate::http::response::{ErrorFormat, Rejection};

/// Time limit for draining a body that was not begun: its sender may be unknown.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

pin_project! {
    /// A request body that counts how much of it was read.
    ///
    /// Many requests are answered before their body is read, for example because nothing is at the path. Servers then
    /// close or reset the connection after the answer, and a client that is still sending may never see it. The
    /// rest of the body is therefore received and discarded first; see [`drain`](Self::drain).
    pub(in crate::http) struct DrainBody<B> {
        #[pin]
        body: B,
        read: usize,
        has_ended: bool,
        // A client that waits for `100 Continue` has not sent its body, and does not send it after the answer.
        awaits_continue: bool,
    }
}

impl<B: Body> DrainBody<B> {
    pub(in crate::http) fn new(headers: &HeaderMap, body: B) -> Self {
        Self { body, read: 0, has_ended: false, awaits_continue: headers.contains_key(header::EXPECT) }
    }

    /// Discards the rest of the body of a refused request, and returns the answer.
    pub(in crate::http) async fn refuse(
        self: Pin<&mut Self>,
        rejection: Rejection,
        limits: &Limits,
    ) -> Response<AssistantBody> {
        let response = rejection.into_response(ErrorFormat::Json);
        self.drain(response.status(), limits).await;
        response
    }

    /// Discards the rest of the body before an answer with this status, until twice
    /// [`max_body_bytes`](Limits::max_body_bytes) were read in all. A body that was begun must keep its pace. Another is
    /// drained for 5 s.
    pub(in crate::http) async fn drain(self: Pin<&mut Self>, status: StatusCode, limits: &Limits) {
        let (is_begun, most) = (self.read > 0, limits.max_body_bytes.saturating_mul(2));
        let Some(left) = most.checked_sub(self.read) else { return };
        if status == StatusCode::REQUEST_TIMEOUT || self.awaits_continue && !is_begun {
            return;
        }
        let mut body = Paced::new(self, limits);
        let rest = body.discard(left);
        if is_begun {
            rest.await;
        } else {
            let _ = timeout(DRAIN_TIMEOUT, rest).await;
        }
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
        if *this.has_ended {
            return Poll::Ready(None);
        }
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
        self.has_ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
