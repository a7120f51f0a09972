use std::fmt;
use std::future::ready;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Request, Uri};
use http_body_util::Full;
use omniassist_server::endpoint::{McpAnswer, McpBody};
use omniassist_server::{Assistant, McpEndpoint, Principal, ProtectedResource};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::arguments::WrittenArguments;
use super::handler::Handler;
use super::prompt::{Prompt, Prompts};
use super::resource::{Resource, Resources};
use super::settings::Settings;
use super::{stdio, unread};

/// The part of an assistant that clients of MCP reach at `POST /mcp`.
///
/// A client has a model of its own and calls the tools of the assistant, with the same checks as the assistant's model: see
/// [`Assistant::try_call`](omniassist_server::Assistant::try_call). It is offered the tools that its
/// [`Principal`](omniassist_server::Principal) sees and that the server runs. A hidden tool is answered like an unknown one.
///
/// | | |
/// |---|---|
/// | versions | 2026-07-28 and 2025-11-25, and older ones as far as they need no session |
/// | methods | `server/discover`, `initialize`, `ping`, `tools/list`, `tools/call`; with [resources](Self::resource) or [prompts](Self::prompt) also theirs, and `completion/complete` |
/// | media | of tools with [`Attachments`](super::Attachments), and in resources and prompts |
/// | approvals and forms | questions to the user (`input_required`), for clients of 2026-07-28 that take elicitation with forms. For others, a call that needs an approval is an error and does not run |
/// | progress | of a tool's preliminary outputs and an agent's steps, if the client asks for it |
/// | a client that leaves | cancels the call |
///
/// An approval counts for the same call and principal, until it expires, and once; see
/// [`seal`](omniassist_server::seal). An assistant that
/// [trusts its clients](omniassist_server::AssistantBuilder::trust_client_history) has no such proof, and asks nobody here.
///
/// ```
/// use http::{Request, header};
/// use http_body_util::{BodyExt, Full};
/// use omniassist_mcp::Expose;
/// use omniassist_server::http::AssistantService;
/// use omniassist_server::testing::ScriptedProvider;
/// use omniassist_server::tool::{Tool, ToolError};
/// use omniassist_server::{Agent, Assistant};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// async fn open_orders() -> Result<u32, ToolError> {
///     Ok(3)
/// }
///
/// let assistant = Assistant::builder(ScriptedProvider::new())
///     .tool(Tool::new("open_orders", "Counts the open orders", open_orders).read_only())
///     .agent(Agent::new("researcher", "Finds facts."))
///     .mcp_server(Expose::tools().and_agent("researcher").named("acme-desk"))
///     .allow_anonymous()
///     .build()?;
///
/// let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open_orders"}}"#;
/// let request = Request::post("/mcp")
///     .header(header::CONTENT_TYPE, "application/json")
///     .header(header::ACCEPT, "application/json, text/event-stream")
///     .body(Full::<bytes::Bytes>::from(call))?;
/// let answer = AssistantService::new(assistant).handle(request).await.into_body().collect().await?.to_bytes();
/// let answer: serde_json::Value = serde_json::from_slice(&answer)?;
/// assert_eq!(answer["result"]["content"][0]["text"], "3");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "it does nothing until it is given to a builder"]
pub struct Expose {
    settings: Arc<Settings>,
    resource: Option<ProtectedResource>,
    /// Made for the first request.
    service: OnceLock<Service>,
}

type Service = StreamableHttpService<Handler, NeverSessionManager>;

impl Expose {
    /// Exposes the tools of the assistant.
    pub fn tools() -> Self {
        let settings = Settings {
            name: "omniassist".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            agents: Vec::new(),
            resources: Resources::default(),
            prompts: Prompts::default(),
            page_size: 200,
            fresh_for: Duration::from_secs(60),
        };
        Self { settings: Arc::new(settings), resource: None, service: OnceLock::new() }
    }

    fn set(mut self, set: impl FnOnce(&mut Settings)) -> Self {
        set(Arc::make_mut(&mut self.settings));
        self.service = OnceLock::new();
        self
    }

    /// Exposes a named agent of the [builder](omniassist_server::AssistantBuilder::agent) too, as the tool `ask_{name}`, for
    /// the callers that [see](omniassist_server::Agent::visible_to) it. Default: none.
    ///
    /// A call is a run of the agent: its one argument, `message`, is the user's message, and the text of the answer is the
    /// result. It costs what a run costs, and the same limits apply. A tool of the assistant with that name takes precedence.
    pub fn and_agent(self, name: impl Into<String>) -> Self {
        self.set(|settings| settings.agents.push(name.into()))
    }

    /// Exposes data that clients can read, for the callers that [see](Resource::visible_to) it. Default: none.
    ///
    /// It replaces the resource of the same URI or template. To read is no run: the limits and rates of runs do not apply, so a
    /// function that costs much needs a limit of its own.
    pub fn resource(self, resource: Resource) -> Self {
        self.set(|settings| settings.resources.insert(resource))
    }

    /// Exposes a prompt, for the callers that [see](Prompt::visible_to) it. Default: none.
    ///
    /// It replaces the prompt of the same name.
    pub fn prompt(self, prompt: Prompt) -> Self {
        self.set(|settings| settings.prompts.insert(prompt))
    }

    /// Sets the name by which clients show the server. Default: `omniassist`.
    pub fn named(self, name: impl Into<String>) -> Self {
        self.set(|settings| settings.name = name.into())
    }

    /// Sets the version of the server that clients show. Default: that of this crate.
    pub fn version(self, version: impl Into<String>) -> Self {
        self.set(|settings| settings.version = version.into())
    }

    /// Sets the instructions that clients may give their model. Default: none.
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.set(|settings| settings.instructions = Some(instructions.into()))
    }

    /// Sets the number of tools, resources or prompts in one page of a list, at least one. Default: 200.
    pub fn page_size(self, items: usize) -> Self {
        self.set(|settings| settings.page_size = items.max(1))
    }

    /// Sets how long a client may use a list before it asks again. Default: 60 seconds.
    ///
    /// A list is for one principal. A tool that is hidden meanwhile cannot be called.
    pub fn fresh_for(self, time: Duration) -> Self {
        self.set(|settings| settings.fresh_for = time)
    }

    /// States where clients get tokens: the 401 of `/mcp` names the description of this resource. Default: nothing is
    /// stated.
    ///
    /// The tokens are checked by the assistant's [authentication](omniassist_server::AssistantBuilder::authenticate), which
    /// must check their audience as well.
    pub fn authorization(mut self, resource: ProtectedResource) -> Self {
        self.resource = Some(resource);
        self
    }

    /// Serves an assistant to the client at the standard input and output of this process, until the input ends.
    ///
    /// All requests come from this principal: there is no authentication. The limits of an assistant's
    /// [bodies](omniassist_server::core::Limits) hold for each line. Nothing else of the process may write to standard output.
    ///
    /// # Errors
    ///
    /// Returns an error if the output cannot be written, or the client does not begin as the protocol says.
    pub async fn serve_stdio(&self, assistant: Assistant, principal: Principal) -> io::Result<()> {
        let handler = Handler::new(Arc::clone(&self.settings));
        stdio::serve(handler, assistant, principal, tokio::io::stdin(), tokio::io::stdout()).await
    }

    /// Creates the service of `rmcp` for these settings.
    ///
    /// It spawns one task for each request, which is cancelled when the client leaves, and it starts no server. The checks of
    /// host, origin and size are those of the assistant's service and are off here.
    fn service(settings: &Arc<Settings>) -> Service {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(usize::MAX)
            .disable_allowed_origins()
            .disable_allowed_hosts();
        let handler = Handler::new(Arc::clone(settings));
        StreamableHttpService::new(
            move || Ok(handler.clone()),
            Arc::new(NeverSessionManager::default()),
            config,
        )
    }
}

impl McpEndpoint for Expose {
    fn answer(&self, mut request: Request<Bytes>) -> McpAnswer {
        if let Some(refusal) = unread::ambiguous(&request) {
            return Box::pin(ready(refusal));
        }
        if let Some(arguments) = WrittenArguments::read(request.body()) {
            request.extensions_mut().insert(arguments);
        }
        // The host was checked. `rmcp` wants one that it can parse, even where it compares it with nothing.
        request.headers_mut().insert(HOST, HeaderValue::from_static("localhost"));
        *request.uri_mut() = Uri::from_static("/");
        let service = self.service.get_or_init(|| Self::service(&self.settings)).clone();
        Box::pin(async move {
            let (body, reason) = (request.body().clone(), unread::reason(request.headers()));
            let response = service.handle(request.map(Full::new)).await;
            unread::in_form(response.map(|body| -> McpBody { Box::pin(body) }), &body, reason)
        })
    }

    fn protected_resource(&self) -> Option<&ProtectedResource> {
        self.resource.as_ref()
    }
}

impl fmt::Debug for Expose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expose").field("settings", &self.settings).field("resource", &self.resource).finish()
    }
}
