//! Conversations: trees of messages, versions and lists.

use std::time::Duration;

use super::Factory;
use super::case::{alice, bob, change, message};
use crate::store::{
    Branch, Change, Conversation, ConversationStore, Delete, NotSaved, Page, Saved, Scope, StoredMessage,
    Window,
};

/// Checks all of this module. It needs no [`RunStore`](crate::store::RunStore).
pub async fn all<F: Factory<Store: ConversationStore>>(factory: &F) {
    messages_are_loaded_as_saved(factory).await;
    a_save_repeats_without_harm(factory).await;
    siblings_are_branches(factory).await;
    a_window_ends_before_a_message(factory).await;
    an_unknown_message_is_refused(factory).await;
    a_version_is_compared(factory).await;
    a_title_keeps_the_rest(factory).await;
    a_list_has_pages(factory).await;
    owners_have_chats_of_one_name(factory).await;
    a_deleted_conversation_stays_deleted(factory).await;
    everything_of_an_owner_is_deleted(factory).await;
    super::components::all(factory).await;
    super::histories::conversations_have_an_order(factory).await;
}

async fn save<F: Factory<Store: ConversationStore>>(store: &F::Store, chat: &str, change: &Change) -> Saved {
    store.save(&alice(), chat, change).await.unwrap()
}

async fn load<F: Factory<Store: ConversationStore>>(store: &F::Store, window: &Window) -> Conversation {
    store.load(&alice(), "c", window).await.unwrap().unwrap()
}

fn ids(messages: &[StoredMessage]) -> Vec<&str> {
    messages.iter().map(|message| message.id.as_str()).collect()
}

fn window(branch: Branch, before: Option<&str>, at_most: usize) -> Window {
    Window { branch, before: before.map(Into::into), at_most }
}

/// A loaded message has the id, the parent and every byte that it was saved with.
pub async fn messages_are_loaded_as_saved<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = factory.create().await;
    assert_eq!(store.load(&alice(), "c", &Window::default()).await.unwrap(), None);
    let saved = change(&[("u1", None), ("a 'quoted' \u{1F600}", Some("u1"))]);
    assert_eq!(save::<F>(&store, "c", &saved).await, Saved::Version(1));
    let loaded = load::<F>(&store, &Window::default()).await;
    for (loaded, saved) in loaded.messages.iter().zip(&saved.messages) {
        assert!(loaded.created_ms > 0);
        assert_eq!((&loaded.id, &loaded.parent, &loaded.body), (&saved.id, &saved.parent, &saved.body));
    }
    assert_eq!((loaded.messages.len(), loaded.more), (2, false));
    assert_eq!((loaded.info.chat.as_str(), &loaded.info.head), ("c", &saved.head));
}

/// A message that is saved again replaces its content, and stays in its place.
pub async fn a_save_repeats_without_harm<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = factory.create().await;
    let first = change(&[("u1", None), ("a1", Some("u1"))]);
    save::<F>(&store, "c", &first).await;
    save::<F>(&store, "c", &first).await;
    let before = load::<F>(&store, &Window::default()).await.messages;
    factory.advance(&store, Duration::from_secs(5)).await;
    let longer = StoredMessage::new("a1", Some("unknown".into()), "longer");
    save::<F>(&store, "c", &Change::messages([longer])).await;
    let after = load::<F>(&store, &Window::default()).await.messages;
    assert_eq!((after.len(), &after[0]), (2, &before[0]));
    assert_eq!((&after[1].parent, after[1].created_ms), (&before[1].parent, before[1].created_ms));
    assert_eq!(after[1].body, "longer");
}

/// Messages with one parent are branches, and the head chooses the one that is shown.
pub async fn siblings_are_branches<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = factory.create().await;
    let tree = [("u1", None), ("a1", Some("u1")), ("a2", Some("u1")), ("u2", Some("a1")), ("u0", None)];
    save::<F>(&store, "c", &change(&tree)).await;
    assert_eq!(ids(&load::<F>(&store, &Window::default()).await.messages), ["u0"]);
    let shown = Change { head: Some("a2".into()), ..Change::default() };
    save::<F>(&store, "c", &shown).await;
    assert_eq!(ids(&load::<F>(&store, &Window::default()).await.messages), ["u1", "a2"]);
    let leaf = load::<F>(&store, &window(Branch::Leaf("u2".into()), None, 9)).await;
    assert_eq!(ids(&leaf.messages), ["u1", "a1", "u2"]);
    let unknown = load::<F>(&store, &window(Branch::Leaf("u9".into()), None, 9)).await;
    assert!(unknown.messages.is_empty());
    let all = load::<F>(&store, &window(Branch::All, None, 9)).await;
    assert_eq!(ids(&all.messages), ["u1", "a1", "a2", "u2", "u0"]);
}

/// A window has the last messages before one, and tells if there are more.
pub async fn a_window_ends_before_a_message<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = factory.create().await;
    let line = [("1", None), ("2", Some("1")), ("3", Some("2")), ("4", Some("3"))];
    save::<F>(&store, "c", &change(&line)).await;
    let branches = [Branch::Head, Branch::Leaf("4".into()), Branch::All];
    for branch in branches {
        for (before, at_most, expected, more) in [
            (None, 4, vec!["1", "2", "3", "4"], false),
            (None, 3, vec!["2", "3", "4"], true),
            (Some("4"), 2, vec!["2", "3"], true),
            (Some("4"), 3, vec!["1", "2", "3"], false),
            (Some("1"), 3, vec![], false),
            (Some("9"), 3, vec![], false),
            (None, 0, vec![], true),
        ] {
            let loaded = load::<F>(&store, &window(branch.clone(), before, at_most)).await;
            assert_eq!(
                (ids(&loaded.messages), loaded.more),
                (expected, more),
                "{branch:?} {before:?} {at_most}"
            );
        }
    }
}

/// A change that names an unknown message saves nothing. Messages of other conversations are unknown.
pub async fn an_unknown_message_is_refused<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = factory.create().await;
    save::<F>(&store, "another", &change(&[("u1", None)])).await;
    let unknown = |id: &str| Saved::Refused(NotSaved::UnknownMessage(id.into()));
    assert_eq!(save::<F>(&store, "c", &change(&[("a1", Some("u1"))])).await, unknown("u1"));
    assert_eq!(store.load(&alice(), "c", &Window::default()).await.unwrap(), None);
    save::<F>(&store, "c", &change(&[("u1", None)])).await;
    let late = change(&[("u2", Some("u1")), ("u4", Some("u3")), ("u3", Some("u1"))]);
    assert_eq!(save::<F>(&store, "c", &late).await, unknown("u3"));
    assert_eq!(save::<F>(&store, "c", &change(&[("own", Some("own"))])).await, unknown("own"));
    let head = Change { head: Some("u2".into()), ..Change::default() };
    assert_eq!(save::<F>(&store, "c", &head).await, unknown("u2"));
    let loaded = load::<F>(&store, &Window::default()).await;
    assert_eq!((ids(&loaded.messages), loaded.info.version), (vec!["u1"], 1));
}

/// A change that expects another version saves nothing.
pub async fn a_version_is_compared<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = factory.create().await;
    let at = |version: u32, id: &str| Change { version: Some(version), ..change(&[(id, None)]) };
    assert_eq!(save::<F>(&store, "c", &at(1, "u1")).await, Saved::Refused(NotSaved::Conflict(0)));
    assert_eq!(save::<F>(&store, "c", &at(0, "u1")).await, Saved::Version(1));
    assert_eq!(save::<F>(&store, "c", &at(0, "u2")).await, Saved::Refused(NotSaved::Conflict(1)));
    assert_eq!(save::<F>(&store, "c", &at(1, "u2")).await, Saved::Version(2));
    assert_eq!(load::<F>(&store, &window(Branch::All, None, 9)).await.messages.len(), 2);
}

/// A title or content of the application changes nothing else.
pub async fn a_title_keeps_the_rest<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = factory.create().await;
    save::<F>(&store, "c", &change(&[("u1", None)])).await;
    let titled = Change { title: Some("Title".into()), ..Change::default() };
    save::<F>(&store, "c", &titled).await;
    let meta = Change { meta: Some(b"\0meta".as_slice().into()), ..Change::default() };
    assert_eq!(save::<F>(&store, "c", &meta).await, Saved::Version(3));
    let info = load::<F>(&store, &Window::default()).await.info;
    assert_eq!((info.title.as_deref(), info.head.as_deref()), (Some("Title"), Some("u1")));
    assert_eq!((info.meta, info.version), (meta.meta, 3));
}

/// Pages have every conversation of an owner once, the one that changed last first.
pub async fn a_list_has_pages<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = factory.create().await;
    for chat in ["a", "b", "c", "d", "e"] {
        save::<F>(&store, chat, &change(&[("u1", None)])).await;
        // Two conversations of one time have an order too.
        if chat != "c" {
            factory.advance(&store, Duration::from_secs(1)).await;
        }
    }
    store.save(&bob(), "x", &change(&[("u1", None)])).await.unwrap();
    save::<F>(&store, "b", &change(&[("u2", None)])).await;
    for at_most in [1, 2, 4, 5, 6] {
        let (mut names, mut page) = (Vec::new(), Page::first(at_most));
        loop {
            let listing = store.list(&alice(), &page).await.unwrap();
            assert!(listing.conversations.len() <= at_most && !listing.conversations.is_empty());
            names.extend(listing.conversations.into_iter().map(|info| info.chat));
            let Some(next) = listing.next else { break };
            page = Page::at(next, at_most);
        }
        assert_eq!(
            (names.len(), &names[0], &names[1], &names[4]),
            (5, &"b".into(), &"e".into(), &"a".into())
        );
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 5, "pages of {at_most}");
    }
    let nobody = store.list(&Scope::new("nobody"), &Page::first(5)).await.unwrap();
    assert!(nobody.conversations.is_empty() && nobody.next.is_none());
    assert!(store.list(&alice(), &Page::at("no cursor", 5)).await.unwrap_err().is_invalid());
}

/// Two owners have conversations of one name, with messages of one id.
pub async fn owners_have_chats_of_one_name<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = factory.create().await;
    save::<F>(&store, "c", &Change::messages([message("m", None)])).await;
    assert_eq!(store.load(&bob(), "c", &Window::default()).await.unwrap(), None);
    assert_eq!(store.delete(&bob(), Delete::Chat("c")).await.unwrap().conversations, 0);
    let own = Change::messages([StoredMessage::new("m", None, "Bob's")]);
    assert_eq!(store.save(&bob(), "c", &own).await.unwrap(), Saved::Version(1));
    assert_eq!(store.delete(&bob(), Delete::Everything).await.unwrap().conversations, 1);
    assert_eq!(load::<F>(&store, &Window::default()).await.messages[0].body, message("m", None).body);
}

/// A deleted conversation is not found, not listed, and not created again.
pub async fn a_deleted_conversation_stays_deleted<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = factory.create().await;
    save::<F>(&store, "c", &change(&[("u1", None)])).await;
    assert_eq!(store.delete(&alice(), Delete::Chat("c")).await.unwrap().conversations, 1);
    assert_eq!(store.load(&alice(), "c", &window(Branch::All, None, 9)).await.unwrap(), None);
    assert!(store.list(&alice(), &Page::first(9)).await.unwrap().conversations.is_empty());
    let again = save::<F>(&store, "c", &change(&[("u1", None)])).await;
    assert_eq!(again, Saved::Refused(NotSaved::Deleted));
    assert_eq!(store.delete(&alice(), Delete::Chat("c")).await.unwrap().conversations, 0);
    assert_eq!(store.delete(&alice(), Delete::Chat("unknown")).await.unwrap().conversations, 0);
    assert_eq!(save::<F>(&store, "unknown", &change(&[("u1", None)])).await, Saved::Version(1));
}

/// All conversations of an owner are deleted together.
pub async fn everything_of_an_owner_is_deleted<F: Factory<Store: ConversationStore>>(factory: &F) {
    let store = factory.create().await;
    for chat in ["a", "b"] {
        save::<F>(&store, chat, &change(&[("u1", None)])).await;
    }
    store.save(&bob(), "a", &change(&[("u1", None)])).await.unwrap();
    assert_eq!(store.delete(&alice(), Delete::Everything).await.unwrap().conversations, 2);
    assert!(store.list(&alice(), &Page::first(9)).await.unwrap().conversations.is_empty());
    assert_eq!(save::<F>(&store, "a", &change(&[("u1", None)])).await, Saved::Refused(NotSaved::Deleted));
    assert_eq!(store.list(&bob(), &Page::first(9)).await.unwrap().conversations.len(), 1);
}
