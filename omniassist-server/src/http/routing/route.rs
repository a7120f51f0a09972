use http::Method;
use percent_encoding::percent_decode_str;

use super::run_route::RunRoute;
use crate::Assistant;
use crate::endpoint::METADATA_PATH;
use crate::http::response::ErrorFormat;

/// A route of the service, parsed from a request's path below the mount point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) enum Route {
    Run,
    Completion,
    Object(Option<String>),
    AgUi,
    /// Connects an AG-UI client to a stored thread.
    Connect,
    Stop(String),
    /// The agents that work for the run of a chat.
    ChatAgents(String),
    /// Stops one of them: the chat, and the agent.
    StopAgent(String, String),
    /// `None` for a name that is not UTF-8.
    Stream(Option<String>),
    StoredRun(RunRoute),
    Manifest,
    Types,
    ChatCompletions,
    Models,
    /// `None` for a name that is not UTF-8.
    Model(Option<String>),
    CopilotKit(CopilotKitRoute),
    /// The Model Context Protocol.
    Mcp,
    /// The description of `/mcp` for OAuth clients.
    McpResource,
    /// The list of the named agents.
    Agents,
    /// A route of a named agent, below `/agents/{name}` or `/api/run/{name}`.
    Agent(String, Box<Self>),
    Files,
    /// The id of a file, or another text.
    File(String),
    /// The WebSocket of a tree of agents.
    #[cfg(feature = "ws")]
    Socket,
    /// The built-in components, as a module for web pages.
    #[cfg(feature = "components")]
    Components,
    /// The short module that loads the widget.
    #[cfg(feature = "widget")]
    Widget,
    /// A module of the widget: its folder, and its name.
    #[cfg(feature = "widget")]
    WidgetModule(String, String),
    /// The page of the playground.
    #[cfg(feature = "playground")]
    Playground,
    #[cfg(feature = "playground")]
    PlaygroundScript,
    /// An action of a component: the instance, and the action.
    UiAction(String, String),
    /// The state of an instance of a component.
    UiState(String),
    Threads,
    /// The name of a stored chat.
    Thread(String),
    ThreadMessages(String),
    /// A document of an app: the name of its source, and its address without `ui://`.
    App(String, String),
    /// A call of a tool by an app of this source.
    AppCall(String),
    /// A resource of this source for one of its apps.
    AppRead(String),
    /// No route; carries the error format of the paths around it.
    Unknown(ErrorFormat),
}

/// A route of CopilotKit's runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) enum CopilotKitRoute {
    /// The route whose body names another route.
    Single,
    Info,
    Threads,
    /// A stored thread.
    Thread(String),
    /// Archives a stored thread, which this server does not.
    Archive(String),
    Agent {
        agent: String,
        action: AgentAction,
    },
}

/// A client's request to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) enum AgentAction {
    Run,
    Connect,
    Suggest,
    /// Stops the run of this thread.
    Stop(String),
}

impl Route {
    pub(in crate::http) fn parse(path: &str) -> Self {
        // A chat may be named `agents`; its own routes take precedence.
        let of_agent = path.strip_prefix("/agents/").filter(|rest| !is_chat_route(rest));
        match of_agent.or_else(|| path.strip_prefix("/api/run/")) {
            Some(rest) if !rest.is_empty() => Self::of_agent(rest),
            _ => Self::parse_plain(path),
        }
    }

    /// Parses the path of the assistant, or of an agent below its name.
    fn parse_plain(path: &str) -> Self {
        // A slash at the end would change the addresses in the page.
        #[cfg(feature = "playground")]
        if path == "/playground" {
            return Self::Playground;
        }
        let path = path.trim_end_matches('/');
        let route = Self::of_name(path).or_else(|| Self::of_copilotkit(path));
        route.or_else(|| Self::of_group(path)).unwrap_or_else(|| Self::of_chat(path))
    }

    /// Parses a path without parameters.
    fn of_name(path: &str) -> Option<Self> {
        Some(match path {
            "" => Self::Run,
            "/completion" => Self::Completion,
            "/object" => Self::Object(None),
            "/ag-ui" => Self::AgUi,
            "/ag-ui/connect" => Self::Connect,
            "/manifest.json" => Self::Manifest,
            "/types.d.ts" => Self::Types,
            "/files" => Self::Files,
            "/threads" => Self::Threads,
            #[cfg(feature = "components")]
            "/components.js" => Self::Components,
            #[cfg(feature = "widget")]
            "/widget.js" => Self::Widget,
            #[cfg(feature = "playground")]
            "/playground/page.js" => Self::PlaygroundScript,
            "/agents" => Self::Agents,
            "/mcp" => Self::Mcp,
            #[cfg(feature = "ws")]
            "/ws" => Self::Socket,
            _ if path.strip_prefix("/mcp") == Some(METADATA_PATH) => Self::McpResource,
            _ => return None,
        })
    }

    fn of_copilotkit(path: &str) -> Option<Self> {
        let rest =
            path.strip_prefix("/copilotkit").filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        if is_chat_route(rest.trim_start_matches('/')) {
            return None;
        }
        Some(CopilotKitRoute::parse(rest).map_or(Self::Unknown(ErrorFormat::CopilotKit), Self::CopilotKit))
    }

    /// Parses a path below the name of a group of routes. A chat may have such a name, so its own routes take precedence.
    fn of_group(path: &str) -> Option<Self> {
        let (group, rest) = path.strip_prefix('/')?.split_once('/')?;
        match group {
            "apps" => Self::of_app(rest),
            #[cfg(feature = "widget")]
            "w" => Self::of_widget(rest),
            _ if is_chat_route(rest) => None,
            "v1" => Some(Self::of_openai(rest)),
            "object" => Some(Self::Object(Some(rest.to_owned()))),
            "files" => Some(Self::File(rest.to_owned())),
            "threads" => Some(Self::of_threads(rest)),
            "ui" => Some(Self::of_instance(rest).unwrap_or(Self::Unknown(ErrorFormat::Json))),
            "runs" => {
                let route = RunRoute::parse(rest, decoded);
                Some(route.map_or(Self::Unknown(ErrorFormat::Json), Self::StoredRun))
            }
            _ => None,
        }
    }

    /// Parses the path below `/v1/`.
    fn of_openai(path: &str) -> Self {
        match (path, path.strip_prefix("models/")) {
            ("chat/completions", _) => Self::ChatCompletions,
            ("models", _) => Self::Models,
            (_, Some(name)) => Self::Model(decoded(name)),
            _ => Self::Unknown(ErrorFormat::OpenAi),
        }
    }

    /// Parses the path below `/threads/`.
    fn of_threads(path: &str) -> Self {
        let (chat, route): (_, fn(String) -> Self) = match path.split_once('/') {
            None => (Some(path), Self::Thread),
            Some((chat, "messages")) => (Some(chat), Self::ThreadMessages),
            Some(_) => (None, Self::Thread),
        };
        chat.and_then(decoded).map_or(Self::Unknown(ErrorFormat::Json), route)
    }

    /// Parses the path below `/apps/`.
    fn of_app(path: &str) -> Option<Self> {
        let (source, rest) = path.split_once('/')?;
        if source.is_empty() || rest.is_empty() {
            return None;
        }
        let source = source.to_owned();
        Some(match rest {
            "call" => Self::AppCall(source),
            "read" => Self::AppRead(source),
            rest => decoded(rest).map_or(Self::Unknown(ErrorFormat::Json), |rest| Self::App(source, rest)),
        })
    }

    /// Parses the path below `/w/`. The agents of a chat may be those of one that is named `w`.
    #[cfg(feature = "widget")]
    fn of_widget(path: &str) -> Option<Self> {
        let (folder, name) = path.split_once('/')?;
        let is_module = folder != "agents" && !name.contains('/');
        is_module.then(|| Self::WidgetModule(folder.to_owned(), name.to_owned()))
    }

    /// Parses the path below `/ui/`.
    fn of_instance(path: &str) -> Option<Self> {
        let (instance, action) = path.split_once('/')?;
        let (instance, action) = (decoded(instance)?, decoded(action)?);
        match &*action {
            "state" => Some(Self::UiState(instance)),
            _ => (!action.contains('/')).then_some(Self::UiAction(instance, action)),
        }
    }

    fn of_chat(path: &str) -> Self {
        let chat = path.strip_prefix('/').and_then(|rest| rest.split_once('/'));
        match chat.filter(|(chat_id, _)| !chat_id.is_empty()) {
            Some((chat_id, "stream")) => Self::Stream(decoded(chat_id)),
            Some((chat_id, "stop")) => decoded(chat_id).map_or(Self::Unknown(ErrorFormat::Json), Self::Stop),
            Some((chat_id, rest)) => {
                Self::of_agents(chat_id, rest).unwrap_or(Self::Unknown(ErrorFormat::Json))
            }
            None => Self::Unknown(ErrorFormat::Json),
        }
    }

    /// Parses the path below a chat for the agents of its run. The paths below `/agents`, and those of other routes with such
    /// an end, are not among them; a client of such a chat encodes a letter of its name.
    fn of_agents(chat_id: &str, rest: &str) -> Option<Self> {
        let below = rest.strip_prefix("agents")?;
        if below.is_empty() {
            return decoded(chat_id).map(Self::ChatAgents);
        }
        let agent = below.strip_prefix('/')?.strip_suffix("/stop")?;
        let is_one = !agent.is_empty() && !agent.contains('/');
        is_one.then(|| Some(Self::StopAgent(decoded(chat_id)?, decoded(agent)?)))?
    }

    /// Parses the name of an agent, and the path below it. What does not belong to one agent is unknown there.
    fn of_agent(path: &str) -> Self {
        let (name, rest) = path.find('/').map_or((path, ""), |at| path.split_at(at));
        // An agent has no agents, so a path of any length is parsed once.
        let route = match Self::parse_plain(rest) {
            #[cfg(feature = "playground")]
            Self::Playground | Self::PlaygroundScript => Self::Unknown(ErrorFormat::Json),
            Self::Agents
            | Self::CopilotKit(_)
            | Self::Files
            | Self::File(_)
            | Self::Mcp
            | Self::McpResource
            | Self::StoredRun(_)
            | Self::Threads
            | Self::Thread(_)
            | Self::ThreadMessages(_) => Self::Unknown(ErrorFormat::Json),
            route => route,
        };
        // No agent has an empty name.
        Self::Agent(decoded(name).unwrap_or_default(), Box::new(route))
    }

    /// Turns a route of what is stored into an unknown one if the assistant has no store for it.
    pub(in crate::http) fn of_assistant(self, assistant: &Assistant) -> Self {
        #[cfg(feature = "files")]
        let has_files = assistant.library().is_some();
        #[cfg(not(feature = "files"))]
        let has_files = false;
        match self {
            Self::Agent(name, route) => Self::Agent(name, Box::new(route.of_assistant(assistant))),
            Self::Files | Self::File(_) if !has_files => Self::Unknown(ErrorFormat::Json),
            #[cfg(feature = "playground")]
            Self::Playground | Self::PlaygroundScript if assistant.playground().is_none() => {
                Self::Unknown(ErrorFormat::Json)
            }
            Self::Mcp | Self::McpResource if assistant.mcp().is_none() => Self::Unknown(ErrorFormat::Json),
            Self::Threads
            | Self::Thread(_)
            | Self::ThreadMessages(_)
            | Self::StoredRun(_)
            | Self::ChatAgents(_)
            | Self::Connect
                if assistant.stores().is_none() =>
            {
                Self::Unknown(ErrorFormat::Json)
            }
            Self::CopilotKit(CopilotKitRoute::Thread(_) | CopilotKitRoute::Archive(_))
                if assistant.stores().is_none() =>
            {
                Self::Unknown(ErrorFormat::CopilotKit)
            }
            route => route,
        }
    }

    /// Returns `true` if the route is a WebSocket.
    #[cfg(feature = "ws")]
    pub(in crate::http) fn is_socket(&self) -> bool {
        match self {
            Self::Agent(_, route) => route.is_socket(),
            route => *route == Self::Socket,
        }
    }

    /// Returns `true` for a path of no route, also below an agent.
    pub(in crate::http) fn is_unknown(&self) -> bool {
        match self {
            Self::Agent(_, route) => route.is_unknown(),
            route => matches!(route, Self::Unknown(_)),
        }
    }

    /// Returns the methods that the route takes.
    pub(in crate::http) fn methods(&self) -> &'static [Method] {
        const POST: &[Method] = &[Method::POST];
        const GET: &[Method] = &[Method::GET];
        const GET_OR_HEAD: &[Method] = &[Method::GET, Method::HEAD];
        match self {
            Self::Agent(_, route) => route.methods(),
            Self::Agents
            | Self::Manifest
            | Self::Types
            | Self::Models
            | Self::Model(_)
            | Self::App(..)
            | Self::McpResource => GET_OR_HEAD,
            Self::Threads | Self::ThreadMessages(_) | Self::ChatAgents(_) => GET_OR_HEAD,
            Self::Thread(_) => &[Method::GET, Method::HEAD, Method::PATCH, Method::DELETE],
            Self::File(_) => &[Method::GET, Method::HEAD, Method::DELETE],
            Self::CopilotKit(CopilotKitRoute::Info | CopilotKitRoute::Threads) => GET_OR_HEAD,
            Self::CopilotKit(CopilotKitRoute::Thread(_)) => &[Method::PATCH, Method::DELETE],
            #[cfg(feature = "components")]
            Self::Components => GET_OR_HEAD,
            #[cfg(feature = "widget")]
            Self::Widget | Self::WidgetModule(..) => GET_OR_HEAD,
            #[cfg(feature = "playground")]
            Self::Playground | Self::PlaygroundScript => GET_OR_HEAD,
            Self::UiState(_) => &[Method::PUT],
            Self::Stream(_) => GET,
            #[cfg(feature = "ws")]
            Self::Socket => GET,
            Self::StoredRun(route) if route.is_get() => GET,
            Self::Unknown(_) => &[],
            _ => POST,
        }
    }

    /// Returns the format in which the clients of the route read errors.
    pub(in crate::http) fn error_format(&self) -> ErrorFormat {
        match self {
            Self::ChatCompletions | Self::Models | Self::Model(_) => ErrorFormat::OpenAi,
            Self::CopilotKit(_) => ErrorFormat::CopilotKit,
            Self::Mcp => ErrorFormat::JsonRpc,
            Self::Agent(_, route) => route.error_format(),
            Self::Unknown(format) => *format,
            _ => ErrorFormat::Json,
        }
    }

    /// Returns the path as documentation and the manifest write it.
    pub(in crate::http) fn path(&self) -> &'static str {
        match self {
            Self::Run => "/",
            Self::Completion => "/completion",
            Self::Object(_) => "/object/{name}",
            Self::AgUi => "/ag-ui",
            Self::Connect => "/ag-ui/connect",
            Self::Stop(_) => "/{chat_id}/stop",
            Self::ChatAgents(_) => "/{chat_id}/agents",
            Self::StopAgent(..) => "/{chat_id}/agents/{agent}/stop",
            Self::Stream(_) => "/{chat_id}/stream",
            Self::StoredRun(route) => route.path(),
            Self::Manifest => "/manifest.json",
            Self::Types => "/types.d.ts",
            Self::ChatCompletions => "/v1/chat/completions",
            Self::Models => "/v1/models",
            Self::Model(_) => "/v1/models/{model}",
            Self::CopilotKit(_) => "/copilotkit",
            Self::Mcp => "/mcp",
            Self::McpResource => "/mcp/.well-known/oauth-protected-resource",
            Self::Agents => "/agents",
            Self::Agent(..) => "/agents/{name}",
            Self::Files => "/files",
            Self::File(_) => "/files/{id}",
            #[cfg(feature = "ws")]
            Self::Socket => "/ws",
            #[cfg(feature = "components")]
            Self::Components => "/components.js",
            #[cfg(feature = "widget")]
            Self::Widget => "/widget.js",
            #[cfg(feature = "widget")]
            Self::WidgetModule(..) => "/w/{folder}/{module}",
            #[cfg(feature = "playground")]
            Self::Playground => "/playground",
            #[cfg(feature = "playground")]
            Self::PlaygroundScript => "/playground/page.js",
            Self::UiAction(..) => "/ui/{instance}/{action}",
            Self::UiState(_) => "/ui/{instance}/state",
            Self::Threads => "/threads",
            Self::Thread(_) => "/threads/{chat}",
            Self::ThreadMessages(_) => "/threads/{chat}/messages",
            Self::App(..) => "/apps/{server}/{resource}",
            Self::AppCall(_) => "/apps/{server}/call",
            Self::AppRead(_) => "/apps/{server}/read",
            Self::Unknown(_) => "",
        }
    }
}

impl CopilotKitRoute {
    /// Parses the path below `/copilotkit`.
    pub(in crate::http) fn parse(path: &str) -> Option<Self> {
        let path = path.trim_matches('/');
        let segments: Option<Vec<String>> =
            path.split('/').filter(|_| !path.is_empty()).map(decoded).collect();
        let segments = segments?;
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let (agent, action) = match segments.as_slice() {
            [] => return Some(Self::Single),
            ["info"] => return Some(Self::Info),
            ["threads"] => return Some(Self::Threads),
            ["threads", thread] => return Some(Self::Thread((*thread).to_owned())),
            ["threads", thread, "archive"] => return Some(Self::Archive((*thread).to_owned())),
            ["agent", agent, "run"] => (agent, AgentAction::Run),
            ["agent", agent, "connect"] => (agent, AgentAction::Connect),
            ["agent", agent, "suggest"] => (agent, AgentAction::Suggest),
            ["agent", agent, "stop", thread] => (agent, AgentAction::Stop((*thread).to_owned())),
            _ => return None,
        };
        Some(Self::Agent { agent: (*agent).to_owned(), action })
    }
}

/// Returns `true` for the end of a path that belongs to a chat, whatever its name is.
fn is_chat_route(rest: &str) -> bool {
    matches!(rest.trim_end_matches('/'), "stop" | "stream")
}

fn decoded(segment: &str) -> Option<String> {
    Some(percent_decode_str(segment).decode_utf8().ok()?.into_owned())
}
