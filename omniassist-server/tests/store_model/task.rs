//! A task that drives the modelled run. It obeys the contract of `RunStore`, and knows nothing but what it was answered.

use omniassist_server::store::{Claimed, Writer};

use super::Fault;
use super::model::Run;
use super::record::{ALL, APPROVED, Calls, Fold, IDEMPOTENT, ONCE, Record};

/// A task. A crash makes it idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Task {
    /// It has nothing to do with the run.
    Idle,
    /// It does not know if its claim succeeded.
    Claiming,
    /// It believes that it may write.
    Driving(Driving),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Driving {
    pub(crate) writer: Writer,
    /// The next position.
    pub(crate) pos: u32,
    pub(crate) fold: Fold,
    /// The record at the next position, if it was sent and not acknowledged.
    pub(crate) sent: Option<Record>,
    /// The calls that this task may start.
    due: Calls,
    /// The calls that this task has started.
    pub(crate) started: Calls,
    is_approved: bool,
    /// All calls of the run.
    calls: Calls,
}

/// The next step of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Claim(How),
    Write(Record),
    Start(Calls),
}

/// The condition of a claim, and the state of the leases that it meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum How {
    /// `Claim::IfFree`, while each instance lives.
    IfFree,
    /// `Claim::IfFree`, after the leases have ended. The instances need not know that.
    IfSilent,
    /// `Claim::Again`.
    Again,
    /// `Claim::Force`, while each instance lives.
    Force,
}

impl Task {
    /// Returns all steps that the task may take now.
    pub(crate) fn steps(&self, fault: Fault) -> Vec<Step> {
        match self {
            Self::Idle => [How::IfFree, How::IfSilent, How::Force].map(Step::Claim).to_vec(),
            Self::Claiming => vec![Step::Claim(How::Again)],
            Self::Driving(driving) => driving.steps(fault),
        }
    }
}

impl Driving {
    /// Begins the run.
    pub(crate) fn first(writer: Writer, calls: Calls) -> Self {
        let fold = Fold::default();
        Self { writer, pos: 2, fold, sent: None, due: 0, started: 0, is_approved: false, calls }
    }

    /// Goes on with a run whose journal has these records.
    pub(crate) fn after(
        claimed: &Claimed,
        records: impl IntoIterator<Item = Record>,
        is_approved: bool,
        run: &Run,
    ) -> Self {
        let fold = Fold::of(records);
        let may_repeat =
            if run.fault == Fault::RepeatsCalls { IDEMPOTENT | ONCE | APPROVED } else { IDEMPOTENT };
        let due = fold.begun & !fold.outcomes & may_repeat;
        Self {
            writer: claimed.writer,
            pos: claimed.head.head + 1,
            fold,
            sent: None,
            due,
            started: 0,
            is_approved,
            calls: run.calls,
        }
    }

    fn steps(&self, fault: Fault) -> Vec<Step> {
        let mut steps = Vec::new();
        if fault == Fault::StartsEarly && self.fold.turn {
            let early = self.next_calls() & !self.started;
            steps.extend(ALL.into_iter().filter(|call| early & call != 0).map(Step::Start));
        }
        if let Some(sent) = self.sent {
            steps.push(Step::Write(sent));
            return steps;
        }
        let Fold { turn, begun, outcomes } = self.fold;
        if begun & !outcomes == 0 {
            steps.push(Step::Write(Record::Released));
        }
        if !turn {
            steps.push(Step::Write(Record::Turn));
            return steps;
        }
        let each = |calls: Calls| ALL.into_iter().filter(move |call| calls & call != 0);
        let under_way = begun & !outcomes;
        let unknown = under_way & !self.due & !self.started;
        if unknown != 0 {
            steps.extend(each(unknown).take(1).map(|call| Step::Write(Record::Unknown(call))));
        } else if self.next_calls() != 0 {
            steps.push(Step::Write(Record::Begun(self.next_calls())));
        } else if under_way == 0 {
            let is_over = outcomes == self.calls;
            steps.push(Step::Write(if is_over { Record::Finished } else { Record::Waiting }));
        }
        steps.extend(each(self.due).map(Step::Start));
        steps.extend(each(self.started & under_way).map(|call| Step::Write(Record::Result(call))));
        steps
    }

    /// Returns the calls that may begin.
    fn next_calls(&self) -> Calls {
        let first = self.calls & (ONCE | IDEMPOTENT);
        let next = if self.is_approved && self.fold.outcomes & first == first { self.calls } else { first };
        next & !self.fold.begun
    }

    /// Notes that a record is in the journal.
    pub(crate) fn taken(&mut self, record: Record) {
        self.sent = None;
        self.pos += 1;
        self.fold.add(record);
        if let Record::Begun(calls) = record {
            self.due |= calls & !self.started;
        }
    }

    /// Notes the start of a call.
    pub(crate) fn start(&mut self, call: Calls) {
        self.due &= !call;
        self.started |= call;
    }
}
