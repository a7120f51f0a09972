use std::fmt;
use std::future::{Ready, ready};

use actix_web::body::BoxBody;
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest, HttpResponse, Responder};
use omniassist_server::http::AssistantBody;

use crate::request::{self, RequestBody};
use crate::{carry, extract, response};

/// A request in the types of the crate [`http`], as an extractor, for what takes those: [`PostedRun`](crate::http::PostedRun)
/// above all. With a [`BridgedResponse`] for the answer, whatever the SDK serves over those types can be served from a
/// handler of the application's own. For an assistant there is [`scope`](crate::scope), and
/// [`AssistantRequest`](crate::AssistantRequest); an agent runtime of the application's own
/// ([`bridge`](crate::bridge)) is mounted so:
///
/// ```
/// use actix_web::{Responder, web};
/// use omniassist_actix::http::PostedRun;
/// use omniassist_actix::bridge::Bridge;
/// use omniassist_actix::{BridgedRequest, BridgedResponse};
///
/// async fn chat(transport: web::Data<Bridge>, request: BridgedRequest) -> impl Responder {
///     BridgedResponse(match PostedRun::read(request.0, transport.limits()).await {
///         Ok(posted) => transport.respond(posted),
///         Err(refusal) => refusal,
///     })
/// }
///
/// async fn resume(
///     transport: web::Data<Bridge>,
///     chat_id: web::Path<String>,
///     request: BridgedRequest,
/// ) -> impl Responder {
///     BridgedResponse(transport.respond_reconnect(&chat_id, request.0.extensions()))
/// }
///
/// fn routes(app: &mut web::ServiceConfig) {
///     app.route("/chat", web::post().to(chat)).route("/chat/{chat_id}/stream", web::get().to(resume));
/// }
/// ```
///
/// The URI is the whole one. Among its extensions are the [`Principal`](crate::Principal) of actix's request, where it
/// has one, and the [`PeerAddr`](crate::PeerAddr); the handler inserts what else is needed. None of actix's own limits
/// applies to its body. Where the request is none in terms of [`http`], the answer is 400.
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

/// An answer of the SDK in the types of the crate [`http`], as what a handler gives. Dropping it, or its body, stops
/// the run that it is the answer of. See [`BridgedRequest`].
#[derive(Debug)]
#[must_use = "give it from a handler"]
pub struct BridgedResponse(pub http::Response<AssistantBody>);

impl Responder for BridgedResponse {
    type Body = BoxBody;

    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        response::of(self.0, request.version()).map_into_boxed_body()
    }
}
