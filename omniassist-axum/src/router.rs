use std::net::SocketAddr;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::map_request;
use omniassist_server::http::AssistantService;
use omniassist_server::{Assistant, PeerAddr};

/// The routes of an assistant, to be mounted with `nest_service` below a path, or with `fallback_service` at the root.
///
/// The router can be layered like any other. Serve the application with
/// [`into_make_service_with_connect_info::<SocketAddr>()`](Router::into_make_service_with_connect_info) so that the
/// assistant knows which requests come from this machine, and no page that points its own name at 127.0.0.1 can reach
/// it; see [`PeerAddr`]. See [`omniassist_server::http`] for its routes.
pub fn router(assistant: Assistant) -> Router {
    Router::new().fallback_service(AssistantService::new(assistant)).layer(map_request(tell_peer))
}

/// Tells the assistant who is at the other end of the connection, where the application tells axum.
async fn tell_peer(mut request: Request) -> Request {
    if let Some(ConnectInfo(address)) = request.extensions().get::<ConnectInfo<SocketAddr>>().copied() {
        request.extensions_mut().insert(PeerAddr(address));
    }
    request
}
