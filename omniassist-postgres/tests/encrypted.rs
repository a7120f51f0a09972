//! Encrypted content in a database.

use std::time::Duration;

use omniassist_postgres::PostgresStore;
use omniassist_server::encryption::{Encrypted, EncryptionKeys};
use omniassist_server::testing::store::{self, Factory};

use crate::database::Schemas;

#[derive(Default)]
struct EncryptedSchemas(Schemas);

impl Factory for EncryptedSchemas {
    type Store = Encrypted<PostgresStore>;

    async fn create(&self) -> Self::Store {
        let keys = EncryptionKeys::new("2026-11", "at least thirty-two bytes of randomness").unwrap();
        Encrypted::new(Factory::create(&self.0).await, keys)
    }

    async fn advance(&self, store: &Self::Store, by: Duration) {
        Factory::advance(&self.0, store.inner(), by).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_encrypted_store_passes() {
    store::all(&EncryptedSchemas::default()).await;
}
