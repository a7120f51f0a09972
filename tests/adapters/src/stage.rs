//! The assistants of the cases: their models, their tools, and what clients post to them.

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

/// An assistant that lets nobody in of whom it does not know who they are.
pub(crate) fn closed(model: impl LlmProvider) -> AssistantBuilder {
    Assistant::builder(model)
}

/// An assistant for everybody.
pub(crate) fn assistant(model: impl LlmProvider) -> AssistantBuilder {
    closed(model).allow_anonymous()
}

/// An assistant that needs nothing more.
pub(crate) fn built(model: impl LlmProvider) -> Assistant {
    assistant(model).build().unwrap()
}

/// A model that always says this.
pub(crate) fn says(words: &'static str) -> ScriptedProvider {
    ScriptedProvider::new().otherwise(move |_| text(words))
}

/// A model that says what the user said last.
pub(crate) fn echo() -> ScriptedProvider {
    ScriptedProvider::new().otherwise(|payload| match payload.transcript.last() {
        Some(TranscriptItem::User { content }) => match content.last() {
            Some(UserContent::Text { text: said }) => text(said.clone()),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    })
}

/// A model that says this much and then nothing more.
pub(crate) fn stuck_after(words: &'static str) -> ScriptedProvider {
    ScriptedProvider::new().otherwise(move |_| text(words).then(Turn::pending()))
}

/// Comments come so rarely that no case waits for one.
pub(crate) fn silent() -> Limits {
    let mut limits = Limits::default();
    limits.keep_alive = Duration::from_secs(3600);
    limits
}

/// For a client that leaves: [`silent`], so that no write can find it out, where that is not needed; else comments come
/// soon.
pub(crate) fn left(on: Transport) -> Limits {
    let mut limits = silent();
    if !on.notices_in_silence() {
        limits.keep_alive = Duration::from_millis(100);
    }
    limits
}

/// An OpenAI provider that asks this server.
pub(crate) fn openai(server: &FakeProvider) -> OpenAiProvider {
    OpenAiProvider::builder().base_url(server.base_url()).api_key("k").build().unwrap()
}

#[derive(Deserialize, JsonSchema)]
struct Sum {
    one: u32,
    other: u32,
}

/// A tool that adds two numbers.
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

/// Sees a tool begin, and its token fire.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    begun: Arc<Notify>,
    fired: Arc<Notify>,
}

impl Watch {
    /// A tool that waits until it is no longer wanted.
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
        wire::soon("the tool's token fires", self.fired.notified()).await;
    }
}

/// A model that says what it is given, when it is given it.
pub(crate) struct Prompted(Mutex<Option<mpsc::UnboundedReceiver<LlmEvent>>>);

/// Gives the words to a [`Prompted`] model.
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

/// A request of the AI SDK.
pub(crate) fn conversation(chat: &str) -> Value {
    json!({ "id": chat, "messages": [{ "id": "m1", "role": "user", "content": "hi" }] })
}

/// Posts a conversation of chat `c` to the assistant at this path.
pub(crate) fn run(path: &str) -> Ask {
    Ask::json(path, &conversation("c"))
}

/// A request of an AG-UI client.
pub(crate) fn ag_ui_input(thread: &str) -> Value {
    json!({
        "threadId": thread, "runId": "run-1",
        "messages": [{ "id": "u1", "role": "user", "content": "hi" }],
        "tools": [], "context": [], "state": {}, "forwardedProps": {},
    })
}

/// A request of an OpenAI client.
pub(crate) fn chat_request(stream: bool) -> Value {
    json!({
        "model": "omniassist", "stream": stream,
        "messages": [{ "role": "user", "content": "hi" }],
    })
}

/// A request that is answered by the model, on every route that has such answers, below a mount; each of a chat of its
/// own.
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

/// The model calls a tool between two texts.
pub(crate) fn adding() -> ScriptedProvider {
    ScriptedProvider::new()
        .turn(text("Let me see. ").then(call("add", json!({ "one": 1, "other": 2 }))))
        .turn(text("It is 3."))
}
