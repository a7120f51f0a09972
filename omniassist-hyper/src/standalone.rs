use std::convert::Infallible;
use std::fmt;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use omniassist_server::Assistant;
use omniassist_server::http::{AssistantBody, AssistantService, ServiceFuture};

/// An assistant and nothing else, as a service of hyper and of tower. It looks at the whole path of a request; see
/// [`omniassist_server::http`] for the routes.
#[must_use]
pub fn service(assistant: Assistant) -> Standalone {
    Standalone(AssistantService::new(assistant))
}

/// An assistant as a service. Made by [`service`]; cloning is cheap.
#[derive(Clone)]
pub struct Standalone(AssistantService);

impl<B> hyper::service::Service<Request<B>> for Standalone
where
    B: Body<Data: Send> + Send + 'static,
{
    type Response = Response<AssistantBody>;
    type Error = Infallible;
    type Future = ServiceFuture;

    fn call(&self, request: Request<B>) -> ServiceFuture {
        tower_service::Service::call(&mut self.0.clone(), request)
    }
}

impl<B> tower_service::Service<Request<B>> for Standalone
where
    B: Body<Data: Send> + Send + 'static,
{
    type Response = Response<AssistantBody>;
    type Error = Infallible;
    type Future = ServiceFuture;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ServiceFuture {
        self.0.call(request)
    }
}

impl fmt::Debug for Standalone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Standalone").field(&self.0).finish()
    }
}
