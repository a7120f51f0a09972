//! Items 10 to 20: components, their context and state, and the registry.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt;
use omniassist_server::component::{ComponentRegistry, Environment};
use omniassist_server::core::event::ComponentEvent;
use omniassist_server::core::{JsonText, ToolSide};
use omniassist_server::store::{
    Branch, Change, Conversation, ConversationStore, Delete, Deleted, Listing, MemoryStore, Page, Saved,
    StoreError, StoreFuture, Window,
};
use omniassist_server::ui::{ComponentState, UiMessage};
use serde_json::Map;
use tokio::sync::Notify;

use super::*;

#[test]
fn contract_002_10_a_component_has_the_members_of_the_interface() {
    let component = dashboard().environment(Environment::Web);
    assert_eq!(
        (component.name().as_str(), component.description().as_str()),
        ("Dashboard", "Shows a dashboard")
    );
    assert_eq!(component.props_schema()["properties"]["title"]["type"], "string");
    assert_eq!(component.state_schema().unwrap()["properties"]["period"]["type"], "string");
    assert_eq!(component.environment_of(), Environment::Web);
    let names = [Environment::Cli, Environment::Web, Environment::Universal].map(Environment::as_str);
    assert_eq!(names, ["cli", "web", "universal"]);
    // The function is optional, and so is the state.
    let plain = Component::new::<Dashboard>("plain", "Shows a dashboard");
    assert_eq!((plain.state_schema(), plain.environment_of()), (None, Environment::Universal));
}

#[tokio::test]
async fn contract_002_11_a_component_gets_its_context() {
    static SEEN: AtomicBool = AtomicBool::new(false);
    let model = ScriptedProvider::new().turn(call("ui_seen", sales())).turn(text("There."));
    let seen = Component::new::<Dashboard>("seen", "Is seen").state::<View>().render(
        async |ui: ComponentContext| {
            assert!(ui.instance_id().starts_with("seen_"));
            assert_eq!((ui.component_name().as_str(), ui.state::<View>().renders), ("seen", 0));
            assert_eq!(ui.environment(), Environment::Web, "the environment is set");
            assert_eq!((ui.run().principal().id(), ui.run().chat_id().map(Text::as_str)), ("ada", Some("c")));
            ui.emit("seen", json!({ "by": "ada" }))?;
            SEEN.store(true, Ordering::SeqCst);
            Ok::<_, ToolError>(ComponentOutput::new())
        },
    );
    let agent = UiAgent::for_web(options(&model, &in_memory()).components([seen])).unwrap();
    let (_, events) = ask(&agent, question()).await;
    assert!(SEEN.load(Ordering::SeqCst), "{events:?}");
    let emitted = emitted(&events);
    assert_eq!((emitted[0].0.as_str(), &emitted[0].1), ("seen", &json!({ "by": "ada" })));
}

fn emitted(events: &[RunEvent]) -> Vec<(String, Value)> {
    let events = events.iter().filter_map(|event| match event {
        RunEvent::Component(event) => match &**event {
            ComponentEvent::Emitted(event) => Some((event.kind.to_string(), event.data.to_value())),
            _ => None,
        },
        _ => None,
    });
    events.collect()
}

#[tokio::test]
async fn contract_002_12_an_output_has_an_element_state_updates_and_events() {
    let afs = in_memory();
    let (messages, events) = ask(&web(&shows_sales(), &afs), question()).await;
    assert_eq!(output(&messages)["element"], json!({ "kind": "dashboard" }));
    assert_eq!(entries(&afs, AfsEntryKind::ComponentState).await[0].state().unwrap()["renders"], 1);
    assert_eq!(emitted(&events), [("rendered".to_owned(), json!({ "title": "Sales" }))]);
}

/// A state of which every member is required.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Strict {
    period: String,
    renders: u32,
}

/// A store that can be unavailable.
#[derive(Clone, Default)]
struct Fragile {
    store: MemoryStore,
    is_down: Arc<AtomicBool>,
}

impl Fragile {
    fn check(&self) -> Result<(), StoreError> {
        match self.is_down.load(Ordering::SeqCst) {
            true => Err(StoreError::unavailable("it is down")),
            false => Ok(()),
        }
    }
}

impl ConversationStore for Fragile {
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        chat: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Option<Conversation>> {
        Box::pin(async move {
            self.check()?;
            self.store.load(scope, chat, window).await
        })
    }

    fn save<'a>(&'a self, scope: &'a Scope, chat: &'a str, change: &'a Change) -> StoreFuture<'a, Saved> {
        Box::pin(async move {
            self.check()?;
            self.store.save(scope, chat, change).await
        })
    }

    fn list<'a>(&'a self, scope: &'a Scope, page: &'a Page) -> StoreFuture<'a, Listing> {
        self.store.list(scope, page)
    }

    fn delete<'a>(&'a self, scope: &'a Scope, what: Delete<'a>) -> StoreFuture<'a, Deleted> {
        self.store.delete(scope, what)
    }
}

fn members(members: &Value) -> Map<String, Value> {
    members.as_object().unwrap().clone()
}

#[tokio::test]
async fn contract_002_13_a_state_is_checked_and_stored_by_each_change() {
    let store = Fragile::default();
    let afs = Afs::new().mount(AfsHistory::new(Arc::new(store.clone())));
    let initial = members(&json!({ "color": "red" }));
    let state = ComponentState::new("chart_1", &afs, &ada(), "c", initial);
    let mut state = state.checked::<Strict>().unwrap();
    assert_eq!((state.get::<String>("color").as_deref(), state.get::<u32>("none")), (Some("red"), None));
    // With two required members, each can be set alone.
    state.set("period", "week").await.unwrap();
    state.update(members(&json!({ "renders": 2 }))).await.unwrap();
    let expected = json!({ "color": "red", "period": "week", "renders": 2 });
    assert_eq!(
        (state.get_all(), Value::Object(state.to_json())),
        (expected.as_object().unwrap(), expected.clone())
    );

    for updates in [json!({ "period": 7 }), json!({ "renders": "many", "color": "blue" })] {
        let error = state.update(members(&updates)).await.unwrap_err();
        assert!(error.is_invalid(), "{error}");
    }
    assert!(state.set("renders", -1).await.unwrap_err().to_string().contains("/renders"));
    store.is_down.store(true, Ordering::SeqCst);
    assert!(!state.set("renders", 3).await.unwrap_err().is_invalid());
    assert_eq!(Value::Object(state.to_json()), expected, "memory changes after the write");
    store.is_down.store(false, Ordering::SeqCst);
    let loaded = ComponentState::load("chart_1", &afs, &ada(), "c").await;
    assert_eq!(Value::Object(loaded.to_json()), expected);

    let mut unstored = ComponentState::new("chart_1", &Afs::transcript(), &ada(), "c", Map::new());
    unstored.set("renders", 1).await.unwrap();
    assert_eq!(unstored.get::<u32>("renders"), Some(1));
}

#[tokio::test]
async fn contract_002_14_a_state_is_persisted_at_the_path_of_its_session() {
    let afs = in_memory();
    let mut state = ComponentState::load("chart_1", &afs, &ada(), "c").await;
    state.set("period", "week").await.unwrap();
    let listed = afs.list(&ada(), "/modules/history/by-session/c").await.unwrap();
    let [entry] = &listed[..] else { panic!("{listed:?}") };
    let expected = json!({ "role": "system", "type": "component-state", "componentInstanceId": "chart_1",
        "state": { "period": "week" } });
    assert_eq!(entry.content, expected);
    let metadata = &entry.metadata;
    let keys = ["componentName", "instanceId", "seq", "sessionId", "type", "updatedAt", "userId"];
    assert_eq!(keys_of(metadata), keys);
    assert_eq!((&metadata["instanceId"], &metadata["type"]), (&json!("chart_1"), &json!("component-state")));
    is_iso(&metadata["updatedAt"]);
    // The same through the path.
    let written = AfsEntry::component_state("chart_1", members(&json!({ "period": "day" })));
    let written = afs.write(&ada(), "/modules/history/by-session/c/new", written).await.unwrap();
    assert_eq!(written.content["state"], json!({ "period": "day" }));
    let loaded = ComponentState::load("chart_1", &afs, &ada(), "c").await;
    assert_eq!(loaded.get::<String>("period").as_deref(), Some("day"));
    let elsewhere = afs.write(&ada(), "/modules/history/c/new", written).await;
    assert!(elsewhere.unwrap_err().is_invalid());
}

/// Checks a time such as `2026-11-27T05:24:10.123Z`.
fn is_iso(time: &Value) {
    let time = time.as_str().unwrap();
    let shape: String = time.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00.000Z");
    assert!(time > "2026", "{time}");
}

#[tokio::test]
async fn contract_002_15_the_latest_state_is_loaded_and_errors_load_none() {
    let store = Fragile::default();
    let afs = Afs::new().mount(AfsHistory::new(Arc::new(store.clone())));
    for (instance, period) in [("a_1", "day"), ("b_1", "month"), ("a_1", "week")] {
        let mut state = ComponentState::load(instance, &afs, &ada(), "c").await;
        state.set("period", period).await.unwrap();
    }
    let load = async |instance: &'static str, session: &'static str| {
        ComponentState::load(instance, &afs, &ada(), session).await.to_json()
    };
    assert_eq!(load("a_1", "c").await, members(&json!({ "period": "week" })));
    assert_eq!(load("b_1", "c").await, members(&json!({ "period": "month" })));
    assert_eq!((load("a_1", "d").await, load("c_1", "c").await), (Map::new(), Map::new()));
    let (log, _guard) = Log::install();
    store.is_down.store(true, Ordering::SeqCst);
    assert_eq!(load("a_1", "c").await, Map::new());
    assert!(log.text().contains("the state of a component cannot be read"), "{}", log.text());
}

#[test]
fn contract_002_16_a_registry_lists_an_environment_with_the_universal_ones() {
    let component = |name: &str, environment| {
        Component::new::<Dashboard>(name.to_owned(), "First").environment(environment)
    };
    let mut registry = ComponentRegistry::new();
    registry.register(component("Box", Environment::Cli));
    registry.register(component("Card", Environment::Universal));
    registry.register(Component::new::<Dashboard>("Card", "Second"));
    assert_eq!(registry.get("Card").unwrap().description(), &"Second");
    assert!(registry.get("Chart").is_none());
    let count = |environment| registry.list(environment).len();
    assert_eq!([None, Some(Environment::Cli), Some(Environment::Web)].map(count), [2, 2, 1]);
}

#[tokio::test]
async fn contract_002_17_each_component_is_a_tool_of_the_model() {
    let tools = ComponentRegistry::from_iter([dashboard()]).to_tools();
    assert_eq!(tools.len(), 1);
    let agent = web(&shows_sales(), &in_memory());
    let specs = agent.assistant().tools().snapshot().specs();
    let [spec] = &specs[..] else { panic!("{specs:?}") };
    assert_eq!((spec.name.as_str(), spec.description.as_str()), ("ui_Dashboard", "Shows a dashboard"));
    assert_eq!(spec.side, ToolSide::Server);
    let mut schema = spec.input_schema.clone();
    let reuse = schema["properties"].as_object_mut().unwrap().remove("instanceId").unwrap();
    assert_eq!(reuse["type"], "string");
    assert_eq!(schema["properties"], dashboard().props_schema()["properties"]);
    assert_eq!(schema["required"], json!(["title"]));

    let (messages, _) = ask(&agent, question()).await;
    let instance = instance(&messages);
    let expected = json!({ "instanceId": instance, "componentName": "Dashboard", "rendered": true,
        "element": { "kind": "dashboard" } });
    assert_eq!(output(&messages), expected);
}

#[tokio::test]
async fn contract_002_18_an_instance_has_a_unique_id_and_can_be_shown_again() {
    let model = ScriptedProvider::new();
    let calls = (0..20).map(|_| call("ui_Dashboard", sales()));
    drop(model.clone().turn(calls.collect::<Vec<_>>()).turn(text("There.")));
    let agent = web(&model, &in_memory());
    let (mut messages, _) = ask(&agent, question()).await;
    let ids: std::collections::BTreeSet<String> = messages
        .last()
        .unwrap()
        .tools()
        .map(|call| {
            let ToolState::OutputAvailable { output, .. } = &call.state else { panic!("{call:?}") };
            output.to_value()["instanceId"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(ids.len(), 20);
    assert!(
        ids.iter().all(|id| id.starts_with("Dashboard_") && id.len() == "Dashboard_".len() + 13),
        "{ids:?}"
    );

    let first = ids.first().unwrap();
    let again = json!({ "title": "Sales 2", "instanceId": first });
    drop(model.clone().turn(call("ui_Dashboard", again)).turn(text("Changed.")));
    messages.push(Message::user("q2", "Rename it"));
    let (messages, _) = ask(&agent, messages).await;
    assert_eq!(
        (instance(&messages).as_str(), messages.last().unwrap().text()),
        (first.as_str(), "Changed.".to_owned())
    );
}

/// A store that records the entries that are read and written.
#[derive(Clone, Default)]
struct Recording {
    store: MemoryStore,
    steps: Arc<Mutex<Vec<&'static str>>>,
    /// Notified when the client has seen the event.
    seen: Arc<Notify>,
}

impl Recording {
    fn step(&self, step: &'static str) {
        self.steps.lock().unwrap().push(step);
    }
}

impl ConversationStore for Recording {
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        chat: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Option<Conversation>> {
        if matches!(&window.branch, Branch::Leaf(id) if id.starts_with("\u{1f}ui/state/")) {
            self.step("load state");
        }
        self.store.load(scope, chat, window)
    }

    fn save<'a>(&'a self, scope: &'a Scope, chat: &'a str, change: &'a Change) -> StoreFuture<'a, Saved> {
        Box::pin(async move {
            if change.messages[0].id.starts_with("\u{1f}ui/state/") {
                self.step("save state");
            } else {
                // Fails by the test's timeout if the events follow the entry.
                self.seen.notified().await;
                self.step("save render");
            }
            self.store.save(scope, chat, change).await
        })
    }

    fn list<'a>(&'a self, scope: &'a Scope, page: &'a Page) -> StoreFuture<'a, Listing> {
        self.store.list(scope, page)
    }

    fn delete<'a>(&'a self, scope: &'a Scope, what: Delete<'a>) -> StoreFuture<'a, Deleted> {
        self.store.delete(scope, what)
    }
}

#[tokio::test(start_paused = true)]
async fn contract_002_19_a_call_has_the_order_of_the_document() {
    let store = Recording::default();
    let afs = Afs::new().mount(AfsHistory::new(Arc::new(store.clone())));
    let rendering = store.clone();
    let ordered = Component::new::<Dashboard>("ordered", "Is ordered").state::<View>().render(
        move |ui: ComponentContext| {
            let store = rendering.clone();
            async move {
                assert!(ui.instance_id().starts_with("ordered_"), "the id is first");
                store.step("render");
                let output = ComponentOutput::new().state("renders", ui.state::<View>().renders + 1);
                Ok::<_, ToolError>(output.event("rendered", 1))
            }
        },
    );
    let model = ScriptedProvider::new().turn(call("ui_ordered", sales())).turn(text("There."));
    let builder = Assistant::builder(model.clone()).seal_keys(crate::components::keys());
    let agent = UiAgent::for_web(UiAgentOptions::new(builder).components([ordered]).afs(afs)).unwrap();
    let run = async |messages: Vec<Message>| {
        let mut run = start(&agent, messages.clone()).await;
        let mut collector = omniassist_server::core::message::MessageCollector::new();
        while let Some(event) = run.next().await {
            collector.apply(&event);
            match &event {
                RunEvent::Component(event) if matches!(**event, ComponentEvent::Emitted(_)) => {
                    store.step("emit");
                    store.seen.notify_one();
                }
                RunEvent::ToolOutput { .. } => store.step("return"),
                _ => {}
            }
        }
        let steps = std::mem::take(&mut *store.steps.lock().unwrap());
        let mut messages = messages;
        messages.push(collector.into_message());
        (messages, steps)
    };
    let (mut messages, steps) =
        tokio::time::timeout(std::time::Duration::from_secs(9), run(question())).await.unwrap();
    assert_eq!(steps, ["render", "load state", "save state", "emit", "save render", "return"]);

    // An instance that exists is loaded before it is rendered.
    let again = json!({ "title": "Sales", "instanceId": instance(&messages) });
    drop(model.clone().turn(call("ui_ordered", again)).turn(text("Again.")));
    messages.push(Message::user("q2", "Again"));
    let (_, steps) = run(messages).await;
    assert_eq!(steps, ["load state", "render", "load state", "save state", "emit", "save render", "return"]);
}

#[tokio::test]
async fn contract_002_20_a_render_is_an_entry_of_the_history() {
    let afs = in_memory();
    let (messages, _) = ask(&web(&shows_sales(), &afs), question()).await;
    let renders = entries(&afs, AfsEntryKind::ComponentRender).await;
    let [entry] = &renders[..] else { panic!("{renders:?}") };
    let expected = json!({ "role": "assistant",
        "component": { "name": "Dashboard", "props": sales(), "state": { "period": "", "renders": 1 } } });
    assert_eq!(entry.content, expected);
    let metadata = &entry.metadata;
    assert_eq!(
        keys_of(metadata),
        ["componentName", "instanceId", "sessionId", "timestamp", "type", "userId"]
    );
    let instance = instance(&messages);
    assert_eq!(metadata["instanceId"], instance);
    assert_eq!(
        (&metadata["componentName"], &metadata["type"]),
        (&json!("Dashboard"), &json!("component-render"))
    );
    is_iso(&metadata["timestamp"]);
    let component = UiMessage::from_entry(entry).unwrap().component.unwrap();
    assert_eq!((component.instance_id.as_str(), component.name.as_str()), (instance.as_str(), "Dashboard"));
    assert_eq!(JsonText::from_value(&Value::Object(component.props)).to_value(), sales());
}
