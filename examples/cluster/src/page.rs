//! The page, and the routes with which it watches the servers and ends them.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::Value;

use crate::proxy::Proxy;
use crate::servers::Servers;

const FILES: [(&str, &str, &str); 3] = [
    ("/", "text/html; charset=utf-8", include_str!("../page/index.html")),
    ("/page.js", "text/javascript; charset=utf-8", include_str!("../page/page.js")),
    ("/style.css", "text/css; charset=utf-8", include_str!("../page/style.css")),
];

/// Returns the routes. The proxy answers all other requests.
pub(crate) fn router(servers: Servers) -> Router {
    let proxy = Proxy::new(servers.addresses());
    let mut router = Router::new()
        .route("/cluster", get(states))
        .route("/cluster/{number}/{action}", post(act))
        .with_state(servers);
    for (path, kind, text) in FILES {
        router = router.route(path, get(move || async move { ([(CONTENT_TYPE, kind)], text) }));
    }
    router.fallback_service(proxy.router())
}

async fn states(State(servers): State<Servers>) -> Json<Value> {
    Json(servers.states().await)
}

async fn act(State(servers): State<Servers>, Path((number, action)): Path<(usize, String)>) -> StatusCode {
    match servers.act(number, &action).await {
        Ok(()) => StatusCode::NO_CONTENT,
        Err(error) => {
            tracing::error!(%error, number, action, "the server does not follow");
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}
