//! The store of a case: a file, whose content may be encrypted.

use std::path::Path;

use omniassist_server::encryption::{Encrypted, EncryptionKeys};
use omniassist_server::store::{ConversationStore, RunHead, RunStore, Scope, Which};
use omniassist_sqlite::SqliteStore;

use crate::child::CHAT;
use crate::shape::Shape;

/// A store of runs and conversations.
pub(crate) trait Store: RunStore + ConversationStore + Clone {}

impl<S: RunStore + ConversationStore + Clone> Store for S {}

pub(crate) fn encrypted(path: &Path) -> Encrypted<SqliteStore> {
    let keys = EncryptionKeys::new("torment", "the secret of a test, which is no secret").unwrap();
    Encrypted::new(SqliteStore::open(path).unwrap(), keys)
}

pub(crate) fn scope() -> Scope {
    Scope::new("ada")
}

/// Returns the run of each question of a shape.
pub(crate) async fn runs<S: Store>(store: &S, shape: Shape) -> Vec<Option<RunHead>> {
    if shape.questions() == 1 {
        return vec![store.find(&scope(), Which::Chat(CHAT)).await.unwrap()];
    }
    let mut found = Vec::new();
    for number in 1..=shape.questions() {
        let key = format!("m{number}");
        found.push(store.find(&scope(), Which::Post { chat: CHAT, key: key.as_bytes() }).await.unwrap());
    }
    found
}
