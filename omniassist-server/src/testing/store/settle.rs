//! The ends of runs.

use super::Factory;
use super::case::{Case, alice, change, is_taken, segment};
use crate::store::{
    ConversationStore, Ending, Obligation, RunState, RunStore, SegmentKind, Settled, Which, Window,
};

/// Checks all of this module.
pub async fn all<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    each_ending_has_its_state(factory).await;
    an_end_is_one_transaction(factory).await;
    a_refused_change_settles_nothing(factory).await;
    an_end_asks_no_questions(factory).await;
}

/// A run has the state that it was settled with, and a time of its end if it ended.
pub async fn each_ending_has_its_state<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let endings = [
        (Ending::Released, RunState::Running),
        (Ending::Waiting(vec![Obligation::new("call", "")]), RunState::Waiting),
        (Ending::Finished, RunState::Finished),
        (Ending::Failed, RunState::Failed),
        (Ending::Stopped, RunState::Stopped),
        (Ending::Interrupted, RunState::Interrupted),
    ];
    for (at, (ending, state)) in endings.into_iter().enumerate() {
        let chat = at.to_string();
        let writer = case.begin(&chat).await;
        assert!(is_taken(case.settle(writer, 2, ending).await));
        let head = case.store.find(&alice(), Which::Chat(&chat)).await.unwrap().unwrap();
        assert_eq!((head.state, head.head, head.instance), (state, 2, None));
        assert_eq!(head.ended_ms.is_some(), state.is_ended());
    }
}

/// The last segment, the messages, the usage and the state are there together, and once.
pub async fn an_end_is_one_transaction<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let mut new = case.run("c");
    new.change = Some(change(&[("u1", None)]));
    let crate::store::Begun::Started(writer) = case.store.begin(&new).await.unwrap() else {
        panic!("a new run")
    };
    let mut end = Settled::new(segment(writer, 2, SegmentKind::End), Ending::Finished);
    end.change = Some(change(&[("a1", Some("u1"))]));
    end.usage = Some(b"\0usage".as_slice().into());
    for _ in 0..2 {
        assert!(is_taken(case.store.settle(&end).await.unwrap()));
        assert_eq!(case.journal(writer.run).await[1], end.last);
        let head = case.store.find(&alice(), Which::Chat("c")).await.unwrap().unwrap();
        assert_eq!((head.state, head.usage), (RunState::Finished, end.usage.clone()));
        let loaded = case.store.load(&alice(), "c", &Window::default()).await.unwrap().unwrap();
        assert_eq!((loaded.messages.len(), loaded.info.version), (2, 2), "a repeated end changes nothing");
        assert_eq!(loaded.info.head.as_deref(), Some("a1"));
    }
}

/// An end whose messages are refused is an error, and the run goes on.
pub async fn a_refused_change_settles_nothing<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    let mut end = Settled::new(segment(writer, 2, SegmentKind::End), Ending::Finished);
    end.change = Some(change(&[("a1", Some("unknown"))]));
    assert!(case.store.settle(&end).await.unwrap_err().is_invalid());
    assert_eq!(case.journal(writer.run).await.len(), 1);
    let head = case.store.find(&alice(), Which::Chat("c")).await.unwrap().unwrap();
    assert_eq!((head.state, head.instance), (RunState::Running, Some(case.me)));
    end.change = None;
    assert!(is_taken(case.store.settle(&end).await.unwrap()));
}

/// The questions of a waiting run are gone when it ends.
pub async fn an_end_asks_no_questions<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    case.settle(writer, 2, Ending::Waiting(vec![Obligation::new("call", "")])).await;
    let claim = case.store.claim(writer.run, case.me, crate::store::Claim::IfFree).await;
    let claimed = claim.unwrap().unwrap();
    assert_eq!(claimed.head.obligations.len(), 1);
    case.settle(claimed.writer, 4, Ending::Stopped).await;
    let head = case.store.find(&alice(), Which::Chat("c")).await.unwrap().unwrap();
    assert!(head.obligations.is_empty());
}
