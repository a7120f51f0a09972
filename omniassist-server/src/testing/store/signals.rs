//! Signals to runs, and questions that runs wait for.

use std::time::Duration;

use super::Factory;
use super::case::{Case, LEASE, alice, text};
use crate::store::{
    Appended, Claim, Ending, Notice, Obligation, RunId, RunStore, Scope, Signal, SignalKind, Signalled, Which,
};

/// Checks all of this module.
pub async fn all<F: Factory<Store: RunStore>>(factory: &F) {
    a_signal_reaches_the_instance_of_its_run(factory).await;
    a_key_is_received_once(factory).await;
    a_question_is_answered_once(factory).await;
    a_waiting_run_is_free_when_all_is_answered(factory).await;
    a_waiting_run_is_free_when_a_question_expires(factory).await;
    a_stop_frees_a_waiting_run(factory).await;
    a_stop_of_an_agent_is_for_the_instance_of_its_run(factory).await;
    a_claim_gets_all_signals(factory).await;
    a_watch_expires(factory).await;
    runs_are_watched_together(factory).await;
    an_ended_run_receives_nothing(factory).await;
}

async fn send<F: Factory<Store: RunStore>>(case: &Case<'_, F>, run: RunId, kind: SignalKind) -> Signalled {
    case.store.signal(&alice(), run, &Signal::new(kind, "alice")).await.unwrap()
}

/// Sends an answer with content.
async fn answer<F: Factory<Store: RunStore>>(
    case: &Case<'_, F>,
    run: RunId,
    call: &str,
    data: &'static str,
) -> Signalled {
    let mut signal = Signal::new(SignalKind::Answer(call.into()), "alice");
    signal.data = data.into();
    case.store.signal(&alice(), run, &signal).await.unwrap()
}

/// Begins a run that waits for two answers, one of which expires after an hour.
async fn wait_for_two<F: Factory<Store: RunStore>>(case: &Case<'_, F>) -> RunId {
    let writer = case.begin("c").await;
    let head = case.store.find(&alice(), Which::Run(writer.run)).await.unwrap().unwrap();
    let mut first = Obligation::new("one", b"\0?".as_slice());
    first.expires_ms = Some(head.created_ms + 3_600_000);
    let questions = vec![first, Obligation::new("two", "")];
    case.settle(writer, 2, Ending::Waiting(questions)).await;
    writer.run
}

async fn free<F: Factory<Store: RunStore>>(case: &Case<'_, F>) -> Vec<RunId> {
    case.store.beat(case.me, LEASE, 10).await.unwrap().free
}

/// The next append tells the writer of a signal, and the next beat has it.
pub async fn a_signal_reaches_the_instance_of_its_run<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let (first, second) = (case.begin("a").await, case.begin("b").await);
    assert_eq!(case.append(&text(first, 2)).await, Appended::Taken(Notice::default()));
    let mut said = Signal::new(SignalKind::Say("m1".into()), "bob");
    said.data = b"\0hello".as_slice().into();
    assert_eq!(case.store.signal(&alice(), first.run, &said).await.unwrap(), Signalled::Taken);
    assert_eq!(send(&case, first.run, SignalKind::Stop).await, Signalled::Taken);
    let Appended::Taken(notice) = case.append(&text(first, 3)).await else { panic!("a fence") };
    assert_eq!((notice.stop, notice.signals, notice.watched), (true, 2, false));
    assert_eq!(case.append(&text(second, 2)).await, Appended::Taken(Notice::default()));

    let other = case.other().await;
    assert!(case.store.beat(other, LEASE, 10).await.unwrap().signals.is_empty());
    for _ in 0..2 {
        let signals = case.store.beat(case.me, LEASE, 10).await.unwrap().signals;
        assert_eq!(signals.len(), 2);
        assert_eq!((signals[0].run, signals[0].number, &signals[0].signal), (first.run, 1, &said));
        assert_eq!((signals[1].number, &signals[1].signal.kind), (2, &SignalKind::Stop));
    }
}

/// The second signal of a key is not recorded, and its sender gets the first one.
pub async fn a_key_is_received_once<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    send(&case, writer.run, SignalKind::Stop).await;
    let Signalled::Repeats(first) = send(&case, writer.run, SignalKind::Stop).await else {
        panic!("a repetition")
    };
    assert_eq!((first.number, &first.signal.kind), (1, &SignalKind::Stop));
    assert_eq!(send(&case, writer.run, SignalKind::Say("stop".into())).await, Signalled::Taken);
    assert_eq!(case.store.beat(case.me, LEASE, 0).await.unwrap().signals.len(), 2);
}

/// The first answer to a question counts; the sender of a second one gets the first. Other questions have no answer.
pub async fn a_question_is_answered_once<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let run = wait_for_two(&case).await;
    assert_eq!(answer(&case, run, "three", "yes").await, Signalled::Late);
    assert_eq!(answer(&case, run, "one", "yes").await, Signalled::Taken);
    let Signalled::Repeats(first) = answer(&case, run, "one", "no").await else { panic!("a repetition") };
    assert_eq!(first.signal.data, "yes");
    let head = case.store.find(&alice(), Which::Chat("c")).await.unwrap().unwrap();
    let answers: Vec<_> = head.obligations.iter().map(|question| question.answer.as_ref()).collect();
    assert_eq!(answers, [Some(&*first), None]);
    assert_eq!(
        (head.obligations[0].call.as_str(), &head.obligations[0].data[..]),
        ("one", b"\0?".as_slice())
    );
    let claimed = case.store.claim(run, case.me, Claim::IfFree).await.unwrap().unwrap();
    case.settle(claimed.writer, 4, Ending::Finished).await;
    let Signalled::Repeats(late) = answer(&case, run, "one", "no").await else { panic!("a repetition") };
    assert_eq!(late, first);
}

/// A waiting run is offered when its last question was answered, at whichever time that happens.
pub async fn a_waiting_run_is_free_when_all_is_answered<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let run = wait_for_two(&case).await;
    assert!(free(&case).await.is_empty());
    answer(&case, run, "two", "").await;
    assert!(free(&case).await.is_empty());
    answer(&case, run, "one", "").await;
    assert_eq!(free(&case).await, [run]);

    // The answers came before the run asked again.
    let claimed = case.store.claim(run, case.me, Claim::IfFree).await.unwrap().unwrap();
    assert_eq!(claimed.takeovers, 0);
    case.settle(claimed.writer, 4, Ending::Waiting(vec![Obligation::new("two", "")])).await;
    assert_eq!(free(&case).await, [run]);
    let head = case.store.find(&alice(), Which::Run(run)).await.unwrap().unwrap();
    assert_eq!(head.obligations.len(), 1);
}

/// A waiting run is offered when one of its open questions expires.
pub async fn a_waiting_run_is_free_when_a_question_expires<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let run = wait_for_two(&case).await;
    case.advance(Duration::from_secs(3590)).await;
    assert!(free(&case).await.is_empty());
    case.advance(Duration::from_secs(20)).await;
    assert_eq!(free(&case).await, [run]);
}

/// A waiting run is offered after a stop, and after a message.
pub async fn a_stop_frees_a_waiting_run<F: Factory<Store: RunStore>>(factory: &F) {
    for kind in [SignalKind::Stop, SignalKind::Say("m".into())] {
        let case = Case::new(factory).await;
        let run = wait_for_two(&case).await;
        assert_eq!(send(&case, run, kind).await, Signalled::Taken);
        assert_eq!(free(&case).await, [run]);
    }
}

/// The stop of an agent leaves its run as it is. Each agent is stopped once, and no agent is named as another signal.
pub async fn a_stop_of_an_agent_is_for_the_instance_of_its_run<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let (writer, waiting) = (case.begin("a").await, wait_for_two(&case).await);
    let stop = |agent: &str| SignalKind::StopAgent(agent.into());
    assert_eq!(send(&case, waiting, stop("one")).await, Signalled::Taken);
    assert!(free(&case).await.is_empty());
    for agent in ["one:\u{e4}", "two"] {
        assert_eq!(send(&case, writer.run, stop(agent)).await, Signalled::Taken);
    }
    let Signalled::Repeats(first) = send(&case, writer.run, stop("two")).await else {
        panic!("a repetition")
    };
    assert_eq!((first.number, &first.signal.kind), (2, &stop("two")));
    let Appended::Taken(notice) = case.append(&text(writer, 2)).await else { panic!("a fence") };
    assert_eq!((notice.stop, notice.signals), (false, 2));
    let signals = case.store.beat(case.me, LEASE, 0).await.unwrap().signals;
    let kinds: Vec<_> = signals.iter().map(|received| &received.signal.kind).collect();
    assert_eq!(kinds, [&stop("one:\u{e4}"), &stop("two")]);
    case.settle(writer, 3, Ending::Finished).await;
    assert_eq!(send(&case, writer.run, stop("three")).await, Signalled::Late);
}

/// The signals of a run pass to the instance that claims it.
pub async fn a_claim_gets_all_signals<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    send(&case, writer.run, SignalKind::Say("m1".into())).await;
    case.store.beat(case.me, LEASE, 0).await.unwrap();
    case.advance(LEASE).await;
    send(&case, writer.run, SignalKind::Stop).await;
    let other = case.other().await;
    let claimed = case.store.claim(writer.run, other, Claim::IfFree).await.unwrap().unwrap();
    let numbers: Vec<u32> = claimed.signals.iter().map(|received| received.number).collect();
    assert_eq!(numbers, [1, 2]);
    assert!(claimed.head.notice.stop);
    assert!(case.store.beat(case.me, LEASE, 0).await.unwrap().signals.is_empty());
    assert_eq!(case.store.beat(other, LEASE, 0).await.unwrap().signals, claimed.signals);
}

/// A run is watched until the time is over, and the watch is no signal.
pub async fn a_watch_expires<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    let watch = SignalKind::Watch(Duration::from_secs(10));
    assert_eq!(send(&case, writer.run, watch.clone()).await, Signalled::Taken);
    assert_eq!(send(&case, writer.run, watch).await, Signalled::Taken);
    let Appended::Taken(notice) = case.append(&text(writer, 2)).await else { panic!("a fence") };
    assert_eq!((notice.watched, notice.signals), (true, 0));
    case.advance(Duration::from_secs(11)).await;
    assert_eq!(case.append(&text(writer, 3)).await, Appended::Taken(Notice::default()));
}

/// A watch of several runs is for those that the owners have, and one that has ended is no error.
pub async fn runs_are_watched_together<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let (first, second, foreign, ended) =
        (case.begin("a").await, case.begin("b").await, case.begin("c").await, case.begin("d").await);
    case.settle(ended, 2, Ending::Finished).await;
    let mine = [first, ended, second].map(|writer| (alice(), writer.run));
    let theirs = [(Scope::new("bob"), foreign.run), (alice(), RunId::random())];
    let runs: Vec<_> = mine.into_iter().chain(theirs).collect();
    case.store.watch(&runs, Duration::from_secs(10)).await.unwrap();
    case.store.watch(&runs, Duration::from_secs(1)).await.unwrap();
    case.store.watch(&[], LEASE).await.unwrap();
    case.advance(Duration::from_secs(2)).await;
    for (writer, is_watched) in [(first, true), (second, true), (foreign, false)] {
        let Appended::Taken(notice) = case.append(&text(writer, 2)).await else { panic!("a fence") };
        assert_eq!((notice.watched, notice.signals), (is_watched, 0));
    }
}

/// A run that has ended receives no signal.
pub async fn an_ended_run_receives_nothing<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    case.settle(writer, 2, Ending::Finished).await;
    for kind in [SignalKind::Stop, SignalKind::Say("m".into()), SignalKind::Watch(LEASE)] {
        assert_eq!(send(&case, writer.run, kind).await, Signalled::Late);
    }
}
