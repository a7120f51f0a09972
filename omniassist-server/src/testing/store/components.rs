//! The entries of components in a conversation.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use super::Factory;
use super::case::{alice, bob, change};
use crate::afs::{Afs, AfsEntry, AfsEntryKind, AfsHistory};
use crate::store::{Branch, Change, ConversationStore, Delete, Page, Window};
use crate::ui::ComponentState;

const SESSION: &str = "/modules/history/by-session/c";

/// Checks all of this module. It needs no [`RunStore`](crate::store::RunStore).
pub async fn all<F: Factory<Store: ConversationStore>>(factory: &F) {
    entries_are_no_messages(factory).await;
    entries_belong_to_their_owner(factory).await;
    entries_are_deleted_with_the_chat(factory).await;
    concurrent_changes_are_kept(&[Arc::new(factory.create().await)], 100).await;
}

fn history(store: &Arc<impl ConversationStore>) -> Afs {
    Afs::new().mount(AfsHistory::new(Arc::clone(store) as Arc<dyn ConversationStore>))
}

fn state(count: usize) -> AfsEntry {
    AfsEntry::component_state("cart_1", [("count".to_owned(), json!(count))])
}

async fn write(afs: &Afs, entry: AfsEntry) -> AfsEntry {
    afs.write(&alice(), &format!("{SESSION}/new"), entry).await.unwrap()
}

/// Entries change neither the branch that is shown, nor the head or the title. A state has one entry, and renders are
/// kept.
pub async fn entries_are_no_messages<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = Arc::new(factory.create().await);
    let afs = history(&store);
    let chat = Change { title: Some("Carts".into()), ..change(&[("u1", None), ("a1", Some("u1"))]) };
    store.save(&alice(), "c", &chat).await.unwrap();
    for count in 1..=3 {
        write(&afs, state(count)).await;
    }
    let render = AfsEntry::component_render("cart_1", "cart", json!({ "items": [] }), Map::new());
    let renders = [write(&afs, render.clone()).await, write(&afs, render).await];
    let shown = store.load(&alice(), "c", &Window::default()).await.unwrap().unwrap();
    let ids = |window: &[crate::store::StoredMessage]| -> Vec<String> {
        window.iter().filter(|message| !message.is_entry()).map(|message| message.id.to_string()).collect()
    };
    assert_eq!((ids(&shown.messages).join(" "), shown.messages.len()), ("u1 a1".to_owned(), 2));
    assert_eq!((shown.info.head.as_deref(), shown.info.title.as_deref()), (Some("a1"), Some("Carts")));
    let all = Window { branch: Branch::All, ..Window::default() };
    let all = store.load(&alice(), "c", &all).await.unwrap().unwrap();
    assert_eq!((ids(&all.messages).join(" "), all.messages.len()), ("u1 a1".to_owned(), 5));
    let read = afs.read(&alice(), "/modules/history/c/component-state/cart_1").await.unwrap().unwrap();
    assert_eq!((read.content["state"]["count"].as_u64(), read.metadata["seq"].as_u64()), (Some(3), Some(3)));
    for render in renders {
        assert_eq!(afs.read(&alice(), &render.path).await.unwrap(), Some(render));
    }
    let next = change(&[("u2", Some("a1"))]);
    store.save(&alice(), "c", &next).await.unwrap();
    let shown = store.load(&alice(), "c", &Window::default()).await.unwrap().unwrap();
    assert_eq!(ids(&shown.messages), ["u1", "a1", "u2"]);
}

/// Another owner reads nothing, also in a chat of the same name.
pub async fn entries_belong_to_their_owner<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = Arc::new(factory.create().await);
    let afs = history(&store);
    write(&afs, state(1)).await;
    let path = "/modules/history/c/component-state/cart_1";
    assert_eq!(afs.read(&bob(), path).await.unwrap(), None);
    assert_eq!(afs.list(&bob(), SESSION).await.unwrap(), []);
    afs.write(&bob(), &format!("{SESSION}/new"), state(7)).await.unwrap();
    let entries = afs.list(&alice(), SESSION).await.unwrap();
    assert_eq!((entries.len(), entries[0].kind()), (1, AfsEntryKind::ComponentState));
    assert_eq!(entries[0].content["state"]["count"], 1);
    assert_eq!(
        (&entries[0].metadata["userId"], &entries[0].metadata["sessionId"]),
        (&json!("alice"), &json!("c"))
    );
}

/// The entries of a deleted chat are gone, and later ones are refused.
pub async fn entries_are_deleted_with_the_chat<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = Arc::new(factory.create().await);
    let afs = history(&store);
    store.save(&alice(), "c", &change(&[("u1", None)])).await.unwrap();
    write(&afs, state(1)).await;
    store.delete(&alice(), Delete::Chat("c")).await.unwrap();
    assert_eq!(afs.list(&alice(), SESSION).await.unwrap(), []);
    let late = afs.write(&alice(), &format!("{SESSION}/new"), state(2)).await;
    assert!(late.unwrap_err().is_invalid());
    assert!(store.list(&alice(), &Page::first(9)).await.unwrap().conversations.is_empty());
}

/// No change of an instance is lost, although servers change it at the same time. Each of the stores is another handle to
/// the same empty database, as another server has it.
pub async fn concurrent_changes_are_kept(stores: &[Arc<impl ConversationStore>], changes: usize) {
    let servers: Vec<Afs> = stores.iter().map(history).collect();
    let change = |number: usize| {
        let afs = servers[number % servers.len()].clone();
        async move {
            let mut state = ComponentState::load("cart_1", &afs, &alice(), "c").await;
            state.set(format!("change {number}"), number).await.unwrap();
        }
    };
    let tasks: JoinSet<()> = (0..changes).map(change).collect();
    tasks.join_all().await;
    let path = "/modules/history/c/component-state/cart_1";
    for afs in &servers {
        let read = afs.read(&alice(), path).await.unwrap().unwrap();
        let kept = read.state().unwrap();
        let expected = (0..changes).map(|number| (format!("change {number}"), Value::from(number)));
        assert_eq!(*kept, expected.collect::<Map<_, _>>());
        assert_eq!(read.metadata["seq"], changes);
    }
}
