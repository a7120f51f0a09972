//! The suite that every store passes.

use omniassist_server::testing::store;

use super::EncryptedFolder;

#[tokio::test(flavor = "multi_thread")]
async fn an_encrypted_store_passes() {
    store::all(&EncryptedFolder::new()).await;
}
