use std::sync::Arc;
use std::time::Duration;

use omniassist_server::tool::ToolContext;
use rmcp::model::ServerResult;
use rmcp::service::{RequestHandle, RoleClient};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::fault::Fault;
use super::handler::{Elicitation, Registration};
use crate::client::McpError;

/// The time for the message that a call is cancelled.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// A request that was sent.
pub(in crate::client) struct OpenRequest {
    pub(super) handle: RequestHandle<RoleClient>,
    /// Is cancelled with the transport.
    pub(super) ended: CancellationToken,
    /// Is cancelled before a message that is too long ends the transport.
    pub(super) over_limit: CancellationToken,
    /// Is notified if the request is not answered in time.
    pub(super) doubted: Arc<Notify>,
    /// The registration of a call, which shows progress and can be asked.
    pub(super) registration: Option<(Registration, mpsc::Receiver<Elicitation>)>,
}

/// The next act of a server for a request.
pub(in crate::client) enum Turn {
    /// It answers.
    Answer(ServerResult),
    /// It asks the user of the call, and waits.
    Asks(OpenRequest, Elicitation),
}

impl OpenRequest {
    /// Waits for the server. A request that ends before is cancelled at the server.
    pub(in crate::client) async fn next(
        mut self,
        deadline: Instant,
        call: Option<&ToolContext>,
    ) -> Result<Turn, Fault> {
        if let Some((registration, _)) = &self.registration {
            registration.show_progress(call);
        }
        let cancelled = async {
            match call {
                Some(call) => call.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let asked = async {
            match &mut self.registration {
                Some((_, questions)) => questions.recv().await,
                None => None,
            }
        };
        let fault = tokio::select! {
            biased;
            answer = &mut self.handle.rx => {
                let Ok(answer) = answer else { return Err(self.lost(McpError::disconnected())) };
                if let Some((registration, _)) = &mut self.registration {
                    registration.is_answered = true;
                }
                return answer.map(Turn::Answer).map_err(|error| match Fault::of(error) {
                    Fault::Gone(error) => self.lost(error),
                    fault @ Fault::Answered(400) => {
                        // Some servers refuse a session so. The list of tools is read as a sign of life.
                        self.doubted.notify_one();
                        fault
                    }
                    fault => fault,
                });
            }
            () = self.ended.cancelled() => return Err(self.lost(McpError::disconnected())),
            Some(asked) = asked => {
                if let Some((registration, _)) = &self.registration {
                    registration.show_progress(None);
                }
                return Ok(Turn::Asks(self, asked));
            }
            () = tokio::time::sleep_until(deadline) => Fault::TimedOut,
            () = cancelled => Fault::Cancelled,
        };
        if matches!(fault, Fault::TimedOut) {
            // The list of tools is read as a sign of life.
            self.doubted.notify_one();
        }
        // The call has ended, even if the server reads nothing for a while.
        tokio::spawn(self.cancel());
        Err(fault)
    }

    /// Returns the fault of a connection that has ended.
    fn lost(&self, error: McpError) -> Fault {
        match self.over_limit.is_cancelled() {
            true => Fault::Gone(McpError::over_limit("8 MiB")),
            false => Fault::Gone(error),
        }
    }

    /// Tells the server that nobody waits for the request.
    pub(in crate::client) async fn cancel(self) {
        // A server that does not read cannot hold the call.
        let _ = timeout(CANCEL_TIMEOUT, self.handle.cancel(Some("the caller has left".to_owned()))).await;
    }
}
