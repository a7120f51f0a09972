use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures_util::FutureExt;
use http::{Method, Request, Response, StatusCode, header};
use http_body::Body;
use omniassist_core::{Error, typescript};
use percent_encoding::percent_decode_str;
use serde_json::json;
use tower_service::Service;

use super::read::{Refusal, is_json_or_nothing};
use super::shape::Shape;
use super::unread::Unread;
use super::{
    AssistantBody, PostedRun, admit, ag_ui, completion, copilotkit, manifest, object, openai, reply,
};
use crate::access::Visitor;
use crate::{Assistant, Principal};

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
        let (version, is_head) = (request.version(), request.method() == Method::HEAD);
        let shape = Shape::of(request.uri().path());
        // A client that waits to be told to send its body is told by the answer not to.
        let sends_body = !request.headers().contains_key(header::EXPECT);
        let (parts, body) = request.into_parts();
        let mut body = pin!(Unread::new(body));
        let answer = async {
            let response = self.admit(shape, Request::from_parts(parts, body.as_mut())).await;
            if sends_body {
                body.discard(self.assistant.limits().max_body_bytes.saturating_mul(2)).await;
            }
            response
        };
        let answer = AssertUnwindSafe(answer).catch_unwind().await;
        let mut response = answer.unwrap_or_else(|_| self.panicked(shape));
        reply::part_ways(&self.assistant, version, &mut response);
        if is_head { reply::head(response) } else { response }
    }

    /// Answers a request if its sender may send it.
    async fn admit<B: Body>(&self, shape: Shape, request: Request<B>) -> Response<AssistantBody> {
        let (mut parts, body) = request.into_parts();
        let visitor = match self.assistant.access().screen(&parts) {
            Ok(visitor) => visitor,
            Err(refused) => return self.sent(admit::refused(shape, refused), &Visitor::Plain),
        };
        if let Some(permission) = admit::preflight(&self.assistant, &parts, &visitor) {
            return permission;
        }
        let response = match admit::identify(&self.assistant, shape, &mut parts).await {
            Ok(()) => self.answer(Request::from_parts(parts, body)).await,
            Err(refusal) => refusal,
        };
        self.sent(response, &visitor)
    }

    /// The answer where something panicked: better than a connection that closes without a word.
    fn panicked(&self, shape: Shape) -> Response<AssistantBody> {
        tracing::error!("answering a request panicked");
        let error = Error::internal();
        let response =
            shape.error(StatusCode::INTERNAL_SERVER_ERROR, error.code().as_str(), &error.to_string());
        self.sent(response, &Visitor::Plain)
    }

    /// A response with the headers that every one has.
    fn sent(&self, mut response: Response<AssistantBody>, visitor: &Visitor) -> Response<AssistantBody> {
        self.assistant.access().add_headers(visitor, response.headers_mut());
        response
    }

    /// Answers a request that was let in.
    async fn answer<B: Body>(&self, request: Request<B>) -> Response<AssistantBody> {
        match (request.uri().path().trim_end_matches('/'), request.method()) {
            ("", &Method::POST) => self.run(request).await,
            ("", _) => reply::method_not_allowed("POST"),
            ("/manifest.json", &Method::GET | &Method::HEAD) => {
                reply::json(StatusCode::OK, &manifest::manifest(&self.assistant))
            }
            ("/types.d.ts", &Method::GET | &Method::HEAD) => {
                let types = typescript::declarations(&self.assistant.tools().snapshot().specs());
                reply::text(StatusCode::OK, "text/plain; charset=utf-8", types)
            }
            ("/manifest.json" | "/types.d.ts", _) => reply::method_not_allowed("GET, HEAD"),
            ("/completion", &Method::POST) => completion::complete(&self.assistant, request).await,
            ("/object", &Method::POST) => object::make(&self.assistant, None, request).await,
            ("/ag-ui", &Method::POST) => ag_ui::run(&self.assistant, request).await,
            ("/completion" | "/object" | "/ag-ui", _) => reply::method_not_allowed("POST"),
            (path, _) if copilotkit::has(path) => copilotkit::answer(&self.assistant, request).await,
            (path, method) if openai::path(path).is_some() || object_name(path).is_some() => {
                let (path, method) = (path.to_owned(), method.clone());
                self.below(&path, &method, request).await
            }
            (path, method) => match ChatRoute::of(path) {
                Some(route) => self.chat(&route, method, &request),
                None => reply::not_found(),
            },
        }
    }

    /// The routes below a name of their own.
    async fn below<B: Body>(
        &self,
        path: &str,
        method: &Method,
        request: Request<B>,
    ) -> Response<AssistantBody> {
        if let Some(path) = openai::path(path) {
            return openai::handle(&self.assistant, path, request).await;
        }
        match method {
            &Method::POST => object::make(&self.assistant, object_name(path), request).await,
            _ => reply::method_not_allowed("POST"),
        }
    }

    /// The routes of one chat. Runs are stateless, so there is never a stream to go on with.
    fn chat<B>(&self, route: &ChatRoute, method: &Method, request: &Request<B>) -> Response<AssistantBody> {
        match (route, method) {
            (ChatRoute::Stream, &Method::GET) => reply::no_content(),
            (ChatRoute::Stream, _) => reply::method_not_allowed("GET"),
            // A form says what it is; a stop has no body, so it need not.
            (ChatRoute::Stop(_), &Method::POST) if !is_json_or_nothing(request.headers()) => {
                reply::refusal(&Refusal::NotJson)
            }
            (ChatRoute::Stop(chat_id), &Method::POST) => {
                let principal = request.extensions().get::<Principal>().cloned().unwrap_or_default();
                let stopped = self.assistant.stop(&principal, chat_id);
                reply::json(StatusCode::OK, &json!({ "stopped": stopped }))
            }
            (ChatRoute::Stop(_), _) => reply::method_not_allowed("POST"),
        }
    }

    async fn run<B: Body>(&self, request: Request<B>) -> Response<AssistantBody> {
        match PostedRun::read(request, self.assistant.limits()).await {
            Ok(posted) => posted.respond_opened(&self.assistant).await,
            Err(refusal) => refusal,
        }
    }
}

/// The name of an object. A chat that is named `object` keeps its own routes.
fn object_name(path: &str) -> Option<&str> {
    path.strip_prefix("/object/").filter(|name| !matches!(*name, "stop" | "stream"))
}

/// A path below a chat's id: `/{chat_id}/stop` or `/{chat_id}/stream`.
enum ChatRoute {
    Stop(String),
    Stream,
}

impl ChatRoute {
    fn of(path: &str) -> Option<Self> {
        let (chat_id, action) = path.strip_prefix('/')?.split_once('/')?;
        if chat_id.is_empty() {
            return None;
        }
        match action {
            "stop" => Some(Self::Stop(percent_decode_str(chat_id).decode_utf8().ok()?.into_owned())),
            "stream" => Some(Self::Stream),
            _ => None,
        }
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
