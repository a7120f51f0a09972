use std::fmt;

use axum::extract::{FromRef, FromRequest, Request};
use axum::http::Extensions;
use axum::response::{IntoResponse, Response};
use omniassist_server::Assistant;
use omniassist_server::core::RunRequest;
use omniassist_server::http::PostedRun;

use crate::router::insert_peer;

/// Extracts a posted run, for a handler of the application.
///
/// The assistant comes from the router's state, by [`FromRef`].
/// The sender is checked as on the assistant's own routes: a request without a [`Principal`](omniassist_server::Principal) is
/// refused, unless the assistant allows anonymous requests. A refused request is answered with 400, 401, 403, 408, 413, 415,
/// 421, 429 or 503, and a JSON body that gives the reason.
///
/// ```
/// use axum::response::Response;
/// use axum::routing::post;
/// use axum::Router;
/// use omniassist_axum::{Assistant, AssistantRequest, ContextMessage};
///
/// async fn chat(mut posted: AssistantRequest) -> Response {
///     posted.request_mut().context.push(ContextMessage::new("plan", "account", "premium".into()));
///     posted.respond().await
/// }
///
/// fn app(assistant: Assistant) -> Router {
///     Router::new().route("/chat", post(chat)).with_state(assistant)
/// }
/// ```
#[derive(Clone)]
pub struct AssistantRequest {
    assistant: Assistant,
    posted: PostedRun,
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

    /// Returns the values that tools take as [`Extension<T>`](omniassist_server::Extension): those that layers of the
    /// application put into the request's extensions, and the values that the handler inserts.
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
    pub async fn respond(self) -> Response {
        self.posted.respond(&self.assistant).await.into_response()
    }
}

impl<S> FromRequest<S> for AssistantRequest
where
    S: Send + Sync,
    Assistant: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let assistant = Assistant::from_ref(state);
        let request = insert_peer(request).await;
        match PostedRun::read_for(request, &assistant).await {
            Ok(posted) => Ok(Self { assistant, posted }),
            Err(refusal) => Err(refusal.into_response()),
        }
    }
}

impl fmt::Debug for AssistantRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssistantRequest").field("posted", &self.posted).finish_non_exhaustive()
    }
}
