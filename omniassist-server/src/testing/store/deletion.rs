//! The deletion of conversations with their runs, and sweeps.

use std::time::Duration;

use super::Factory;
use super::case::{Case, alice, change, text};
use crate::store::{
    Appended, Begun, ConversationStore, Delete, Ending, NotSaved, Obligation, Page, Post, Retention,
    RunStore, Saved, Signal, SignalKind, Signalled, Swept, TailOf, Which, Window,
};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Checks all of this module.
pub async fn all<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    a_deletion_ends_runs(factory).await;
    a_deleted_chat_begins_no_run(factory).await;
    journals_are_swept_after_their_runs(factory).await;
    idle_conversations_are_swept(factory).await;
    conversations_without_messages_are_swept(factory).await;
    unanswered_questions_are_swept(factory).await;
    tombstones_are_swept(factory).await;
}

fn swept(conversations: usize, journals: usize, tombstones: usize) -> Swept {
    Swept { conversations, journals, tombstones, usage: 0 }
}

/// Runs of a deleted conversation are gone, also for the instance that drives one.
pub async fn a_deletion_ends_runs<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let ended = case.begin("c").await;
    case.settle(ended, 2, Ending::Finished).await;
    let (live, other) = (case.begin("c").await, case.begin("d").await);
    let deleted = case.store.delete(&alice(), Delete::Chat("c")).await.unwrap();
    assert_eq!((deleted.conversations, deleted.runs), (1, vec![live.run]));
    assert_eq!(case.append(&text(live, 2)).await, Appended::Gone);
    assert_eq!(case.settle(live, 2, Ending::Finished).await, Appended::Gone);
    let stop = Signal::new(SignalKind::Stop, "alice");
    assert_eq!(case.store.signal(&alice(), live.run, &stop).await.unwrap(), Signalled::Gone);
    for run in [ended.run, live.run] {
        assert_eq!(case.store.find(&alice(), Which::Run(run)).await.unwrap(), None);
        assert_eq!(case.store.read(&[TailOf::new(alice(), run, 0)], 9).await.unwrap(), [None]);
    }
    assert_eq!(case.store.find(&alice(), Which::Chat("c")).await.unwrap(), None);
    assert!(super::case::is_taken(case.append(&text(other, 2)).await));
}

/// No run brings a deleted conversation back.
pub async fn a_deleted_chat_begins_no_run<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    let case = Case::new(factory).await;
    case.begin("c").await;
    case.store.delete(&alice(), Delete::Everything).await.unwrap();
    let mut new = case.run("c");
    new.change = Some(change(&[("u1", None)]));
    assert_eq!(case.store.begin(&new).await.unwrap(), Begun::Refused(NotSaved::Deleted));
    assert!(case.store.list(&alice(), &Page::first(9)).await.unwrap().conversations.is_empty());
}

/// A journal is deleted some time after the end of its run, and the run stays.
pub async fn journals_are_swept_after_their_runs<F: Factory<Store: RunStore + ConversationStore>>(
    factory: &F,
) {
    let case = Case::new(factory).await;
    let policy = Retention::default();
    let mut new = case.run("c");
    new.post = Some(Post::idempotency_key(b"key".as_slice()));
    let Begun::Started(writer) = case.store.begin(&new).await.unwrap() else { panic!("a new run") };
    let live = case.begin("d").await;
    case.settle(writer, 2, Ending::Finished).await;
    case.advance(HOUR.checked_sub(Duration::from_secs(10)).unwrap()).await;
    assert_eq!(case.store.sweep(&policy, 9).await.unwrap(), swept(0, 0, 0));
    case.advance(Duration::from_secs(20)).await;
    assert_eq!(case.store.sweep(&policy, 0).await.unwrap(), swept(0, 0, 0));
    assert_eq!(case.store.sweep(&policy, 9).await.unwrap(), swept(0, 1, 0));
    assert!(case.store.sweep(&policy, 9).await.unwrap().is_empty());
    assert!(case.journal(writer.run).await.is_empty());
    assert_eq!(case.journal(live.run).await.len(), 1);
    let head = case.store.find(&alice(), Which::Chat("c")).await.unwrap().unwrap();
    assert_eq!((head.run, head.head), (writer.run, 0));
    assert_eq!(case.append(&text(writer, 3)).await, Appended::Fenced);
    assert!(matches!(case.store.begin(&new).await.unwrap(), Begun::Repeats(_)));
}

/// A conversation is deleted some time after its last change, unless it has a live run.
pub async fn idle_conversations_are_swept<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let policy = Retention { conversations: Some(HOUR * 5), ..Retention::default() };
    let kept = case.begin("live").await;
    for chat in ["a", "b", "c"] {
        case.store.save(&alice(), chat, &change(&[("u1", None)])).await.unwrap();
    }
    case.advance(HOUR * 4).await;
    let renamed = crate::store::Change { title: Some("b".into()), ..Default::default() };
    case.store.save(&alice(), "b", &renamed).await.unwrap();
    assert_eq!(case.store.sweep(&policy, 9).await.unwrap().conversations, 0);
    case.advance(HOUR * 2).await;
    assert_eq!(case.store.sweep(&Retention::default(), 9).await.unwrap().conversations, 0);
    assert_eq!(case.store.sweep(&policy, 1).await.unwrap().conversations, 1);
    assert_eq!(case.store.sweep(&policy, 9).await.unwrap().conversations, 1);
    let listing = case.store.list(&alice(), &Page::first(9)).await.unwrap();
    let names: Vec<&str> = listing.conversations.iter().map(|info| info.chat.as_str()).collect();
    assert_eq!(names, ["b", "live"]);
    let again = case.store.save(&alice(), "a", &change(&[("u1", None)])).await.unwrap();
    assert_eq!(again, Saved::Refused(NotSaved::Deleted));
    assert!(case.store.find(&alice(), Which::Run(kept.run)).await.unwrap().is_some());
}

/// A conversation whose messages are in another store is in use while runs begin in it.
pub async fn conversations_without_messages_are_swept<F: Factory<Store: RunStore + ConversationStore>>(
    factory: &F,
) {
    let case = Case::new(factory).await;
    let policy = Retention { conversations: Some(HOUR * 5), ..Retention::default() };
    for _ in 0..2 {
        let writer = case.begin("c").await;
        case.settle(writer, 2, Ending::Finished).await;
        case.advance(HOUR * 4).await;
    }
    assert_eq!(case.store.sweep(&policy, 9).await.unwrap().conversations, 0);
    case.advance(HOUR * 2).await;
    assert_eq!(case.store.sweep(&policy, 9).await.unwrap().conversations, 1);
}

/// A conversation that waits for its user is deleted if the user has done nothing for the whole time.
pub async fn unanswered_questions_are_swept<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let policy = Retention { conversations: Some(HOUR * 5), ..Retention::default() };
    for chat in ["unanswered", "half", "answered", "busy", "late"] {
        case.store.save(&alice(), chat, &change(&[("u1", None)])).await.unwrap();
    }
    let wait = async |chat: &str| {
        let writer = case.begin(chat).await;
        let questions = vec![Obligation::new("one", "?"), Obligation::new("two", "?")];
        case.settle(writer, 2, Ending::Waiting(questions)).await;
        writer.run
    };
    let answer = async |run, call: &str| {
        let answer = Signal::new(SignalKind::Answer(call.into()), "alice");
        assert_eq!(case.store.signal(&alice(), run, &answer).await.unwrap(), Signalled::Taken);
    };
    let unanswered = wait("unanswered").await;
    let (half, answered) = (wait("half").await, wait("answered").await);
    wait("busy").await;
    let mut queued = case.run("busy");
    queued.queue = 1;
    assert_eq!(case.store.begin(&queued).await.unwrap(), Begun::Queued(1));
    case.advance(HOUR * 4).await;
    answer(half, "one").await;
    answer(answered, "one").await;
    answer(answered, "two").await;
    wait("late").await;
    assert_eq!(case.store.sweep(&policy, 9).await.unwrap().conversations, 0);

    case.advance(HOUR * 2).await;
    assert_eq!(case.store.sweep(&Retention::default(), 9).await.unwrap().conversations, 0);
    assert_eq!(case.store.sweep(&policy, 9).await.unwrap().conversations, 1);
    assert_eq!(case.store.find(&alice(), Which::Run(unanswered)).await.unwrap(), None);
    assert_eq!(case.store.load(&alice(), "unanswered", &Window::default()).await.unwrap(), None);
    let late = Signal::new(SignalKind::Answer("one".into()), "alice");
    assert_eq!(case.store.signal(&alice(), unanswered, &late).await.unwrap(), Signalled::Gone);

    // The run with both answers is free, so it goes on.
    case.advance(HOUR * 6).await;
    assert_eq!(case.store.sweep(&policy, 9).await.unwrap().conversations, 2);
    let listing = case.store.list(&alice(), &Page::first(9)).await.unwrap();
    let mut names: Vec<&str> = listing.conversations.iter().map(|info| info.chat.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["answered", "busy"]);
}

/// The name of a deleted conversation is free again after some time.
pub async fn tombstones_are_swept<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let policy = Retention { tombstones: HOUR, ..Retention::default() };
    case.store.save(&alice(), "c", &change(&[("u1", None)])).await.unwrap();
    case.advance(HOUR * 2).await;
    case.store.delete(&alice(), Delete::Chat("c")).await.unwrap();
    assert_eq!(case.store.sweep(&policy, 9).await.unwrap(), swept(0, 0, 0));
    case.advance(HOUR * 2).await;
    assert_eq!(case.store.sweep(&policy, 9).await.unwrap(), swept(0, 0, 1));
    assert_eq!(case.store.load(&alice(), "c", &Window::default()).await.unwrap(), None);
    assert!(matches!(case.store.begin(&case.run("c")).await.unwrap(), Begun::Started(_)));
}
