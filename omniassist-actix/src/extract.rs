use std::fmt;
use std::future::Future;
use std::pin::Pin;

use actix_web::body::MessageBody;
use actix_web::dev::Payload;
use actix_web::error::{ErrorInternalServerError, InternalError};
use actix_web::http::Version;
use actix_web::{FromRequest, HttpRequest, HttpResponse, web};
use http::Extensions;
use omniassist_server::Assistant;
use omniassist_server::core::RunRequest;
use omniassist_server::http::PostedRun;

use crate::response::ResponseBody;
use crate::{background, carry, request, response};

/// Extracts a posted run, for a handler of the application.
///
/// The assistant comes from the application's data: register `web::Data::new(assistant)` with `app_data`.
/// The sender is checked as on the assistant's own routes: a request without a [`Principal`](crate::Principal) is refused,
/// unless the assistant allows anonymous requests. A refused request is answered with 400, 401, 403, 408, 413, 415, 421,
/// 429 or 503, and a JSON body that gives the reason.
///
/// ```
/// use actix_web::{HttpResponse, Responder, web};
/// use omniassist_actix::{Assistant, AssistantRequest, ContextMessage};
///
/// async fn chat(mut posted: AssistantRequest) -> impl Responder {
///     posted.request_mut().context.push(ContextMessage::new("plan", "account", "premium".into()));
///     posted.respond().await
/// }
///
/// fn routes(assistant: Assistant) -> impl FnOnce(&mut web::ServiceConfig) {
///     move |app| {
///         app.app_data(web::Data::new(assistant)).route("/chat", web::post().to(chat));
///     }
/// }
/// ```
#[derive(Clone)]
pub struct AssistantRequest {
    assistant: web::Data<Assistant>,
    posted: PostedRun,
    version: Version,
}

impl AssistantRequest {
    /// Returns the run that the client asks for.
    #[must_use]
    pub fn request(&self) -> &RunRequest {
        &self.posted.request
    }

    /// Returns the run that the client asks for, to change it before it begins.
    pub fn request_mut(&mut self) -> &mut RunRequest {
        &mut self.posted.request
    }

    /// Returns the values that tools take as [`Extension<T>`](crate::Extension): the request's
    /// [`Principal`](crate::Principal), if any, and the values that the handler inserts.
    ///
    /// URLs of files that the run stores, and of a run in the background, begin with the [`MountPath`] in them. The path of
    /// the handler does not tell where the assistant is mounted, so insert it.
    ///
    /// [`MountPath`]: omniassist_server::http::MountPath
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.posted.extensions
    }

    /// Begins the run and returns the response that streams it. It waits for [rate limits and
    /// budgets](omniassist_server::throttle) only. Dropping the response's body stops the run, unless it
    /// is stored.
    pub async fn respond(self) -> HttpResponse<impl MessageBody + 'static> {
        response::of(self.posted.respond(&self.assistant).await, self.version)
    }
}

impl FromRequest for AssistantRequest {
    type Error = actix_web::Error;
    type Future = Pin<Box<dyn Future<Output = actix_web::Result<Self>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let assistant = request.app_data::<web::Data<Assistant>>().cloned();
        let version = request::answered_in(request);
        let request = request::whole(request, payload.take(), &[carry::principal]);
        Box::pin(async move {
            let Some(assistant) = assistant else {
                return Err(ErrorInternalServerError("the application has no `web::Data<Assistant>`"));
            };
            background::outlive_workers(&assistant);
            let request = request.ok_or_else(|| refused(response::bad_request()))?;
            match PostedRun::read_for(request, &assistant).await {
                Ok(posted) => Ok(Self { assistant, posted, version }),
                Err(refusal) => Err(refused(response::of(refusal, version))),
            }
        })
    }
}

pub(crate) fn refused(response: HttpResponse<ResponseBody>) -> actix_web::Error {
    let cause = "the posted run is not acceptable";
    InternalError::from_response(cause, response.map_into_boxed_body()).into()
}

impl fmt::Debug for AssistantRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssistantRequest").field("posted", &self.posted).finish_non_exhaustive()
    }
}
