//! Runs of other owners.

use super::Factory;
use super::case::{Case, alice, bob};
use crate::store::{Begun, NewRun, Post, RunId, RunStore, Signal, SignalKind, Signalled, TailOf, Which};

/// Checks all of this module.
pub async fn all<F: Factory<Store: RunStore>>(factory: &F) {
    a_run_of_another_owner_does_not_exist(factory).await;
    chats_of_one_name_are_separate(factory).await;
}

/// Every question about another owner's run has the answer of a run that does not exist.
pub async fn a_run_of_another_owner_does_not_exist<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let run = case.begin("c").await.run;
    for run in [run, RunId::random()] {
        assert_eq!(case.store.find(&bob(), Which::Run(run)).await.unwrap(), None);
        assert_eq!(case.store.find(&bob(), Which::Chat("c")).await.unwrap(), None);
        assert_eq!(case.store.read(&[TailOf::new(bob(), run, 0)], 9).await.unwrap(), [None]);
        for kind in [SignalKind::Stop, SignalKind::Watch(super::case::LEASE)] {
            let signal = Signal::new(kind, "bob");
            assert_eq!(case.store.signal(&bob(), run, &signal).await.unwrap(), Signalled::Gone);
        }
    }
    let head = case.store.find(&alice(), Which::Run(run)).await.unwrap().unwrap();
    assert!(!head.notice.stop && !head.notice.watched);
}

/// Neither a live run nor a post of another owner counts for a chat of the same name.
pub async fn chats_of_one_name_are_separate<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    for scope in [alice(), bob()] {
        let mut new = NewRun::new(RunId::random(), scope.clone(), "c", case.me);
        new.post = Some(Post::idempotency_key(b"key".as_slice()));
        assert!(matches!(case.store.begin(&new).await.unwrap(), Begun::Started(_)));
        assert_eq!(case.store.find(&scope, Which::Chat("c")).await.unwrap().unwrap().run, new.run);
    }
}
