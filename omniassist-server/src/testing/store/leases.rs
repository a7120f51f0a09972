//! Leases of instances, and claims of runs that nobody drives.

use std::time::Duration;

use futures_util::future::join_all;

use super::Factory;
use super::case::{Case, LEASE, is_taken, segment, text};
use crate::store::{Claim, Ending, InstanceId, Obligation, RunId, RunState, RunStore, SegmentKind, Which};

/// Checks all of this module.
pub async fn all<F: Factory<Store: RunStore>>(factory: &F) {
    a_run_is_free_when_its_lease_is_over(factory).await;
    a_beat_extends_a_lease(factory).await;
    a_lease_of_zero_frees_runs_at_once(factory).await;
    one_of_many_claims_succeeds(factory).await;
    a_lost_claim_is_repeated(factory).await;
    a_forced_claim_takes_a_live_run(factory).await;
    a_released_run_is_handed_over(factory).await;
    take_overs_without_progress_are_counted(factory).await;
    a_beat_has_room(factory).await;
}

/// A run can be claimed when the lease of its instance is over, and not before.
pub async fn a_run_is_free_when_its_lease_is_over<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let mut new = case.run("c");
    new.input = b"\0input".as_slice().into();
    case.store.begin(&new).await.unwrap();
    case.advance(LEASE.checked_sub(Duration::from_secs(1)).unwrap()).await;
    let other = InstanceId::random();
    assert!(case.store.beat(other, LEASE, 10).await.unwrap().free.is_empty());
    assert_eq!(case.store.claim(new.run, other, Claim::IfFree).await.unwrap(), None);
    case.advance(Duration::from_secs(1)).await;
    assert_eq!(case.store.beat(other, LEASE, 10).await.unwrap().free, [new.run]);
    let claimed = case.store.claim(new.run, other, Claim::IfFree).await.unwrap().unwrap();
    assert_eq!((claimed.input, claimed.takeovers), (new.input, 1));
    assert_eq!((claimed.head.state, claimed.head.instance), (RunState::Running, Some(other)));
    assert!(case.store.beat(other, LEASE, 10).await.unwrap().free.is_empty());
    assert_eq!(case.store.claim(RunId::random(), other, Claim::IfFree).await.unwrap(), None);
}

/// The runs of an instance that beats stay its own.
pub async fn a_beat_extends_a_lease<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    for _ in 0..3 {
        case.advance(LEASE / 2).await;
        case.store.beat(case.me, LEASE, 0).await.unwrap();
    }
    let other = case.other().await;
    assert_eq!(case.store.claim(writer.run, other, Claim::IfFree).await.unwrap(), None);
}

/// An instance that ends its lease gives up its runs.
pub async fn a_lease_of_zero_frees_runs_at_once<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    case.store.beat(case.me, Duration::ZERO, 0).await.unwrap();
    let other = case.other().await;
    assert!(case.store.claim(writer.run, other, Claim::IfFree).await.unwrap().is_some());
}

/// Many instances claim one run, and one gets it.
pub async fn one_of_many_claims_succeeds<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin_and_die("c").await;
    let mut others = Vec::new();
    for _ in 0..8 {
        others.push(case.other().await);
    }
    let claims = others.iter().map(|other| case.store.claim(writer.run, *other, Claim::IfFree));
    let claimed: Vec<_> = join_all(claims).await.into_iter().filter_map(Result::unwrap).collect();
    assert_eq!(claimed.len(), 1);
    assert!(is_taken(case.append(&text(claimed[0].writer, 3)).await));
    assert_eq!(case.journal(writer.run).await.len(), 3);
}

/// A claim is refused to the instance that drives the run, unless it repeats one whose answer was lost.
pub async fn a_lost_claim_is_repeated<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    assert_eq!(case.store.claim(writer.run, case.me, Claim::IfFree).await.unwrap(), None);
    let again = case.store.claim(writer.run, case.me, Claim::Again).await.unwrap().unwrap();
    assert_eq!(again.writer.epoch, 2);
    assert!(!is_taken(case.append(&text(writer, 2)).await));
    let other = case.other().await;
    assert_eq!(case.store.claim(writer.run, other, Claim::Again).await.unwrap(), None);
    // A run that nobody drives has no claim to repeat.
    assert!(is_taken(
        case.settle(again.writer, 3, Ending::Waiting(vec![Obligation::new("call", "?")])).await
    ));
    assert_eq!(case.store.claim(writer.run, case.me, Claim::Again).await.unwrap(), None);
}

/// A forced claim takes a run from an instance that lives, and none that has ended.
pub async fn a_forced_claim_takes_a_live_run<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    let other = case.other().await;
    let claimed = case.store.claim(writer.run, other, Claim::Force).await.unwrap().unwrap();
    assert!(is_taken(case.settle(claimed.writer, 3, Ending::Stopped).await));
    assert_eq!(case.store.claim(writer.run, other, Claim::Force).await.unwrap(), None);
    assert_eq!(case.store.claim(writer.run, other, Claim::Again).await.unwrap(), None);
}

/// A run that its instance released is free, while that instance lives.
pub async fn a_released_run_is_handed_over<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    let last = segment(writer, 2, SegmentKind::Text);
    let end = crate::store::Settled::new(last, Ending::Released);
    assert!(is_taken(case.store.settle(&end).await.unwrap()));
    let head = case.store.find(&super::case::alice(), Which::Run(writer.run)).await.unwrap().unwrap();
    assert_eq!((head.state, head.instance, head.ended_ms), (RunState::Running, None, None));
    let other = InstanceId::random();
    assert_eq!(case.store.beat(other, LEASE, 1).await.unwrap().free, [writer.run]);
    let claimed = case.store.claim(writer.run, other, Claim::IfFree).await.unwrap().unwrap();
    assert_eq!((claimed.writer.epoch, claimed.takeovers), (2, 0));
    let mark = case.journal(writer.run).await.remove(2);
    assert_eq!((mark.kind, mark.pos, mark.data.len(), mark.events), (SegmentKind::Handover, 3, 0, 20));
}

/// A claim tells the number of take-overs since the last consequence.
pub async fn take_overs_without_progress_are_counted<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    let take_over = || async {
        case.advance(LEASE).await;
        let other = case.other().await;
        case.store.claim(writer.run, other, Claim::IfFree).await.unwrap().unwrap()
    };
    assert_eq!(take_over().await.takeovers, 1);
    let second = take_over().await;
    assert_eq!(second.takeovers, 2);
    case.append(&text(second.writer, 4)).await;
    let third = take_over().await;
    assert_eq!((third.takeovers, third.head.head), (3, 5));
    assert!(is_taken(case.append(&segment(third.writer, 6, SegmentKind::Consequence)).await));
    assert_eq!(take_over().await.takeovers, 1);
}

/// A beat returns as many free runs as there is room for, the oldest first.
pub async fn a_beat_has_room<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let mut runs = Vec::new();
    for chat in ["a", "b", "c"] {
        runs.push(case.begin(chat).await.run);
    }
    case.advance(LEASE).await;
    let other = InstanceId::random();
    assert!(case.store.beat(other, LEASE, 0).await.unwrap().free.is_empty());
    assert_eq!(case.store.beat(other, LEASE, 2).await.unwrap().free, runs[..2]);
    assert_eq!(case.store.beat(other, LEASE, 4).await.unwrap().free, runs);
}
