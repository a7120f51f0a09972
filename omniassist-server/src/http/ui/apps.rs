//! The routes below `/apps/{server}`: the documents of apps, and what apps ask of their own server.

use std::sync::Arc;

use futures_util::StreamExt as _;
use http::{Extensions, Request, Response, StatusCode};
use http_body::Body;
use omniassist_core::event::ApprovalRequest;
use omniassist_core::message::{MessageCollector, ToolState, read};
use omniassist_core::run::ClientAbilities;
use omniassist_core::{Error, JsonText, Message, RunEvent, RunRequest, Text};
use serde::Deserialize;
use serde_json::{Value, json};

use super::app_headers;
use crate::http::AssistantBody;
use crate::http::request::receive;
use crate::http::response::{Rejection, reply};
use crate::tool::source::{AppCall, AppError, SourceApps, ToolSource, source_tool_name};
use crate::{Assistant, Run};

/// The error of a call that ended without one.
const NO_RESULT: &str = "The call ended without a result.";

/// The body of a call.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostedCall {
    chat_id: Option<Text>,
    /// The name of the tool at its server.
    #[serde(default)]
    name: String,
    #[serde(default)]
    arguments: Option<Value>,
    /// The message of an earlier answer, with the decision of the user. Its call takes the place of the name and arguments.
    message: Option<Value>,
}

/// A call, for errors.
const CALL: &str = "an object with the text `name`, and optionally `arguments`";

/// The body of a request for a resource.
#[derive(Deserialize)]
struct PostedRead {
    uri: String,
}

/// A call that is to run.
struct Called {
    /// The registered name of its tool.
    tool: Text,
    arguments: JsonText,
    /// The message that it goes on with.
    continued: Option<Message>,
}

/// Answers `GET /apps/{server}/{resource}`.
pub(in crate::http) async fn document(
    assistant: &Assistant,
    source: &str,
    resource: &str,
    extensions: &Extensions,
) -> Result<Response<AssistantBody>, Rejection> {
    let caller = assistant.caller(extensions);
    let found = assistant.tools().with_apps(source, &caller).ok_or_else(app_not_found)?;
    let uri = format!("ui://{resource}");
    let document = apps_of(&found)?.document(&caller, &uri).await.map_err(|error| refused(source, &error))?;
    let mut response = reply::html(document.html().clone());
    app_headers::set(&document, response.headers_mut()).ok_or_else(Error::internal)?;
    Ok(response)
}

/// Answers `POST /apps/{server}/read`.
pub(in crate::http) async fn read<B: Body>(
    assistant: &Assistant,
    source: &str,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (extensions, PostedRead { uri }) =
        posted(assistant, request, "an object with the text `uri`").await?;
    let caller = assistant.caller(&extensions);
    let found = assistant.tools().with_apps(source, &caller).ok_or_else(app_not_found)?;
    let resource = apps_of(&found)?.resource(&caller, &uri).await.map_err(|error| refused(source, &error))?;
    Ok(reply::json(StatusCode::OK, &resource))
}

/// Answers `POST /apps/{server}/call`.
pub(in crate::http) async fn call<B: Body>(
    assistant: &Assistant,
    source: &str,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (mut extensions, posted) = posted::<_, PostedCall>(assistant, request, CALL).await?;
    let caller = assistant.caller(&extensions);
    assistant.tools().with_apps(source, &caller).ok_or_else(app_not_found)?;
    let seen = assistant.visible_tools(&extensions);
    let chat_id = posted.chat_id.clone();
    extensions.insert(AppCall { source: source.into(), chat_id });
    let called = Called::read(assistant, source, posted)?;
    let offered = assistant.callable_tools(&extensions);
    let is_of_source = |tool: &crate::tool::RegisteredTool| tool.source().is_some_and(|of| of == source);
    if !offered.get(&called.tool).is_some_and(|tool| is_of_source(tool)) {
        return Err(match seen.get(&called.tool).is_some_and(|tool| is_of_source(tool)) {
            true => {
                Rejection::new(StatusCode::FORBIDDEN, "tool_not_for_apps", "Apps may not call this tool.")
            }
            false => Rejection::new(
                StatusCode::NOT_FOUND,
                "tool_not_found",
                "The server of the app has no such tool.",
            ),
        });
    }
    called.run(assistant, extensions).await
}

impl Called {
    /// Reads the body of a call.
    fn read(assistant: &Assistant, source: &str, posted: PostedCall) -> Result<Self, Rejection> {
        let Some(message) = posted.message else {
            let arguments =
                posted.arguments.map_or(JsonText::EMPTY_OBJECT, |given| JsonText::from_value(&given));
            return Ok(Self { tool: source_tool_name(source, &posted.name), arguments, continued: None });
        };
        let expected = "a message with one call, as the answer `approval_needed` has it";
        let mut messages = read::messages(&json!([message]).to_string().into(), assistant.limits())?;
        let message = messages.pop().ok_or_else(|| Error::invalid_field("message", expected, "nothing"))?;
        // Nothing in the message is trusted: its seal, which is checked with the run, binds the call and its arguments.
        let mut calls = message.tools();
        let tool = match (calls.next(), calls.next()) {
            (Some(call), None) if matches!(call.state, ToolState::ApprovalResponded { .. }) => {
                call.name.clone()
            }
            _ => return Err(Error::invalid_field("message", expected, "another one").into()),
        };
        drop(calls);
        Ok(Self { tool, arguments: JsonText::EMPTY_OBJECT, continued: Some(message) })
    }

    /// Runs the call as a client of the assistant.
    async fn run(
        self,
        assistant: &Assistant,
        extensions: Extensions,
    ) -> Result<Response<AssistantBody>, Rejection> {
        let mut request = RunRequest::prompt(self.tool.clone());
        request.messages.extend(self.continued.clone());
        request.abilities = ClientAbilities::none();
        // Without seals, nothing proves which call the user was asked about.
        request.abilities.approvals = assistant.seals_history();
        let run = assistant.try_call(self.tool, self.arguments, request, extensions).await?;
        answer(run, self.continued).await
    }
}

/// Reads the run of a call to its end, and answers with its result or with the question to the user.
async fn answer(mut run: Run, continued: Option<Message>) -> Result<Response<AssistantBody>, Rejection> {
    let mut collector = continued.map_or_else(MessageCollector::new, MessageCollector::continuing);
    let (mut question, mut failure) = (None, None);
    while let Some(event) = run.next().await {
        collector.apply(&event);
        match event {
            RunEvent::ToolApprovalRequest(request) => question = Some(request),
            RunEvent::Error { message, .. } => failure = Some(message),
            RunEvent::Abort { reason } => failure = Some(reason),
            _ => {}
        }
    }
    let message = collector.into_message();
    if let (Some(question), None) = (question, &failure) {
        return Err(approval_needed(&question, &message));
    }
    let error = |text: &str| json!({ "errorText": text });
    let body = match (&failure, message.tools().next().map(|call| &call.state)) {
        (Some(failure), _) => error(failure),
        (None, Some(ToolState::OutputAvailable { output, preliminary: false, .. })) => {
            json!({ "output": output.to_value() })
        }
        (None, Some(ToolState::OutputError { error_text, .. })) => error(error_text),
        (None, Some(ToolState::OutputDenied { .. })) => error("The user denied this call. It was not run."),
        _ => error(NO_RESULT),
    };
    Ok(reply::json(StatusCode::OK, &body))
}

/// Returns the question whether a call may run, with the message that proves the call.
fn approval_needed(question: &ApprovalRequest, message: &Message) -> Rejection {
    let approval = json!({
        "id": question.id,
        "toolCallId": question.call_id,
        "toolName": question.name,
        "input": question.input.to_value(),
        "message": question.message,
    });
    Rejection::new(StatusCode::CONFLICT, "approval_needed", "The user has to approve this call.")
        .with_detail("approval", approval)
        .with_detail("pending", json!(message))
}

/// Receives the body of a post.
async fn posted<B: Body, T: for<'a> Deserialize<'a>>(
    assistant: &Assistant,
    request: Request<B>,
    expected: &'static str,
) -> Result<(Extensions, T), Rejection> {
    let (mut parts, body) = request.into_parts();
    let body = receive::posted(assistant, &mut parts, body).await?;
    let posted = receive::object(&body.bytes, assistant.limits(), expected)?;
    Ok((parts.extensions, posted))
}

fn apps_of(source: &Arc<dyn ToolSource>) -> Result<&dyn SourceApps, Rejection> {
    source.apps().ok_or_else(app_not_found)
}

fn app_not_found() -> Rejection {
    Rejection::new(StatusCode::NOT_FOUND, "app_not_found", "There is no app at this address.")
}

fn refused(source: &str, error: &AppError) -> Rejection {
    if error.is_not_found() {
        return app_not_found();
    }
    tracing::warn!(source, error = ?error, "an app cannot be shown");
    Rejection::new(StatusCode::BAD_GATEWAY, "app_unavailable", "The server of the app cannot be used.")
}
