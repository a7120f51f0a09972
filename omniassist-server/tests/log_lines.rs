//! Tests that text of providers, clients and the host cannot add lines to a log.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::{Extensions, Request, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::core::RunRequest;
use omniassist_server::http::AssistantService;
use omniassist_server::seal::InMemoryReplayGuard;
use omniassist_server::store::MemoryStore;
use omniassist_server::testing::{FakeProvider, Reply, ScriptedProvider, Turn, call, responses_sse, text};
use omniassist_server::{
    Assistant, AssistantBuilder, AuthError, AuthRequest, Error, OpenAiProvider, Principal, ProviderErrorKind,
    RunContext, SealKeys, Tool, ToolError,
};
use serde_json::json;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// A text with a line break, an escape sequence, and a separator at which some viewers break lines.
const FORGED: &str = "x\r\n2026-01-01 ERROR forged\u{1b}[31m\u{9b}\u{2028}y";

#[derive(Clone, Default)]
struct Log {
    text: Arc<Mutex<Vec<u8>>>,
    events: Arc<AtomicUsize>,
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.text.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<S: tracing::Subscriber> Layer<S> for Log {
    fn on_event(&self, _: &tracing::Event<'_>, _: Context<'_, S>) {
        self.events.fetch_add(1, Ordering::SeqCst);
    }
}

impl Log {
    fn install() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(move || writer.clone());
        let subscriber = tracing_subscriber::registry().with(lines).with(log.clone());
        // The second subscriber prevents `tracing` from caching the enabled call sites.
        std::mem::forget(tracing::Dispatch::new(tracing_subscriber::registry()));
        (log.clone(), tracing::subscriber::set_default(subscriber))
    }

    /// Asserts that each event has one line and that the log contains `expected`. It also asserts that these
    /// lines have no control characters.
    fn check(&self, expected: &str) {
        let text = String::from_utf8(std::mem::take(&mut *self.text.lock().unwrap())).unwrap();
        assert_eq!(text.lines().count(), self.events.swap(0, Ordering::SeqCst), "{expected}: {text}");
        assert!(text.contains(expected) && text.contains("forged"), "{expected}: {text}");
        let is_allowed = |char: char| char == '\n' || !(char.is_control() || char == '\u{2028}');
        assert!(text.chars().all(is_allowed), "{expected}: {text:?}");
    }
}

fn forged() -> Error {
    Error::provider(ProviderErrorKind::Response)
        .with_code(FORGED)
        .with_detail(FORGED)
        .with_request_id(FORGED)
        .with_source(FORGED)
}

async fn run(assistant: &Assistant, prompt: &str) {
    let mut request = RunRequest::prompt(prompt);
    request.chat_id = Some(FORGED.into());
    let _ = assistant.try_run(request, Extensions::new()).await.unwrap().outcome().await;
}

#[tokio::test]
async fn errors_of_providers_tools_and_hooks_take_one_line_each() {
    let (log, _guard) = Log::install();

    let model = ScriptedProvider::new().turn(Turn::error(forged()));
    run(&Assistant::builder(model).build().unwrap(), "Hi").await;
    log.check("the model call failed");

    let provider = FakeProvider::start().await.unwrap();
    provider.otherwise(Reply::sse(responses_sse::error(FORGED, FORGED)));
    let model = OpenAiProvider::builder().base_url(provider.base_url()).build().unwrap();
    run(&Assistant::builder(model).build().unwrap(), "Hi").await;
    log.check("the model call failed");

    let failing = |_: RunContext| async { Err::<String, _>(std::io::Error::other(FORGED)) };
    run(&Assistant::builder(ScriptedProvider::new()).system_prompt(failing).build().unwrap(), "Hi").await;
    log.check("the system prompt failed");

    let tool = Tool::new("fail", "Fails", || async {
        Err::<String, ToolError>(std::io::Error::other(FORGED).into())
    });
    let model = ScriptedProvider::new()
        .turn(Turn::call_with_id(FORGED, "fail", json!({})))
        .turn(call("fail", json!({})))
        .turn(text("No."));
    run(&Assistant::builder(model).tool(tool).build().unwrap(), "Hi").await;
    log.check("tool call failed");
}

#[tokio::test]
async fn requests_of_clients_take_one_line_each() {
    async fn refuse(_: AuthRequest) -> Result<Option<Principal>, AuthError> {
        Err(AuthError::unavailable().with_source(FORGED))
    }
    let (log, _guard) = Log::install();
    let assistant = Assistant::builder(ScriptedProvider::new()).authenticate(refuse).build().unwrap();
    let request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    let request = request.body(Full::<bytes::Bytes>::from("{}")).unwrap();
    AssistantService::new(assistant).handle(request).await.into_body().collect().await.unwrap();
    log.check("a request was refused");

    let assistant = Assistant::builder(ScriptedProvider::new()).build().unwrap();
    assert!(!assistant.stop(&Principal::anonymous(), FORGED));
    log.check("a client asked to stop a run");
}

#[tokio::test]
async fn the_log_names_what_instances_with_the_same_keys_do_not_share() {
    let (log, _guard) = Log::install();
    let logged = |builder: AssistantBuilder| {
        log.text.lock().unwrap().clear();
        builder.seal_keys(SealKeys::new("k", [7; 32]).unwrap()).build().unwrap();
        String::from_utf8(log.text.lock().unwrap().clone()).unwrap()
    };
    let builder = || Assistant::builder(ScriptedProvider::new());

    let alone = logged(builder());
    assert_eq!(alone.matches("instances share nothing").count(), 1, "{alone}");
    let stored = logged(builder().store(MemoryStore::new()));
    assert!(stored.contains("approvals of stored conversations count once"), "{stored}");
    let guarded = logged(builder().replay_guard(InMemoryReplayGuard::new()));
    assert_eq!(guarded, "");
}

#[tokio::test]
async fn the_log_says_once_that_chats_of_anonymous_users_are_not_stored() {
    let (log, _guard) = Log::install();
    let model = ScriptedProvider::new().turn(text("Hi")).turn(text("Hi")).turn(text("Hi"));
    let builder = Assistant::builder(model).store(MemoryStore::new()).allow_anonymous();
    let service = AssistantService::new(builder.build().unwrap());
    for (user, expected) in
        [(Principal::new("ada"), 0), (Principal::anonymous(), 1), (Principal::anonymous(), 1)]
    {
        let body = json!({"id": "c", "messages": [{"id": "m1", "role": "user", "content": "Hi"}]});
        let mut request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
        request.extensions_mut().unwrap().insert(user);
        let request = request.body(Full::<bytes::Bytes>::from(body.to_string())).unwrap();
        service.handle(request).await.into_body().collect().await.unwrap();
        let text = String::from_utf8(log.text.lock().unwrap().clone()).unwrap();
        assert_eq!(text.matches("of an anonymous user is not stored").count(), expected, "{text}");
    }
}
