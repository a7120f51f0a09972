//! The contract of generative UI, item by item. The table in the documentation of `ui` names each test.

mod agents;
mod failures;
mod histories;
mod interface;
mod layers;
mod streaming;

use std::io::Write;
use std::sync::{Arc, Mutex};

use http::Extensions;
use omniassist_server::afs::{Afs, AfsEntry, AfsEntryKind, AfsHistory};
use omniassist_server::component::{Component, ComponentContext, ComponentOutput};
use omniassist_server::core::message::{Message, ToolState};
use omniassist_server::core::{RunEvent, RunRequest, Text};
use omniassist_server::store::Scope;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Args, Assistant, Principal, Run, ToolError, UiAgent, UiAgentOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const SESSION: &str = "/modules/history/by-session/c";

/// The props of a dashboard.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Dashboard {
    title: String,
    #[serde(default)]
    panels: Vec<String>,
}

/// The state of a dashboard.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
struct View {
    #[serde(default)]
    period: String,
    #[serde(default)]
    renders: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Choose {
    period: String,
}

async fn render(Args(props): Args<Dashboard>, ui: ComponentContext) -> Result<ComponentOutput, ToolError> {
    let renders = ui.state::<View>().renders + 1;
    let output = ComponentOutput::new().element(json!({ "kind": "dashboard" })).state("renders", renders);
    Ok(output.event("rendered", json!({ "title": props.title })))
}

async fn choose(Args(chosen): Args<Choose>, ui: ComponentContext) -> Result<String, ToolError> {
    ui.update_state(|view: &mut View| view.period.clone_from(&chosen.period)).await?;
    Ok(chosen.period)
}

fn dashboard() -> Component {
    Component::new::<Dashboard>("Dashboard", "Shows a dashboard")
        .state::<View>()
        .render(render)
        .on_action("choose", choose)
        .cli(|props: &Dashboard, _| format!("Dashboard: {}", props.title))
}

fn sales() -> Value {
    json!({ "title": "Sales", "panels": ["North", "South"] })
}

/// A model that shows the dashboard once.
fn shows_sales() -> ScriptedProvider {
    ScriptedProvider::new().turn(call("ui_Dashboard", sales())).turn(text("There."))
}

fn in_memory() -> Afs {
    Afs::new().mount(AfsHistory::in_memory())
}

fn options(model: &ScriptedProvider, afs: &Afs) -> UiAgentOptions {
    let assistant = Assistant::builder(model.clone()).seal_keys(crate::components::keys());
    UiAgentOptions::new(assistant).components([dashboard()]).afs(afs.clone())
}

fn web(model: &ScriptedProvider, afs: &Afs) -> UiAgent {
    UiAgent::for_web(options(model, afs)).unwrap()
}

fn ada() -> Scope {
    Scope::new("ada")
}

/// Posts a question of Ada, and returns the conversation and the events of the run.
async fn ask(agent: &UiAgent, messages: Vec<Message>) -> (Vec<Message>, Vec<RunEvent>) {
    crate::approvals::post(agent.assistant(), "c", messages).await
}

/// Starts a run of Ada.
async fn start(agent: &UiAgent, messages: Vec<Message>) -> Run {
    let mut request = RunRequest::new(messages);
    request.chat_id = Some("c".into());
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    agent.assistant().try_run(request, extensions).await.unwrap()
}

fn question() -> Vec<Message> {
    vec![Message::user("q", "Show me sales dashboard")]
}

/// Returns the output of the last call in a conversation.
fn output(messages: &[Message]) -> Value {
    let call = messages.last().unwrap().tools().last().unwrap();
    let ToolState::OutputAvailable { output, .. } = &call.state else { panic!("{call:?}") };
    output.to_value()
}

fn instance(messages: &[Message]) -> String {
    output(messages)["instanceId"].as_str().unwrap().to_owned()
}

async fn entries(afs: &Afs, kind: AfsEntryKind) -> Vec<AfsEntry> {
    let mut entries = afs.list(&ada(), SESSION).await.unwrap();
    entries.retain(|entry| entry.kind() == kind);
    entries
}

fn keys_of(object: &serde_json::Map<String, Value>) -> Vec<&str> {
    let mut keys: Vec<_> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn names(tools: &[Arc<omniassist_server::core::ToolSpec>]) -> Vec<Text> {
    tools.iter().map(|tool| tool.name.clone()).collect()
}

/// The lines of the log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn install() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let lines = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        // The second subscriber prevents `tracing` from caching the enabled call sites.
        std::mem::forget(tracing::Dispatch::new(tracing_subscriber::registry()));
        (log, tracing::subscriber::set_default(lines))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The sources of the tests in the table.
const SOURCES: [&str; 6] = [
    include_str!("agents.rs"),
    include_str!("failures.rs"),
    include_str!("histories.rs"),
    include_str!("interface.rs"),
    include_str!("layers.rs"),
    include_str!("streaming.rs"),
];
const SQLITE: &str = include_str!("../../../../omniassist-sqlite/tests/conformance.rs");

#[test]
fn the_table_has_every_item_and_every_test() {
    let rows = include_str!("../../../src/ui/mod.rs").lines().filter_map(|line| line.strip_prefix("//! | "));
    let rows: Vec<(usize, &str)> = rows
        .filter_map(|row| {
            Some((row.split(" |").next()?.parse().ok()?, row.strip_suffix(" |")?.rsplit(" | ").next()?))
        })
        .collect();
    assert_eq!(rows.iter().map(|(item, _)| *item).collect::<Vec<_>>(), (1..=42).collect::<Vec<_>>());
    let mut named = 0;
    for (item, tests) in rows {
        let tests: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "item {item} has no test");
        for test in tests {
            let (name, sources) = match test.strip_prefix("sqlite: ") {
                Some(name) => (name, vec![SQLITE]),
                None => (test, SOURCES.to_vec()),
            };
            assert!(name.starts_with(&format!("contract_002_{item:02}_")), "{item}: {name}");
            assert!(sources.iter().any(|source| source.contains(&format!("fn {name}("))), "{name}");
            named += 1;
        }
    }
    let tests = |source: &&str| source.matches("fn contract_002_").count();
    let all = SOURCES.iter().map(tests).sum::<usize>() + tests(&SQLITE);
    assert_eq!(named, all, "the table must contain every test of an item");
}
