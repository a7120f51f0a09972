//! `GET /playground` and its script.

use std::sync::LazyLock;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode, header};

use super::script::Script;
use crate::Assistant;
use crate::http::AssistantBody;
use crate::http::response::{Rejection, reply};
use crate::http::routing::Route;
use crate::playground::Admitted;

/// The page. Its addresses are relative to the path of the route.
const PAGE: &str = include_str!("../../../assets/playground/page.html");

/// The script of the page. `npm run build` in `widget/` writes it.
static SCRIPT: LazyLock<Script> =
    LazyLock::new(|| Script::revalidated(include_bytes!("../../../assets/playground/page.js").as_slice()));

const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data: blob:; frame-src 'self'; \
                      require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Answers a request for the page or its script; `None` for any other request.
pub(in crate::http) fn answer(
    assistant: &Assistant,
    route: &Route,
    parts: &Parts,
) -> Option<Result<Response<AssistantBody>, Rejection>> {
    if !matches!(route, Route::Playground | Route::PlaygroundScript)
        || !route.methods().contains(&parts.method)
    {
        return None;
    }
    if !assistant.playground()?.admits(parts) {
        return Some(Err(not_admitted()));
    }
    Some(Ok(match route {
        Route::Playground => page(),
        _ => SCRIPT.clone().answer(parts),
    }))
}

/// Marks a request that may set the options of the model.
pub(in crate::http) fn mark(assistant: &Assistant, parts: &mut Parts) {
    if assistant.playground().is_some_and(|playground| playground.admits(parts)) {
        parts.extensions.insert(Admitted);
    }
}

fn page() -> Response<AssistantBody> {
    let mut response = reply::html(Bytes::from_static(PAGE.as_bytes()));
    for (name, value) in [(header::CONTENT_SECURITY_POLICY, POLICY), (header::REFERRER_POLICY, "no-referrer")]
    {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn not_admitted() -> Rejection {
    let message = "The playground is for this machine only, at localhost and without a proxy. The server must know the address \
                   of the peer (axum: `into_make_service_with_connect_info::<SocketAddr>()`, hyper: `.peer(address)`).";
    Rejection::new(StatusCode::FORBIDDEN, "playground_not_admitted", message)
}
