//! The contract of generative UI, item by item: each item of its design document, with the part of the SDK that fulfils it and
//! its test.
//!
//! | item | of the document | here | test |
//! |---|---|---|---|
//! | 1 | Presentation: a terminal and a page | `Component::cli`, the UI message stream | `contract_002_01_a_terminal_and_a_page_show_one_component` |
//! | 2 | Registries for both | `ComponentRegistry::list` | `contract_002_02_terminals_and_pages_have_registries` |
//! | 3 | The agent's layer | `UiAgent` | `contract_002_03_an_agent_offers_components_to_its_model` |
//! | 4 | The core's layer | a component is a `Tool` | `contract_002_04_a_component_is_run_as_any_tool_of_the_core` |
//! | 5 | The storage layer | `Afs` | `contract_002_05_servers_share_the_storage_layer` |
//! | 6 | Extend, do not replace | options of an `AssistantBuilder` | `contract_002_06_an_agent_has_all_abilities_of_an_assistant` |
//! | 7 | One agent for both environments | `UiAgent::for_cli`, `for_web` | `contract_002_07_terminals_and_pages_share_the_agent` |
//! | 8 | State in entries of the history, no tables | `AfsHistory` | `contract_002_08_the_state_is_an_entry_of_the_conversation` |
//! | 9 | `/modules/history/`, `/modules/user-profile/` | `AfsHistory`, `AfsUserProfile` | `contract_002_09_the_history_and_the_user_profile_are_mounted` |
//! | 10 | `UIComponent` | `Component`; its hooks run in the page | `contract_002_10_a_component_has_the_members_of_the_interface` |
//! | 11 | `ComponentContext` | `ComponentContext` | `contract_002_11_a_component_gets_its_context` |
//! | 12 | `ComponentOutput` | `ComponentOutput` | `contract_002_12_an_output_has_an_element_state_updates_and_events` |
//! | 13 | `ComponentState` | `ComponentState`; `update` checks too | `contract_002_13_a_state_is_checked_and_stored_by_each_change` |
//! | 14 | Path and entry of a state | one entry for each instance | `contract_002_14_a_state_is_persisted_at_the_path_of_its_session` |
//! | 15 | Loading a state | an indexed read, no scan | `contract_002_15_the_latest_state_is_loaded_and_errors_load_none` |
//! | 16 | `register`, `get`, `list` | `ComponentRegistry` | `contract_002_16_a_registry_lists_an_environment_with_the_universal_ones` |
//! | 17 | `toAgents` | `ComponentRegistry::to_tools` | `contract_002_17_each_component_is_a_tool_of_the_model` |
//! | 18 | Ids of instances | unique, reused by `instanceId` | `contract_002_18_an_instance_has_a_unique_id_and_can_be_shown_again` |
//! | 19 | The order of a call | a new instance has no state to load | `contract_002_19_a_call_has_the_order_of_the_document` |
//! | 20 | The entry of a render | `AfsEntry::component_render` | `contract_002_20_a_render_is_an_entry_of_the_history` |
//! | 21 | Options, `afs` is required | `UiAgentOptions` | `contract_002_21_an_agent_needs_an_afs` |
//! | 22 | Another environment: warn and skip | a line of the log | `contract_002_22_a_component_of_another_environment_is_skipped_with_a_warning` |
//! | 23 | Instructions | only with a component | `contract_002_23_the_instructions_are_joined` |
//! | 24 | Skills and components | `UiAgentOptions::skills`; models get all tools by name | `contract_002_24_skills_and_components_are_merged` |
//! | 25 | `getComponents` | `UiAgent::get_components` | `contract_002_25_an_agent_returns_its_components` |
//! | 26 | `forCLI`, `forWeb` | `UiAgent::for_cli`, `for_web` | `contract_002_26_an_agent_is_made_for_a_terminal_or_a_page` |
//! | 27 | No second mechanism | `Assistant::tools` | `contract_002_27_components_are_tools_of_the_one_registry` |
//! | 28 | `UIHistoryEntry` | `AfsEntry`, `UiMessage` | `contract_002_28_an_entry_of_the_history_has_a_role_and_a_component` |
//! | 29 | `getComponentState`, `saveComponentState` | `get_component_state`, `save_component_state` | `contract_002_29_the_state_of_a_component_is_read_and_saved_by_functions` |
//! | 30 | Text is passed on | `ComponentStreamCoordinator::push` | `contract_002_30_text_is_passed_on` |
//! | 31 | Arguments accumulate | one growing value for each call | `contract_002_31_the_arguments_are_accumulated` |
//! | 32 | Lenient validation | closed properties are checked | `contract_002_32_each_step_has_the_props_so_far` |
//! | 33 | What does not parse is awaited | no step | `contract_002_33_what_cannot_be_parsed_yet_is_awaited` |
//! | 34 | The end is strict | `ComponentPropsError` | `contract_002_34_complete_props_are_valid_or_an_error` |
//! | 35 | Unclosed strings, nesting | `Growing` | `contract_002_35_unclosed_values_grow_and_never_panic` |
//! | 36 | Interleaved calls | by the id of the call | `contract_002_36_calls_can_grow_at_the_same_time` |
//! | 37 | `AFS().mount(AFSHistory)` on SQLite | `AfsHistory::new` of a `SqliteStore` | `sqlite: contract_002_37_a_history_is_mounted_on_a_file` |
//! | 38 | The paths of the figure | `Afs::read` | `contract_002_38_the_paths_of_the_figure_are_read` |
//! | 39 | The whole flow | `POST /ui/{instance}/{action}` | `contract_002_39_an_interaction_of_the_user_changes_the_state` |
//! | 40 | `ComponentProps`, `PartialComponentProps`, `UIMessage` | the same | `contract_002_40_the_types_have_the_members_of_the_document` |
//! | 41 | `renderSafely` | `ComponentErrorBoundary::render_safely` | `contract_002_41_a_failing_component_is_logged_and_sent_as_an_event` |
//! | 42 | Fallbacks | `ComponentErrorBoundary::fallback` | `contract_002_42_a_failing_component_has_a_fallback` |

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
    let rows = include_str!("mod.rs").lines().filter_map(|line| line.strip_prefix("//! | "));
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
