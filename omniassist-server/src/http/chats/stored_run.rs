//! The routes below `/runs`, and the stop of a chat: what a client does to a stored run beside reading its stream.

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::Body;
use omniassist_core::{Error, JsonText, Limits, Text};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::question::{is_approval, question};
use super::resume::{self, scope_of};
use crate::engine::{Answer, Answered};
use crate::http::AssistantBody;
use crate::http::request::receive::{self, is_json};
use crate::http::response::{Rejection, RunName, reply};
use crate::http::routing::{RunAction, RunRoute};
use crate::store::{RunHead, RunState, Which};
use crate::{Assistant, Principal};

/// Answers a request to one of the routes below `/runs`.
pub(in crate::http) async fn answer<B: Body>(
    assistant: &Assistant,
    route: &RunRoute,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (mut parts, body) = request.into_parts();
    match &route.action {
        RunAction::Events => resume::events(assistant, route.run, &parts).await,
        RunAction::Read => {
            let (_, head) = resume::find(assistant, route.run, &parts).await?;
            Ok(reply::json(StatusCode::OK, &described(&head)))
        }
        RunAction::Stop => {
            refuse_forms(&parts)?;
            let (scope, head) = resume::find(assistant, route.run, &parts).await?;
            let stopped = assistant.stop_stored(&scope, Which::Run(head.run)).await?;
            Ok(stop_answer(stopped.map(|(stopped, head)| (stopped, head.state))))
        }
        RunAction::Answer(call) => {
            let body = receive::posted(assistant, &mut parts, body).await?;
            let (scope, head) = resume::find(assistant, route.run, &parts).await?;
            let given = read_answer(&body.bytes, assistant.limits())?;
            let asked = head.obligations.iter().find(|obligation| obligation.call == call.as_str());
            let Some(asked) = asked else { return Err(Error::not_waiting().into()) };
            if is_approval(asked) != matches!(given, Answer::Decision { .. }) {
                let expected = if is_approval(asked) { "`approved`" } else { "`output` or `error`" };
                return Err(Error::invalid_field("body", expected, "the answer to another question").into());
            }
            match assistant.answer_call(&scope, &head, call, &given, parts.extensions).await? {
                Answered::Taken(state) => {
                    Ok(reply::json(StatusCode::OK, &json!({ "state": state.as_str() })))
                }
                Answered::Before => Err(Error::already_answered().into()),
                Answered::Late => Err(Error::not_waiting().into()),
            }
        }
    }
}

/// Answers `POST /{chat_id}/stop`.
pub(in crate::http) async fn stop_chat<B: Body>(
    assistant: &Assistant,
    chat: &str,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (mut parts, body) = request.into_parts();
    refuse_forms(&parts)?;
    let Some(scope) = scope_of(&parts).filter(|_| assistant.stores().is_some()) else {
        let principal = parts.extensions.get::<Principal>().cloned().unwrap_or_default();
        let stopped = assistant.stop(&principal, chat);
        return Ok(reply::json(StatusCode::OK, &json!({ "stopped": stopped })));
    };
    let mut which = Which::Chat(chat);
    if is_json(&parts.headers) {
        let body = receive::posted(assistant, &mut parts, body).await?;
        if let Some(run) = read_stop(&body.bytes, assistant.limits())? {
            let head = match RunName::parse(&run) {
                Some(name) => assistant.find_run(&scope, Which::Run(name.id)).await?,
                None => None,
            };
            // A stop that comes late must not end the next run of the chat.
            let Some(head) = head.filter(|head| head.chat == chat) else { return Ok(stop_answer(None)) };
            which = Which::Run(head.run);
        }
    }
    let stopped = assistant.stop_stored(&scope, which).await?;
    Ok(stop_answer(stopped.map(|(stopped, head)| (stopped, head.state))))
}

/// Refuses the forms of other pages, which never declare their body as JSON. A stop without a body needs no content type.
pub(super) fn refuse_forms(parts: &Parts) -> Result<(), Rejection> {
    if parts.headers.contains_key(http::header::CONTENT_TYPE) && !is_json(&parts.headers) {
        return Err(Rejection::not_json());
    }
    Ok(())
}

fn stop_answer(stopped: Option<(bool, RunState)>) -> Response<AssistantBody> {
    let body = match stopped {
        Some((stopped, state)) => json!({ "stopped": stopped, "state": state.as_str() }),
        None => json!({ "stopped": false, "state": null }),
    };
    reply::json(StatusCode::OK, &body)
}

/// Returns the description of a run.
fn described(head: &RunHead) -> Value {
    let usage: Value =
        head.usage.as_ref().and_then(|usage| serde_json::from_slice(usage).ok()).unwrap_or_default();
    json!({
        "id": head.run.to_string(),
        "chatId": head.chat,
        "state": head.state.as_str(),
        "createdAt": head.created_ms,
        "endedAt": head.ended_ms,
        "usage": usage,
        "obligations": head.obligations.iter().map(question).collect::<Vec<_>>(),
    })
}

/// Returns the run that a stop names.
fn read_stop(body: &[u8], limits: &Limits) -> Result<Option<String>, Error> {
    #[derive(Deserialize)]
    struct Stop<'a> {
        #[serde(rename = "runId", borrow)]
        run_id: Option<&'a RawValue>,
    }
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    let stop: Stop<'_> = receive::object(body, limits, "an object with `runId`")?;
    let Some(run) = stop.run_id.filter(|run| run.get() != "null") else { return Ok(None) };
    serde_json::from_str(run.get())
        .map(Some)
        .map_err(|_| Error::invalid_field("runId", "a string", "something else"))
}

/// Reads `{"approved"}` with an optional `reason`, `{"output"}`, or `{"error"}`.
fn read_answer(body: &Bytes, limits: &Limits) -> Result<Answer, Error> {
    #[derive(Deserialize)]
    struct Given<'a> {
        approved: Option<bool>,
        reason: Option<Text>,
        #[serde(borrow, default, deserialize_with = "present")]
        output: Option<&'a RawValue>,
        error: Option<Text>,
    }
    /// Keeps a `null`, which is a valid output.
    fn present<'de: 'a, 'a, D: Deserializer<'de>>(json: D) -> Result<Option<&'a RawValue>, D::Error> {
        <&RawValue>::deserialize(json).map(Some)
    }
    const EXPECTED: &str = "an object with one of `approved`, `output` and `error`";
    let given: Given<'_> = receive::object(body, limits, EXPECTED)?;
    match (given.approved, given.output, given.error) {
        (Some(approved), None, None) => {
            Ok(Answer::Decision { approved, reason: given.reason, arguments: None })
        }
        (None, Some(output), None) => {
            let output = JsonText::parse(output.get().to_owned()).map_err(Error::invalid_json)?;
            Ok(Answer::Output { output })
        }
        (None, None, Some(text)) => Ok(Answer::Failure { text }),
        _ => Err(Error::invalid_field("body", EXPECTED, "another object")),
    }
}
