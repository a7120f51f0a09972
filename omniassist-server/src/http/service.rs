use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use http::request::Parts;
use http::{Method, Request, Response};
use http_body::Body;
use omniassist_core::Error;
use tower_service::Service;

#[cfg(feature = "playground")]
use super::assets::playground;
#[cfg(feature = "components")]
use super::assets::script;
#[cfg(feature = "widget")]
use super::assets::widget;
use super::chats::{chat_agents, resume, stored_run, threads};
use super::dialects::{ag_ui, completion, connect, copilotkit, mcp, object, openai};
#[cfg(feature = "files")]
use super::files;
use super::request::DrainBody;
use super::response::{Rejection, reply};
use super::routing::Route;
#[cfg(feature = "ws")]
use super::socket;
use super::ui::{apps, instance};
use super::{AssistantBody, PostedRun, agents, manifest, types};
use crate::access::{PeerAddr, Visitor};
use crate::{Assistant, panics};

/// The assistant as a service over [`http`] types; see the [module](super). Cloning is cheap.
#[derive(Clone)]
pub struct AssistantService {
    assistant: Assistant,
    peer: Option<PeerAddr>,
}

impl AssistantService {
    /// Creates a service for this assistant. Within a tokio runtime, an assistant with a
    /// [store](crate::AssistantBuilder::store) then goes on with the runs that another process has left.
    #[must_use]
    pub fn new(assistant: Assistant) -> Self {
        assistant.spawn_lease();
        Self { assistant, peer: None }
    }

    /// Sets the address of the peer, for the clone that serves one connection; see [`PeerAddr`]. Default: the
    /// `PeerAddr` in the request's extensions, if any.
    #[must_use]
    pub fn peer(mut self, address: SocketAddr) -> Self {
        self.peer = Some(PeerAddr(address));
        self
    }

    /// Returns the assistant.
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
        let route = Route::parse(request.uri().path()).of_assistant(&self.assistant);
        let format = route.error_format();
        let (mut parts, body) = request.into_parts();
        if let Some(peer) = self.peer {
            parts.extensions.insert(peer);
        }
        let mut body = pin!(DrainBody::new(&parts.headers, body));
        let answer = async {
            let response = self.screen(route, Request::from_parts(parts, body.as_mut())).await;
            body.drain(response.status(), self.assistant.limits()).await;
            response
        };
        let mut response = panics::catch_async("answering a request", answer).await.unwrap_or_else(|| {
            // This answer is more useful to a client than a closed connection.
            self.finished(Rejection::from(Error::internal()).into_response(format), &Visitor::Plain)
        });
        reply::request_close(self.assistant.is_draining(), version, &mut response);
        if is_head { reply::head(response) } else { response }
    }

    /// Checks the host and the origin of a request, and answers CORS preflights.
    async fn screen<B: Body>(&self, route: Route, request: Request<B>) -> Response<AssistantBody> {
        let (parts, body) = request.into_parts();
        let format = route.error_format();
        let visitor = match self.assistant.access().screen(&parts) {
            Ok(visitor) => visitor,
            Err(refused) => {
                return self.finished(Rejection::from(refused).into_response(format), &Visitor::Plain);
            }
        };
        if let Some(permission) = self.assistant.access().preflight(&parts, &visitor) {
            let mut response = reply::no_content();
            response.headers_mut().extend(permission);
            return response;
        }
        let answer = self.answer(&route, Request::from_parts(parts, body)).await;
        self.finished(answer.unwrap_or_else(|rejection| rejection.into_response(format)), &visitor)
    }

    /// Adds the headers that every response has.
    fn finished(&self, mut response: Response<AssistantBody>, visitor: &Visitor) -> Response<AssistantBody> {
        self.assistant.access().add_headers(visitor, response.headers_mut());
        response
    }

    /// Authenticates a request and answers it.
    async fn answer<B: Body>(
        &self,
        route: &Route,
        request: Request<B>,
    ) -> Result<Response<AssistantBody>, Rejection> {
        let (mut parts, body) = request.into_parts();
        #[cfg(feature = "ws")]
        if route.is_socket() {
            socket::take_bearer(&mut parts);
        }
        if let Some(answer) = self.public(route, &parts) {
            return answer;
        }
        self.admit(route, &mut parts).await?;
        let agent;
        let (assistant, route) = match route {
            Route::Agent(name, route) => {
                agent = agents::visible(&self.assistant, name, &parts.extensions).await?;
                (&agent, &**route)
            }
            route => (&self.assistant, route),
        };
        let mut response = dispatch(assistant, route, Request::from_parts(parts, body)).await?;
        response.body_mut().start().await?;
        Ok(response)
    }

    /// Answers a request that needs no authentication. `None` for others.
    fn public(&self, route: &Route, parts: &Parts) -> Option<Result<Response<AssistantBody>, Rejection>> {
        if *route == Route::McpResource && route.methods().contains(&parts.method) {
            return Some(mcp::describe(&self.assistant));
        }
        // A script element sends no credentials, and a module is the same for every caller.
        #[cfg(feature = "components")]
        if *route == Route::Components && route.methods().contains(&parts.method) {
            return Some(Ok(script::components(parts)));
        }
        #[cfg(feature = "widget")]
        if let Some(script) = widget::script(route, parts) {
            return Some(script);
        }
        // A page sends no credentials but cookies, and has nothing of a user.
        #[cfg(feature = "playground")]
        if let Some(page) = playground::answer(&self.assistant, route, parts) {
            return Some(page);
        }
        None
    }

    /// Authenticates a request, and checks that it has a route.
    async fn admit(&self, route: &Route, parts: &mut Parts) -> Result<(), Rejection> {
        if let Err(error) = self.assistant.access().identify(parts).await {
            let is_mcp = *route == Route::Mcp;
            return Err(if is_mcp { mcp::unauthenticated(&self.assistant, error) } else { error.into() });
        }
        // A request of no route loads no agent.
        if route.is_unknown() {
            return Err(Rejection::not_found());
        }
        if !route.methods().contains(&parts.method) {
            return Err(Rejection::method_not_allowed(route.methods()));
        }
        #[cfg(feature = "playground")]
        playground::mark(&self.assistant, parts);
        Ok(())
    }
}

/// Answers a request of an assistant, or of one of its agents.
async fn dispatch<B: Body>(
    assistant: &Assistant,
    route: &Route,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    match route {
        Route::Run => PostedRun::read_admitted(request, assistant).await?.respond_opened(assistant).await,
        Route::Completion => completion::complete(assistant, request).await,
        Route::Object(name) => object::make(assistant, name.as_deref(), request).await,
        Route::AgUi => ag_ui::run(assistant, request).await,
        Route::Connect => connect::answer(assistant, request).await,
        Route::Stop(chat_id) => stored_run::stop_chat(assistant, chat_id, request).await,
        Route::ChatAgents(chat_id) => chat_agents::list(assistant, chat_id, &request.into_parts().0).await,
        Route::StopAgent(chat_id, agent) => {
            chat_agents::stop(assistant, chat_id, agent, &request.into_parts().0).await
        }
        Route::Stream(chat_id) => {
            resume::stream(assistant, chat_id.as_deref(), &request.into_parts().0).await
        }
        Route::StoredRun(route) => stored_run::answer(assistant, route, request).await,
        Route::Agents => Ok(agents::list(assistant, &request.into_parts().0.extensions).await),
        Route::Manifest => Ok(manifest::answer(assistant, &request.into_parts().0.extensions).await),
        Route::Types => Ok(types::answer(assistant, request.extensions())),
        Route::ChatCompletions => openai::complete(assistant, request).await,
        Route::Models => openai::models(assistant, &request.into_parts().0.extensions).await,
        Route::Model(name) => {
            openai::model(assistant, name.as_deref(), &request.into_parts().0.extensions).await
        }
        Route::CopilotKit(route) => copilotkit::answer(assistant, route, request).await,
        Route::Mcp => match assistant.mcp() {
            Some(endpoint) => mcp::answer(assistant, Arc::clone(endpoint), request).await,
            None => Err(Rejection::not_found()),
        },
        #[cfg(feature = "files")]
        Route::Files => files::store(assistant, request).await,
        #[cfg(feature = "files")]
        Route::File(id) => files::one(assistant, id, &request.into_parts().0).await,
        #[cfg(not(feature = "files"))]
        Route::Files | Route::File(_) => Err(Rejection::not_found()),
        #[cfg(feature = "ws")]
        Route::Socket => socket::accept(assistant, request.into_parts().0).await,
        Route::UiAction(instance, action) => instance::act(assistant, instance, action, request).await,
        Route::UiState(id) => instance::put_state(assistant, id, request).await,
        Route::Threads => threads::list(assistant, request).await,
        Route::Thread(chat) => threads::one(assistant, chat, request).await,
        Route::ThreadMessages(chat) => threads::messages(assistant, chat, request).await,
        Route::App(source, resource) => {
            apps::document(assistant, source, resource, request.extensions()).await
        }
        Route::AppCall(source) => apps::call(assistant, source, request).await,
        Route::AppRead(source) => apps::read(assistant, source, request).await,
        #[cfg(feature = "components")]
        Route::Components => Err(Rejection::not_found()),
        #[cfg(feature = "widget")]
        Route::Widget | Route::WidgetModule(..) => Err(Rejection::not_found()),
        #[cfg(feature = "playground")]
        Route::Playground | Route::PlaygroundScript => Err(Rejection::not_found()),
        Route::Agent(..) | Route::McpResource | Route::Unknown(_) => Err(Rejection::not_found()),
    }
}

impl fmt::Debug for AssistantService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssistantService").field("assistant", &self.assistant).finish()
    }
}

/// The future of an [`AssistantService`]. Dropping it drops the request, and stops the run if it has begun, unless the run is
/// stored.
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
