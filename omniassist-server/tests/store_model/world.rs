//! The store, and what can be seen of it.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use futures_util::FutureExt;
use omniassist_server::store::{
    Appended, Begun, Change, Claim, Claimed, Durability, Ending, InstanceId, MemoryStore, NewRun, Obligation,
    RunId, RunState, RunStore, Scope, Segment, SegmentKind, Settled, Signal, SignalKind, StoreFuture,
    StoredMessage, TailOf, Which, Writer,
};

use super::Fault;
use super::record::Record;
use super::task::How;

/// A lease that ends only by the model's own step.
const LEASE: Duration = Duration::from_secs(1 << 20);

const RUN: RunId = RunId::from_bytes([7; 16]);
const CALL: &str = "approved";

pub(crate) const INSTANCES: [InstanceId; 2] =
    [InstanceId::from_bytes([1; 16]), InstanceId::from_bytes([2; 16])];

/// The store, and its visible content, by which states of the model are told apart.
#[derive(Debug)]
pub(crate) struct World {
    store: MemoryStore,
    pub(crate) journal: Vec<Segment>,
    pub(crate) state: RunState,
    driver: Option<InstanceId>,
    pub(crate) is_approved: bool,
}

impl Clone for World {
    fn clone(&self) -> Self {
        Self { store: self.store.fork(), journal: self.journal.clone(), ..*self }
    }
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        self.shown() == other.shown() && self.journal == other.journal
    }
}

impl Hash for World {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.shown().hash(hasher);
        for segment in &self.journal {
            (segment.writer, segment.pos, segment.kind, &segment.data).hash(hasher);
        }
    }
}

fn now<T>(future: StoreFuture<'_, T>) -> T {
    future.now_or_never().expect("the store in memory never waits").expect("the store in memory never fails")
}

fn alice() -> Scope {
    Scope::new("alice")
}

impl World {
    /// Begins the run at the first instance.
    pub(crate) fn begin() -> (Self, Writer) {
        let store = MemoryStore::new();
        now(store.beat(INSTANCES[0], LEASE, 0));
        let mut new = NewRun::new(RUN, alice(), "chat", INSTANCES[0]);
        new.change = Some(Change::messages([StoredMessage::new("question", None, "{}")]));
        let Begun::Started(writer) = now(store.begin(&new)) else { panic!("the run did not begin") };
        let mut world =
            Self { store, journal: Vec::new(), state: RunState::Running, driver: None, is_approved: false };
        world.look();
        (world, writer)
    }

    fn shown(&self) -> (RunState, Option<InstanceId>, bool) {
        (self.state, self.driver, self.is_approved)
    }

    /// Reads what the store shows after a change.
    fn look(&mut self) {
        let mut tails = now(self.store.read(&[TailOf::new(alice(), RUN, 0)], usize::MAX));
        let tail = tails.remove(0).expect("the run exists");
        (self.journal, self.state) = (tail.segments, tail.state);
        let head = now(self.store.find(&alice(), Which::Run(RUN))).expect("the run exists");
        self.driver = head.instance;
        self.is_approved = head.obligations.iter().any(|question| question.answer.is_some());
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        self.journal.iter().map(|segment| Record::decode(&segment.data))
    }

    /// Ends or renews all leases.
    fn leases(&self, lease: Duration) {
        for instance in INSTANCES {
            now(self.store.beat(instance, lease, 0));
        }
    }

    pub(crate) fn answer(&mut self) {
        now(self.store.signal(&alice(), RUN, &Signal::new(SignalKind::Answer(CALL.into()), "alice")));
        self.look();
    }

    /// Claims the run. The second value is `true` if the approval is among the signals.
    pub(crate) fn claim(&mut self, instance: usize, how: How) -> Option<(Claimed, bool)> {
        let claim = match how {
            How::IfFree | How::IfSilent => Claim::IfFree,
            How::Again => Claim::Again,
            How::Force => Claim::Force,
        };
        if how == How::IfSilent {
            self.leases(Duration::ZERO);
        }
        let claimed = now(self.store.claim(RUN, INSTANCES[instance], claim));
        if how == How::IfSilent {
            self.leases(LEASE);
        }
        let claimed = claimed?;
        let mut kinds = claimed.signals.iter().map(|received| &received.signal.kind);
        let is_approved = kinds.any(|kind| matches!(kind, SignalKind::Answer(_)));
        self.look();
        Some((claimed, is_approved))
    }

    /// Writes a record. Returns `true` if the writer is told that it was taken.
    pub(crate) fn write(&mut self, writer: Writer, pos: u32, record: Record, fault: Fault) -> bool {
        let writer = if fault == Fault::IgnoresEpochs { self.without_epoch(writer) } else { writer };
        let (kind, ending) = match record {
            Record::Released => (SegmentKind::Text, Some(Ending::Released)),
            Record::Waiting => {
                (SegmentKind::Consequence, Some(Ending::Waiting(vec![Obligation::new(CALL, "{}")])))
            }
            Record::Finished => (SegmentKind::End, Some(Ending::Finished)),
            _ => (SegmentKind::Consequence, None),
        };
        let segment = Segment::new(writer, pos, kind, 0, record.encode());
        let answer = match ending {
            Some(ending) => now(self.store.settle(&Settled::new(segment, ending))),
            None => now(self.store.append(&[segment], Durability::Hard)).remove(0),
        };
        self.look();
        let is_there = self.journal.len() >= usize::try_from(pos).unwrap_or(usize::MAX);
        matches!(answer, Appended::Taken(_)) || (fault == Fault::IgnoresWriters && is_there)
    }

    /// Returns a writer that a store without epochs does not tell from that of the same instance.
    fn without_epoch(&self, writer: Writer) -> Writer {
        let at = |segment: &&Segment| segment.writer.instance == writer.instance;
        self.journal.iter().rev().find(at).map_or(writer, |segment| segment.writer)
    }
}
