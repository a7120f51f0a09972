//! Tests of sources of tools: what models are sent, what runs, and what callers see.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::core::RunRequest;
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::tool::source::{
    AttachedSource, ReadyFuture, SourceSlot, SourceState, ToolSource, WithheldTool, source_tool_name,
};
use omniassist_server::{Agent, Assistant, Principal, RunContext, Tool, ToolError};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::no_tools;

/// A source whose test keeps the slots.
#[derive(Default)]
struct Shelf {
    name: &'static str,
    slots: Mutex<Vec<SourceSlot>>,
    /// The source is ready when this is notified.
    waits: Option<Notify>,
    refuses: bool,
}

impl Shelf {
    fn new(name: &'static str) -> Arc<Self> {
        Arc::new(Self { name, ..Self::default() })
    }

    fn slot(&self) -> SourceSlot {
        self.slots.lock().unwrap().last().unwrap().clone()
    }

    fn offer(&self, names: &[&str]) -> Vec<WithheldTool> {
        self.slot().offer(names.iter().map(|name| tool(name)))
    }
}

impl ToolSource for Shelf {
    fn name(&self) -> &str {
        self.name
    }

    fn attach(&self, slot: SourceSlot) {
        self.slots.lock().unwrap().push(slot);
    }

    fn ready<'a>(&'a self, _caller: &'a RunContext) -> ReadyFuture<'a> {
        Box::pin(async move {
            if let Some(waits) = &self.waits {
                waits.notified().await;
            }
            !self.refuses
        })
    }
}

fn tool(name: &str) -> Tool {
    let output = format!("by the source: {name}");
    Tool::new(name.to_owned(), "Does something", move || {
        std::future::ready(Ok::<_, ToolError>(output.clone()))
    })
}

fn names(assistant: &Assistant) -> Vec<String> {
    assistant.tools().names().iter().map(ToString::to_string).collect()
}

async fn send(assistant: &Assistant, user: &str, method: Method, path: &str) -> (StatusCode, Value) {
    let body = json!({ "id": "c", "messages": [
        { "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Hi" }] },
    ] });
    let mut request =
        Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new(user));
    let request = request.body(Full::<Bytes>::from(body.to_string())).unwrap();
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

#[tokio::test]
async fn the_model_of_the_next_run_is_sent_late_tools() {
    let model = ScriptedProvider::new()
        .turn(text("No tools."))
        .turn(call("docs_open", json!({})))
        .turn(text("Opened."));
    let docs = Shelf::new("docs");
    let assistant = Assistant::builder(model.clone()).tool_source(Arc::clone(&docs)).build().unwrap();
    assert_eq!(assistant.tools().sources()[0].state, SourceState::Connecting);
    assistant.run(RunRequest::prompt("Hi")).text().await.unwrap();

    assert_eq!(docs.offer(&["open"]), []);
    assert_eq!(assistant.tools().sources()[0].state, SourceState::Ready);
    assistant.run(RunRequest::prompt("Open it")).text().await.unwrap();

    let payloads = model.payloads();
    assert!(payloads[0].tools.is_empty());
    assert_eq!(payloads[1].tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["docs_open"]);
    assert!(format!("{:?}", payloads[2].transcript).contains("by the source: open"));
}

#[tokio::test]
async fn a_run_keeps_the_tools_with_which_it_began() {
    let docs = Shelf::new("docs");
    let taken = Arc::clone(&docs);
    let model = ScriptedProvider::new()
        .turn_with(move |_| {
            taken.offer(&["close"]);
            call("docs_open", json!({}))
        })
        .otherwise(|_| text("Done."));
    let assistant = Assistant::builder(model.clone()).tool_source(Arc::clone(&docs)).build().unwrap();
    docs.offer(&["open"]);
    assistant.run(RunRequest::prompt("Open it")).text().await.unwrap();
    assert!(format!("{:?}", model.payloads()[1].transcript).contains("by the source: open"));
    assert_eq!(names(&assistant), ["docs_close"]);
}

#[test]
fn a_tool_of_the_application_has_precedence() {
    let (docs, tools) = (Shelf::new("docs"), no_tools());
    tools.attach(Arc::clone(&docs)).unwrap();
    docs.offer(&["open", "close"]);
    tools.register(tool("docs_open")).unwrap();
    assert_eq!(tools.snapshot().get("docs_open").unwrap().source(), None);
    let withheld = docs.offer(&["open", "close"]);
    assert_eq!(withheld, [WithheldTool::new("open", "the application has a tool of this name")]);
    assert_eq!(tools.sources()[0].withheld, withheld);
    assert_eq!(tools.sources()[0].tools, ["docs_close"]);

    assert!(!tools.unregister("docs_close"), "a tool of a source is not removed alone");
    assert!(tools.unregister("docs_open"));
    assert_eq!(docs.offer(&["open", "close"]), []);
    assert_eq!(tools.snapshot().get("docs_open").unwrap().source().unwrap(), "docs");
}

#[test]
fn a_tool_that_cannot_be_offered_is_withheld_alone() {
    let (docs, tools) = (Shelf::new("docs"), no_tools());
    tools.attach(Arc::clone(&docs)).unwrap();
    let silent = Tool::new("silent", " ", async || Ok::<_, ToolError>(1));
    let own = WithheldTool::new("burn", "its definition has changed");
    let withheld = docs.slot().offer_with([silent, tool("open"), tool("open")], [own.clone()]);
    assert_eq!(withheld[0], own);
    assert_eq!(withheld[1].name, "silent");
    assert!(withheld[1].reason.contains("no description"), "{withheld:?}");
    assert_eq!(withheld[2], WithheldTool::new("open", "the source has another tool of this name"));
    assert_eq!(tools.names(), ["docs_open"]);
}

#[test]
fn names_that_models_do_not_accept_are_changed_and_stay_unique() {
    let longest = "x".repeat(64 - "docs_".len());
    assert_eq!(source_tool_name("docs", &longest), *format!("docs_{longest}"));
    let cut = source_tool_name("docs", &format!("{longest}y"));
    assert_eq!(cut.len(), 64);
    assert_ne!(cut, source_tool_name("docs", &format!("{longest}z")));
    assert_ne!(source_tool_name("docs", "a.b"), source_tool_name("docs", "a/b"));
    let (docs, tools) = (Shelf::new("docs"), no_tools());
    tools.attach(Arc::clone(&docs)).unwrap();
    assert_eq!(docs.offer(&["a.b", "a/b", "größe", &"n".repeat(128), "a_b"]), []);
    assert_eq!(tools.snapshot().len(), 5);
}

#[test]
fn a_source_offers_only_the_tools_that_are_chosen() {
    let (docs, tools) = (Shelf::new("docs"), no_tools());
    let source = AttachedSource::new(Arc::clone(&docs)).only(["get_*", "put"]).except(["get_secret*"]);
    tools.attach(source).unwrap();
    docs.offer(&["get_page", "get_secret", "get_secrets", "put", "put_all", "delete", "get_"]);
    assert_eq!(tools.names(), ["docs_get_", "docs_get_page", "docs_put"]);
}

#[tokio::test]
async fn a_source_that_a_caller_does_not_see_does_not_exist() {
    let docs = Shelf::new("docs");
    let source = AttachedSource::new(Arc::clone(&docs)).visible_to(|run| run.principal().id() == "boss");
    let model = ScriptedProvider::new().otherwise(|payload| match payload.transcript.len() {
        1 => call("docs_open", json!({})),
        _ => text("Done."),
    });
    let assistant = Assistant::builder(model.clone()).tool_source(source).build().unwrap();
    docs.slot().offer([tool("open"), tool("hr").visible_to(|run| run.principal().id() == "hr")]);

    let (_, ada) = send(&assistant, "ada", Method::GET, "/manifest.json").await;
    assert_eq!((&ada["tools"], &ada["toolSources"]), (&json!([]), &json!([])));
    let (_, boss) = send(&assistant, "boss", Method::GET, "/manifest.json").await;
    assert_eq!(boss["tools"].as_array().unwrap().len(), 1, "the tool's own condition applies too");
    assert_eq!(boss["tools"][0]["name"], "docs_open");
    assert_eq!(boss["toolSources"], json!([{ "name": "docs", "state": "ready" }]));

    send(&assistant, "ada", Method::POST, "/").await;
    send(&assistant, "boss", Method::POST, "/").await;
    let sent = |index: usize| format!("{:?}", model.payloads()[index].transcript);
    assert!(sent(1).contains("There is no tool of this name"), "{}", sent(1));
    assert!(!sent(1).contains("docs_hr"));
    assert!(sent(3).contains("by the source: open"), "{}", sent(3));
}

#[test]
fn a_detached_source_changes_nothing_any_more() {
    let (docs, tools) = (Shelf::new("docs"), no_tools());
    tools.attach(Arc::clone(&docs)).unwrap();
    docs.offer(&["open"]);
    let first = docs.slot();
    assert!(tools.detach("docs"));
    assert!(!tools.detach("docs"));
    assert!(first.is_detached() && tools.names().is_empty());

    tools.attach(Arc::clone(&docs)).unwrap();
    docs.offer(&["close"]);
    assert_eq!(first.offer([tool("open")]), []);
    first.set_state(SourceState::Connecting);
    assert_eq!(tools.names(), ["docs_close"]);
    assert_eq!(tools.sources()[0].state, SourceState::Ready);
    drop(tools);
    assert!(docs.slot().is_detached(), "the slot must not keep the registry alive");
}

#[test]
fn the_name_of_a_source_is_checked() {
    let tools = no_tools();
    for name in ["", "Docs", "1docs", "do_cs", "dö", "abcdefghijklmnopq"] {
        let error = tools.attach(Shelf::new(name)).unwrap_err().to_string();
        assert!(error.contains("1 to 16 of"), "{name}: {error}");
    }
    tools.attach(Shelf::new("abcdefghijklmnop")).unwrap();
    tools.attach(Shelf::new("d-1")).unwrap();
    let error = tools.attach(Shelf::new("d-1")).unwrap_err();
    assert!(
        error.to_string().contains("`d-1` cannot be attached: a source of this name is attached already")
    );
}

#[tokio::test]
async fn a_run_is_refused_without_the_tools_that_it_must_have() {
    let refusing = Arc::new(Shelf { name: "docs", refuses: true, ..Shelf::default() });
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let assistant = Assistant::builder(model.clone()).tool_source(refusing).build().unwrap();
    let (status, body) = send(&assistant, "ada", Method::POST, "/").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body["error"]["code"], "tool_source_unavailable", "{body}");
    assert!(model.payloads().is_empty(), "no money is spent");
    assert_eq!(assistant.live_runs(), 0);
    assistant.tools().detach("docs");
    assert_eq!(send(&assistant, "ada", Method::POST, "/").await.0, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_run_waits_for_the_tools_of_its_caller() {
    let docs = Arc::new(Shelf { name: "docs", waits: Some(Notify::new()), ..Shelf::default() });
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let assistant = Assistant::builder(model.clone()).tool_source(Arc::clone(&docs)).build().unwrap();
    let served = Arc::new(AtomicUsize::new(0));
    let (asked, done) = (assistant.clone(), Arc::clone(&served));
    let run = tokio::spawn(async move {
        send(&asked, "ada", Method::POST, "/").await;
        done.fetch_add(1, Ordering::SeqCst);
    });
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(model.payloads().is_empty() && served.load(Ordering::SeqCst) == 0);
    docs.offer(&["open"]);
    docs.waits.as_ref().unwrap().notify_one();
    run.await.unwrap();
    assert_eq!(model.payloads()[0].tools[0].name, "docs_open");
}

#[tokio::test]
async fn an_agent_has_the_sources_of_its_own_list_only() {
    let (docs, stock) = (Shelf::new("docs"), Shelf::new("stock"));
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let sales = Agent::new("sales", "Sells.").tool_source(Arc::clone(&stock));
    let assistant =
        Assistant::builder(model.clone()).tool_source(Arc::clone(&docs)).agent(sales).build().unwrap();
    docs.offer(&["open"]);
    stock.offer(&["count"]);
    assistant.run(RunRequest::prompt("Hi")).text().await.unwrap();
    assistant.agent("sales").unwrap().run(RunRequest::prompt("Hi")).text().await.unwrap();
    let sent =
        |index: usize| model.payloads()[index].tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    assert_eq!((sent(0), sent(1)), (vec!["docs_open".into()], vec!["stock_count".into()]));
}
