//! The routes below `/ui/{instance}`: the actions and the state of a component, without a model call.

use bytes::{Bytes, BytesMut};
use http::{Request, Response, StatusCode};
use http_body::Body;
use omniassist_core::dialect::{DialectEncoder, ai_sdk};
use omniassist_core::event::{ComponentEvent, EmittedEvent, InstanceState};
use omniassist_core::message::read::check_id;
use omniassist_core::{Error, JsonText, Limits, RunEvent, Text, json_guard};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::Assistant;
use crate::engine::{PostedAction, PostedState};
use crate::http::chats::posted;
use crate::http::request::receive::{self, wants_ndjson};
use crate::http::response::{Rejection, reply};
use crate::http::{AssistantBody, event_stream};

/// Answers the call of an action with a stream of the AI SDK that has data parts only.
pub(in crate::http) async fn act<B: Body>(
    assistant: &Assistant,
    instance: &str,
    action: &str,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (mut parts, body) = request.into_parts();
    let body = receive::posted(assistant, &mut parts, body).await?;
    let framing = if wants_ndjson(&parts.headers) { ai_sdk::Framing::Ndjson } else { ai_sdk::Framing::Sse };
    let encoder = ai_sdk::Encoder::new(framing).version(posted::client_version(&parts.uri)?);
    let (on, payload) = read(&body.bytes, instance, assistant.limits())?;
    let encoder = ActionEncoder { encoder, instance: on.instance.clone() };
    let posted = PostedAction { on, action: action.into(), payload };
    let run = assistant.try_action(posted, parts.extensions).await?.ok_or_else(Rejection::not_found)?;
    let body = AssistantBody::events(run, Box::new(encoder), assistant.limits().keep_alive);
    Ok(event_stream::events(body, framing.headers()))
}

/// Answers `PUT /ui/{instance}/state`: 200 with the new state, or 409 with the newest one.
pub(in crate::http) async fn put_state<B: Body>(
    assistant: &Assistant,
    instance: &str,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (mut parts, body) = request.into_parts();
    let body = receive::posted(assistant, &mut parts, body).await?;
    let (posted, _) = read(&body.bytes, instance, assistant.limits())?;
    let put = assistant.put_state(posted, &parts.extensions).await?.ok_or_else(Rejection::not_found)?;
    match put {
        Ok(state) => Ok(reply::json(StatusCode::OK, &json!(state))),
        Err(newer) => {
            let rejection = Rejection::new(StatusCode::CONFLICT, "state_conflict", "The state has changed.");
            Err(rejection.with_detail("state", json!(newer)))
        }
    }
}

/// The body of an action or of a new state.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostedInstance<'a> {
    chat_id: Option<Text>,
    component: Option<Text>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    rev: Option<u64>,
    #[serde(borrow)]
    state: Option<&'a RawValue>,
    #[serde(borrow)]
    server: Option<&'a RawValue>,
    seal: Option<Text>,
}

/// Reads `{chatId, component, payload, rev, state, server, seal}`. Returns the state and the payload.
fn read(body: &Bytes, instance: &str, limits: &Limits) -> Result<(PostedState, JsonText), Error> {
    json_guard::check(body, limits.max_json_depth)?;
    let mut json = serde_json::Deserializer::from_slice(body);
    let posted: PostedInstance<'_> =
        serde_path_to_error::deserialize(&mut json).map_err(|error| match error.inner().is_data() {
            true => match error.path().to_string() {
                path if path == "." => Error::invalid_field("body", "an object", "another value"),
                path if path == "rev" => Error::invalid_field(path, "a whole number from 0", "another value"),
                path => Error::invalid_field(path, "a string", "another value"),
            },
            false => Error::invalid_json(error.into_inner()),
        })?;
    let required = |field: &str, text: Option<Text>| {
        text.ok_or_else(|| Error::invalid_field(field, "a string", "nothing"))
    };
    let chat_id = required("chatId", posted.chat_id)?;
    check_id(&chat_id, "chatId", limits)?;
    let object = |field: &str, raw: Option<&RawValue>| -> Result<Option<JsonText>, Error> {
        let Some(raw) = raw.filter(|raw| raw.get() != "null") else { return Ok(None) };
        let json = JsonText::parse(raw.get().to_owned()).map_err(Error::invalid_json)?;
        match json.is_object() {
            true => Ok(Some(json)),
            false => Err(Error::invalid_field(field, "an object", "another value")),
        }
    };
    let mut state = InstanceState::new(required("component", posted.component)?);
    state.rev = posted.rev.unwrap_or_default();
    state.state = object("state", posted.state)?.unwrap_or(JsonText::EMPTY_OBJECT);
    state.server = object("server", posted.server)?;
    state.seal = posted.seal;
    let payload = object("payload", posted.payload)?.unwrap_or(JsonText::EMPTY_OBJECT);
    Ok((PostedState { instance: instance.into(), chat_id, state }, payload))
}

/// Writes the components of a run, and its result as an event of the instance.
struct ActionEncoder {
    encoder: ai_sdk::Encoder,
    instance: Text,
}

impl ActionEncoder {
    fn emit(&mut self, kind: &'static str, data: JsonText, out: &mut BytesMut) {
        let event = EmittedEvent::new(self.instance.clone(), Text::from_static(kind), data);
        self.encoder.encode(&RunEvent::Component(Box::new(ComponentEvent::Emitted(event))), out);
    }
}

impl DialectEncoder for ActionEncoder {
    fn encode(&mut self, event: &RunEvent, out: &mut BytesMut) {
        match event {
            // No `start`: the events belong to the message that shows the instance, whose id a client would replace.
            RunEvent::Component(_)
            | RunEvent::Data { .. }
            | RunEvent::Finish { .. }
            | RunEvent::Error { .. }
            | RunEvent::Abort { .. } => self.encoder.encode(event, out),
            RunEvent::ToolOutput { output, preliminary: false, .. } => {
                self.emit("result", output.clone(), out);
            }
            RunEvent::ToolError { error_text, .. }
            | RunEvent::ToolInputError { error_text, .. }
            | RunEvent::ToolRefused { reason: error_text, .. } => {
                self.emit("error", JsonText::from_str_value(error_text), out);
            }
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut BytesMut) {
        self.encoder.finish(out);
    }

    fn is_cut(&self) -> bool {
        self.encoder.is_cut()
    }
}
