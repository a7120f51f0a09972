use std::time::Duration;

use omniassist_core::Text;

use super::Factory;
use crate::store::{
    Appended, Begun, Change, Durability, Ending, InstanceId, NewRun, RunId, RunStore, Scope, Segment,
    SegmentKind, Settled, StoredMessage, TailOf, Writer,
};

/// The lease of the instances.
pub(super) const LEASE: Duration = Duration::from_secs(6);

/// A store, with one instance that lives.
pub(super) struct Case<'f, F: Factory> {
    pub(super) factory: &'f F,
    pub(super) store: F::Store,
    pub(super) me: InstanceId,
}

impl<'f, F: Factory<Store: RunStore>> Case<'f, F> {
    pub(super) async fn new(factory: &'f F) -> Self {
        let (store, me) = (factory.create().await, InstanceId::random());
        store.beat(me, LEASE, 0).await.unwrap();
        Self { factory, store, me }
    }

    pub(super) async fn advance(&self, by: Duration) {
        self.factory.advance(&self.store, by).await;
    }

    /// Returns another instance that lives.
    pub(super) async fn other(&self) -> InstanceId {
        let other = InstanceId::random();
        self.store.beat(other, LEASE, 0).await.unwrap();
        other
    }

    /// Returns a run that this instance could begin.
    pub(super) fn run(&self, chat: &str) -> NewRun {
        NewRun::new(RunId::random(), alice(), chat, self.me)
    }

    /// Begins a run in a conversation without a live one.
    pub(super) async fn begin(&self, chat: &str) -> Writer {
        let new = self.run(chat);
        let writer = Writer { run: new.run, epoch: 1, instance: self.me };
        assert_eq!(self.store.begin(&new).await.unwrap(), Begun::Started(writer));
        writer
    }

    /// Begins a run of this instance, whose lease then ends.
    pub(super) async fn begin_and_die(&self, chat: &str) -> Writer {
        let writer = self.begin(chat).await;
        self.advance(LEASE).await;
        writer
    }

    pub(super) async fn append(&self, segment: &Segment) -> Appended {
        let batch = std::slice::from_ref(segment);
        let answers = self.store.append(batch, Durability::Soft).await.unwrap();
        assert_eq!(answers.len(), 1);
        answers[0]
    }

    pub(super) async fn settle(&self, writer: Writer, pos: u32, ending: Ending) -> Appended {
        let last = segment(writer, pos, SegmentKind::End);
        self.store.settle(&Settled::new(last, ending)).await.unwrap()
    }

    /// Returns the journal of a run of Alice.
    pub(super) async fn journal(&self, run: RunId) -> Vec<Segment> {
        let tails = self.store.read(&[TailOf::new(alice(), run, 0)], usize::MAX).await.unwrap();
        let tail = tails.into_iter().next().unwrap().unwrap();
        assert_eq!(tail.head, tail.segments.last().map_or(0, |segment| segment.pos));
        tail.segments
    }
}

pub(super) fn alice() -> Scope {
    Scope::new("alice")
}

pub(super) fn bob() -> Scope {
    Scope::new("bob")
}

/// Returns a segment with bytes that are no text.
pub(super) fn segment(writer: Writer, pos: u32, kind: SegmentKind) -> Segment {
    let data = [&[0, 255], pos.to_be_bytes().as_slice(), writer.instance.as_bytes()].concat();
    Segment::new(writer, pos, kind, pos * 10, data)
}

pub(super) fn text(writer: Writer, pos: u32) -> Segment {
    segment(writer, pos, SegmentKind::Text)
}

pub(super) fn message(id: &str, parent: Option<&str>) -> StoredMessage {
    StoredMessage::new(id, parent.map(Text::from), format!("{{\"id\":\"{id}\"}}\0"))
}

/// Returns a change that adds messages: pairs of the id and the parent.
pub(super) fn change(messages: &[(&str, Option<&str>)]) -> Change {
    Change::messages(messages.iter().map(|(id, parent)| message(id, *parent)).collect::<Vec<_>>())
}

pub(super) fn is_taken(answer: Appended) -> bool {
    matches!(answer, Appended::Taken(_))
}
