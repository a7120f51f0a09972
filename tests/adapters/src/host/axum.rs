use std::net::SocketAddr;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;

use super::{HEALTH, Mount, NOWHERE, REGION, Serving, USER, User};

pub(super) async fn serve(mounts: Vec<Mount>) -> (SocketAddr, Serving) {
    let mut app = Router::new().route("/health", get(|| async { HEALTH }));
    let mut is_at_root = false;
    for (path, assistant) in mounts {
        let assistant = omniassist_axum::router(assistant);
        is_at_root |= path == "/";
        app = match path.as_str() {
            "/" => app.fallback_service(assistant),
            path => app.nest_service(path, assistant),
        };
    }
    if !is_at_root {
        app = app.fallback(|| async { (StatusCode::NOT_FOUND, NOWHERE) });
    }
    let app = app.layer(from_fn(identify));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (address, Serving::Tokio(serving.abort_handle()))
}

/// The backend's authentication, as a layer.
async fn identify(mut request: Request, next: Next) -> Response {
    let user = request.headers().get(USER).map(|user| User(user.to_str().unwrap().to_owned()));
    if let Some(user) = user {
        request.extensions_mut().insert(user.principal());
        request.extensions_mut().insert(user);
    }
    request.extensions_mut().insert(REGION);
    next.run(request).await
}
