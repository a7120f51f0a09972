//! One run of an assistant whose model is a provider over a real socket.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use omniassist_server::core::message::{MessageCollector, Role};
use omniassist_server::core::transcript::{from_messages, is_legal};
use omniassist_server::core::{Limits, Message, RunEvent, RunRequest, Usage};
use omniassist_server::testing::{FakeProvider, FakeRequest, Reply};
use omniassist_server::{
    Args, Assistant, LlmProvider, OpenAiChatProvider, OpenAiProvider, State, Tool, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) use crate::openai::harness::Api;

/// The arguments of the tools that ran, in order.
#[derive(Clone, Default)]
struct Ran(Arc<Mutex<Vec<String>>>);

#[derive(Deserialize, JsonSchema)]
struct Weather {
    city: String,
}

#[derive(Deserialize, JsonSchema)]
struct Time {
    #[serde(default)]
    zone: Option<String>,
}

async fn weather(Args(Weather { city }): Args<Weather>, State(ran): State<Ran>) -> Result<String, ToolError> {
    ran.0.lock().unwrap().push(format!("weather {city}"));
    Ok(format!("sunny in {city}"))
}

async fn time(Args(Time { zone }): Args<Time>, State(ran): State<Ran>) -> Result<&'static str, ToolError> {
    ran.0.lock().unwrap().push(format!("time {}", zone.as_deref().unwrap_or("here")));
    Ok("noon")
}

/// Returns limits with which a test ends quickly.
pub(crate) fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.retry_base_delay = Duration::from_millis(1);
    limits.retry_max_delay = Duration::from_millis(4);
    limits.first_byte_timeout = Some(Duration::from_secs(10));
    limits.idle_timeout = Duration::from_secs(10);
    limits
}

pub(super) fn provider(api: Api, base_url: &str, limits: Limits) -> Arc<dyn LlmProvider> {
    match api {
        Api::Chat => {
            Arc::new(OpenAiChatProvider::builder().base_url(base_url).limits(limits).build().unwrap())
        }
        Api::Responses => {
            Arc::new(OpenAiProvider::builder().base_url(base_url).limits(limits).build().unwrap())
        }
    }
}

/// The events of one run, and its effects on the server and the tools.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) events: Vec<RunEvent>,
    /// The calls of tools that ran.
    pub(super) ran: Vec<String>,
    pub(super) requests: Vec<FakeRequest>,
    pub(super) took: Duration,
    /// The message as a client stores it and posts it back.
    pub(super) message: Message,
}

impl Told {
    pub(super) fn text(&self) -> String {
        let deltas = self.events.iter().filter_map(|event| match event {
            RunEvent::TextDelta { delta, .. } => Some(delta.as_str()),
            _ => None,
        });
        deltas.collect()
    }

    /// Returns the finish reason or the error's code.
    pub(super) fn end(&self) -> String {
        match self.events.last() {
            Some(RunEvent::Finish { reason, .. }) => format!("{reason:?}"),
            Some(RunEvent::Error { code, .. }) => code.as_str().to_owned(),
            other => format!("{other:?}"),
        }
    }

    pub(super) fn usage(&self) -> Usage {
        match self.events.last() {
            Some(RunEvent::Finish { usage, .. }) => *usage,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the errors of calls, as the model and the user read them.
    pub(super) fn call_errors(&self) -> Vec<&str> {
        let errors = self.events.iter().filter_map(|event| match event {
            RunEvent::ToolInputError { error_text, .. } | RunEvent::ToolError { error_text, .. } => {
                Some(error_text.as_str())
            }
            _ => None,
        });
        errors.collect()
    }

    /// Returns the tool results in the request with this number, from 0.
    pub(super) fn results(&self, request: usize) -> Vec<String> {
        let sent = self.requests[request].json();
        let items = sent.get("messages").or_else(|| sent.get("input")).unwrap().as_array().unwrap();
        let results = items.iter().filter_map(|item| {
            if item["role"] == "tool" {
                item["content"].as_str()
            } else if item["type"] == "function_call_output" {
                item["output"].as_str()
            } else {
                None
            }
        });
        results.map(str::to_owned).collect()
    }
}

/// Runs a question with the tools `weather` (needs a city) and `time` on a provider that answers with these replies.
/// Checks the invariants of every run: one start, one terminal event, and a message that can be posted back.
pub(super) async fn ask_with(api: Api, replies: impl IntoIterator<Item = Reply>, limits: Limits) -> Told {
    let server = FakeProvider::start().await.unwrap();
    for reply in replies {
        server.reply(reply);
    }
    let ran = Ran::default();
    let assistant = Assistant::builder(provider(api, &server.base_url(), limits.clone()))
        .limits(limits)
        .state(ran.clone())
        .tool(Tool::new("weather", "The weather in a city", weather))
        .tool(Tool::new("time", "The time in a zone", time))
        .build()
        .unwrap();
    let start = Instant::now();
    let run = assistant.run(RunRequest::prompt("Hello"));
    let mut collector = MessageCollector::new();
    let events: Vec<RunEvent> = run.collect().await;
    let took = start.elapsed();
    for event in &events {
        collector.apply(event);
    }
    let message = collector.into_message();
    assert!(matches!(events.first(), Some(RunEvent::Start { .. })), "{events:?}");
    let terminal: Vec<_> = events.iter().filter(|event| event.is_terminal()).collect();
    assert_eq!(terminal.len(), 1, "{events:?}");
    assert!(events.last().unwrap().is_terminal(), "{events:?}");
    if let Some(RunEvent::Error { code, message }) = events.last() {
        assert_eq!(message, code.safe_message());
    }
    assert_eq!(message.role, Role::Assistant);
    let next = [Message::user("u1", "Hello"), message.clone(), Message::user("u2", "And now?")];
    let transcript = omniassist_server::core::transcript::repair(from_messages(&next));
    assert!(is_legal(&transcript), "{transcript:?}");
    assert_eq!(server.replies_left(), 0, "the run has used every reply");
    let ran = ran.0.lock().unwrap().clone();
    Told { events, ran, requests: server.requests(), took, message }
}

pub(super) async fn ask(api: Api, replies: impl IntoIterator<Item = Reply>) -> Told {
    ask_with(api, replies, limits()).await
}

/// Runs a question on a provider that must receive exactly one request.
pub(super) async fn ask_once(api: Api, reply: Reply) -> Told {
    let mut limits = limits();
    limits.max_retries = 0;
    ask_with(api, [reply], limits).await
}
