//! CopilotKit's runtime over HTTP, so that a page needs no Node.js server: the routes below `/copilotkit`.
//!
//! Without a store, runs are stateless: there are no threads, a run ends with its response, and `connect` has nothing to
//! show. It answers with an empty stream then, as CopilotKit's own runtime does for an unknown thread.

use bytes::Bytes;
use http::request::Parts;
use http::{Extensions, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body::Body;
use omniassist_core::dialect::ag_ui;
use omniassist_core::{Error, Limits};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::ag_ui as run;
use super::{connect, copilotkit_threads, suggestions};
use crate::engine::ClientRun;
use crate::http::request::{post_headers, receive};
use crate::http::response::{Rejection, reply};
use crate::http::routing::{AgentAction, CopilotKitRoute, Route};
use crate::http::{AssistantBody, agents, event_stream};
use crate::store::{Scope, Which};
use crate::{Assistant, Principal};

/// The release of CopilotKit whose runtime protocol is implemented.
pub(in crate::http) const VERSION: &str = "1.74.0";

/// The methods that the body of the single route may name.
const METHODS: &str =
    "\"info\", \"agent/run\", \"agent/connect\", \"agent/suggest\", \"agent/stop\" or \"resource/request\"";

/// The body of a stop.
const STOP: &str = "an object with nothing but `runId`";

/// Answers a request to one of CopilotKit's routes.
pub(in crate::http) async fn answer<B: Body>(
    assistant: &Assistant,
    route: &CopilotKitRoute,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (mut parts, body) = request.into_parts();
    match route {
        CopilotKitRoute::Info => Ok(reply::json(StatusCode::OK, &info(assistant, &parts.extensions).await)),
        CopilotKitRoute::Threads => copilotkit_threads::list(assistant, &parts.extensions, &parts.uri).await,
        CopilotKitRoute::Thread(thread) => {
            let body = receive::posted(assistant, &mut parts, body).await?;
            let (method, bytes) = (&parts.method, &body.bytes);
            copilotkit_threads::one(assistant, thread, method, &parts.extensions, bytes).await
        }
        CopilotKitRoute::Archive(_) => Err(copilotkit_threads::no_archive()),
        CopilotKitRoute::Single => {
            let body = receive::posted(assistant, &mut parts, body).await?;
            single(assistant, &body.bytes, parts).await
        }
        CopilotKitRoute::Agent { agent, action } => {
            // The body of a stop may be empty. Requiring JSON keeps forms of other pages from stopping runs.
            let body = receive::posted(assistant, &mut parts, body).await?;
            act(assistant, agent, action, body.bytes.clone(), parts).await
        }
    }
}

/// Executes a client's request to an agent.
async fn act(
    assistant: &Assistant,
    agent: &str,
    action: &AgentAction,
    body: Bytes,
    mut parts: Parts,
) -> Result<Response<AssistantBody>, Rejection> {
    let named;
    let assistant = match agent {
        agents::DEFAULT => assistant,
        agent => {
            named = agents::visible(assistant, agent, &parts.extensions).await?;
            &named
        }
    };
    match action {
        AgentAction::Run | AgentAction::Suggest => {
            let posted = ag_ui::read_request(body, assistant.limits())?;
            let suggests = *action == AgentAction::Suggest || suggestions::are_wanted(&posted);
            let posted = if suggests { suggestions::prepare(posted)? } else { posted };
            if !suggests {
                parts.extensions.insert(ClientRun(posted.run_id.clone()));
                if assistant.stores().is_some() {
                    post_headers::keep(&mut parts, assistant.limits())?;
                }
            }
            Ok(run::begin(assistant, posted, parts.extensions).await?)
        }
        AgentAction::Connect => {
            if assistant.stores().is_none() {
                ag_ui::read_request(body, assistant.limits())?;
            } else if let Some(stored) = connect::stored(assistant, body, &parts.extensions).await? {
                return Ok(stored);
            }
            let mut nothing = event_stream::events(AssistantBody::whole(""), ag_ui::HEADERS);
            // hyper sends no length for an empty body over HTTP/2.
            nothing.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(0));
            Ok(nothing)
        }
        AgentAction::Stop(thread) => {
            let named = read_stop(&body, assistant.limits())?;
            let principal = parts.extensions.get::<Principal>().cloned().unwrap_or_default();
            // A stop that comes late must not end the next run of the thread.
            if named.is_some_and(|named| assistant.runs_other(&principal, thread, &named)) {
                return Ok(reply::json(StatusCode::OK, &stop_answer(false)));
            }
            let stopped = match Scope::of(&principal).filter(|_| assistant.stores().is_some()) {
                Some(scope) => {
                    let stopped = assistant.stop_stored(&scope, Which::Chat(thread)).await?;
                    stopped.is_some_and(|(stopped, _)| stopped)
                }
                None => assistant.stop(&principal, thread),
            };
            Ok(reply::json(StatusCode::OK, &stop_answer(stopped)))
        }
    }
}

/// A request to the single route, which combines all others.
#[derive(Deserialize)]
struct Envelope<'a> {
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Params {
    agent_id: Option<String>,
    thread_id: Option<String>,
    path: Option<String>,
    http_method: Option<String>,
}

async fn single(
    assistant: &Assistant,
    body: &Bytes,
    parts: Parts,
) -> Result<Response<AssistantBody>, Rejection> {
    let envelope: Envelope<'_> = receive::object(body, assistant.limits(), "an object with `method`")?;
    let params = match envelope.params {
        Some(raw) => serde_json::from_str(raw.get())
            .map_err(|_| Error::invalid_field("params", "an object of strings", "something else"))?,
        None => Params::default(),
    };
    let required = |value: Option<String>, path: &'static str| {
        value.ok_or_else(|| Error::invalid_field(path, "a string", "nothing"))
    };
    let action = match envelope.method.as_deref() {
        Some("info") => return Ok(reply::json(StatusCode::OK, &info(assistant, &parts.extensions).await)),
        Some("agent/run") => AgentAction::Run,
        Some("agent/connect") => AgentAction::Connect,
        Some("agent/suggest") => AgentAction::Suggest,
        Some("agent/stop") => AgentAction::Stop(required(params.thread_id, "params.threadId")?),
        Some("resource/request") => {
            let path = required(params.path, "params.path")?;
            let method = params.http_method.unwrap_or_default();
            let inner = envelope.body.map_or_else(Bytes::new, |raw| body.slice_ref(raw.get().as_bytes()));
            return resource(assistant, &path, &method, &inner, &parts.extensions).await;
        }
        Some(_) => return Err(Error::invalid_field("method", METHODS, "another string").into()),
        None => return Err(Error::invalid_field("method", "a string", "nothing").into()),
    };
    let agent = required(params.agent_id, "params.agentId")?;
    let inner = envelope.body.map_or_else(Bytes::new, |raw| body.slice_ref(raw.get().as_bytes()));
    act(assistant, &agent, &action, inner, parts).await
}

/// Answers a request for a resource, which has the path and the method of its own route.
async fn resource(
    assistant: &Assistant,
    path: &str,
    method: &str,
    body: &Bytes,
    extensions: &Extensions,
) -> Result<Response<AssistantBody>, Rejection> {
    let method = match method.to_ascii_uppercase().as_str() {
        "" | "GET" => Method::GET,
        "PATCH" => Method::PATCH,
        "DELETE" => Method::DELETE,
        "POST" => Method::POST,
        _ => return Err(Rejection::not_found()),
    };
    let Ok(uri) = path.parse::<Uri>() else { return Err(Rejection::not_found()) };
    let route =
        CopilotKitRoute::parse(uri.path()).map(|route| Route::CopilotKit(route).of_assistant(assistant));
    match route {
        Some(Route::CopilotKit(route)) => match route {
            CopilotKitRoute::Threads if method == Method::GET => {
                copilotkit_threads::list(assistant, extensions, &uri).await
            }
            CopilotKitRoute::Thread(thread) if matches!(method, Method::PATCH | Method::DELETE) => {
                copilotkit_threads::one(assistant, &thread, &method, extensions, body).await
            }
            CopilotKitRoute::Archive(_) if method == Method::POST => Err(copilotkit_threads::no_archive()),
            _ => Err(Rejection::not_found()),
        },
        _ => Err(Rejection::not_found()),
    }
}

/// Reads the body of a stop: empty, or an object with the client's id of the run.
fn read_stop(body: &[u8], limits: &Limits) -> Result<Option<ClientRun>, Error> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let mut object: Map<String, Value> = receive::object(body, limits, STOP)?;
    let named = object.remove("runId");
    if !object.is_empty() {
        return Err(Error::invalid_field("body", STOP, "another key"));
    }
    match named {
        Some(Value::String(named)) => Ok(Some(ClientRun(named.into()))),
        Some(_) => Err(Error::invalid_field("runId", "a string", "something else")),
        None => Ok(None),
    }
}

fn stop_answer(stopped: bool) -> Value {
    if stopped {
        let interrupt = json!({"type": "RUN_ERROR", "message": "The run was stopped.", "code": "STOPPED"});
        return json!({"stopped": true, "interrupt": interrupt});
    }
    json!({"stopped": false, "message": "The thread has no run under way."})
}

/// Returns the description of an agent.
fn agent_info(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "className": "HttpAgent",
        "capabilities": {
            "identity": {"name": name, "type": "omniassist", "version": env!("CARGO_PKG_VERSION")},
            "transport": {"streaming": true},
            "tools": {"supported": true, "parallelCalls": true, "clientProvided": true},
            "state": {"snapshots": true, "deltas": true},
            "reasoning": {"supported": true, "streaming": true, "encrypted": true},
            "humanInTheLoop": {
                "supported": true, "approvals": true, "interrupts": true, "approveWithEdits": true,
            },
        },
    })
}

/// Returns the description of the runtime, with the agents that the caller sees. It promises routes of threads if there is a
/// store, and no web sockets.
async fn info(assistant: &Assistant, extensions: &Extensions) -> Value {
    let is_stored = assistant.stores().is_some();
    let endpoints = json!({
        "list": is_stored, "inspect": false, "mutations": is_stored, "realtimeMetadata": false,
    });
    let mut all = Map::from_iter([(agents::DEFAULT.to_owned(), agent_info(agents::DEFAULT, ""))]);
    let agents = assistant.reachable_agents(extensions).await;
    all.extend(agents.iter().map(|agent| (agent.id.to_string(), agent_info(&agent.id, &agent.description))));
    let mut info = json!({
        "version": VERSION,
        "mode": "sse",
        "agents": all,
        "audioFileTranscriptionEnabled": false,
        "threadEndpoints": endpoints,
        "suggestions": true,
        "a2uiEnabled": false,
        "openGenerativeUIEnabled": false,
        "telemetryDisabled": true,
    });
    if let Some(info) = info.as_object_mut().filter(|_| is_stored) {
        let single = json!({"resourceOperations": true, "threadEndpoints": endpoints});
        info.insert("singleRoute".to_owned(), single);
    }
    info
}
