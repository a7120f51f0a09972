//! CopilotKit's runtime over HTTP, so that a page needs no Node.js server: the routes below `/copilotkit`.
//!
//! Runs are stateless here. So there are no stored threads, a run has no life of its own behind its response, and
//! `connect` has nothing to replay: it answers with an empty stream, as CopilotKit's own runtime does for a thread that
//! it does not know.

use bytes::Bytes;
use http::{Extensions, Method, Request, Response, StatusCode, header};
use http_body::Body;
use omniassist_core::dialect::ag_ui;
use omniassist_core::{Error, ErrorCode, Limits, json_guard};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::ag_ui as run;
use super::read::{Refusal, is_json, json_body, read_body};
use super::{AssistantBody, reply, suggest};
use crate::{Assistant, Principal};

/// The release of CopilotKit whose runtime this is like.
pub(super) const VERSION: &str = "1.74.0";

/// The one agent that there is. The name is the one that CopilotKit's hooks use where the page says none.
const AGENT: &str = "default";

const BASE: &str = "/copilotkit";

/// What the single route may be asked for.
const METHODS: &str =
    "\"info\", \"agent/run\", \"agent/connect\", \"agent/suggest\", \"agent/stop\" or \"resource/request\"";

/// Whether a path is one of CopilotKit's.
pub(super) fn has(path: &str) -> bool {
    path.strip_prefix(BASE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What a request wants.
#[derive(Debug, PartialEq, Eq)]
enum Route {
    /// `POST /copilotkit`, which names another route in its body.
    Single,
    Info,
    Run {
        agent: String,
    },
    Connect {
        agent: String,
    },
    Suggest {
        agent: String,
    },
    Stop {
        agent: String,
        thread: String,
    },
    Threads,
}

impl Route {
    fn of(path: &str) -> Option<Self> {
        let rest = path.strip_prefix(BASE)?.trim_matches('/');
        let mut segments = Vec::new();
        for segment in rest.split('/').filter(|_| !rest.is_empty()) {
            segments.push(percent_decode_str(segment).decode_utf8().ok()?.into_owned());
        }
        let words: Vec<&str> = segments.iter().map(String::as_str).collect();
        Some(match words.as_slice() {
            [] => Self::Single,
            ["info"] => Self::Info,
            ["agent", agent, "run"] => Self::Run { agent: (*agent).to_owned() },
            ["agent", agent, "connect"] => Self::Connect { agent: (*agent).to_owned() },
            ["agent", agent, "suggest"] => Self::Suggest { agent: (*agent).to_owned() },
            ["agent", agent, "stop", thread] => {
                Self::Stop { agent: (*agent).to_owned(), thread: (*thread).to_owned() }
            }
            ["threads"] => Self::Threads,
            _ => return None,
        })
    }

    /// The methods that it takes.
    fn methods(&self) -> &'static str {
        match self {
            Self::Info | Self::Threads => "GET, HEAD",
            _ => "POST",
        }
    }

    fn takes(&self, method: &Method) -> bool {
        self.methods().split(", ").any(|name| name == method.as_str())
    }
}

/// Answers a request whose path is one of CopilotKit's.
pub(super) async fn answer<B: Body>(assistant: &Assistant, request: Request<B>) -> Response<AssistantBody> {
    let Some(route) = Route::of(request.uri().path()) else { return not_found() };
    if !route.takes(request.method()) {
        return method_not_allowed(route.methods());
    }
    let limits = assistant.limits();
    match route {
        Route::Info => reply::json(StatusCode::OK, &info()),
        Route::Threads => reply::json(StatusCode::OK, &threads()),
        Route::Single | Route::Run { .. } | Route::Connect { .. } | Route::Suggest { .. } => {
            let (parts, body) = request.into_parts();
            match json_body(&parts.headers, body, limits).await {
                Ok(body) => {
                    let answer = match route {
                        Route::Single => single(assistant, &body, parts.extensions),
                        route => agent(assistant, &route, body, parts.extensions),
                    };
                    answer.unwrap_or_else(|refusal| refused(&refusal))
                }
                Err(refusal) => unreadable(&refusal),
            }
        }
        Route::Stop { .. } => {
            let (parts, body) = request.into_parts();
            // A form of another page cannot say so: nobody else's page stops a run.
            if !is_json(&parts.headers) {
                return unreadable(&Refusal::NotJson);
            }
            match read_body(body, limits.max_body_bytes).await {
                Ok(body) => agent(assistant, &route, body, parts.extensions)
                    .unwrap_or_else(|refusal| refused(&refusal)),
                Err(refusal) => unreadable(&refusal),
            }
        }
    }
}

/// Answers what is asked of an agent.
fn agent(
    assistant: &Assistant,
    route: &Route,
    body: Bytes,
    extensions: Extensions,
) -> Result<Response<AssistantBody>, Error> {
    match route {
        Route::Run { agent }
        | Route::Connect { agent }
        | Route::Suggest { agent }
        | Route::Stop { agent, .. }
            if agent != AGENT =>
        {
            Ok(agent_not_found(agent))
        }
        Route::Run { .. } | Route::Suggest { .. } => {
            let posted = ag_ui::read_request(body, assistant.limits())?;
            if matches!(route, Route::Suggest { .. }) || suggest::is_wanted(&posted) {
                return run::begin(assistant, suggest::prepare(posted)?, extensions);
            }
            run::begin(assistant, posted, extensions)
        }
        Route::Connect { .. } => {
            ag_ui::read_request(body, assistant.limits())?;
            let mut nothing = reply::events(AssistantBody::whole(""), ag_ui::HEADERS);
            // Of an empty body over HTTP/2, hyper does not say the length itself.
            nothing.headers_mut().insert(header::CONTENT_LENGTH, http::HeaderValue::from(0));
            Ok(nothing)
        }
        Route::Stop { thread, .. } => {
            check_stop(&body, assistant.limits())?;
            let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
            let stopped = assistant.stop(&principal, thread);
            Ok(reply::json(StatusCode::OK, &stop_answer(stopped)))
        }
        _ => Ok(not_found()),
    }
}

/// A request to the one route that stands for all.
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

fn single(
    assistant: &Assistant,
    body: &Bytes,
    extensions: Extensions,
) -> Result<Response<AssistantBody>, Error> {
    let envelope: Envelope<'_> = serde_json::from_slice(body).map_err(Error::invalid_json)?;
    let params = match envelope.params {
        Some(raw) => serde_json::from_str(raw.get())
            .map_err(|_| Error::invalid_field("params", "an object of strings", "something else"))?,
        None => Params::default(),
    };
    let inner = envelope.body.map_or_else(Bytes::new, |raw| body.slice_ref(raw.get().as_bytes()));
    let named = |value: Option<String>, path: &'static str| {
        value.ok_or_else(|| Error::invalid_field(path, "a string", "nothing"))
    };
    let agent_id = || named(params.agent_id.clone(), "params.agentId");
    let route = match envelope.method.as_deref() {
        Some("info") => return Ok(reply::json(StatusCode::OK, &info())),
        Some("agent/run") => Route::Run { agent: agent_id()? },
        Some("agent/connect") => Route::Connect { agent: agent_id()? },
        Some("agent/suggest") => Route::Suggest { agent: agent_id()? },
        Some("agent/stop") => {
            let thread = named(params.thread_id.clone(), "params.threadId")?;
            Route::Stop { agent: agent_id()?, thread }
        }
        Some("resource/request") => {
            let path = named(params.path, "params.path")?;
            let path = path.split('?').next().unwrap_or_default();
            let is_get = params.http_method.is_none_or(|method| method.eq_ignore_ascii_case("get"));
            let is_list = is_get && Route::of(&format!("{BASE}{path}")) == Some(Route::Threads);
            return Ok(if is_list { reply::json(StatusCode::OK, &threads()) } else { not_found() });
        }
        Some(_) => return Err(Error::invalid_field("method", METHODS, "another string")),
        None => return Err(Error::invalid_field("method", "a string", "nothing")),
    };
    agent(assistant, &route, inner, extensions)
}

/// The body of a stop is empty, or names the run. A chat has one run at a time, so the name says nothing.
fn check_stop(body: &[u8], limits: &Limits) -> Result<(), Error> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(());
    }
    json_guard::check(body, limits.max_json_depth)?;
    let object: Map<String, Value> = serde_json::from_slice(body).map_err(Error::invalid_json)?;
    match object.iter().find(|(key, value)| *key != "runId" || !value.is_string()) {
        Some((key, _)) if key == "runId" => Err(Error::invalid_field("runId", "a string", "something else")),
        Some(_) => Err(Error::invalid_field("body", "an object with nothing but `runId`", "another key")),
        None => Ok(()),
    }
}

fn stop_answer(stopped: bool) -> Value {
    if stopped {
        let interrupt = json!({"type": "RUN_ERROR", "message": "The run was stopped.", "code": "STOPPED"});
        return json!({"stopped": true, "interrupt": interrupt});
    }
    json!({"stopped": false, "message": "The thread has no run under way."})
}

/// What the runtime says of itself. Threads are not kept, so none of their routes is promised; the mode is the one
/// without web sockets, and there is no licence to tell of.
fn info() -> Value {
    json!({
        "version": VERSION,
        "mode": "sse",
        "agents": {
            AGENT: {
                "name": AGENT,
                "description": "",
                "className": "HttpAgent",
                "capabilities": {
                    "identity": {"name": AGENT, "type": "omniassist", "version": env!("CARGO_PKG_VERSION")},
                    "transport": {"streaming": true},
                    "tools": {"supported": true, "parallelCalls": true, "clientProvided": true},
                    "state": {"snapshots": true, "deltas": true},
                    "reasoning": {"supported": true, "streaming": true, "encrypted": true},
                    "humanInTheLoop": {
                        "supported": true, "approvals": true, "interrupts": true, "approveWithEdits": true,
                    },
                },
            },
        },
        "audioFileTranscriptionEnabled": false,
        "threadEndpoints": {"list": false, "inspect": false, "mutations": false, "realtimeMetadata": false},
        "suggestions": true,
        "a2uiEnabled": false,
        "openGenerativeUIEnabled": false,
        "telemetryDisabled": true,
    })
}

fn threads() -> Value {
    json!({"threads": [], "nextCursor": null})
}

/// An error in the form that CopilotKit's client reads: a title, and a sentence.
fn error(status: StatusCode, title: &str, message: &str) -> Response<AssistantBody> {
    reply::json(status, &json!({"error": title, "message": message}))
}

fn not_found() -> Response<AssistantBody> {
    error(StatusCode::NOT_FOUND, "Not found", "There is nothing at this path.")
}

fn agent_not_found(agent: &str) -> Response<AssistantBody> {
    let agent: String = agent.chars().filter(|letter| !letter.is_control()).take(64).collect();
    let message = format!("There is no agent `{agent}` here; the one there is is called `{AGENT}`.");
    error(StatusCode::NOT_FOUND, "Agent not found", &message)
}

fn method_not_allowed(allow: &'static str) -> Response<AssistantBody> {
    let message = format!("This path takes {allow} only.");
    let mut response = error(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed", &message);
    response.headers_mut().insert(header::ALLOW, http::HeaderValue::from_static(allow));
    response
}

fn unreadable(refusal: &Refusal) -> Response<AssistantBody> {
    let (status, message) = match refusal {
        Refusal::NotJson => (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "The body must be JSON, with content-type application/json.".to_owned(),
        ),
        Refusal::TooLarge(limit) => {
            (StatusCode::PAYLOAD_TOO_LARGE, format!("The body is larger than {limit} bytes."))
        }
        Refusal::Broken => (StatusCode::BAD_REQUEST, "The body broke off before it was complete.".to_owned()),
        Refusal::Unacceptable(refusal) => return refused(refusal),
    };
    error(status, "Invalid request body", &message)
}

pub(super) fn refused(refusal: &Error) -> Response<AssistantBody> {
    let title = match refusal.code() {
        ErrorCode::DuplicateRun | ErrorCode::ChatBusy => "Thread already running",
        _ if refusal.is_throttled() => "Too many requests",
        _ if refusal.is_internal() => "Internal error",
        _ if refusal.is_unavailable() => "Service unavailable",
        _ => "Invalid request body",
    };
    let details = reply::explained(refusal);
    let message = details.get("message").cloned().unwrap_or_default();
    let code = refusal.code().as_str();
    let body = json!({"error": title, "message": message, "code": code, "details": details});
    let mut response = reply::json(reply::status_of(refusal), &body);
    reply::add_retry_after(response.headers_mut(), refusal.retry_after());
    response
}
