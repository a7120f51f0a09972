//! The states and steps of the model.

use omniassist_server::store::RunState;
use stateright::{Model, Property};

use super::record::{Calls, Record};
use super::task::{Driving, Step, Task};
use super::world::World;
use super::{Fault, properties};

/// The limits of the model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(crate) fault: Fault,
    pub(crate) calls: Calls,
    /// The limit of acknowledgements that are lost.
    pub(crate) lost: u8,
    /// The limit of claims.
    pub(crate) claims: u32,
}

/// The instances of the tasks. The first task begins the run.
const INSTANCE: [usize; 3] = [0, 1, 0];

#[derive(Debug, Clone, PartialEq, Hash)]
pub(crate) struct State {
    pub(crate) world: World,
    pub(crate) tasks: [Task; 3],
    /// The number of starts of each call.
    pub(crate) starts: [u8; 3],
    lost: u8,
    /// The store forgot a segment, or acknowledged one that it does not have.
    pub(crate) has_lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// A task takes a step, and receives its acknowledgement.
    Step(usize, Step),
    /// A task takes a step, and its acknowledgement is lost.
    Lost(usize, Step),
    /// A viewer answers the question.
    Approve,
}

impl Model for Run {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let (world, writer) = World::begin();
        let tasks = [Task::Driving(Driving::first(writer, self.calls)), Task::Idle, Task::Idle];
        vec![State { world, tasks, starts: [0; 3], lost: 0, has_lost: false }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let epoch = state.world.journal.last().map_or(0, |segment| segment.writer.epoch);
        for (at, task) in state.tasks.iter().enumerate() {
            for step in task.steps(self.fault) {
                if matches!(step, Step::Claim(_)) && epoch > self.claims {
                    continue;
                }
                actions.push(Action::Step(at, step));
                if state.lost < self.lost && !matches!(step, Step::Start(_)) {
                    actions.push(Action::Lost(at, step));
                }
            }
        }
        if state.world.state == RunState::Waiting && !state.world.is_approved {
            actions.push(Action::Approve);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut next = last.clone();
        match action {
            Action::Step(at, step) => next.step(at, step, self, false),
            Action::Lost(at, step) => {
                next.lost += 1;
                next.step(at, step, self, true);
            }
            Action::Approve => next.world.answer(),
        }
        next.has_lost |= !next.world.journal.starts_with(&last.world.journal);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::of(self)
    }
}

impl State {
    fn step(&mut self, at: usize, step: Step, run: &Run, is_lost: bool) {
        match (step, self.tasks[at]) {
            (Step::Claim(claim), _) => {
                let claimed = self.world.claim(INSTANCE[at], claim);
                self.tasks[at] = match claimed {
                    _ if is_lost => Task::Claiming,
                    None => Task::Idle,
                    Some((claimed, is_approved)) => {
                        Task::Driving(Driving::after(&claimed, self.world.records(), is_approved, run))
                    }
                };
            }
            (Step::Start(call), Task::Driving(mut driving)) => {
                driving.start(call);
                self.tasks[at] = Task::Driving(driving);
                let starts = &mut self.starts[call.trailing_zeros() as usize];
                *starts = starts.saturating_add(1).min(3);
            }
            (Step::Write(record), Task::Driving(driving)) => {
                self.write(at, driving, record, run.fault, is_lost);
            }
            (_, task) => panic!("a task in the state {task:?} cannot {step:?}"),
        }
    }

    fn write(&mut self, at: usize, mut driving: Driving, record: Record, fault: Fault, is_lost: bool) {
        let is_taken = self.world.write(driving.writer, driving.pos, record, fault);
        if is_lost {
            driving.sent = Some(record);
        } else if is_taken {
            let stored = self.world.records().nth(driving.pos as usize - 1);
            self.has_lost |= stored != Some(record);
            driving.taken(record);
        }
        let leaves = matches!(record, Record::Released | Record::Waiting | Record::Finished);
        let stays = is_lost || (is_taken && !leaves);
        self.tasks[at] = if stays { Task::Driving(driving) } else { Task::Idle };
    }
}
