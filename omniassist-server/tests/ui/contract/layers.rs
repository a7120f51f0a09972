//! Items 1 to 9: the layers, and the decisions about them.

use std::mem::discriminant;
use std::sync::Arc;

use omniassist_server::component::{ComponentRegistry, Environment};
use omniassist_server::core::{ModelOptions, RunEvent, ToolSide};
use omniassist_server::store::{Branch, ConversationStore, MemoryStore, Page, Window};
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{RunContext, Tool};
use serde_json::Map;

use super::*;
use crate::components::{chunks, post_to};

fn posted() -> Value {
    let message = json!({ "id": "q", "role": "user", "parts": [{ "type": "text", "text": "Sales?" }] });
    json!({ "id": "c", "messages": [message] })
}

#[tokio::test]
async fn contract_002_01_a_terminal_and_a_page_show_one_component() {
    let agent = web(&shows_sales(), &Afs::transcript());
    let (_, terminal) = post_to(agent.assistant(), "ada", "/?protocol=text", &posted()).await;
    assert_eq!(terminal, "Dashboard: Sales\n\nThere.");

    let agent = web(&shows_sales(), &Afs::transcript());
    let (_, page) = post_to(agent.assistant(), "ada", "/", &posted()).await;
    let chunks = chunks(&page);
    let input = chunks.iter().find(|chunk| chunk["type"] == "tool-input-available").unwrap();
    assert_eq!((&input["toolName"], &input["input"]), (&json!("ui_Dashboard"), &sales()));
}

#[test]
fn contract_002_02_terminals_and_pages_have_registries() {
    let component = |name: &str| Component::new::<Dashboard>(name.to_owned(), "Shows a dashboard");
    let registry = ComponentRegistry::from_iter([
        component("Box").environment(Environment::Cli),
        component("Chart").environment(Environment::Web),
        component("Card"),
    ]);
    let names = |environment| -> Vec<Text> {
        registry.list(Some(environment)).into_iter().map(|component| component.name().clone()).collect()
    };
    assert_eq!(names(Environment::Cli), ["Box", "Card"]);
    assert_eq!(names(Environment::Web), ["Chart", "Card"]);
}

#[tokio::test]
async fn contract_002_03_an_agent_offers_components_to_its_model() {
    let model = shows_sales();
    let (messages, _) = ask(&web(&model, &in_memory()), question()).await;
    let sent = &model.payloads()[0];
    assert_eq!(names(&sent.tools), ["ui_Dashboard"]);
    assert!(sent.system.as_deref().unwrap().starts_with("You have access to UI components"));
    assert_eq!(messages.last().unwrap().text(), "There.");
}

#[tokio::test]
async fn contract_002_04_a_component_is_run_as_any_tool_of_the_core() {
    let plain =
        Tool::new("plain", "Shows a dashboard", async |Args(_): Args<Dashboard>| Ok::<_, ToolError>("shown"));
    let model = ScriptedProvider::new().turn(call("plain", sales())).turn(text("There."));
    let assistant =
        Assistant::builder(model).tool(plain).seal_keys(crate::components::keys()).build().unwrap();
    let (_, expected) = crate::approvals::post(&assistant, "c", question()).await;
    let (_, mut events) = ask(&web(&shows_sales(), &in_memory()), question()).await;
    events.retain(|event| {
        !matches!(event, RunEvent::Component(_) | RunEvent::StateSnapshot(_) | RunEvent::StateDelta(_))
    });
    let kinds = |events: &[RunEvent]| {
        let mut kinds: Vec<_> = events.iter().map(discriminant).collect();
        kinds.dedup();
        kinds
    };
    assert_eq!(kinds(&events), kinds(&expected));
}

#[tokio::test]
async fn contract_002_05_servers_share_the_storage_layer() {
    let afs = in_memory();
    let (messages, _) = ask(&web(&shows_sales(), &afs), question()).await;
    let other = afs.clone();
    let state = omniassist_server::ui::ComponentState::load(instance(&messages), &other, &ada(), "c").await;
    assert_eq!(state.get::<u32>("renders"), Some(1));
    let principals = [Principal::anonymous(), Principal::new("eve")];
    for scope in principals.iter().filter_map(Scope::of) {
        assert_eq!(other.list(&scope, SESSION).await.unwrap(), []);
    }
}

#[tokio::test]
async fn contract_002_06_an_agent_has_all_abilities_of_an_assistant() {
    let model = shows_sales();
    let mut settings = ModelOptions::default();
    settings.temperature = Some(0.5);
    let tool = Tool::new("count", "Counts", async || Ok::<_, ToolError>(1));
    let builder = Assistant::builder(model.clone())
        .system_prompt(|run: &RunContext| format!("You help {}.", run.principal()))
        .model_options(settings.clone())
        .model("m1")
        .tool(tool)
        .seal_keys(crate::components::keys());
    let options = UiAgentOptions::new(builder).components([dashboard()]).afs(in_memory());
    ask(&UiAgent::for_web(options).unwrap(), question()).await;
    let sent = &model.payloads()[0];
    assert!(sent.system.as_deref().unwrap().starts_with("You help ada.\n\n"), "{:?}", sent.system);
    assert_eq!((*sent.options).clone(), settings);
    assert_eq!(
        (sent.model.as_deref(), names(&sent.tools)),
        (Some("m1"), vec!["count".into(), "ui_Dashboard".into()])
    );
}

#[test]
fn contract_002_07_terminals_and_pages_share_the_agent() {
    let (afs, model) = (in_memory(), ScriptedProvider::new());
    let agents =
        [UiAgent::for_cli(options(&model, &afs)).unwrap(), UiAgent::for_web(options(&model, &afs)).unwrap()];
    let [cli, web] = agents.map(|agent| {
        let tools = agent.assistant().tools().snapshot().specs();
        tools.iter().map(|tool| (tool.name.clone(), tool.input_schema.clone(), tool.side)).collect::<Vec<_>>()
    });
    assert_eq!(cli, web);
    assert_eq!((cli[0].0.as_str(), cli[0].2), ("ui_Dashboard", ToolSide::Server));
}

#[tokio::test]
async fn contract_002_08_the_state_is_an_entry_of_the_conversation() {
    let store = MemoryStore::new();
    let afs = Afs::new().mount(AfsHistory::new(Arc::new(store.clone())));
    ask(&web(&shows_sales(), &afs), question()).await;
    let listed = store.list(&ada(), &Page::first(9)).await.unwrap().conversations;
    assert_eq!(listed.iter().map(|chat| chat.chat.as_str()).collect::<Vec<_>>(), ["c"]);
    let mut window = Window::default();
    window.branch = Branch::All;
    let kept = store.load(&ada(), "c", &window).await.unwrap().unwrap().messages;
    assert!(kept.iter().all(omniassist_server::store::StoredMessage::is_entry));
    let bodies: Vec<Value> = kept.iter().map(|kept| serde_json::from_slice(&kept.body).unwrap()).collect();
    assert_eq!(bodies[0]["content"]["state"]["renders"], 1);
    assert_eq!((kept.len(), &bodies[1]["metadata"]["type"]), (2, &json!("component-render")));
}

#[tokio::test]
async fn contract_002_09_the_history_and_the_user_profile_are_mounted() {
    let store = MemoryStore::new();
    let profile = omniassist_server::afs::AfsUserProfile::new(async |user: Scope| {
        let members =
            [("name".to_owned(), json!(format!("Dr {}", user.owner()))), ("theme".to_owned(), json!("dark"))];
        Ok::<Map<_, _>, std::io::Error>(members.into_iter().collect())
    });
    let afs = Afs::new().mount(AfsHistory::new(Arc::new(store.clone()))).mount(profile);
    let reader = afs.clone();
    let prompt = move |run: RunContext| {
        let afs = reader.clone();
        async move {
            let user = Scope::of(run.principal()).unwrap();
            let name = afs.read(&user, "/modules/user-profile/name").await?.unwrap();
            Ok::<_, omniassist_server::store::StoreError>(format!(
                "You help {}.",
                name.content.as_str().unwrap()
            ))
        }
    };
    let model = shows_sales();
    let builder = Assistant::builder(model.clone()).store(store).system_prompt(prompt);
    let options = UiAgentOptions::new(builder.seal_keys(crate::components::keys()));
    let agent = UiAgent::for_web(options.components([dashboard()]).afs(afs.clone())).unwrap();
    let (status, _) = post_to(agent.assistant(), "ada", "/", &posted()).await;
    assert_eq!(status, 200);
    assert!(model.payloads()[0].system.as_deref().unwrap().starts_with("You help Dr ada.\n\n"));

    let profile = afs.list(&ada(), "/modules/user-profile/").await.unwrap();
    let paths: Vec<_> = profile.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["/modules/user-profile/name", "/modules/user-profile/theme"]);
    let kinds: Vec<_> = afs.list(&ada(), SESSION).await.unwrap().iter().map(AfsEntry::kind).collect();
    let expected = [
        AfsEntryKind::Message,
        AfsEntryKind::ComponentState,
        AfsEntryKind::ComponentRender,
        AfsEntryKind::Message,
    ];
    assert_eq!(kinds, expected);
    let late = afs.write(&ada(), "/modules/user-profile/name", AfsEntry::new("Eve")).await;
    assert!(late.unwrap_err().is_read_only());
    assert!(afs.read(&ada(), "/modules/other/x").await.unwrap_err().is_invalid());
}
