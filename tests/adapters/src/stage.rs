//! The assistants of the cases: their models, their tools, and the requests to them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream;
use omniassist_server::core::transcript::UserContent;
use omniassist_server::core::{FinishReason, Limits, LlmEvent, LlmPayload, TranscriptItem};
use omniassist_server::testing::{FakeProvider, ScriptedProvider, Turn, call, text};
use omniassist_server::{
    Args, Assistant, AssistantBuilder, CancellationToken, LlmProvider, LlmStream, ObjectEndpoint,
    OpenAiProvider, Tool, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

use crate::transport::Transport;
use crate::wire::{self, Ask};

/// Returns the builder of an assistant that refuses anonymous requests.
pub(crate) fn closed(model: impl LlmProvider) -> AssistantBuilder {
    Assistant::builder(model)
}

/// Returns the builder of an assistant that accepts anonymous requests.
pub(crate) fn assistant(model: impl LlmProvider) -> AssistantBuilder {
    closed(model).allow_anonymous()
}

/// Returns an assistant with only a model. It accepts anonymous requests.
pub(crate) fn built(model: impl LlmProvider) -> Assistant {
    assistant(model).build().unwrap()
}

/// Returns a model that always answers with these words.
pub(crate) fn says(words: &'static str) -> ScriptedProvider {
    ScriptedProvider::new().otherwise(move |_| text(words))
}

/// Returns a model that repeats the user's last text.
pub(crate) fn echo() -> ScriptedProvider {
    ScriptedProvider::new().otherwise(|payload| match payload.transcript.last() {
        Some(TranscriptItem::User { content }) => match content.last() {
            Some(UserContent::Text { text: said }) => text(said.clone()),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    })
}

/// Returns a model that sends these words and then nothing more.
pub(crate) fn stuck_after(words: &'static str) -> ScriptedProvider {
    ScriptedProvider::new().otherwise(move |_| text(words).then(Turn::pending()))
}

/// Returns limits under which no keep-alive comment is sent during a case.
pub(crate) fn silent() -> Limits {
    let mut limits = Limits::default();
    limits.keep_alive = Duration::from_secs(3600);
    limits
}

/// Returns the limits for cases of disconnects. They are [`silent`], so that no failed write reveals the disconnect.
/// Transports that need a write to notice it get frequent comments.
pub(crate) fn left(on: Transport) -> Limits {
    let mut limits = silent();
    if !on.notices_in_silence() {
        limits.keep_alive = Duration::from_millis(100);
    }
    limits
}

/// Returns an OpenAI provider that sends its requests to this server.
pub(crate) fn openai(server: &FakeProvider) -> OpenAiProvider {
    OpenAiProvider::builder().base_url(server.base_url()).api_key("k").build().unwrap()
}

#[derive(Deserialize, JsonSchema)]
struct Sum {
    one: u32,
    other: u32,
}

/// Returns a tool that adds two numbers.
pub(crate) fn adder() -> Tool {
    async fn add(Args(sum): Args<Sum>) -> Result<u32, ToolError> {
        sum.one.checked_add(sum.other).ok_or_else(|| ToolError::new("That is too much."))
    }
    Tool::new("add", "Adds two numbers", add)
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct Invoice {
    /// In cents.
    total: u64,
}

pub(crate) fn invoice() -> ObjectEndpoint {
    ObjectEndpoint::new::<Invoice>("invoice", "Read the invoice.")
}

/// Observes the start of a tool and the cancellation of its token.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    begun: Arc<Notify>,
    fired: Arc<Notify>,
}

impl Watch {
    /// Returns a tool that waits until it is cancelled.
    pub(crate) fn tool(&self) -> Tool {
        let watch = self.clone();
        let wait = move |token: CancellationToken| {
            let watch = watch.clone();
            async move {
                watch.begun.notify_one();
                token.cancelled().await;
                watch.fired.notify_one();
                Ok::<_, ToolError>(1)
            }
        };
        Tool::new("wait", "Waits", wait)
    }

    pub(crate) async fn begun(&self) {
        wire::soon("the tool begins", self.begun.notified()).await;
    }

    pub(crate) async fn fired(&self) {
        wire::soon("the tool's token is cancelled", self.fired.notified()).await;
    }
}

/// A model that sends the words of a [`Prompter`] as soon as they are given.
pub(crate) struct Prompted(Mutex<Option<mpsc::UnboundedReceiver<LlmEvent>>>);

/// The source of the words of a [`Prompted`] model.
pub(crate) struct Prompter(mpsc::UnboundedSender<LlmEvent>);

pub(crate) fn prompted() -> (Prompter, Prompted) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Prompter(sender), Prompted(Mutex::new(Some(receiver))))
}

impl Prompter {
    pub(crate) fn say(&self, words: &str) {
        self.0.send(LlmEvent::TextDelta { block: 0, delta: words.into() }).unwrap();
    }

    pub(crate) fn finish(self) {
        self.0.send(LlmEvent::TextEnd { block: 0, metadata: None }).unwrap();
        let finish = LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false };
        self.0.send(finish).unwrap();
    }
}

impl LlmProvider for Prompted {
    fn name(&self) -> &str {
        "prompted"
    }

    fn stream(&self, _payload: LlmPayload) -> LlmStream {
        let mut events = self.0.lock().unwrap().take().expect("one model call");
        Box::pin(stream::poll_fn(move |cx| events.poll_recv(cx).map(|event| event.map(Ok))))
    }
}

/// Returns a request of the AI SDK.
pub(crate) fn conversation(chat: &str) -> Value {
    json!({ "id": chat, "messages": [{ "id": "m1", "role": "user", "content": "hi" }] })
}

/// Posts a conversation of chat `c` to the assistant at this path.
pub(crate) fn run(path: &str) -> Ask {
    Ask::json(path, &conversation("c"))
}

/// Returns a request of an AG-UI client.
pub(crate) fn ag_ui_input(thread: &str) -> Value {
    json!({
        "threadId": thread, "runId": "run-1",
        "messages": [{ "id": "u1", "role": "user", "content": "hi" }],
        "tools": [], "context": [], "state": {}, "forwardedProps": {},
    })
}

/// Returns a request of an OpenAI client.
pub(crate) fn chat_request(stream: bool) -> Value {
    json!({
        "model": "omniassist", "stream": stream,
        "messages": [{ "role": "user", "content": "hi" }],
    })
}

/// Returns a request for each route below `mount` that calls the model. Each request has its own chat.
pub(crate) fn model_routes(mount: &str) -> Vec<Ask> {
    vec![
        run(mount),
        Ask::json(format!("{mount}?protocol=text"), &conversation("plain")),
        Ask::json(format!("{mount}/completion"), &json!({ "prompt": "hi" })),
        Ask::json(format!("{mount}/object/invoice"), &json!("a text")),
        Ask::json(format!("{mount}/v1/chat/completions"), &chat_request(false)),
        Ask::json(format!("{mount}/v1/chat/completions"), &chat_request(true)),
        Ask::json(format!("{mount}/ag-ui"), &ag_ui_input("one")),
        Ask::json(format!("{mount}/copilotkit/agent/default/run"), &ag_ui_input("two")),
    ]
}

/// Returns a model that calls a tool between two texts.
pub(crate) fn adding() -> ScriptedProvider {
    ScriptedProvider::new()
        .turn(text("Let me see. ").then(call("add", json!({ "one": 1, "other": 2 }))))
        .turn(text("It is 3."))
}
