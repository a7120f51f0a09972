//! The suite that every store passes.

use std::sync::Arc;

use omniassist_server::testing::store;

use crate::database::{Schemas, connect, new_schema};

#[tokio::test]
async fn runs_begin() {
    store::begin::all(&Schemas::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn journals_are_fenced() {
    store::journal::all(&Schemas::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leases_end() {
    store::leases::all(&Schemas::default()).await;
}

#[tokio::test]
async fn signals_arrive_once() {
    store::signals::all(&Schemas::default()).await;
}

#[tokio::test]
async fn ends_are_transactions() {
    store::settle::all(&Schemas::default()).await;
}

#[tokio::test]
async fn conversations_are_trees() {
    store::conversations::all(&Schemas::default()).await;
}

#[tokio::test]
async fn scopes_are_separate() {
    store::scopes::all(&Schemas::default()).await;
}

#[tokio::test]
async fn keys_belong_to_conversations() {
    store::keys::all(&Schemas::default()).await;
}

#[tokio::test]
async fn deletions_are_complete() {
    store::deletion::all(&Schemas::default()).await;
}

#[tokio::test]
async fn usage_is_counted_once() {
    store::usage::all(&Schemas::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_calls_have_an_order() {
    store::histories::all(&Schemas::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_changes_of_a_component_are_kept() {
    let schema = new_schema();
    let mut stores = Vec::new();
    for _ in 0..3 {
        stores.push(Arc::new(connect(&schema).await));
    }
    store::components::concurrent_changes_are_kept(&stores, 1_000).await;
}
