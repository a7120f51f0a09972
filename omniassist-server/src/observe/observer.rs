use std::sync::Arc;
use std::time::Duration;

use omniassist_core::Error;

use super::{RunInfo, RunReport};
use crate::{Principal, panics};

/// Is told what becomes of runs. Every method does nothing by default.
///
/// All are called within the request's task, the end of a run whose client left within whatever drops it, and must
/// return at once: count, record, send into a channel. A panic in one is logged and changes nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an observer",
    note = "an observer implements `Observe`; for a closure there is `AssistantBuilder::on_run_end`"
)]
pub trait Observe: Send + Sync + 'static {
    /// A run begins.
    fn run_started(&self, run: &RunInfo) {
        let _ = run;
    }

    /// The model wrote its first piece of text, reasoning or a tool call, so long after the run began.
    fn first_token(&self, run: &RunInfo, after: Duration) {
        let _ = (run, after);
    }

    /// A run is over. Called once for each that began.
    fn run_ended(&self, report: &RunReport) {
        let _ = report;
    }

    /// A run that a client wanted did not begin: there are too many, the principal asks too often, its history is
    /// refused. Requests that cannot be read are not told of.
    fn run_refused(&self, principal: &Principal, refusal: &Error) {
        let _ = (principal, refusal);
    }
}

/// A function that looks at the end of each run.
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

    /// Calls something of each observer.
    pub(super) fn tell(&self, tell: impl Fn(&dyn Observe)) {
        for observer in &self.0 {
            panics::catch("an observer of runs", || tell(&**observer));
        }
    }
}
