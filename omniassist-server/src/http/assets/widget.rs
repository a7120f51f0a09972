//! `GET /widget.js` and the modules below `/w/{folder}/`.

use std::sync::LazyLock;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Response, header};

use super::coding::Coding;
use super::script::Script;
use crate::http::AssistantBody;
use crate::http::response::Rejection;
use crate::http::routing::Route;
use crate::widget::{asset, entry};

/// The module at the stable URL. It exports what the entry does.
static LOADER: LazyLock<Script> =
    LazyLock::new(|| Script::revalidated(format!("export*from\"./{}\";\n", entry())));

/// Answers a request for a script of the widget; `None` for any other request.
pub(in crate::http) fn script(
    route: &Route,
    parts: &Parts,
) -> Option<Result<Response<AssistantBody>, Rejection>> {
    if !route.methods().contains(&parts.method) {
        return None;
    }
    match route {
        Route::Widget => Some(Ok(LOADER.clone().answer(parts))),
        Route::WidgetModule(folder, name) => {
            Some(module(folder, name, parts).ok_or_else(Rejection::not_found))
        }
        _ => None,
    }
}

/// Answers with a module in the coding that the browser prefers. `None` if there is no such module.
fn module(folder: &str, name: &str, parts: &Parts) -> Option<Response<AssistantBody>> {
    let asset = asset(folder, name)?;
    let coding = Coding::accepted(&parts.headers);
    let bytes = match coding {
        Coding::Brotli => asset.brotli,
        Coding::Gzip => asset.gzip,
        Coding::Identity => asset.identity,
    };
    let tag = format!("\"{folder}-{}\"", coding.name().unwrap_or("identity"));
    let script =
        Script { bytes: Bytes::from_static(bytes), tag, cache: "public, max-age=31536000, immutable" };
    let mut response = script.answer(parts);
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(name) = coding.name().filter(|_| response.status().is_success()) {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(name));
    }
    Some(response)
}
