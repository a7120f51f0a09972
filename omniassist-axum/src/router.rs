use std::net::SocketAddr;

use axum::Router;
use axum::extract::{ConnectInfo, OriginalUri, Request};
use axum::middleware::map_request;
use omniassist_server::http::{AssistantService, MountPath};
use omniassist_server::{Assistant, PeerAddr};

/// Creates a router with the routes of an assistant. Mount it below a path with `nest_service`, or at the root with
/// `fallback_service`.
///
/// The router can be layered like any other. See [`omniassist_server::http`] for its routes. The assistant needs the
/// address of the peer to detect DNS rebinding (see [`PeerAddr`]): insert a `PeerAddr` into the request's extensions, or
/// serve the application with
/// [`into_make_service_with_connect_info::<SocketAddr>()`](Router::into_make_service_with_connect_info).
pub fn router(assistant: Assistant) -> Router {
    Router::new()
        .fallback_service(AssistantService::new(assistant))
        .layer(map_request(insert_peer))
        .layer(map_request(insert_mount))
}

/// Inserts the path of the mount point, with which the URLs of stored files and of runs begin.
async fn insert_mount(mut request: Request) -> Request {
    let original = request.extensions().get::<OriginalUri>();
    let mount = original.and_then(|original| MountPath::of(original.path(), request.uri().path()));
    if let Some(mount) = mount {
        request.extensions_mut().get_or_insert_with(|| mount);
    }
    request
}

/// Inserts the address of the peer for the assistant, if axum provides it.
pub(crate) async fn insert_peer(mut request: Request) -> Request {
    if let Some(ConnectInfo(address)) = request.extensions().get::<ConnectInfo<SocketAddr>>().copied() {
        request.extensions_mut().insert(PeerAddr(address));
    }
    request
}
