use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

use super::Assistant;
use super::live::{End, LiveRun};

/// How long a tool that was aborted may take to let go, beyond its grace. Only one that blocks its thread takes longer.
const ABORT: Duration = Duration::from_secs(1);

/// What became of the runs that were under way when [`Assistant::drain`] began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Drained {
    /// Runs that ended by themselves. A client that left ends its run too.
    pub finished: usize,
    /// Runs that the deadline ended.
    pub ended: usize,
}

impl Assistant {
    /// Begins no run any more, gives those under way until the deadline, and then ends them.
    ///
    /// From the first poll on, clients that post are refused with 503 `shutting_down` and a `Retry-After`, over HTTP/1
    /// also with `Connection: close`; nothing is lost, since they hold the conversation and another instance can take it
    /// up. At the deadline each run that is left ends with the terminal error
    /// [`ServerShutdown`](omniassist_core::event::RunErrorCode::ServerShutdown), whose sentence asks the user to send the
    /// message again; the connection to its provider closes and the tokens of its tools fire. A run whose response
    /// nobody reads is dropped without that word.
    ///
    /// Returns when no run is under way and no tool is running: at the latest
    /// [`Limits::tool_cancel_grace`](omniassist_core::Limits::tool_cancel_grace) and a second after the deadline. A tool
    /// that blocks its thread longer than that is not waited for. The last words of a response are then handed to the
    /// server, and it needs a moment to write them.
    ///
    /// Draining cannot be taken back. Called twice, the earlier deadline counts. Dropping the future leaves the runs
    /// alone, and new ones refused. Streams of a [runtime](crate::bridge) of the host's own are not runs, and are the
    /// host's to end. Must be called within a tokio runtime.
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
        let live = self.inner.live.close();
        let _ = timeout(deadline, over(&live)).await;
        let left: Vec<_> = live.iter().filter(|run| !run.is_over()).collect();
        let drained = Drained { finished: live.len() - left.len(), ended: left.len() };
        for run in &left {
            run.end(End::Shutdown);
        }
        let until = Instant::now() + self.limits().tool_cancel_grace;
        for run in &left {
            run.wind_up(until).await;
        }
        if timeout_at(until + ABORT, self.inner.tools.idle()).await.is_err() {
            tracing::warn!("a tool blocks its thread and is not waited for");
        }
        if !live.is_empty() {
            tracing::info!(finished = drained.finished, ended = drained.ended, "drained");
        }
        drained
    }

    /// [Drains](Self::drain) without patience: ends every run now, and waits until no tool is running any more.
    pub async fn shutdown(&self) {
        self.drain(Duration::ZERO).await;
    }

    /// Whether [`drain`](Self::drain) has begun. A health check that says so keeps a load balancer from sending more.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.inner.live.is_closed()
    }
}

async fn over(runs: &[Arc<LiveRun>]) {
    for run in runs {
        run.over().await;
    }
}
