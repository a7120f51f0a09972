//! OpenAI's routes: `/v1/chat/completions` and `/v1/models`. Everything below `/v1` answers in OpenAI's shape.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::BytesMut;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::Body;
use omniassist_core::dialect::chat_completions::{
    self, AnswerHead, ChatRequest, Completion, Encoder, HEADERS, error_body,
};
use omniassist_core::{Error, ErrorCode, Text};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use std::future::poll_fn;
use uuid::Uuid;

use super::opening::{Failure, tells_of_a_tool};
use super::read::{Refusal, json_body};
use super::reply::{self, NoAnswer};
use super::{AssistantBody, opening};
use crate::tool::schema;
use crate::{Assistant, Run};

/// The kind of an error that the client made.
pub(super) const INVALID: &str = "invalid_request_error";

/// The path below `/v1/`. A chat that is named `v1` keeps its own routes.
pub(super) fn path(path: &str) -> Option<&str> {
    path.strip_prefix("/v1/").filter(|rest| !matches!(*rest, "stop" | "stream"))
}

/// The longest `Retry-After` that OpenAI's clients wait for. At a longer one they try again much too soon.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Answers a request whose path below `/v1/` is this.
pub(super) async fn handle<B: Body>(
    assistant: &Assistant,
    path: &str,
    request: Request<B>,
) -> Response<AssistantBody> {
    let method = request.method().clone();
    match (path, &method) {
        ("chat/completions", &Method::POST) => match complete(assistant, request).await {
            Ok(response) => response,
            Err(refusal) => refused(&refusal),
        },
        ("chat/completions", _) => not_allowed("POST"),
        ("models", &Method::GET | &Method::HEAD) => {
            let data = [model(assistant.openai_endpoint().model_name())];
            reply::json(StatusCode::OK, &json!({ "object": "list", "data": data }))
        }
        ("models", _) => not_allowed("GET, HEAD"),
        _ => match path.strip_prefix("models/") {
            None => error(StatusCode::NOT_FOUND, "There is nothing at this path.", None, "not_found"),
            Some(name) if matches!(method, Method::GET | Method::HEAD) => {
                match percent_decode_str(name).decode_utf8() {
                    Ok(name) if assistant.openai_endpoint().serves(&name) => {
                        reply::json(StatusCode::OK, &model(&name))
                    }
                    _ => no_such_model(),
                }
            }
            Some(_) => not_allowed("GET, HEAD"),
        },
    }
}

/// A model as OpenAI lists it. When it was made is not known, and the field is required.
fn model(name: &str) -> Value {
    json!({ "id": name, "object": "model", "created": 0, "owned_by": "omniassist" })
}

async fn complete<B: Body>(
    assistant: &Assistant,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Refusal> {
    let (parts, body) = request.into_parts();
    let body = json_body(&parts.headers, body, assistant.limits()).await?;
    let mut request = chat_completions::read_request(body, assistant.limits())?;
    let endpoint = assistant.openai_endpoint();
    if !endpoint.serves(&request.model) {
        return Ok(no_such_model());
    }
    if let Some((_, schema)) = &mut request.settings.response_schema {
        *schema = schema::of_answer(std::mem::take(schema)).map_err(|reason| {
            Error::invalid_tool(
                "response_format.json_schema.schema",
                format!("no model can be asked for this: {reason}"),
            )
        })?;
    }
    request.run.options = endpoint.options(assistant.model_options(), request.settings.clone());
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let id = Text::from(format!("chatcmpl-{}", Uuid::now_v7().simple()));
    let request_id = HeaderValue::from_str(&id);
    let head = AnswerHead::new(id, seconds, request.model.clone());
    let answer = if request.stream {
        stream(assistant, request, parts, &head).await
    } else {
        collect(assistant, request, parts, &head).await
    };
    let mut response = answer.unwrap_or_else(|reason| no_answer(&reason));
    if let Ok(id) = request_id {
        response.headers_mut().insert("x-request-id", id);
    }
    Ok(response)
}

fn caller_tools(request: &ChatRequest) -> Vec<Text> {
    request.run.tools.iter().map(|tool| tool.name.clone()).collect()
}

async fn stream(
    assistant: &Assistant,
    request: ChatRequest,
    parts: Parts,
    head: &AnswerHead,
) -> Result<Response<AssistantBody>, NoAnswer> {
    let endpoint = assistant.openai_endpoint();
    let encoder = Encoder::new(head, caller_tools(&request))
        .usage(request.include_usage)
        .reasoning(endpoint.shows_reasoning())
        .server_tools(endpoint.shows_server_tools());
    reply::stream_opened(assistant, request.run, parts.extensions, HEADERS, encoder).await
}

async fn collect(
    assistant: &Assistant,
    request: ChatRequest,
    parts: Parts,
    head: &AnswerHead,
) -> Result<Response<AssistantBody>, NoAnswer> {
    let endpoint = assistant.openai_endpoint();
    let mut completion = Completion::new(caller_tools(&request))
        .reasoning(endpoint.shows_reasoning())
        .server_tools(endpoint.shows_server_tools());
    let mut run: Run = assistant.try_run(request.run, parts.extensions).map_err(NoAnswer::Refused)?;
    let mut failure = None;
    let mut has_run_tools = false;
    while let Some(event) = poll_fn(|cx| run.poll_event(cx)).await {
        completion.apply(&event);
        has_run_tools |= tells_of_a_tool(&event);
        if let Some(code) = opening::failing(&event) {
            failure = Some(code);
        }
    }
    if let Some(code) = failure {
        return Err(NoAnswer::Failed(Failure { code, retry_after: run.retry_after(), has_run_tools }));
    }
    let mut out = BytesMut::new();
    completion.write(head, &mut out);
    Ok(body(StatusCode::OK, out))
}

fn error(status: StatusCode, message: &str, param: Option<&str>, code: &str) -> Response<AssistantBody> {
    let mut out = BytesMut::new();
    error_body(message, INVALID, param, Some(code), &mut out);
    body(status, out)
}

/// A JSON document that is written already.
pub(super) fn body(status: StatusCode, out: BytesMut) -> Response<AssistantBody> {
    reply::whole(status, "application/json", AssistantBody::whole(out.freeze()))
}

fn no_such_model() -> Response<AssistantBody> {
    let message = "There is no such model here; GET /v1/models lists the one there is.";
    error(StatusCode::NOT_FOUND, message, Some("model"), "model_not_found")
}

fn not_allowed(allow: &'static str) -> Response<AssistantBody> {
    let message = format!("This path takes {allow} only.");
    let mut response = error(StatusCode::METHOD_NOT_ALLOWED, &message, None, "method_not_allowed");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
    response
}

fn refused(refusal: &Refusal) -> Response<AssistantBody> {
    match refusal {
        Refusal::NotJson => {
            let message = "The body must be JSON, with content-type application/json.";
            error(StatusCode::UNSUPPORTED_MEDIA_TYPE, message, None, "unsupported_media_type")
        }
        Refusal::TooLarge(limit) => {
            let message = format!("The body is larger than {limit} bytes.");
            error(StatusCode::PAYLOAD_TOO_LARGE, &message, None, "body_too_large")
        }
        Refusal::Broken => {
            let message = "The body broke off before it was complete.";
            error(StatusCode::BAD_REQUEST, message, None, "incomplete_body")
        }
        Refusal::Unacceptable(refusal) => unacceptable(refusal),
    }
}

pub(super) fn unacceptable(refusal: &Error) -> Response<AssistantBody> {
    let kind = match refusal {
        refusal if refusal.is_throttled() => "rate_limit_error",
        refusal if refusal.is_unavailable() || refusal.is_internal() => "server_error",
        _ => INVALID,
    };
    let code = match refusal.code() {
        // The word that clients look for.
        ErrorCode::RateLimited => "rate_limit_exceeded",
        code => code.as_str(),
    };
    let mut out = BytesMut::new();
    error_body(&reply::told(refusal), kind, refusal.path(), Some(code), &mut out);
    let mut response = body(reply::status_of(refusal), out);
    reply::add_retry_after(response.headers_mut(), refusal.retry_after());
    if refusal.retry_after().is_some_and(|delay| delay > LONGEST_WAIT) {
        response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
    }
    response
}

fn no_answer(reason: &NoAnswer) -> Response<AssistantBody> {
    match reason {
        NoAnswer::Refused(refusal) => unacceptable(refusal),
        NoAnswer::Failed(failure) => {
            let error = failure.error();
            let mut out = BytesMut::new();
            error.write(&mut out);
            let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let mut response = body(status, out);
            failure.add_headers(response.headers_mut());
            response
        }
    }
}
