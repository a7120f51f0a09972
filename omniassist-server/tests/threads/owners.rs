//! Conversations belong to one principal, and the interface for the application.

use std::collections::HashSet;

use http::{Method, StatusCode};
use omniassist_server::store::{Change, Page, Saved, Window};
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::{Assistant, Principal};
use serde_json::{Value, json};

use super::Site;

/// Returns the requests to every route about a chat.
fn requests(chat: &str) -> Vec<(Method, String, Option<Value>)> {
    let one = format!("/threads/{chat}");
    vec![
        (Method::GET, one.clone(), None),
        (Method::HEAD, one.clone(), None),
        (Method::GET, format!("{one}/messages"), None),
        (Method::GET, format!("{one}/messages?branch=m1"), None),
        (Method::GET, format!("{one}/messages?before=m1&limit=1"), None),
        (Method::PATCH, one.clone(), Some(json!({ "title": "Mine" }))),
        (Method::PATCH, one.clone(), Some(json!({ "head": "m1" }))),
        (Method::PATCH, one.clone(), Some(json!({ "title": "Mine", "version": 1 }))),
        (Method::DELETE, one, None),
        (Method::GET, format!("/{chat}/agents"), None),
        (Method::HEAD, format!("/{chat}/agents"), None),
        (Method::POST, format!("/{chat}/agents/x/stop"), None),
    ]
}

#[tokio::test(start_paused = true)]
async fn the_chats_of_others_are_not_told_from_none() {
    let site = Site::new();
    site.ask("c", "m1", "Where is order 17?").await;
    let shown = site.get("/threads/c/messages").await;
    for other in [Principal::new("eve"), Principal::new("Ada"), Principal::anonymous()] {
        for ((method, path, body), (_, unknown, _)) in requests("c").into_iter().zip(requests("n")) {
            let asked = site.send_as(other.clone(), method.clone(), &path, body.as_ref()).await;
            let nothing = site.send_as(other.clone(), method.clone(), &unknown, body.as_ref()).await;
            assert_eq!(asked, nothing, "{other:?} {method} {path}");
            assert_eq!(asked.status, StatusCode::NOT_FOUND, "{other:?} {method} {path}");
        }
    }
    let listed = site.send_as(Principal::new("eve"), Method::GET, "/threads", None).await;
    assert_eq!(listed.json(), json!({ "threads": [], "nextCursor": null }));
    assert_eq!(site.get("/threads/c/messages").await, shown);
}

#[tokio::test(start_paused = true)]
async fn the_routes_are_unknown_to_anonymous_principals_and_without_a_store() {
    let site = Site::new();
    let nobody = |path: &'static str| site.send_as(Principal::anonymous(), Method::GET, path, None);
    assert_eq!(nobody("/threads").await, nobody("/nowhere").await);
    assert_eq!(nobody("/threads/c").await, nobody("/nowhere").await);

    let mut stateless = Site::new();
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    stateless.assistant = Assistant::builder(model).build().unwrap();
    assert!(stateless.assistant.conversations().is_none());
    for path in ["/threads", "/threads/c", "/threads/c/messages"] {
        assert_eq!(stateless.get(path).await, stateless.get("/nowhere").await, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_anonymous_principals_say_is_not_stored() {
    let site =
        Site::with(ScriptedProvider::new().otherwise(|_| text("Hi")), |builder| builder.allow_anonymous());
    let message = json!({ "id": "m1", "role": "user", "content": "Hello" });
    let post = json!({ "id": "c", "messages": [message] });
    let answer = site.send_as(Principal::anonymous(), Method::POST, "/", Some(&post)).await;
    assert!(answer.body.contains("Hi"), "{answer:?}");
    assert_eq!(format!("{:?}", site.store), "MemoryStore { conversations: 0, runs: 0, .. }");
    let conversations = site.assistant.conversations().unwrap();
    let nobody = Principal::anonymous();
    assert!(conversations.list(&nobody, &Page::first(9)).await.unwrap().conversations.is_empty());
    assert!(conversations.load(&nobody, "c", &Window::default()).await.unwrap().is_none());
    assert!(conversations.export(&nobody).next().await.unwrap().is_none());
    assert_eq!(conversations.forget(&nobody).await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_application_reads_and_changes_conversations() {
    let site = Site::new();
    site.ask("c", "m1", "Where is order 17?").await;
    let conversations = site.assistant.conversations().unwrap();
    let loaded = conversations.load(&site.user, "c", &Window::default()).await.unwrap().unwrap();
    assert_eq!(loaded.messages[1].message.text(), "In Kiel.");
    assert_eq!(loaded.messages[1].parent.as_deref(), Some("m1"));

    assert!(conversations.rename(&site.user, "c", "Order 17").await.unwrap());
    assert!(!conversations.rename(&site.user, "n", "Order 17").await.unwrap());
    assert!(!conversations.rename(&Principal::new("eve"), "c", "Mine").await.unwrap());
    let mut change = Change::default();
    change.meta = Some(r#"{"order":17}"#.into());
    let saved = conversations.change(&site.user, "c", change.clone()).await.unwrap();
    assert!(matches!(saved, Some(Saved::Version(_))));
    change.version = Some(1);
    let saved = conversations.change(&site.user, "c", change).await.unwrap();
    assert!(matches!(saved, Some(Saved::Refused(_))));
    let listed = conversations.list(&site.user, &Page::first(9)).await.unwrap().conversations;
    assert_eq!((listed.len(), listed[0].title.as_deref()), (1, Some("Order 17")));

    assert!(conversations.delete(&site.user, "c").await.unwrap());
    assert!(!conversations.delete(&site.user, "c").await.unwrap());
    assert!(!conversations.rename(&site.user, "c", "Order 17").await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_principal_is_exported_and_forgotten() {
    let site = Site::new();
    // More than a page of the list.
    for number in 0..101 {
        site.ask(&format!("c{number}"), "m1", "Where is order 17?").await;
    }
    // Another branch.
    site.ask("c100", "m1", "Where is order 18?").await;
    let conversations = site.assistant.conversations().unwrap();
    let mut export = conversations.export(&site.user);
    let mut lines = Vec::new();
    while let Some(line) = export.next().await.unwrap() {
        assert!(!line.contains('\n'));
        lines.push(serde_json::from_str::<Value>(&line).unwrap());
    }
    assert!(export.next().await.unwrap().is_none());
    assert_eq!(lines.len(), 101);
    let edited = lines.iter().find(|line| line["id"] == "c100").unwrap();
    let messages = edited["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 4, "{edited}");
    assert_eq!((&messages[1]["role"], &messages[1]["parentId"]), (&json!("assistant"), &json!("m1")));
    assert!(messages[1]["createdAt"].is_u64() && edited["title"] == "Where is order 17?", "{edited}");

    site.send_as(
        Principal::new("eve"),
        Method::POST,
        "/",
        Some(&json!({
            "id": "c", "message": { "id": "m1", "role": "user", "content": "Hello" }
        })),
    )
    .await;
    assert_eq!(conversations.forget(&site.user).await.unwrap(), 101);
    assert!(conversations.export(&site.user).next().await.unwrap().is_none());
    assert_eq!(
        conversations.list(&Principal::new("eve"), &Page::first(9)).await.unwrap().conversations.len(),
        1
    );
}

/// The list shows the conversations that changed last first.
#[tokio::test(start_paused = true)]
async fn a_conversation_that_changes_during_an_export_is_exported_once() {
    let site = Site::new();
    for number in 0..101 {
        site.ask(&format!("c{number}"), "m1", "Where is order 17?").await;
    }
    let conversations = site.assistant.conversations().unwrap();
    let mut export = conversations.export(&site.user);
    let mut ids = HashSet::new();
    let mut changed = ["c0", "c100"].into_iter();
    while let Some(line) = export.next().await.unwrap() {
        let line: Value = serde_json::from_str(&line).unwrap();
        assert!(ids.insert(line["id"].as_str().unwrap().to_owned()), "{line}");
        for chat in changed.by_ref() {
            assert!(conversations.rename(&site.user, chat, "Order 17").await.unwrap());
        }
    }
    assert_eq!(ids.len(), 101);
}
