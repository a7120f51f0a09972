use std::convert::Infallible;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use omniassist_server::Assistant;
use omniassist_server::http::{AssistantBody, AssistantService, ServiceFuture};

/// Creates a service of hyper and of tower that serves an assistant and nothing else. It looks at the whole path of a
/// request; see [`omniassist_server::http`] for the routes.
#[must_use]
pub fn service(assistant: Assistant) -> Standalone {
    Standalone(AssistantService::new(assistant))
}

/// An assistant as a service. Created by [`service`]; cloning is cheap.
#[derive(Debug, Clone)]
pub struct Standalone(AssistantService);

impl Standalone {
    /// Sets the address of the peer, for the clone that serves one connection; see [`PeerAddr`](crate::PeerAddr).
    /// Default: the `PeerAddr` in the request's extensions, if any.
    #[must_use]
    pub fn peer(self, address: SocketAddr) -> Self {
        Self(self.0.peer(address))
    }
}

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

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        tower_service::Service::<Request<B>>::poll_ready(&mut self.0, cx)
    }

    fn call(&mut self, request: Request<B>) -> ServiceFuture {
        self.0.call(request)
    }
}
