use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

use super::handle::Assistant;
use crate::clock;
use crate::engine::Recovery;
use crate::engine::end::End;
use crate::engine::run::LiveRun;

/// The time that an aborted tool may take to end, after its grace. Only a tool that blocks its thread takes longer.
const ABORT: Duration = Duration::from_secs(1);

/// The outcome of the runs that were in progress when [`Assistant::drain`] began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Drained {
    /// The runs that ended by themselves, including those whose client disconnected.
    pub finished: usize,
    /// The runs that were ended at the deadline.
    pub ended: usize,
    /// The stored runs that another process, or the next start of this one, goes on with.
    pub released: usize,
}

impl Assistant {
    /// Refuses new runs, lets those in progress continue until the deadline, and then ends them.
    ///
    /// From the first poll on, a client that posts gets 503 `shutting_down` with a `Retry-After`, and over HTTP/1 with
    /// `Connection: close`. The client still holds the conversation, so another instance can continue it. At the
    /// deadline, each remaining run ends with the terminal error
    /// [`ServerShutdown`](omniassist_core::event::RunErrorCode::ServerShutdown), which asks the user to send the message
    /// again. Its provider connection closes, and the cancellation tokens of its tools fire. A run whose response is not
    /// read is dropped without that error.
    ///
    /// A [stored](crate::AssistantBuilder::store) run does not end at the deadline. What it has written is made durable, the
    /// responses of its viewers are cut, and the lease of this process ends: another process, or the next start of this
    /// one, goes on with the run. With [`Recovery::Interrupt`] it ends like others. Viewers of the runs of other processes are
    /// cut too, since they would keep the HTTP server from ending.
    ///
    /// Returns when no run is in progress, no WebSocket is open, no tool is running and the functions of
    /// [`on_finish`](crate::AssistantBuilder::on_finish) have completed, the tokens of a
    /// [budget](crate::throttle::TokenBudget) are settled and the [audit log](crate::audit) is written, at the latest
    /// [`Limits::tool_cancel_grace`](omniassist_core::Limits::tool_cancel_grace) and one second after the deadline. A
    /// tool, a function or a sink that takes longer is not awaited. The HTTP server then needs a moment to write the last
    /// events.
    ///
    /// Draining cannot be undone. If it is called twice, the earlier deadline applies. Dropping the future does not end
    /// the runs, and new ones stay refused. The host must end the streams of a [bridge](crate::bridge), which are not
    /// runs. Must be called within a tokio runtime.
    ///
    /// ```
    /// use std::time::Duration;
    /// use omniassist_server::core::RunRequest;
    /// use omniassist_server::core::event::RunErrorCode;
    /// use omniassist_server::testing::{ScriptedProvider, Turn};
    /// use omniassist_server::Assistant;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let assistant = Assistant::builder(ScriptedProvider::new().turn(Turn::pending())).build()?;
    /// let answer = tokio::spawn(assistant.run(RunRequest::prompt("Hello")).text());
    ///
    /// let drained = assistant.drain(Duration::from_millis(10)).await;
    /// assert_eq!(drained.ended, 1);
    /// let failure = answer.await?.unwrap_err();
    /// assert_eq!(failure.code(), Some(RunErrorCode::ServerShutdown));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn drain(&self, deadline: Duration) -> Drained {
        let latest = Instant::now() + deadline.min(clock::MAX_DURATION);
        let live = self.live.close();
        let _ = timeout(deadline, async { tokio::join!(over(&live), self.live.trees.wait()) }).await;
        self.live.ending.cancel();
        let is_left = |run: &&Arc<LiveRun>| !run.is_over() || run.is_released.load(Ordering::Relaxed);
        let left: Vec<_> = live.iter().filter(is_left).collect();
        let resumes = self.setup.config.recovery == Recovery::Resume;
        let mut drained = Drained { finished: live.len() - left.len(), ..Drained::default() };
        for run in &left {
            if resumes && run.is_stored() && !run.must_end() {
                drained.released += 1;
                run.mark_released();
            } else {
                drained.ended += 1;
                run.end(End::Shutdown);
            }
        }
        if let Some(stores) = self.stores().filter(|_| resumes) {
            stores.release();
        }
        let until = Instant::now() + self.limits().tool_cancel_grace;
        for run in &left {
            run.wind_up(until).await;
        }
        let _ = timeout_at(until, self.live.trees.wait()).await;
        if let Some(stores) = self.stores()
            && timeout_at(until.max(latest) + ABORT, stores.leave()).await.is_err()
        {
            tracing::error!("the store takes too long; another process waits for the end of the lease");
        }
        if timeout_at(until + ABORT, self.setup.tools.idle()).await.is_err() {
            tracing::warn!("a tool blocks its thread and is not awaited");
        }
        if timeout_at(until.max(latest) + ABORT, self.setup.config.on_finish.idle()).await.is_err() {
            tracing::error!("a function of `on_finish` takes too long and is not awaited");
        }
        if let Some(budget) = &self.setup.config.budget
            && timeout_at(until.max(latest) + ABORT, budget.idle()).await.is_err()
        {
            tracing::error!("the token budget takes too long; tokens of the last runs may not be counted");
        }
        if let Some(log) = &self.setup.config.audit
            && timeout_at(until.max(latest) + ABORT, log.flush()).await.is_err()
        {
            tracing::error!(
                "the audit sink takes too long; its last records are lost if the process ends now"
            );
        }
        if !live.is_empty() {
            let Drained { finished, ended, released } = drained;
            tracing::info!(finished, ended, released, "drained");
        }
        drained
    }

    /// [Drains](Self::drain) with a deadline of zero: ends every run, and waits until no tool is running.
    pub async fn shutdown(&self) {
        self.drain(Duration::ZERO).await;
    }

    /// Returns `true` if [`drain`](Self::drain) has begun. Report it in a health check, so that a load balancer stops
    /// sending requests.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.live.is_closed()
    }
}

/// The end of a WebSocket.
#[cfg(feature = "ws")]
impl Assistant {
    /// Returns the token that fires when [`drain`](Self::drain) begins. The drain waits until the other one is dropped.
    pub(crate) fn closing(
        &self,
    ) -> (crate::CancellationToken, tokio_util::task::task_tracker::TaskTrackerToken) {
        (self.live.closing.clone(), self.live.trees.token())
    }

    /// Refuses a request that comes after that.
    ///
    /// # Errors
    ///
    /// Returns an error if the assistant is draining.
    pub(crate) fn check_open(&self) -> Result<(), omniassist_core::Error> {
        if self.is_draining() {
            return Err(omniassist_core::Error::shutting_down(crate::engine::end::RETRY_ELSEWHERE));
        }
        Ok(())
    }
}

async fn over(runs: &[Arc<LiveRun>]) {
    for run in runs {
        run.over().await;
    }
}
