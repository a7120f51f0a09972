use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use http::Extensions;
use omniassist_server::RunContext;
use omniassist_server::core::{JsonText, RunRequest};
use omniassist_server::tool::{Tool, ToolError, ToolInvocation};

use super::Bench;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the log of a tool call.
async fn log_of(tool: Tool) -> String {
    logged(async {
        let _ = Bench::new().call(tool, "{\"pin\": 1234}").await;
    })
    .await
}

/// Returns the log of this work.
pub(crate) async fn logged(work: impl Future<Output = ()>) -> String {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .with_max_level(tracing::Level::INFO)
        .finish();
    // The second subscriber prevents `tracing` from caching the enabled call sites.
    std::mem::forget(tracing::Dispatch::new(tracing_subscriber::registry()));
    // The runtime of the test has one thread, so this subscriber also records the tool's task.
    let _guard = tracing::subscriber::set_default(subscriber);
    work.await;
    let bytes = lines.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[derive(Debug)]
struct Link(&'static str, Option<Box<Link>>);

impl std::fmt::Display for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Link {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.1.as_deref().map(|next| next as _)
    }
}

#[tokio::test]
async fn a_hidden_error_is_logged_with_its_sources() {
    let error = || Link("no row", Some(Box::new(Link("no disk", Some(Box::new(Link("no power", None)))))));
    let log = log_of(Tool::new("find", "d", move || async move { Err::<(), _>(error()) })).await;
    assert!(log.contains("ERROR") && log.contains("error=no row: no disk: no power\n"), "{log}");
    assert!(log.contains("tool=\"find\"") && log.contains("call_id=\"call-1\""), "{log}");
    assert!(!log.contains("1234"), "the log must not contain arguments: {log}");
}

#[tokio::test]
async fn a_panic_is_logged() {
    let tool = Tool::new("find", "d", async || -> Result<(), ToolError> { panic!("no luck") });
    let log = log_of(tool).await;
    assert!(log.contains("ERROR") && log.contains("panicked: no luck"), "{log}");
}

#[tokio::test]
async fn a_tool_error_for_the_model_is_not_logged() {
    let log = log_of(Tool::new("find", "d", async || Err::<(), _>(ToolError::new("no such order")))).await;
    assert_eq!(log, "");
}

#[tokio::test]
async fn a_call_id_with_a_line_break_does_not_forge_a_line() {
    let log = logged(async {
        let tool = Tool::new("find", "d", async || Err::<(), _>(Link("no row", None)));
        let tools = Bench::new().tools(tool);
        let id = "call\n2026-01-01T00:00:00Z ERROR forged \u{1b}[0m";
        let run = RunContext::for_request(RunRequest::new(Vec::new()), Extensions::new());
        let call = ToolInvocation::new(id, JsonText::EMPTY_OBJECT, run);
        tools.start(tools.snapshot().get("find").unwrap(), call).outcome().await;
    })
    .await;
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(!log.contains('\u{1b}'), "{log}");
}

#[tokio::test]
async fn hidden_characters_of_an_error_are_escaped_in_the_log() {
    let hidden = "\n\u{202e}\u{200d}\u{61c}\u{ad}\u{3164}\u{e0041}";
    let log = log_of(Tool::new("find", "d", move || async move { Err::<(), _>(Link(hidden, None)) })).await;
    assert!(log.contains(r"error=\n\u{202e}\u{200d}\u{61c}\u{ad}\u{3164}\u{e0041}"), "{log}");
}
