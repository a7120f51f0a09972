use bytes::Bytes;
use omniassist_core::Text;

use crate::clock::millis;
use crate::store::{
    Appended, Ending, InstanceId, NewRun, Notice, Obligation, Post, Received, RunHead, RunId, RunState,
    Scope, Segment, SegmentKind, Settled, Signal, SignalKind, Signalled, Tail, Writer,
};

/// A run and its journal.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) id: RunId,
    pub(super) scope: Scope,
    pub(super) chat: Text,
    /// The number of the run in its store.
    pub(super) number: u64,
    pub(super) state: RunState,
    pub(super) epoch: u32,
    pub(super) instance: Option<InstanceId>,
    pub(super) post: Option<Post>,
    /// The input; `None` if the journal was swept.
    pub(super) input: Option<Bytes>,
    /// The segments; that of position 1 is the first.
    pub(super) journal: Vec<Segment>,
    pub(super) signals: Vec<Received>,
    obligations: Vec<Obligation>,
    watched_until_ms: u64,
    /// The time at which a waiting run becomes free.
    pub(super) due_ms: Option<u64>,
    usage: Option<Bytes>,
    created_ms: u64,
    pub(super) ended_ms: Option<u64>,
}

impl Run {
    /// Creates a run with its first segment: running, or queued.
    pub(super) fn new(new: &NewRun, number: u64, is_queued: bool, now: u64) -> Self {
        let (state, epoch) = if is_queued { (RunState::Queued, 0) } else { (RunState::Running, 1) };
        let writer = Writer { run: new.run, epoch, instance: new.instance };
        let first = Segment::new(writer, 1, SegmentKind::Consequence, new.events, new.first.clone());
        Self {
            id: new.run,
            scope: new.scope.clone(),
            chat: new.chat.clone(),
            number,
            state,
            epoch,
            instance: (!is_queued).then_some(new.instance),
            post: new.post.clone(),
            input: Some(new.input.clone()),
            journal: vec![first],
            signals: Vec::new(),
            obligations: Vec::new(),
            watched_until_ms: 0,
            due_ms: None,
            usage: None,
            created_ms: now,
            ended_ms: None,
        }
    }

    /// Returns the position of the last segment.
    fn last(&self) -> u32 {
        u32::try_from(self.journal.len()).unwrap_or(u32::MAX)
    }

    fn has_stop(&self) -> bool {
        self.signals.iter().any(|received| received.signal.kind == SignalKind::Stop)
    }

    fn notice(&self, now: u64) -> Notice {
        Notice {
            stop: self.has_stop(),
            signals: u32::try_from(self.signals.len()).unwrap_or(u32::MAX),
            watched: self.watched_until_ms > now,
        }
    }

    fn received(&self, key: Option<&str>) -> Option<&Received> {
        self.signals.iter().find(|received| key.is_some() && received.signal.kind.key().as_deref() == key)
    }

    fn answer(&self, call: &Text) -> Option<&Received> {
        self.received(SignalKind::Answer(call.clone()).key().as_deref())
    }

    pub(super) fn head(&self, now: u64) -> RunHead {
        let mut head = RunHead::new(self.id, self.scope.clone(), self.chat.clone(), self.state);
        head.epoch = self.epoch;
        head.instance = self.instance;
        head.head = self.last();
        head.notice = self.notice(now);
        head.obligations = self.obligations.clone();
        for obligation in &mut head.obligations {
            obligation.answer = self.answer(&obligation.call).cloned();
        }
        head.usage = self.usage.clone();
        head.created_ms = self.created_ms;
        head.ended_ms = self.ended_ms;
        head
    }

    pub(super) fn tail(&self, after: u32, max_bytes: usize) -> Tail {
        let mut left = max_bytes;
        let later = self.journal.iter().skip(usize::try_from(after).unwrap_or(usize::MAX));
        let segments = later.enumerate().map_while(|(at, segment)| {
            let fits = at == 0 || segment.data.len() <= left;
            left = left.saturating_sub(segment.data.len());
            fits.then(|| segment.clone())
        });
        Tail::new(segments.collect(), self.last(), self.state, self.epoch)
    }

    /// Judges a segment. `None`: it is new, and its writer drives the run.
    pub(super) fn judge(&self, segment: &Segment, now: u64) -> Option<Appended> {
        let at = usize::try_from(segment.pos).unwrap_or(usize::MAX).checked_sub(1);
        if let Some(stored) = at.and_then(|at| self.journal.get(at)) {
            let is_own = stored.writer == segment.writer;
            return Some(if is_own { Appended::Taken(self.notice(now)) } else { Appended::Fenced });
        }
        let drives = self.state == RunState::Running
            && self.epoch == segment.writer.epoch
            && self.instance == Some(segment.writer.instance)
            && at == Some(self.journal.len());
        (!drives).then_some(Appended::Fenced)
    }

    /// Appends a segment that was judged to be new.
    pub(super) fn append(&mut self, segment: &Segment, now: u64) -> Appended {
        self.journal.push(Segment { used: Vec::new(), ..segment.clone() });
        Appended::Taken(self.notice(now))
    }

    /// Applies an end that was judged to be new.
    pub(super) fn settle(&mut self, end: &Settled, now: u64) -> Appended {
        self.append(&end.last, now);
        self.state = end.ending.state();
        self.instance = None;
        self.usage = end.usage.clone().or_else(|| self.usage.take());
        match &end.ending {
            Ending::Released => {}
            Ending::Waiting(obligations) => self.obligations = obligations.clone(),
            _ => {
                self.obligations = Vec::new();
                self.ended_ms = Some(now);
            }
        }
        self.due_ms = self.due(now);
        Appended::Taken(self.notice(now))
    }

    /// Returns `true` for a run that goes on, or whose user did something after a time.
    pub(super) fn is_busy_since(&self, time: u64) -> bool {
        match self.state {
            RunState::Waiting => {
                self.due_ms.is_some()
                    || self.created_ms > time
                    || self.signals.iter().any(|received| received.at_ms > time)
            }
            state => !state.is_ended(),
        }
    }

    /// Returns the time at which a waiting run becomes free.
    fn due(&self, now: u64) -> Option<u64> {
        if self.state != RunState::Waiting {
            return None;
        }
        let mut open =
            self.obligations.iter().filter(|question| self.answer(&question.call).is_none()).peekable();
        if self.has_stop() || open.peek().is_none() {
            return Some(now);
        }
        open.filter_map(|question| question.expires_ms).min()
    }

    pub(super) fn signal(&mut self, signal: &Signal, now: u64) -> Signalled {
        if let Some(earlier) = self.received(signal.kind.key().as_deref()) {
            return Signalled::Repeats(Box::new(earlier.clone()));
        }
        match &signal.kind {
            _ if self.state.is_ended() => return Signalled::Late,
            SignalKind::Watch(time) => {
                self.watched_until_ms = self.watched_until_ms.max(now.saturating_add(millis(*time)));
                return Signalled::Taken;
            }
            SignalKind::Answer(call) if self.obligations.iter().all(|question| question.call != *call) => {
                return Signalled::Late;
            }
            _ => {}
        }
        if signal.kind == SignalKind::Stop && self.state == RunState::Queued {
            self.state = RunState::Stopped;
            self.ended_ms = Some(now);
        }
        let number = self.notice(now).signals.saturating_add(1);
        self.signals.push(Received::new(self.id, number, signal.clone(), now));
        let says = matches!(signal.kind, SignalKind::Say(_)) && self.state == RunState::Waiting;
        self.due_ms = if says { Some(now) } else { self.due(now) };
        Signalled::Taken
    }

    /// Inserts the mark of a claim.
    pub(super) fn take(&mut self, me: InstanceId) -> Writer {
        let mark = if self.instance.is_some() { SegmentKind::Takeover } else { SegmentKind::Handover };
        self.epoch = self.epoch.saturating_add(1);
        self.state = RunState::Running;
        self.instance = Some(me);
        self.due_ms = None;
        let writer = Writer { run: self.id, epoch: self.epoch, instance: me };
        let events = self.journal.last().map_or(0, |segment| segment.events);
        self.journal.push(Segment::new(writer, self.last().saturating_add(1), mark, events, Bytes::new()));
        writer
    }

    /// Returns the number of take-overs since the last consequence.
    pub(super) fn takeovers(&self) -> u32 {
        let recent = self.journal.iter().rev().take_while(|segment| segment.kind != SegmentKind::Consequence);
        let count = recent.filter(|segment| segment.kind == SegmentKind::Takeover).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}
