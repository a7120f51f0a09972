//! OpenAI's routes: `/v1/chat/completions` and `/v1/models`.

use std::future::poll_fn;

use bytes::BytesMut;
use http::request::Parts;
use http::{Extensions, HeaderValue, Request, Response, StatusCode};
use http_body::Body;
use omniassist_core::dialect::chat_completions::{
    self, AnswerHead, ChatRequest, Completion, Encoder, HEADERS,
};
use omniassist_core::{Error, Text};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::http::AssistantBody;
use crate::http::event_stream::{self, Failure, NoAnswer, failure_code, is_tool_result};
use crate::http::request::{file_check, receive};
use crate::http::response::{ErrorFormat, Rejection, reply};
use crate::tool::schema;
use crate::{Assistant, Run, clock};

/// Answers `GET /v1/models`.
pub(in crate::http) async fn models(
    assistant: &Assistant,
    extensions: &Extensions,
) -> Result<Response<AssistantBody>, Rejection> {
    let model = &assistant.openai_endpoint().model;
    let mut data = vec![model_entry(model)];
    if assistant.as_agent().is_none() {
        let agents = assistant.reachable_agents(extensions).await;
        data.extend(agents.iter().map(|agent| model_entry(&format!("{model}/{}", agent.id))));
    }
    Ok(reply::json(StatusCode::OK, &json!({ "object": "list", "data": data })))
}

/// Answers `GET /v1/models/{model}`.
pub(in crate::http) async fn model(
    assistant: &Assistant,
    name: Option<&str>,
    extensions: &Extensions,
) -> Result<Response<AssistantBody>, Rejection> {
    let name = name.ok_or_else(model_not_found)?;
    if assistant.openai_endpoint().serves(name)
        || agent_of_model(assistant, name, extensions).await?.is_some()
    {
        return Ok(reply::json(StatusCode::OK, &model_entry(name)));
    }
    Err(model_not_found())
}

/// Returns the agent that a model stands for: `omniassist/{name}`, if that of the assistant is `omniassist`.
async fn agent_of_model(
    assistant: &Assistant,
    model: &str,
    extensions: &Extensions,
) -> Result<Option<Assistant>, Rejection> {
    let own = &*assistant.openai_endpoint().model;
    let name = model.strip_prefix(own).and_then(|rest| rest.strip_prefix('/'));
    match name.filter(|_| assistant.as_agent().is_none()) {
        Some(name) => Ok(assistant.reachable_agent(name, extensions).await?),
        None => Ok(None),
    }
}

/// Returns a model as OpenAI lists it. Its creation time is not known, but the field is required.
fn model_entry(name: &str) -> Value {
    json!({ "id": name, "object": "model", "created": 0, "owned_by": "omniassist" })
}

/// Answers `POST /v1/chat/completions`.
pub(in crate::http) async fn complete<B: Body>(
    assistant: &Assistant,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (mut parts, body) = request.into_parts();
    let body = receive::posted(assistant, &mut parts, body).await?;
    let mut request = chat_completions::read_request(body.bytes.clone(), assistant.limits())?;
    drop(body);
    let agent = agent_of_model(assistant, &request.model, &parts.extensions).await?;
    let assistant = agent.as_ref().unwrap_or(assistant);
    let endpoint = assistant.openai_endpoint();
    if agent.is_none() && !endpoint.serves(&request.model) {
        return Err(model_not_found());
    }
    file_check::check(assistant, &request.run, &parts.extensions).await?;
    if let Some((_, schema)) = &mut request.settings.response_schema {
        *schema = schema::of_answer(std::mem::take(schema), assistant.limits().into()).map_err(|reason| {
            Error::invalid_tool(
                "response_format.json_schema.schema",
                format!("no model can be asked for this: {reason}"),
            )
        })?;
    }
    request.run.options = endpoint.options(assistant.model_options(), request.settings.clone());
    let seconds = clock::now_ms() / 1_000;
    let id = Text::from(format!("chatcmpl-{}", Uuid::now_v7().simple()));
    let request_id = HeaderValue::from_str(&id);
    let head = AnswerHead::new(id, seconds, request.model.clone());
    let answer = if request.stream {
        stream(assistant, request, parts, &head).await
    } else {
        collect(assistant, request, parts, &head).await
    };
    let answer = answer.map_err(Rejection::from);
    // OpenAI's clients report the id of a failed request too.
    let mut response = answer.unwrap_or_else(|rejection| rejection.into_response(ErrorFormat::OpenAi));
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
        .reasoning(endpoint.reasoning)
        .server_tools(endpoint.server_tools);
    event_stream::stream_opened(assistant, request.run, parts.extensions, HEADERS, encoder).await
}

async fn collect(
    assistant: &Assistant,
    request: ChatRequest,
    parts: Parts,
    head: &AnswerHead,
) -> Result<Response<AssistantBody>, NoAnswer> {
    let endpoint = assistant.openai_endpoint();
    let mut completion = Completion::new(caller_tools(&request))
        .reasoning(endpoint.reasoning)
        .server_tools(endpoint.server_tools);
    let mut run: Run = assistant.try_run(request.run, parts.extensions).await.map_err(NoAnswer::Refused)?;
    let mut failure = None;
    let mut has_run_tools = false;
    while let Some(event) = poll_fn(|cx| run.poll_event(cx)).await {
        completion.apply(&event);
        has_run_tools |= is_tool_result(&event);
        if let Some(code) = failure_code(&event) {
            failure = Some(code);
        }
    }
    if let Some(code) = failure {
        let (retry_after, refusal) = (run.retry_after(), run.refusal());
        return Err(NoAnswer::Failed(Failure { code, retry_after, refusal, has_run_tools }));
    }
    let mut out = BytesMut::new();
    completion.write(head, &mut out);
    Ok(reply::json_bytes(StatusCode::OK, out))
}

fn model_not_found() -> Rejection {
    let message = "There is no such model here; GET /v1/models lists those that there are.";
    Rejection::new(StatusCode::NOT_FOUND, "model_not_found", message).with_detail("path", "model")
}
