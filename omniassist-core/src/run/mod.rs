//! The request for a run ([`RunRequest`]), and the run loop that carries it out ([`RunMachine`]).
//!
//! The machine does no I/O. It processes [`Input`]s, writes [`RunEvent`](crate::RunEvent)s, and returns the next
//! [`Action`]: call the model, or run tools. The driver owns sockets, tasks and clocks. The [`RunState`] serialises, so
//! waiting for an approval, for a front-end tool or after a stop is the same: a suspended run.
//!
//! ```
//! use omniassist_core::run::{Action, Input, NoTools, RunConfig, RunMachine};
//! use omniassist_core::{EventBuf, FinishReason, LlmEvent, RunEvent, RunRequest};
//!
//! let mut events = EventBuf::new();
//! let mut machine = RunMachine::start(&RunRequest::prompt("Hello"), RunConfig::new("msg-2"), &NoTools, &mut events);
//! assert!(matches!(machine.next_action(), Some(Action::CallModel { .. })));
//!
//! machine.step(Input::Model(LlmEvent::TextDelta { block: 0, delta: "Hi!".into() }), &NoTools, &mut events);
//! let stop = LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false };
//! machine.step(Input::Model(stop), &NoTools, &mut events);
//! machine.step(Input::ModelEnd, &NoTools, &mut events);
//!
//! assert!(machine.is_done());
//! assert!(matches!(events.drain().last(), Some(RunEvent::Finish { .. })));
//! ```

mod answer;
mod call_ids;
mod catalog;
mod config;
mod history;
mod machine;
mod obligation;
mod outcome;
mod overflow;
mod recovery;
mod request;
mod start;
mod state;
mod turn;
mod turn_record;
mod unknown_outcome;

pub use answer::AnswerCheck;
pub use catalog::{CallLabel, Gate, NoTools, ToolCatalog};
pub use config::{RefusedApproval, RunConfig};
pub use machine::{Action, Input, RunMachine};
pub use obligation::{DueApproval, due_approvals};
pub use recovery::Recovered;
pub(crate) use recovery::Recovery;
pub use request::{ClientAbilities, ResumedCall, RunRequest, ToolUse, Trigger};
pub use state::RunState;
pub use turn_record::TurnRecord;
