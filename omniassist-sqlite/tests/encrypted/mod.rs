//! Encrypted content in a SQLite file.

mod conformance;
mod keys;
mod plain;
mod tampered;
mod text;

use std::time::Duration;

use omniassist_server::encryption::{Encrypted, EncryptionKeys};
use omniassist_server::testing::store::Factory;
use omniassist_sqlite::SqliteStore;

use crate::folder::Folder;

fn old_keys() -> EncryptionKeys {
    EncryptionKeys::new("2026-08", "the secret that was used before November").unwrap()
}

fn new_keys() -> EncryptionKeys {
    EncryptionKeys::new("2026-11", "at least thirty-two bytes of randomness").unwrap()
}

fn both_keys() -> EncryptionKeys {
    new_keys().with_previous_key("2026-08", "the secret that was used before November").unwrap()
}

struct EncryptedFolder(Folder);

impl EncryptedFolder {
    fn new() -> Self {
        Self(Folder::new())
    }
}

impl Factory for EncryptedFolder {
    type Store = Encrypted<SqliteStore>;

    async fn create(&self) -> Self::Store {
        Encrypted::new(self.0.create().await, new_keys())
    }

    async fn advance(&self, store: &Self::Store, by: Duration) {
        self.0.advance(store.inner(), by).await;
    }
}
