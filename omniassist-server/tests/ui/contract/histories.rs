//! Items 28, 29, 38 and 39: the history of a chat, and the whole flow.

use omniassist_server::store::MemoryStore;
use omniassist_server::ui::{UiMessage, get_component_state, save_component_state};
use serde_json::Map;

use super::*;
use crate::components::{action_body, chunks, post_to, state_in};

/// An agent whose chats are stored with their components.
fn stored(model: &ScriptedProvider) -> (UiAgent, Afs) {
    let store = MemoryStore::new();
    let afs = Afs::new().mount(AfsHistory::new(Arc::new(store.clone())));
    let builder = Assistant::builder(model.clone()).store(store).seal_keys(crate::components::keys());
    let options = UiAgentOptions::new(builder).components([dashboard()]).afs(afs.clone());
    (UiAgent::for_web(options).unwrap(), afs)
}

async fn post(agent: &UiAgent) -> Vec<Value> {
    let parts = json!([{ "type": "text", "text": "Show me sales dashboard" }]);
    let body = json!({ "id": "c", "message": { "id": "q", "role": "user", "parts": parts } });
    let (status, answer) = post_to(agent.assistant(), "ada", "/", &body).await;
    assert_eq!(status, 200, "{answer}");
    chunks(&answer)
}

#[tokio::test]
async fn contract_002_28_an_entry_of_the_history_has_a_role_and_a_component() {
    let (agent, afs) = stored(&shows_sales());
    post(&agent).await;
    let entries = afs.list(&ada(), SESSION).await.unwrap();
    let roles: Vec<_> = entries.iter().map(|entry| entry.content["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "system", "assistant", "assistant"]);
    for entry in &entries {
        let metadata = &entry.metadata;
        assert_eq!((&metadata["userId"], &metadata["sessionId"]), (&json!("ada"), &json!("c")));
        assert!(metadata.contains_key("timestamp") || metadata.contains_key("updatedAt"), "{metadata:?}");
    }
    assert_eq!(entries[0].content["content"], "Show me sales dashboard");
    assert_eq!(
        (&entries[3].content["content"], entries[3].content.get("component")),
        (&json!("There."), None)
    );
    assert_eq!(keys_of(entries[2].content["component"].as_object().unwrap()), ["name", "props", "state"]);
    let shown: Vec<UiMessage> = entries.iter().filter_map(UiMessage::from_entry).collect();
    assert_eq!((shown.len(), shown[0].role.as_deref()), (3, Some("user")));
}

#[tokio::test]
async fn contract_002_29_the_state_of_a_component_is_read_and_saved_by_functions() {
    let afs = in_memory();
    assert_eq!(get_component_state(&afs, &ada(), "c", "chart_1").await, None);
    let state =
        |period: &str| -> Map<String, Value> { [("period".to_owned(), json!(period))].into_iter().collect() };
    save_component_state(&afs, &ada(), "c", "chart_1", state("day")).await.unwrap();
    save_component_state(&afs, &ada(), "c", "chart_1", state("week")).await.unwrap();
    assert_eq!(get_component_state(&afs, &ada(), "c", "chart_1").await, Some(state("week")));
    assert_eq!(get_component_state(&afs, &Scope::new("eve"), "c", "chart_1").await, None);
    assert_eq!(get_component_state(&Afs::transcript(), &ada(), "c", "chart_1").await, None);
    let saved = save_component_state(&Afs::transcript(), &ada(), "c", "chart_1", state("day")).await;
    assert!(saved.unwrap_err().is_invalid());
}

#[tokio::test]
async fn contract_002_38_the_paths_of_the_figure_are_read() {
    let (agent, afs) = stored(&shows_sales());
    let chunks = post(&agent).await;
    let shown = chunks.iter().find(|chunk| chunk["type"] == "tool-output-available").unwrap();
    let instance = shown["output"]["instanceId"].as_str().unwrap();
    let read = async |path: String| afs.read(&ada(), &path).await.unwrap();
    let state = read(format!("/modules/history/c/component-state/{instance}")).await.unwrap();
    assert_eq!(state.path.as_str(), format!("/modules/history/c/component-state/{instance}"));
    assert_eq!(state.content["state"]["renders"], 1);
    assert_eq!(read("/modules/history/c/messages/q".to_owned()).await.unwrap().content["role"], "user");
    for entry in afs.list(&ada(), SESSION).await.unwrap() {
        assert_eq!(read(entry.path.to_string()).await, Some(entry));
    }
    for path in [
        "c/messages/none",
        "d/messages/q",
        "c/component-state/none",
        "c/other/q",
        "c/messages/\u{1f}ui/state/x",
    ] {
        assert_eq!(read(format!("/modules/history/{path}")).await, None, "{path}");
    }
    let eve = afs.read(&Scope::new("eve"), "/modules/history/c/messages/q").await.unwrap();
    assert_eq!(eve, None);
}

#[tokio::test]
async fn contract_002_39_an_interaction_of_the_user_changes_the_state() {
    let model = shows_sales();
    let afs = in_memory();
    let agent = web(&model, &afs);
    // The model shows the component, its state is saved, and the model reads the result.
    let (messages, events) = ask(&agent, question()).await;
    let deltas = events.iter().filter(|event| matches!(event, RunEvent::ToolInputDelta { .. })).count();
    assert!(deltas > 2, "the props stream: {events:?}");
    let (instance, state) = state_in(messages.last().unwrap());
    let result = format!("{:?}", model.payloads()[1].transcript);
    assert!(result.contains(&instance) && result.contains("rendered"), "{result}");
    assert_eq!(get_component_state(&afs, &ada(), "c", &instance).await.unwrap()["renders"], 1);

    // The user chooses a period: no model call, and a write.
    let path = format!("/ui/{instance}/choose");
    let body = action_body(&state, &json!({ "period": "week" }));
    let (status, answer) = post_to(agent.assistant(), "ada", &path, &body).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(model.payloads().len(), 2);
    let saved = get_component_state(&afs, &ada(), "c", &instance).await.unwrap();
    assert_eq!((&saved["period"], &saved["renders"]), (&json!("week"), &json!(1)));
    let sent: Vec<_> = chunks(&answer).into_iter().filter(|chunk| chunk["type"] == "data-ui-state").collect();
    assert_eq!((&sent[0]["id"], &sent[0]["data"]["state"]["period"]), (&json!(instance), &json!("week")));
}
