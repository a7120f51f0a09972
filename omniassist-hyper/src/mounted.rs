use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Either;
use omniassist_server::http::{AssistantBody, ServiceFuture};
use pin_project_lite::pin_project;

pin_project! {
    /// The future of a [`Nested`](crate::Nested) service. Dropping it drops the request, and stops the run if it has
    /// begun, unless the run is stored.
    #[must_use = "futures do nothing unless polled"]
    pub struct MountedFuture<F> {
        #[pin]
        kind: FutureKind<F>,
    }
}

pin_project! {
    #[project = FutureProjection]
    enum FutureKind<F> {
        Assistant { future: ServiceFuture },
        Own { #[pin] future: F },
    }
}

impl<F> MountedFuture<F> {
    pub(crate) fn assistant(future: ServiceFuture) -> Self {
        Self { kind: FutureKind::Assistant { future } }
    }

    pub(crate) fn own(future: F) -> Self {
        Self { kind: FutureKind::Own { future } }
    }
}

impl<F, R, E> Future for MountedFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = Result<Response<MountedBody<R>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match self.project().kind.project() {
            FutureProjection::Assistant { future } => match ready!(future.as_mut().poll(cx)) {
                Ok(response) => Ok(response.map(|body| MountedBody { body: Either::Left(body) })),
                Err(never) => match never {},
            },
            FutureProjection::Own { future } => {
                let response = ready!(future.poll(cx));
                response.map(|response| response.map(|body| MountedBody { body: Either::Right(body) }))
            }
        })
    }
}

impl<F> fmt::Debug for MountedFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MountedFuture").finish_non_exhaustive()
    }
}

pin_project! {
    /// The response body of a [`Nested`](crate::Nested) service: the assistant's, or that of the application's own
    /// service. Dropping the assistant's body stops its run, unless the run is stored.
    #[must_use = "a body does nothing unless polled"]
    pub struct MountedBody<B> {
        #[pin]
        body: Either<AssistantBody, B>,
    }
}

impl<B> Body for MountedBody<B>
where
    B: Body<Data = <AssistantBody as Body>::Data, Error: Into<Box<dyn Error + Send + Sync>>>,
{
    type Data = B::Data;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> fmt::Debug for MountedBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MountedBody").finish_non_exhaustive()
    }
}
