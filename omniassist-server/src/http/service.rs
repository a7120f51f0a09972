use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use omniassist_core::dialect::ai_sdk::{self, Framing};
use omniassist_core::{json_guard, typescript};
use tower_service::Service;

use super::read::{ReadFailure, is_json, read_body, wants_ndjson};
use super::{AssistantBody, manifest, reply};
use crate::{Assistant, Run};

/// The assistant as a service over [`http`] types; see the [module](super). Cloning is cheap.
#[derive(Clone)]
pub struct AssistantService {
    assistant: Assistant,
}

impl AssistantService {
    /// Serves this assistant.
    #[must_use]
    pub fn new(assistant: Assistant) -> Self {
        Self { assistant }
    }

    /// The assistant it serves.
    #[must_use]
    pub fn assistant(&self) -> &Assistant {
        &self.assistant
    }

    /// Answers one request. Its extensions reach the tools.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<AssistantBody>
    where
        B: Body,
    {
        let (parts, body) = request.into_parts();
        match (parts.uri.path().trim_end_matches('/'), &parts.method) {
            ("", &Method::POST) => self.run(parts, body).await,
            ("", _) => reply::method_not_allowed("POST"),
            ("/manifest.json", &Method::GET | &Method::HEAD) => {
                reply::json(StatusCode::OK, &manifest::manifest(&self.assistant))
            }
            ("/types.d.ts", &Method::GET | &Method::HEAD) => {
                let types = typescript::declarations(&self.assistant.tools().snapshot().specs());
                reply::text(StatusCode::OK, "text/plain; charset=utf-8", types)
            }
            ("/manifest.json" | "/types.d.ts", _) => reply::method_not_allowed("GET, HEAD"),
            _ => reply::not_found(),
        }
    }

    async fn run<B: Body>(&self, parts: Parts, body: B) -> Response<AssistantBody> {
        if !is_json(&parts.headers) {
            return reply::not_json();
        }
        let limits = self.assistant.limits();
        let body = match read_body(body, limits.max_body_bytes).await {
            Ok(body) => body,
            Err(ReadFailure::TooLarge) => return reply::too_large(limits.max_body_bytes),
            Err(ReadFailure::Broken) => return reply::broken_body(),
        };
        let framing = if wants_ndjson(&parts.headers) { Framing::Ndjson } else { Framing::Sse };
        let run = json_guard::check_depth(&body, limits.max_json_depth)
            .and_then(|()| ai_sdk::read_request(body, limits))
            .and_then(|request| self.assistant.try_run(request, parts.extensions));
        match run {
            Ok(run) => self.stream(run, framing),
            Err(refusal) => reply::refused(&refusal),
        }
    }

    fn stream(&self, run: Run, framing: Framing) -> Response<AssistantBody> {
        let keep_alive = self.assistant.limits().keep_alive;
        let mut response = Response::new(AssistantBody::events(run, framing, keep_alive));
        for (name, value) in framing.headers() {
            response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        response
    }
}

impl fmt::Debug for AssistantService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssistantService").field("assistant", &self.assistant).finish()
    }
}

/// The answer of an [`AssistantService`]. Dropping it drops the request, and stops a run that it had begun.
pub type ServiceFuture = Pin<Box<dyn Future<Output = Result<Response<AssistantBody>, Infallible>> + Send>>;

impl<B> Service<Request<B>> for AssistantService
where
    B: Body<Data: Send> + Send + 'static,
{
    type Response = Response<AssistantBody>;
    type Error = Infallible;
    type Future = ServiceFuture;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ServiceFuture {
        let service = self.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}
