//! The suite that every store passes.

use std::sync::Arc;

use omniassist_server::afs::{Afs, AfsEntry, AfsHistory};
use omniassist_server::store::Scope;
use omniassist_server::testing::store;
use omniassist_sqlite::SqliteStore;

use crate::folder::Folder;

#[tokio::test]
async fn runs_begin() {
    store::begin::all(&Folder::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn journals_are_fenced() {
    store::journal::all(&Folder::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leases_end() {
    store::leases::all(&Folder::new()).await;
}

#[tokio::test]
async fn signals_arrive_once() {
    store::signals::all(&Folder::new()).await;
}

#[tokio::test]
async fn ends_are_transactions() {
    store::settle::all(&Folder::new()).await;
}

#[tokio::test]
async fn conversations_are_trees() {
    store::conversations::all(&Folder::new()).await;
}

#[tokio::test]
async fn scopes_are_separate() {
    store::scopes::all(&Folder::new()).await;
}

#[tokio::test]
async fn keys_belong_to_conversations() {
    store::keys::all(&Folder::new()).await;
}

#[tokio::test]
async fn deletions_are_complete() {
    store::deletion::all(&Folder::new()).await;
}

#[tokio::test]
async fn usage_is_counted_once() {
    store::usage::all(&Folder::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_calls_have_an_order() {
    store::histories::all(&Folder::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_changes_of_a_component_are_kept() {
    let folder = Folder::new();
    let path = folder.path();
    let stores = [(); 3].map(|()| Arc::new(SqliteStore::open(&path).unwrap()));
    store::components::concurrent_changes_are_kept(&stores, 1_000).await;
}

#[tokio::test]
async fn contract_002_37_a_history_is_mounted_on_a_file() {
    let folder = Folder::new();
    let path = folder.folder().join("history.sqlite3");
    let open = || Afs::new().mount(AfsHistory::new(Arc::new(SqliteStore::open(&path).unwrap())));
    let ada = Scope::new("ada");
    let state = AfsEntry::component_state("chart_1", [("period".to_owned(), "week".into())]);
    let written = open().write(&ada, "/modules/history/by-session/c/new", state).await.unwrap();
    // Another process reads what is in the file.
    let afs = open();
    let listed = afs.list(&ada, "/modules/history/by-session/c").await.unwrap();
    assert_eq!(listed, std::slice::from_ref(&written));
    assert_eq!(afs.read(&ada, &written.path).await.unwrap(), Some(written));
    assert!(path.is_file());
}
