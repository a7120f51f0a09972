//! The bytes that a page receives while a program runs.

use std::time::Duration;

use http::Request;
use http_body_util::BodyExt;
use omniassist_python::{Code, CodeOutcome, CodeRunner, Python, PythonError, Session, Stream};
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Assistant, Principal, Tool, ToolError};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::setup::{pool, registry, watch};

fn post(path: &str, body: &Value) -> Request<String> {
    let mut request = Request::post(path).header("content-type", "application/json");
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    request.body(body.to_string()).unwrap()
}

/// Returns what a page receives for one run of a program: the bytes, and the number of progress events.
async fn received(dialect: &str, code: &str) -> (usize, usize) {
    let step = Tool::new("step", "Does nothing", async || Ok::<_, ToolError>(1));
    let limits = Code::new().time(Duration::from_secs(60)).output(80 << 10);
    let python = Python::pool(pool(1).await).limits(limits).functions([step]).tool("python").unwrap();
    let model = ScriptedProvider::new().turn(call("python", json!({ "code": code }))).turn(text("Done."));
    let assistant = Assistant::builder(model).tool(python).build().unwrap();
    let (request, progress) = match dialect {
        "AI SDK" => {
            let parts = json!([{ "type": "text", "text": "Go" }]);
            let body = json!({ "id": "c", "messages": [{ "id": "m", "role": "user", "parts": parts }] });
            (post("/", &body), "\"preliminary\":true")
        }
        _ => {
            let messages = json!([{ "id": "m", "role": "user", "content": "Go" }]);
            let body = json!({ "threadId": "c", "runId": "r", "messages": messages, "tools": [], "context": [],
                "state": {}, "forwardedProps": {} });
            (post("/ag-ui", &body), "omniassist.tool-progress")
        }
    };
    let response = AssistantService::new(assistant).handle(request).await;
    assert!(response.status().is_success(), "{}", response.status());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.into()).unwrap();
    assert!(body.contains("Done."), "{body:.400}");
    (body.len(), body.matches(progress).count())
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_costs_less_than_three_times_its_text() {
    const TEXT: usize = 64 << 10;
    for dialect in ["AI SDK", "AG-UI"] {
        // A worker sends its text before each call of a function.
        for code in [
            "for i in range(1000):\n    print('a' * 64)",
            "for i in range(900):\n    print('a' * 71)\n    step()",
        ] {
            let (bytes, events) = received(dialect, code).await;
            println!("{dialect}: {bytes} bytes and {events} progress events for 64 KiB");
            assert!(events >= 1 && bytes <= 3 * TEXT, "{dialect}: {bytes} bytes, {events} events: {code}");
        }
    }
}

/// A runner that writes a long text, then three lines, and works on for an hour.
struct Slow;

impl CodeRunner for Slow {
    async fn run(&self, _: &str, session: &Session) -> Result<CodeOutcome, PythonError> {
        for text in ["é".repeat(4_000), "1\n".to_owned(), "2\n".to_owned(), "3\n".to_owned()] {
            assert!(session.write(Stream::Stdout, &text));
        }
        sleep(Duration::from_secs(3_600)).await;
        Ok(CodeOutcome::finished(Value::Null))
    }
}

#[tokio::test(start_paused = true)]
async fn text_is_shown_soon_and_once() {
    let began = Instant::now();
    let tools = registry(Python::pool(Slow).tool("python").unwrap().timeout(Duration::from_secs(7_200)));
    let (shown, output) = watch(&tools, "").await;
    let shown: Vec<_> = shown.iter().map(|shown| shown["stdout"].as_str().unwrap()).collect();
    assert_eq!(shown.len(), 2, "an hour without text has no progress");
    assert!(shown[0].len() <= 4_096 && shown[0].ends_with('é'), "{}", shown[0].len());
    assert!(shown[1].len() <= 4_096 && shown[1].ends_with("é1\n2\n3\n"), "{}", shown[1].len());
    assert_eq!(output["stdout"].as_str().unwrap().len(), 8_006);
    assert!(began.elapsed() >= Duration::from_secs(3_600));
}
