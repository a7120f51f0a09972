use http::{Extensions, Method, Response, StatusCode};
use omniassist_core::{ToolApp, ToolSide};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::dialects::copilotkit;
use super::response::reply;
use super::routing::{CopilotKitRoute, Route};
use super::{AssistantBody, agents};
use crate::Assistant;
use crate::tool::RegisteredTool;

/// A tool in the manifest.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolEntry<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app: Option<&'a ToolApp>,
    description: &'a str,
    side: &'static str,
    /// `true` if clients get a summary of the arguments with each call.
    has_summary: bool,
    input_schema: &'a Value,
}

impl<'a> ToolEntry<'a> {
    fn of(tool: &'a RegisteredTool) -> Self {
        let spec = tool.spec();
        Self {
            name: &spec.name,
            title: spec.title.as_deref(),
            app: spec.app.as_deref(),
            description: &spec.description,
            side: match spec.side {
                ToolSide::Server => "server",
                ToolSide::FrontEnd => "front-end",
            },
            has_summary: tool.has_summary(),
            input_schema: &spec.input_schema,
        }
    }
}

/// A component in the manifest. Its tool is one of the tools too.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ComponentEntry<'a> {
    name: &'a str,
    /// The name of the tool with which the model shows it.
    tool: &'a str,
    description: &'a str,
    environment: &'static str,
    /// `awaiting` if the user answers in it, otherwise `display`.
    kind: &'static str,
    props_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    state_schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_state_schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a Value>,
    actions: Vec<ActionEntry<'a>>,
}

/// An action of a component in the manifest.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ActionEntry<'a> {
    name: &'a str,
    payload_schema: &'a Value,
}

impl<'a> ComponentEntry<'a> {
    /// Returns the entry of the component that this tool shows, if it shows one.
    fn of(tool: &'a RegisteredTool) -> Option<Self> {
        let (spec, component) = (tool.spec(), tool.component()?);
        let actions = tool.actions().iter();
        Some(Self {
            name: &component.name,
            tool: &spec.name,
            description: &spec.description,
            environment: component.environment.as_str(),
            kind: if component.output.is_some() { "awaiting" } else { "display" },
            props_schema: &component.props,
            state_schema: component.state.as_ref().map(|state| &state.schema),
            server_state_schema: component.server_state.as_ref(),
            output_schema: component.output.as_ref().map(|output| &output.schema),
            actions: actions
                .map(|(name, tool)| ActionEntry { name, payload_schema: &tool.spec().input_schema })
                .collect(),
        })
    }
}

/// Answers `GET /manifest.json`.
pub(super) async fn answer(assistant: &Assistant, extensions: &Extensions) -> Response<AssistantBody> {
    reply::json(StatusCode::OK, &manifest(assistant, extensions).await)
}

/// Returns the document of `GET /manifest.json`: the tools, components and agents that the caller sees, the dialects with their
/// routes, and the pages of the application. The document of an agent has its name, and paths below it.
async fn manifest(assistant: &Assistant, extensions: &Extensions) -> Value {
    let tools = assistant.visible_tools(extensions);
    let components: Vec<_> = tools.registered().filter_map(ComponentEntry::of).collect();
    let tools: Vec<_> = tools.registered().map(ToolEntry::of).collect();
    let (provider, model) = assistant.model();
    let (key, agents) = match assistant.as_agent() {
        Some((name, _)) => ("agent", json!(&**name)),
        None => ("agents", agents::entries(assistant, extensions).await),
    };
    let sources = assistant.visible_sources(extensions).await;
    let sources: Vec<_> = sources
        .iter()
        .map(|source| json!({ "name": &*source.name, "state": source.state.as_str() }))
        .collect();
    let mut manifest = json!({
        key: agents,
        "name": "omniassist",
        "version": env!("CARGO_PKG_VERSION"),
        "provider": provider,
        "model": model,
        "tools": tools,
        "components": components,
        "toolSources": sources,
        "dialects": dialects(assistant),
    });
    if let (Some(pages), Some(members)) = (assistant.pages(), manifest.as_object_mut()) {
        members.insert("pages".to_owned(), json!(pages));
    }
    manifest
}

/// Returns the dialects with the routes that begin a run.
fn dialects(assistant: &Assistant) -> Vec<Map<String, Value>> {
    const SSE: &str = "text/event-stream";
    const NDJSON: &str = "application/x-ndjson";
    const TEXT: &str = "text/plain";
    let dialect = |name: &str, version: &str, route: &Route, content_types: &[&str]| {
        let method = route.methods().first().map(Method::as_str);
        let path = route.path();
        let members = [
            ("name", json!(name)),
            ("version", json!(version)),
            ("method", json!(method)),
            ("path", json!(path)),
            ("contentTypes", json!(content_types)),
        ];
        Map::from_iter(members.map(|(key, value)| (key.to_owned(), value)))
    };
    let mut text_stream = dialect("ai-sdk-text-stream", "v1", &Route::Run, &[TEXT]);
    text_stream.insert("path".to_owned(), "/?protocol=text".into());
    let mut object = dialect("ai-sdk-object", "v1", &Route::Object(None), &[TEXT]);
    object.insert("objects".to_owned(), objects(assistant).into());
    let copilotkit_route = Route::CopilotKit(CopilotKitRoute::Single);
    let mut openai =
        dialect("openai-chat-completions", "v1", &Route::ChatCompletions, &[SSE, "application/json"]);
    openai.insert("model".to_owned(), assistant.openai_endpoint().model.as_str().into());
    let mut dialects = vec![
        dialect("ai-sdk-ui-message-stream", "v1", &Route::Run, &[SSE, NDJSON]),
        text_stream,
        dialect("ai-sdk-completion", "v1", &Route::Completion, &[SSE, NDJSON, TEXT]),
        object,
        dialect("ag-ui", "1.0", &Route::AgUi, &[SSE]),
        openai,
    ];
    // Its clients name the agent in the body.
    if assistant.as_agent().is_none() {
        dialects.push(dialect("copilotkit", copilotkit::VERSION, &copilotkit_route, &[SSE]));
    }
    dialects
}

fn objects(assistant: &Assistant) -> Vec<Value> {
    let objects = assistant.objects().iter();
    objects.map(|object| json!({ "name": object.name(), "schema": object.schema() })).collect()
}
