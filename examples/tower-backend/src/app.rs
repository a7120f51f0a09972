//! The backend's stack of layers, and its login.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{Request, Response, header};
use omniassist_hyper::{Assistant, Principal}; // + assistant
use tasks::{Tasks, Users};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceBuilder, service_fn};
use tower_http::auth::AsyncRequireAuthorizationLayer;
use tower_http::body::UnsyncBoxBody;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use crate::routes::{self, Body, Refused};

pub(crate) type App =
    BoxCloneSyncService<Request<Incoming>, Response<UnsyncBoxBody<Bytes, BoxError>>, Infallible>;

pub(crate) fn service(tasks: Tasks, users: Users, assistant: Assistant) -> App {
    let users = Arc::new(users);
    let app = ServiceBuilder::new()
        .layer(CatchPanicLayer::new())
        .layer(CompressionLayer::new())
        .layer(AsyncRequireAuthorizationLayer::new(move |request| {
            ready(sign_in(&users, request).map_err(Refused::into_response))
        }))
        .map_response(|response: Response<_>| response.map(Body::new)) // + assistant
        .layer_fn(move |own| omniassist_hyper::nest("/assistant", assistant.clone(), own)) // + assistant
        .service(service_fn(move |request| routes::answer(tasks.clone(), request)));
    BoxCloneSyncService::new(app)
}

/// Finds the user of a request. Only `/health` needs none.
fn sign_in(users: &Users, mut request: Request<Incoming>) -> Result<Request<Incoming>, Refused> {
    if request.uri().path() == "/health" {
        return Ok(request);
    }
    let authorization = request.headers().get(header::AUTHORIZATION);
    let user = users.signed_in(authorization.and_then(|value| value.to_str().ok()))?;
    request.extensions_mut().insert(Principal::new(user.name())); // + assistant
    request.extensions_mut().insert(user);
    Ok(request)
}
