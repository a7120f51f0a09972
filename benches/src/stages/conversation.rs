//! A long conversation, from the bytes that a client posts to the bytes that are sent to the provider.

use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt as _, Full};
use omniassist_core::dialect::ai_sdk;
use omniassist_core::event::{BlockId, FinishReason};
use omniassist_core::message::MessageCollector;
use omniassist_core::run::NoTools;
use omniassist_core::{JsonText, Limits, LlmEvent, Message, RunEvent, Text};
use omniassist_server::http::PostedRun;
use omniassist_server::seal::{SealKeys, Sealer};
use omniassist_server::{Assistant, OpenAiProvider, Principal, provider};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Outcome, context, seals};

/// The number of messages of the conversation.
pub(super) const MESSAGES: usize = 1_000;

const CHAT: &str = "chat-0123456789";

/// The text of the user and of the assistant, with line breaks and quotes.
const ASKED: &str = "Where is my order of last week? It said \"two days\" when I paid.\n\n";
const SAID: &str = "It was handed to the carrier on Monday, and is expected at your door by Thursday noon.\n\n\
                    - The lamp comes in a parcel of its own.\n- The invoice is in your mail.\n";

/// Returns the body that a client posts, about 2 MB. Questions and answers alternate, every other answer has a tool
/// call, and the server's parts have seals.
pub(crate) fn posted(keys: &SealKeys, principal: &Principal) -> Outcome<Bytes> {
    let messages: Vec<Message> = (0..MESSAGES / 2)
        .map(|turn| Ok([question(turn), answer(turn, keys, principal)?]))
        .collect::<Outcome<Vec<_>>>()?
        .into_iter()
        .flatten()
        .collect();
    let context: Vec<_> = context::messages()
        .iter()
        .map(|message| json!({"id": message.id, "type": message.kind, "data": message.data}))
        .collect();
    let body = json!({"id": CHAT, "trigger": "submit-message", "messages": messages, "context": context});
    Ok(serde_json::to_vec(&body)?.into())
}

fn question(turn: usize) -> Message {
    Message::user(format!("user-{turn}"), ASKED.repeat(24))
}

/// Returns an answer as the client stores it, with its seals.
fn answer(turn: usize, keys: &SealKeys, principal: &Principal) -> Outcome<Message> {
    let id = Text::from(format!("msg_{turn:032x}"));
    let mut sealer = Sealer::new(keys, Some(CHAT.into()), principal, id.clone());
    let mut collector = MessageCollector::new();
    let mut events = vec![RunEvent::Start { message_id: id, metadata: None }, RunEvent::StepStart];
    if turn.is_multiple_of(2) {
        let call_id = Text::from(format!("call_{turn:024x}"));
        events.push(RunEvent::ToolInputAvailable {
            call_id: call_id.clone(),
            name: Text::from_static("orders"),
            input: JsonText::parse(format!(r#"{{"customer":{turn},"since":"2026-11-01","open":true}}"#))?,
            provider_executed: false,
            metadata: None,
        });
        let output = seals::records(1024)?;
        events.push(RunEvent::ToolOutput { call_id, output, preliminary: false, provider_executed: false });
        events.push(RunEvent::StepStart);
    }
    let block = BlockId(0);
    events.push(RunEvent::TextStart { id: block });
    events.push(RunEvent::TextDelta { id: block, delta: SAID.repeat(8).into() });
    events.push(RunEvent::TextEnd { id: block, metadata: None });
    for mut event in events {
        let seal = sealer.seal(&mut event, &NoTools, || 0);
        collector.apply(&event);
        seal.iter().for_each(|seal| collector.apply(seal));
    }
    Ok(collector.into_message())
}

/// Measures all work on a posted conversation before the request to the provider. In order: checking the body, reading,
/// verifying, compressing the context, copying for the run, the legal form, and writing the provider's request.
pub(super) fn to_provider(events: usize) -> Outcome<usize> {
    let keys = seals::keys()?;
    let body = posted(&keys, &Principal::anonymous())?;
    let openai =
        OpenAiProvider::builder().base_url("http://127.0.0.1/v1").api_key("k").model("gpt-x").build()?;
    let written = Arc::new(Mutex::new((0, 0)));
    let seen = Arc::clone(&written);
    let model = provider::from_fn("bench", move |payload| {
        let request = openai.request_body(&payload).map(|request| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            *seen = (seen.0 + 1, request.len());
            black_box(request);
            LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false }
        });
        stream::iter([request])
    });
    let assistant = Assistant::builder(model).allow_anonymous().seal_keys(keys).build()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        for _ in 0..events {
            let request = http::Request::post("/")
                .header("content-type", "application/json")
                .body(Full::new(black_box(&body).clone()))?;
            let posted =
                PostedRun::read_for(request, &assistant).await.map_err(|_| "the request is refused")?;
            black_box(posted.respond(&assistant).await.into_body().collect().await?);
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    })?;
    let (count, bytes) = *written.lock().unwrap_or_else(PoisonError::into_inner);
    // A conversation whose results were refused would be much shorter.
    if bytes < body.len() * 3 / 4 {
        return Err(format!("{bytes} bytes were written for {} posted bytes", body.len()).into());
    }
    Ok(count)
}

/// The request in flat structs with optional fields, so that serde buffers nothing. Values of tools stay raw text.
#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are read for their cost")]
#[serde(rename_all = "camelCase")]
struct Request {
    id: String,
    trigger: String,
    messages: Vec<RequestMessage>,
    context: Vec<RequestContext>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are read for their cost")]
struct RequestMessage {
    id: String,
    role: Role,
    parts: Vec<RequestPart>,
    metadata: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
    System,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are read for their cost")]
#[serde(rename_all = "camelCase")]
struct RequestPart {
    r#type: String,
    text: Option<String>,
    provider_metadata: Option<Box<RawValue>>,
    tool_call_id: Option<String>,
    state: Option<String>,
    input: Option<Box<RawValue>>,
    output: Option<Box<RawValue>>,
    call_provider_metadata: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are read for their cost")]
struct RequestContext {
    id: String,
    r#type: String,
    data: Value,
}

pub(super) fn by_serde(events: usize) -> Outcome<usize> {
    let body = posted(&seals::keys()?, &Principal::anonymous())?;
    let mut count = 0;
    for _ in 0..events {
        let request: Request = serde_json::from_slice(black_box(&body))?;
        count += usize::from(request.messages.len() == MESSAGES);
        black_box(request);
    }
    Ok(count)
}

/// The request as it is commonly declared: parts are an enum by their `type`, and values of tools are trees.
#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are read for their cost")]
#[serde(rename_all = "camelCase")]
struct TaggedRequest {
    id: String,
    trigger: String,
    messages: Vec<TaggedMessage>,
    context: Vec<RequestContext>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are read for their cost")]
struct TaggedMessage {
    id: String,
    role: Role,
    parts: Vec<TaggedPart>,
    metadata: Option<Value>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are read for their cost")]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum TaggedPart {
    StepStart,
    Text {
        text: String,
        provider_metadata: Option<Value>,
    },
    #[serde(rename = "tool-orders")]
    Orders {
        tool_call_id: String,
        state: String,
        input: Value,
        output: Option<Value>,
        call_provider_metadata: Option<Value>,
    },
}

pub(super) fn by_serde_tagged(events: usize) -> Outcome<usize> {
    let body = posted(&seals::keys()?, &Principal::anonymous())?;
    let mut count = 0;
    for _ in 0..events {
        let request: TaggedRequest = serde_json::from_slice(black_box(&body))?;
        count += usize::from(request.messages.len() == MESSAGES);
        black_box(request);
    }
    Ok(count)
}

/// Measures the reader of AI SDK requests alone, which checks the bytes in the same walk. An event is one message.
pub(super) fn read_per_message(events: usize) -> Outcome<usize> {
    let (body, limits) = (posted(&seals::keys()?, &Principal::anonymous())?, Limits::default());
    let mut count = 0;
    for _ in 0..events.div_ceil(MESSAGES) {
        let body = black_box(&body).clone();
        let request = ai_sdk::read_request(body, &limits)?;
        count += request.messages.len();
        black_box(request);
    }
    Ok(count.min(events))
}
