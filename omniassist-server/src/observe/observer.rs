use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use omniassist_core::Error;

use super::{RunInfo, RunReport};
use crate::{Principal, panics};

/// An observer of runs. Every method does nothing by default.
///
/// The methods are called in the request's task; if the client disconnects, `run_ended` is called where the run is
/// dropped. They must return at once: count, record, or send into a channel. A panic is logged and has no other effect.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an observer",
    note = "an observer implements `Observe`; for a closure there is `AssistantBuilder::on_run_end`"
)]
pub trait Observe: Send + Sync + 'static {
    /// A run begins.
    fn run_started(&self, run: &RunInfo) {
        let _ = run;
    }

    /// The model writes its first text, reasoning or tool call; `after` is the time since the run began.
    fn first_token(&self, run: &RunInfo, after: Duration) {
        let _ = (run, after);
    }

    /// A run ends. Called once for each run that began.
    fn run_ended(&self, report: &RunReport) {
        let _ = report;
    }

    /// A client's run is refused: a limit is reached, or its history is refused. It is not called for requests that cannot
    /// be read.
    fn run_refused(&self, principal: &Principal, refusal: &Error) {
        let _ = (principal, refusal);
    }

    /// An agent of a [loader](crate::agent_config) cannot be loaded, so that its last good version stays in use, if there is
    /// one. `agent` is empty if the list of agents cannot be loaded.
    fn agent_not_loaded(&self, agent: &str, error: &(dyn StdError + 'static)) {
        let _ = (agent, error);
    }
}

/// An observer that calls a function at the end of each run.
pub(crate) struct AtEnd<F>(pub(crate) F);

impl<F: Fn(&RunReport) + Send + Sync + 'static> Observe for AtEnd<F> {
    fn run_ended(&self, report: &RunReport) {
        self.0(report);
    }
}

/// All observers of an assistant.
#[derive(Clone, Default)]
pub(crate) struct Observers(Vec<Arc<dyn Observe>>);

impl Observers {
    pub(crate) fn add(&mut self, observer: impl Observe) {
        self.0.push(Arc::new(observer));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn refused(&self, principal: &Principal, refusal: &Error) {
        self.tell(|observer| observer.run_refused(principal, refusal));
    }

    pub(crate) fn agent_not_loaded(&self, agent: &str, error: &(dyn StdError + 'static)) {
        self.tell(|observer| observer.agent_not_loaded(agent, error));
    }

    /// Calls a method of each observer.
    pub(super) fn tell(&self, tell: impl Fn(&dyn Observe)) {
        for observer in &self.0 {
            panics::catch("an observer of runs", || tell(&**observer));
        }
    }
}
