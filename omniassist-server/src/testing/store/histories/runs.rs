use std::time::Duration;

use fastrand::Rng;
use futures_util::FutureExt;
use futures_util::future::join_all;

use super::Factory;
use super::order::{History, Model, TASKS};
use crate::store::{
    Appended, Claim, Durability, Ending, InstanceId, MemoryStore, NewRun, Obligation, RunId, RunState,
    RunStore, Segment, SegmentKind, Settled, Signal, SignalKind, Signalled, TailOf, Which, Writer,
};
use crate::testing::store::case::{alice, segment};

/// All instances live, so that no answer depends on a clock.
const LEASE: Duration = Duration::from_secs(24 * 60 * 60);

/// The question of a run that waits.
const QUESTION: &str = "call";

/// The signals that a run gets.
const SIGNALS: [fn() -> SignalKind; 6] = [
    || SignalKind::Stop,
    || SignalKind::Answer(QUESTION.into()),
    || SignalKind::Say("1".into()),
    || SignalKind::Say("2".into()),
    || SignalKind::Say("3".into()),
    || SignalKind::StopAgent("1".into()),
];

#[derive(Debug, Clone)]
enum Call {
    Append(Segment),
    Settle(Box<Settled>),
    Claim(InstanceId, Claim),
    Signal(Signal),
    Read,
    Find,
}

/// An answer, without the times in it, and without the notice of an append, which may be from just before it.
#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Taken,
    Fenced,
    Gone,
    Refused,
    /// The epoch, the position of the mark, the number of take-overs, and the signals.
    Claimed(Writer, u32, u32, Vec<u32>),
    Signalled,
    /// The number of the earlier signal.
    Repeats(u32),
    Late,
    Journal(RunState, Vec<Segment>),
    /// The epoch, the instance, the position, the number of signals, and which questions are answered.
    Head(RunState, u32, Option<InstanceId>, u32, u32, Vec<bool>),
}

/// Checks one history of a run.
pub async fn check_runs<F: Factory<Store: RunStore>>(factory: &F, seed: u64) {
    let (store, model) = (factory.create().await, MemoryStore::new());
    let instances: Vec<InstanceId> = (0..TASKS.0).map(|_| InstanceId::random()).collect();
    let new = NewRun::new(RunId::random(), alice(), "c", instances[0]);
    for store in [&store as &dyn RunStore, &model] {
        for instance in &instances {
            store.beat(*instance, LEASE, 0).await.unwrap();
        }
        store.begin(&new).await.unwrap();
    }
    let history = History::new();
    let mut seeds = Rng::with_seed(seed);
    let tasks = instances.iter().enumerate().map(|(at, me)| {
        let first = Writer { run: new.run, epoch: 1, instance: *me };
        let held = (at == 0).then_some((first, 2));
        let task = Task { store: &store, run: new.run, me: *me, held, last: None, random: seeds.fork() };
        task.work(&history)
    });
    join_all(tasks).await;
    let apply = |(store, run): &(MemoryStore, RunId), call: &Call| {
        let store = store.fork();
        let answer = make(&store, *run, call).now_or_never().unwrap();
        ((store, *run), answer)
    };
    let fingerprint = |(store, run): &(MemoryStore, RunId)| {
        // The number that each signal has, or gets.
        let store = store.fork();
        let signals = SIGNALS.map(|kind| Call::Signal(Signal::new(kind(), "alice")));
        let see = |call| make(&store, *run, &call).now_or_never().unwrap();
        format!("{:?}", [Call::Read, Call::Find].into_iter().chain(signals).map(see).collect::<Vec<_>>())
    };
    history.check(seed, &(model, new.run), &Model { apply, fingerprint });
}

/// A task of one instance.
struct Task<'s, S> {
    store: &'s S,
    run: RunId,
    me: InstanceId,
    /// The right to write, and the next position.
    held: Option<(Writer, u32)>,
    /// The segment that was taken last.
    last: Option<Segment>,
    random: Rng,
}

impl<S: RunStore> Task<'_, S> {
    async fn work(mut self, history: &History<Call, Answer>) {
        for _ in 0..TASKS.1 {
            let call = self.next();
            let answer = history.make(call.clone(), make(self.store, self.run, &call)).await;
            self.learn(call, answer);
        }
    }

    fn next(&mut self) -> Call {
        let chance = self.random.u32(..100);
        match self.held {
            _ if chance < 8 => Call::Read,
            _ if chance < 16 => Call::Find,
            _ if chance < 30 => Call::Signal(self.signal()),
            // The answer to the last one was lost.
            _ if chance < 36 && self.last.is_some() => Call::Append(self.last.clone().unwrap()),
            Some((writer, pos)) if chance < 82 => {
                let kind = if chance < 60 { SegmentKind::Text } else { SegmentKind::Consequence };
                Call::Append(segment(writer, pos, kind))
            }
            Some((writer, pos)) => {
                let ending = match chance {
                    82..90 => Ending::Released,
                    90..99 => Ending::Waiting(vec![Obligation::new(QUESTION, "?")]),
                    _ => Ending::Finished,
                };
                Call::Settle(Box::new(Settled::new(segment(writer, pos, SegmentKind::End), ending)))
            }
            None => Call::Claim(
                self.me,
                *self.random.choice([Claim::IfFree, Claim::Again, Claim::Force]).as_ref().unwrap(),
            ),
        }
    }

    fn signal(&mut self) -> Signal {
        let kind = self.random.choice(SIGNALS).unwrap_or(SIGNALS[0]);
        Signal::new(kind(), "alice")
    }

    fn learn(&mut self, call: Call, answer: Answer) {
        match (call, answer) {
            (Call::Append(segment), Answer::Taken) => {
                let next = (segment.writer, segment.pos + 1);
                self.held =
                    self.held.map(|held| if held.0 == next.0 { (held.0, held.1.max(next.1)) } else { held });
                self.last = Some(segment);
            }
            (Call::Append(segment), _) if self.held.is_some_and(|held| held.0 != segment.writer) => {}
            (Call::Append(_) | Call::Settle(_), _) => self.held = None,
            (_, Answer::Claimed(writer, head, ..)) => self.held = Some((writer, head + 1)),
            _ => {}
        }
    }
}

async fn make<S: RunStore + ?Sized>(store: &S, run: RunId, call: &Call) -> Answer {
    let appended = |appended| match appended {
        Appended::Taken(_) => Answer::Taken,
        Appended::Fenced => Answer::Fenced,
        Appended::Gone => Answer::Gone,
    };
    match call {
        Call::Append(segment) => {
            let answers = store.append(std::slice::from_ref(segment), Durability::Soft).await.unwrap();
            appended(answers[0])
        }
        Call::Settle(end) => appended(store.settle(end).await.unwrap()),
        Call::Claim(me, condition) => match store.claim(run, *me, *condition).await.unwrap() {
            None => Answer::Refused,
            Some(claimed) => {
                let signals = claimed.signals.iter().map(|received| received.number).collect();
                Answer::Claimed(claimed.writer, claimed.head.head, claimed.takeovers, signals)
            }
        },
        Call::Signal(signal) => match store.signal(&alice(), run, signal).await.unwrap() {
            Signalled::Taken => Answer::Signalled,
            Signalled::Repeats(earlier) => Answer::Repeats(earlier.number),
            Signalled::Late => Answer::Late,
            Signalled::Gone => Answer::Gone,
        },
        Call::Read => {
            let tails = store.read(&[TailOf::new(alice(), run, 0)], usize::MAX).await.unwrap();
            let tail = tails[0].clone().unwrap();
            Answer::Journal(tail.state, tail.segments)
        }
        Call::Find => {
            let head = store.find(&alice(), Which::Run(run)).await.unwrap().unwrap();
            let answered = head.obligations.iter().map(|question| question.answer.is_some()).collect();
            Answer::Head(head.state, head.epoch, head.instance, head.head, head.notice.signals, answered)
        }
    }
}
