//! A database from before the encryption.

use omniassist_server::encryption::Encrypted;
use omniassist_server::store::{Change, ConversationStore, InstanceId, Page, StoredMessage, Window};
use omniassist_sqlite::SqliteStore;
use rusqlite::Connection;

use super::new_keys;
use crate::folder::{Folder, alice, begin};

#[tokio::test]
async fn conversations_from_before_stay_readable_and_new_ones_are_encrypted() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.path()).unwrap();
    begin(&store, InstanceId::random(), "before", "Before").await;
    let encrypted = Encrypted::new(store.clone(), new_keys());
    for chat in ["before", "after"] {
        let mut change = Change::messages([StoredMessage::new("u2", None, "After")]);
        change.title = Some("A title".into());
        encrypted.save(&alice(), chat, &change).await.unwrap();
        let loaded = encrypted.load(&alice(), chat, &Window::default()).await.unwrap().unwrap();
        assert_eq!(loaded.messages[0].body, "After");
        assert_eq!(loaded.info.title.as_deref(), Some("A title"));
    }
    assert_eq!(encrypted.list(&alice(), &Page::first(9)).await.unwrap().conversations.len(), 2);
    let connection = Connection::open(store.path()).unwrap();
    let stored = |chat: &str| -> (Vec<u8>, String, bool) {
        let query = "select m.body, c.title, c.key is not null from message m
            join conversation c on c.id = m.conversation where c.chat = ?1 and m.id = 'u2'";
        connection.query_row(query, [chat], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
    };
    assert_eq!(stored("before"), (b"After".to_vec(), "A title".to_owned(), false));
    let (body, title, has_key) = stored("after");
    assert!(has_key && body.len() == "After".len() + 41 && title != "A title");
}
