use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use omniassist_server::http::{AssistantBody, AssistantService, ServiceFuture};
use omniassist_server::{Assistant, PeerAddr};

/// An assistant and nothing else, as a service of hyper and of tower. It looks at the whole path of a request; see
/// [`omniassist_server::http`] for the routes.
#[must_use]
pub fn service(assistant: Assistant) -> Standalone {
    Standalone { assistant: AssistantService::new(assistant), peer: None }
}

/// An assistant as a service. Made by [`service`]; cloning is cheap.
#[derive(Clone)]
pub struct Standalone {
    assistant: AssistantService,
    peer: Option<PeerAddr>,
}

impl Standalone {
    /// Says who is at the other end of a connection, for the clone that serves it; see [`PeerAddr`]. Default: unknown,
    /// unless the request's extensions tell.
    #[must_use]
    pub fn peer(mut self, address: SocketAddr) -> Self {
        self.peer = Some(PeerAddr(address));
        self
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
        tower_service::Service::call(&mut self.clone(), request)
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

    fn call(&mut self, mut request: Request<B>) -> ServiceFuture {
        if let Some(peer) = self.peer {
            request.extensions_mut().insert(peer);
        }
        self.assistant.call(request)
    }
}

impl fmt::Debug for Standalone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Standalone").field("assistant", &self.assistant).field("peer", &self.peer).finish()
    }
}
