//! Entries of components are part of a stored conversation, and no message of it.

use std::sync::Arc;

use http::{Method, StatusCode};
use omniassist_server::afs::{Afs, AfsEntry, AfsHistory};
use omniassist_server::encryption::{Encrypted, EncryptionKeys};
use omniassist_server::store::{Branch, ConversationStore, MemoryStore, Scope, Window};
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::ui::ComponentState;
use omniassist_server::{Assistant, Principal};
use serde_json::{Map, Value, json};

use super::Site;

const NEW: &str = "/modules/history/by-session/c/new";

fn ada() -> Scope {
    Scope::new("ada")
}

fn history(store: &MemoryStore) -> Afs {
    Afs::new().mount(AfsHistory::new(Arc::new(store.clone())))
}

/// Writes the state of an instance, and 30 renders.
async fn show_components(store: &MemoryStore) -> Afs {
    let afs = history(store);
    let mut state = ComponentState::load("table_1", &afs, &ada(), "c").await;
    state.set("selected", ["Kiel"]).await.unwrap();
    for _ in 0..30 {
        let render = AfsEntry::component_render("table_1", "table", json!({ "rows": [] }), Map::new());
        afs.write(&ada(), NEW, render).await.unwrap();
    }
    afs
}

fn all_branches() -> Window {
    let mut all = Window::default();
    all.branch = Branch::All;
    all
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["messages"].as_array().unwrap().iter().map(|message| message["id"].as_str().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn no_route_shows_entries() {
    let site = Site::new();
    site.ask("c", "m1", "Where is order 17?").await;
    let before = site.get("/threads/c/messages").await.json();
    show_components(&site.store).await;
    let after = site.get("/threads/c/messages").await.json();
    assert_eq!(ids(&before), ids(&after));
    assert_eq!((ids(&after)[0], after["messages"].as_array().unwrap().len()), ("m1", 2));
    for query in ["branch=%1Fui%2Fstate%2Ftable_1", "before=%1Fui%2Fstate%2Ftable_1"] {
        let answer = site.get(&format!("/threads/c/messages?{query}")).await;
        assert_eq!(
            (answer.status, answer.code()),
            (StatusCode::BAD_REQUEST, "invalid_request".to_owned()),
            "{query}"
        );
    }
    let listed = site.get("/threads").await.json();
    assert_eq!(listed["threads"][0]["title"], "Where is order 17?");

    // The chat goes on, and the model reads its messages only.
    site.ask("c", "m3", "And order 18?").await;
    let all = site.get("/threads/c/messages").await.json();
    assert_eq!(all["messages"].as_array().unwrap().len(), 4);
    let mut export = site.assistant.conversations().unwrap().export(&site.user);
    let line: Value = serde_json::from_str(&export.next().await.unwrap().unwrap()).unwrap();
    assert_eq!(ids(&line).len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_window_on_all_branches_is_filled_with_messages() {
    let site = Site::new();
    site.ask("c", "m1", "Where is order 17?").await;
    show_components(&site.store).await;
    site.ask("c", "m3", "And order 18?").await;
    let conversations = site.assistant.conversations().unwrap();
    for (at_most, expected) in [(1, 1), (2, 2), (3, 3), (4, 4), (99, 4)] {
        let mut window = all_branches();
        window.at_most = at_most;
        let loaded = conversations.load(&site.user, "c", &window).await.unwrap().unwrap();
        assert_eq!((loaded.messages.len(), loaded.more), (expected, at_most < 4), "{at_most}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_client_posts_an_entry() {
    let site = Site::new();
    site.ask("c", "m1", "Where is order 17?").await;
    show_components(&site.store).await;
    let id = "\u{1f}ui/state/table_1";
    let message = |id: &str| json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": "{}" }] });
    let posts = [
        json!({ "id": "c", "message": message(id) }),
        json!({ "id": "c", "messages": [message("m1"), message(id)] }),
        json!({ "id": "c", "messages": [message(id), message("m9")] }),
        json!({ "id": "c", "message": message("m9"), "messageId": id, "trigger": "regenerate-message" }),
    ];
    for post in posts {
        let answer = site.send(Method::POST, "/", Some(&post)).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{post}: {answer:?}");
    }
    // `AG-UI` and `Chat Completions` have ids, or none.
    let ag_ui = json!({ "threadId": "c", "runId": "r", "messages": [{ "id": id, "role": "user", "content": "{}" }],
        "tools": [], "context": [], "state": {}, "forwardedProps": {} });
    let answer = site.send(Method::POST, "/ag-ui", Some(&ag_ui)).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{answer:?}");
    let state = ComponentState::load("table_1", &history(&site.store), &ada(), "c").await;
    assert_eq!(state.to_json(), json!({ "selected": ["Kiel"] }).as_object().unwrap().clone());
}

#[tokio::test(start_paused = true)]
async fn a_chat_with_entries_only_is_imported() {
    let site = Site::new();
    show_components(&site.store).await;
    let message =
        |id: &str, role: &str| json!({ "id": id, "role": role, "parts": [{ "type": "text", "text": "Hi" }] });
    let post = json!({ "id": "c", "messages": [message("m1", "user"), message("a1", "assistant"), message("m2", "user")] });
    let answer = site.send(Method::POST, "/", Some(&post)).await;
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    site.settled("c").await;
    assert_eq!(ids(&site.get("/threads/c/messages").await.json()).len(), 4);
}

#[tokio::test(start_paused = true)]
async fn entries_are_deleted_with_their_chat() {
    let site = Site::new();
    site.ask("c", "m1", "Where is order 17?").await;
    let afs = show_components(&site.store).await;
    assert_eq!(afs.list(&ada(), "/modules/history/by-session/c").await.unwrap().len(), 33);
    site.delete("/threads/c").await;
    assert_eq!(afs.list(&ada(), "/modules/history/by-session/c").await.unwrap(), []);
    let mut state = ComponentState::load("table_1", &afs, &ada(), "c").await;
    assert!(state.get_all().is_empty());
    assert!(state.set("selected", ["Kiel"]).await.unwrap_err().is_deleted());
    assert!(state.get_all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_encrypting_store_encrypts_entries() {
    let store = MemoryStore::new();
    let keys = EncryptionKeys::new("1", "at least thirty-two bytes of randomness").unwrap();
    let encrypted = Encrypted::new(store.clone(), keys);
    let model = ScriptedProvider::new().otherwise(|_| text("In Kiel."));
    let assistant = Assistant::builder(model).store(encrypted.clone()).build().unwrap();
    let site = Site { store: store.clone(), assistant, user: Principal::new("ada") };
    site.ask("c", "m1", "Where is order 17?").await;
    let afs = Afs::new().mount(AfsHistory::new(Arc::new(encrypted)));
    let mut state = ComponentState::load("table_1", &afs, &ada(), "c").await;
    state.set("selected", "Timbuktu").await.unwrap();
    let kept = store.load(&ada(), "c", &all_branches()).await.unwrap().unwrap().messages;
    let entry = kept.iter().find(|kept| kept.is_entry()).unwrap();
    assert!(!String::from_utf8_lossy(&entry.body).contains("Timbuktu"));
    let again = ComponentState::load("table_1", &afs, &ada(), "c").await;
    assert_eq!(again.get::<String>("selected").as_deref(), Some("Timbuktu"));
}
