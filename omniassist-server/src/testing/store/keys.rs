//! The keys of conversations.

use super::Factory;
use super::case::{Case, alice, bob, change};
use crate::store::{
    Begun, Change, ConversationKey, ConversationStore, Delete, Ending, KeyOf, KeyStore, NotSaved, Page,
    RunStore, Saved, Which, Window,
};

/// Checks all of this module.
pub async fn all<F: Factory<Store: RunStore + ConversationStore + KeyStore>>(factory: &F) {
    a_key_is_returned_with_the_content(factory).await;
    another_key_changes_nothing(factory).await;
    a_key_is_replaced_alone(factory).await;
    keys_have_pages(factory).await;
    a_deletion_destroys_the_key(factory).await;
}

const KEY: &[u8] = b"\0key 1";

fn keyed(chat: &str) -> ConversationKey {
    ConversationKey::new(alice(), chat, Some(KEY.into()))
}

fn with_key(id: &str, key: &'static [u8]) -> Change {
    Change { key: Some(key.into()), ..change(&[(id, None)]) }
}

/// A new conversation has the key of its first save or run, and it is returned with all that it opens.
pub async fn a_key_is_returned_with_the_content<
    F: Factory<Store: RunStore + ConversationStore + KeyStore>,
>(
    factory: &F,
) {
    let case = Case::new(factory).await;
    assert_eq!(case.store.key(KeyOf::Chat(&alice(), "c")).await.unwrap(), None);
    assert_eq!(case.store.save(&alice(), "c", &with_key("u1", KEY)).await.unwrap(), Saved::Version(1));
    for chat in ["c", "d"] {
        let mut new = case.run(chat);
        new.key = Some(KEY.into());
        let Begun::Started(writer) = case.store.begin(&new).await.unwrap() else { panic!("a new run") };
        assert_eq!(case.store.key(KeyOf::Chat(&alice(), chat)).await.unwrap(), Some(keyed(chat)));
        assert_eq!(case.store.key(KeyOf::Run(writer.run)).await.unwrap(), Some(keyed(chat)));
        let loaded = case.store.load(&alice(), chat, &Window::default()).await.unwrap().unwrap();
        assert_eq!(loaded.info.key.as_deref(), Some(KEY));
        case.settle(writer, 2, Ending::Finished).await;
    }
    let listing = case.store.list(&alice(), &Page::first(9)).await.unwrap();
    assert!(listing.conversations.iter().all(|info| info.key.as_deref() == Some(KEY)));
    assert_eq!(case.store.key(KeyOf::Chat(&bob(), "c")).await.unwrap(), None);
    assert_eq!(case.store.key(KeyOf::Run(case.run("c").run)).await.unwrap(), None);
}

/// A save or a run with another key than that of the conversation is refused, and one without a key is not.
pub async fn another_key_changes_nothing<F: Factory<Store: RunStore + ConversationStore + KeyStore>>(
    factory: &F,
) {
    let case = Case::new(factory).await;
    case.store.save(&alice(), "plain", &change(&[("u1", None)])).await.unwrap();
    case.store.save(&alice(), "c", &with_key("u1", KEY)).await.unwrap();
    for (chat, key) in [("plain", KEY), ("c", b"\0key 2")] {
        let refused = case.store.save(&alice(), chat, &with_key("u2", key)).await.unwrap();
        assert_eq!(refused, Saved::Refused(NotSaved::OtherKey));
        let mut new = case.run(chat);
        new.key = Some(key.into());
        assert_eq!(case.store.begin(&new).await.unwrap(), Begun::Refused(NotSaved::OtherKey));
        assert_eq!(case.store.find(&alice(), Which::Chat(chat)).await.unwrap(), None);
        let loaded = case.store.load(&alice(), chat, &Window::default()).await.unwrap().unwrap();
        assert_eq!((loaded.messages.len(), loaded.info.version), (1, 1));
        assert!(matches!(
            case.store.save(&alice(), chat, &change(&[("u1", None)])).await,
            Ok(Saved::Version(2))
        ));
    }
}

/// A key is replaced if it is the known one, and nothing else changes.
pub async fn a_key_is_replaced_alone<F: Factory<Store: RunStore + ConversationStore + KeyStore>>(
    factory: &F,
) {
    let case = Case::new(factory).await;
    let mut new = case.run("c");
    (new.key, new.change) = (Some(KEY.into()), Some(change(&[("u1", None)])));
    case.store.begin(&new).await.unwrap();
    let before = case.store.load(&alice(), "c", &Window::default()).await.unwrap().unwrap();
    let second = b"\0key 2".as_slice().into();
    assert!(case.store.replace_key(&keyed("c"), &second).await.unwrap());
    assert!(!case.store.replace_key(&keyed("c"), &second).await.unwrap(), "it has another key now");
    assert!(!case.store.replace_key(&keyed("d"), &second).await.unwrap());
    let mut after = case.store.load(&alice(), "c", &Window::default()).await.unwrap().unwrap();
    assert_eq!(after.info.key.replace(KEY.into()), Some(second.clone()));
    assert_eq!(after, before);
    let of_run = case.store.key(KeyOf::Run(new.run)).await.unwrap().unwrap();
    assert_eq!(of_run.key, Some(second));
}

/// Pages have every key once, of all owners.
pub async fn keys_have_pages<F: Factory<Store: RunStore + ConversationStore + KeyStore>>(factory: &F) {
    let case = Case::new(factory).await;
    for chat in ["a", "b", "c"] {
        case.store.save(&alice(), chat, &with_key("u1", KEY)).await.unwrap();
        case.store.save(&bob(), chat, &with_key("u1", KEY)).await.unwrap();
    }
    case.store.save(&alice(), "plain", &change(&[("u1", None)])).await.unwrap();
    let all = case.store.keys(None, 9).await.unwrap();
    assert_eq!(all.len(), 6);
    assert!(all.contains(&keyed("b")));
    for at_most in [1, 5, 6] {
        let (mut found, mut last) = (Vec::new(), None);
        loop {
            let page = case.store.keys(last.as_ref(), at_most).await.unwrap();
            assert!(page.len() <= at_most);
            let Some(end) = page.last() else { break };
            last = Some(end.clone());
            found.extend(page);
        }
        assert_eq!(found, all, "pages of {at_most}");
    }
}

/// A deleted conversation has no key.
pub async fn a_deletion_destroys_the_key<F: Factory<Store: RunStore + ConversationStore + KeyStore>>(
    factory: &F,
) {
    let case = Case::new(factory).await;
    case.store.save(&alice(), "c", &with_key("u1", KEY)).await.unwrap();
    case.store.delete(&alice(), Delete::Chat("c")).await.unwrap();
    assert_eq!(case.store.key(KeyOf::Chat(&alice(), "c")).await.unwrap(), None);
    assert_eq!(case.store.keys(None, 9).await.unwrap(), []);
    assert!(!case.store.replace_key(&keyed("c"), &KEY.into()).await.unwrap());
    let again = case.store.save(&alice(), "c", &with_key("u1", KEY)).await.unwrap();
    assert_eq!(again, Saved::Refused(NotSaved::Deleted));
}
