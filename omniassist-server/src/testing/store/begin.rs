//! The beginning of runs.

use omniassist_core::Text;

use super::Factory;
use super::case::{Case, alice, bob, change, segment};
use crate::store::{
    Begun, Claim, ConversationStore, Ending, NotSaved, Obligation, OpenRun, Post, RunState, RunStore,
    SegmentKind, Signal, SignalKind, Signalled, Which, Window,
};

/// Checks all of this module.
pub async fn all<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    a_run_has_its_first_segment(factory).await;
    a_conversation_has_one_live_run(factory).await;
    open_runs_are_found_together(factory).await;
    a_repeated_post_begins_nothing(factory).await;
    an_idempotency_key_outlasts_its_run(factory).await;
    a_lost_acknowledgement_is_repeated(factory).await;
    a_queue_has_a_limit_and_an_order(factory).await;
    a_queued_run_starts_once_another_server_is_left(factory).await;
    a_stop_ends_a_queued_run(factory).await;
    a_run_and_its_message_are_saved_together(factory).await;
    a_refused_change_begins_nothing(factory).await;
}

/// A new run is found under its id and its chat, with one segment.
pub async fn a_run_has_its_first_segment<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let mut new = case.run("c");
    (new.first, new.events) = (b"\0first".as_slice().into(), 3);
    assert!(matches!(case.store.begin(&new).await.unwrap(), Begun::Started(_)));
    let journal = case.journal(new.run).await;
    assert_eq!(journal.len(), 1);
    assert_eq!((journal[0].pos, journal[0].kind, journal[0].events), (1, SegmentKind::Consequence, 3));
    assert_eq!(journal[0].data, new.first);
    for which in [Which::Chat("c"), Which::Run(new.run)] {
        let head = case.store.find(&alice(), which).await.unwrap().unwrap();
        assert_eq!((head.run, head.state, head.epoch, head.head), (new.run, RunState::Running, 1, 1));
        assert_eq!((head.instance, head.chat.as_str(), head.ended_ms), (Some(case.me), "c", None));
        assert_eq!(head.scope, alice());
        assert!(head.created_ms > 0);
    }
    assert_eq!(case.store.find(&alice(), Which::Chat("d")).await.unwrap(), None);
}

/// A second run of a conversation is refused while the first one goes on or waits.
pub async fn a_conversation_has_one_live_run<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let first = case.begin("c").await;
    let second = case.run("c");
    let is_busy = |begun: Begun| matches!(begun, Begun::Busy(head) if head.run == first.run);
    assert!(is_busy(case.store.begin(&second).await.unwrap()));
    case.begin("another").await;
    case.settle(first, 2, Ending::Waiting(Vec::new())).await;
    assert!(is_busy(case.store.begin(&second).await.unwrap()));
    let claimed = case.store.claim(first.run, case.me, Claim::IfFree).await.unwrap().unwrap();
    case.settle(claimed.writer, 4, Ending::Finished).await;
    assert!(matches!(case.store.begin(&second).await.unwrap(), Begun::Started(_)));
    let head = case.store.find(&alice(), Which::Chat("c")).await.unwrap().unwrap();
    assert_eq!(head.run, second.run);
}

/// The runs of many chats that go on, wait or are queued are found at once, one for each chat.
pub async fn open_runs_are_found_together<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let queue = async |chat: &str| {
        let mut queued = case.run(chat);
        queued.queue = 5;
        assert!(matches!(case.store.begin(&queued).await.unwrap(), Begun::Queued(_)));
        queued.run
    };
    let (running, waiting) = (case.begin("running").await, case.begin("waiting").await);
    let (ended, next) = (case.begin("ended").await, case.begin("next").await);
    queue("running").await;
    case.settle(waiting, 2, Ending::Waiting(vec![Obligation::new("one", "?")])).await;
    case.settle(ended, 2, Ending::Finished).await;
    let queued = queue("next").await;
    queue("next").await;
    case.settle(next, 2, Ending::Finished).await;
    case.begin("another").await;

    let chats: Vec<Text> =
        ["ended", "next", "unknown", "running", "waiting", "\0"].map(Text::from_static).into();
    let mut found = case.store.open_runs(&alice(), &chats).await.unwrap();
    found.sort_unstable_by_key(|open| open.chat.to_string());
    let expected = [
        OpenRun::new("next".into(), queued, RunState::Queued),
        OpenRun::new("running".into(), running.run, RunState::Running),
        OpenRun::new("waiting".into(), waiting.run, RunState::Waiting),
    ];
    assert_eq!(found, expected);
    assert!(case.store.open_runs(&bob(), &chats).await.unwrap().is_empty());
    assert!(case.store.open_runs(&alice(), &[]).await.unwrap().is_empty());
}

/// A post with the digest of a live run's post begins nothing, and begins a run once that one has ended.
pub async fn a_repeated_post_begins_nothing<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let post = |key: &'static [u8]| {
        let mut new = case.run("c");
        new.post = Some(Post::digest(key));
        new
    };
    let first = post(b"\0one");
    let Begun::Started(writer) = case.store.begin(&first).await.unwrap() else { panic!("a new post") };
    let repeated = case.store.begin(&post(b"\0one")).await.unwrap();
    assert!(matches!(repeated, Begun::Repeats(head) if head.run == first.run));
    assert!(matches!(case.store.begin(&post(b"\0two")).await.unwrap(), Begun::Busy(_)));
    case.settle(writer, 2, Ending::Stopped).await;
    assert!(matches!(case.store.begin(&post(b"\0one")).await.unwrap(), Begun::Started(_)));
}

/// A post with the idempotency key of a run that has ended begins nothing.
pub async fn an_idempotency_key_outlasts_its_run<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let scope = alice();
    let post = |chat: &str| {
        let mut new = case.run(chat);
        new.post = Some(Post::idempotency_key(b"key".as_slice()));
        new
    };
    let first = post("c");
    let Begun::Started(writer) = case.store.begin(&first).await.unwrap() else { panic!("a new post") };
    case.settle(writer, 2, Ending::Finished).await;
    let repeated = case.store.begin(&post("c")).await.unwrap();
    assert!(
        matches!(repeated, Begun::Repeats(head) if head.run == first.run && head.state == RunState::Finished)
    );
    assert!(matches!(case.store.begin(&post("another")).await.unwrap(), Begun::Started(_)));
    let found = |chat, key| case.store.find(&scope, Which::Post { chat, key });
    assert_eq!(found("c", b"key").await.unwrap().unwrap().run, first.run);
    assert_eq!(found("c", b"other").await.unwrap(), None);
    assert_eq!(found("d", b"key").await.unwrap(), None);
}

/// A repeated `begin` of one run gives the same writer, and writes nothing.
pub async fn a_lost_acknowledgement_is_repeated<F: Factory<Store: RunStore + ConversationStore>>(
    factory: &F,
) {
    let case = Case::new(factory).await;
    let mut new = case.run("c");
    new.change = Some(change(&[("u1", None)]));
    new.post = Some(Post::digest(b"one".as_slice()));
    let first = case.store.begin(&new).await.unwrap();
    assert_eq!(case.store.begin(&new).await.unwrap(), first);
    assert_eq!(case.journal(new.run).await.len(), 1);
    let loaded = case.store.load(&alice(), "c", &Window::default()).await.unwrap().unwrap();
    assert_eq!((loaded.messages.len(), loaded.info.version), (1, 1));
    let mut another = case.run("d");
    another.run = new.run;
    assert!(case.store.begin(&another).await.unwrap_err().is_invalid());
}

/// Queued runs start in their order, each when the one before has ended, and their number is bounded.
pub async fn a_queue_has_a_limit_and_an_order<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let queued = |most: u32| {
        let mut new = case.run("c");
        (new.queue, new.change) = (most, Some(change(&[("not saved", None)])));
        new
    };
    let live = case.begin("c").await;
    let (first, second) = (queued(2), queued(2));
    assert_eq!(case.store.begin(&first).await.unwrap(), Begun::Queued(1));
    assert_eq!(case.store.begin(&second).await.unwrap(), Begun::Queued(2));
    assert_eq!(case.store.begin(&second).await.unwrap(), Begun::Queued(2), "it is repeated");
    let refused = case.store.begin(&queued(2)).await.unwrap();
    assert!(matches!(refused, Begun::Busy(head) if head.run == live.run));
    let loaded = case.store.load(&alice(), "c", &Window::default()).await.unwrap();
    assert!(loaded.is_none_or(|conversation| conversation.messages.is_empty()));

    let claim = |run| case.store.claim(run, case.me, Claim::IfFree);
    let free = || async { case.store.beat(case.me, super::case::LEASE, 10).await.unwrap().free };
    assert_eq!(claim(first.run).await.unwrap(), None);
    assert!(free().await.is_empty());
    case.settle(live, 2, Ending::Finished).await;
    let head = case.store.find(&alice(), Which::Chat("c")).await.unwrap().unwrap();
    assert_eq!((head.run, head.state), (first.run, RunState::Queued));
    assert_eq!(free().await, [first.run]);
    assert_eq!(claim(second.run).await.unwrap(), None);
    assert!(matches!(case.store.begin(&case.run("c")).await.unwrap(), Begun::Busy(_)));
    let started = claim(first.run).await.unwrap().unwrap();
    assert_eq!((started.writer.epoch, started.head.head, started.takeovers), (1, 2, 0));
    assert_eq!(claim(second.run).await.unwrap(), None);
    case.settle(started.writer, 3, Ending::Finished).await;
    assert!(claim(second.run).await.unwrap().is_some());
}

/// A queued run survives the server that queued it, and any instance starts it.
pub async fn a_queued_run_starts_once_another_server_is_left<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let live = case.begin("c").await;
    let mut queued = case.run("c");
    (queued.queue, queued.input) = (1, b"\0input".as_slice().into());
    assert_eq!(case.store.begin(&queued).await.unwrap(), Begun::Queued(1));
    case.advance(super::case::LEASE).await;

    let other = case.other().await;
    let beat = || async { case.store.beat(other, super::case::LEASE, 10).await.unwrap().free };
    assert_eq!(beat().await, [live.run], "the run before it goes first");
    let claimed = case.store.claim(live.run, other, Claim::IfFree).await.unwrap().unwrap();
    assert!(beat().await.is_empty());
    case.settle(claimed.writer, 3, Ending::Waiting(vec![Obligation::new("call", "")])).await;
    assert!(beat().await.is_empty(), "it waits while the run before it waits");
    let claimed = case.store.claim(live.run, other, Claim::IfFree).await.unwrap().unwrap();
    case.settle(claimed.writer, 5, Ending::Finished).await;
    assert_eq!(beat().await, [queued.run]);
    let started = case.store.claim(queued.run, other, Claim::IfFree).await.unwrap().unwrap();
    assert_eq!((started.writer.instance, &started.input), (other, &queued.input));
}

/// A stopped run leaves the queue at once, from any place in it.
pub async fn a_stop_ends_a_queued_run<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let queued = || {
        let mut new = case.run("c");
        new.queue = 3;
        new
    };
    let live = case.begin("c").await;
    let runs = [queued(), queued(), queued()];
    for run in &runs {
        assert!(matches!(case.store.begin(run).await.unwrap(), Begun::Queued(_)));
    }
    let [first, second, third] = runs.map(|run| run.run);
    let scope = alice();
    let store = &case.store;
    let stop = |run| async move {
        let signal = Signal::new(SignalKind::Stop, "alice");
        store.signal(&alice(), run, &signal).await.unwrap()
    };
    assert_eq!(stop(second).await, Signalled::Taken);
    let head = case.store.find(&scope, Which::Run(second)).await.unwrap().unwrap();
    assert_eq!((head.state, head.notice.stop, head.ended_ms.is_some()), (RunState::Stopped, true, true));
    assert!(matches!(stop(second).await, Signalled::Repeats(_)));
    assert_eq!(case.store.claim(second, case.me, Claim::Force).await.unwrap(), None);
    assert_eq!(case.store.begin(&queued()).await.unwrap(), Begun::Queued(3), "its place is free");

    assert_eq!(stop(first).await, Signalled::Taken);
    case.settle(live, 2, Ending::Finished).await;
    assert_eq!(case.store.beat(case.me, super::case::LEASE, 10).await.unwrap().free, [third]);
}

/// The message that a run answers is there as soon as the run.
pub async fn a_run_and_its_message_are_saved_together<F: Factory<Store: RunStore + ConversationStore>>(
    factory: &F,
) {
    let case = Case::new(factory).await;
    let mut new = case.run("c");
    new.change = Some(change(&[("u1", None)]));
    case.store.begin(&new).await.unwrap();
    let loaded = case.store.load(&alice(), "c", &Window::default()).await.unwrap().unwrap();
    assert_eq!(loaded.messages[0].id, *"u1");
    assert_eq!(loaded.info.head.as_deref(), Some("u1"));
    let mut busy = case.run("c");
    busy.change = Some(change(&[("u2", Some("u1"))]));
    assert!(matches!(case.store.begin(&busy).await.unwrap(), Begun::Busy(_)));
    let loaded = case.store.load(&alice(), "c", &Window::default()).await.unwrap().unwrap();
    assert_eq!(loaded.messages.len(), 1);
}

/// A change with an unknown parent begins no run and saves nothing.
pub async fn a_refused_change_begins_nothing<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let mut new = case.run("c");
    new.change = Some(change(&[("u1", None), ("u3", Some("u2"))]));
    let refused = NotSaved::UnknownMessage("u2".into());
    assert_eq!(case.store.begin(&new).await.unwrap(), Begun::Refused(refused));
    assert_eq!(case.store.find(&alice(), Which::Run(new.run)).await.unwrap(), None);
    assert_eq!(case.store.load(&alice(), "c", &Window::default()).await.unwrap(), None);
    let writer = case.begin("c").await;
    assert!(super::case::is_taken(case.append(&segment(writer, 2, SegmentKind::Text)).await));
}
