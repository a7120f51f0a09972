use std::fmt;
use std::future::{Ready, ready};

use actix_web::body::BoxBody;
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest, HttpResponse, Responder};
use omniassist_server::http::AssistantBody;

use crate::request::{self, RequestBody};
use crate::{carry, extract, response};

/// Extracts a request in the types of the crate [`http`], for functions that take those, such as
/// [`PostedRun::read_for`](crate::http::PostedRun::read_for). Together with [`BridgedResponse`], a handler of the application
/// can serve everything that the SDK serves over those types. An assistant is easier to mount with [`scope`](crate::scope) or
/// [`AssistantRequest`](crate::AssistantRequest). An agent runtime of the application ([`bridge`](crate::bridge)) is
/// mounted as follows:
///
/// ```
/// use actix_web::{Responder, web};
/// use omniassist_actix::bridge::Bridge;
/// use omniassist_actix::{BridgedRequest, BridgedResponse};
///
/// async fn chat(bridge: web::Data<Bridge>, request: BridgedRequest) -> impl Responder {
///     BridgedResponse(match bridge.read(request.0).await {
///         Ok(posted) => bridge.respond(posted),
///         Err(refusal) => refusal,
///     })
/// }
///
/// async fn resume(
///     bridge: web::Data<Bridge>,
///     chat_id: web::Path<String>,
///     request: BridgedRequest,
/// ) -> impl Responder {
///     BridgedResponse(bridge.respond_reconnect(&chat_id, request.0.extensions()))
/// }
///
/// fn routes(app: &mut web::ServiceConfig) {
///     app.route("/chat", web::post().to(chat)).route("/chat/{chat_id}/stream", web::get().to(resume));
/// }
/// ```
///
/// The URI is not shortened. The extensions hold the [`Principal`](crate::Principal) of actix's request, if any, and the
/// [`PeerAddr`](crate::PeerAddr); the handler inserts further values. Actix's own limits do not apply to the body. A
/// request that [`http`] cannot represent is answered 400.
pub struct BridgedRequest(pub http::Request<RequestBody>);

impl FromRequest for BridgedRequest {
    type Error = actix_web::Error;
    type Future = Ready<actix_web::Result<Self>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let bridged = request::whole(request, payload.take(), &[carry::principal]);
        ready(bridged.map(Self).ok_or_else(|| extract::refused(response::bad_request())))
    }
}

impl fmt::Debug for BridgedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (method, uri) = (self.0.method(), self.0.uri());
        f.debug_struct("BridgedRequest").field("method", method).field("uri", uri).finish_non_exhaustive()
    }
}

/// A response of the SDK in the types of the crate [`http`], to return from a handler. Dropping it, or its body, stops its
/// run, unless the run is stored. See [`BridgedRequest`].
#[derive(Debug)]
#[must_use = "return it from a handler"]
pub struct BridgedResponse(pub http::Response<AssistantBody>);

impl Responder for BridgedResponse {
    type Body = BoxBody;

    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        response::of(self.0, request::answered_in(request)).map_into_boxed_body()
    }
}
