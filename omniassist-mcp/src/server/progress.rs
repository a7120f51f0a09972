use omniassist_server::core::JsonText;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};

/// Notifications about the progress of a call, for a client that asks for them.
pub(super) struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    steps: f64,
    of_agent: bool,
}

impl Progress {
    /// Creates the notifications for a request. `of_agent` is `true` if the model calls of an agent are reported, too.
    pub(super) fn of(context: RequestContext<RoleServer>, of_agent: bool) -> Self {
        let token = context.meta.get_progress_token();
        Self { to: token.map(|token| (context.peer, token)), steps: 0.0, of_agent }
    }

    /// Reports a model call of an agent.
    pub(super) async fn step(&mut self) {
        if self.of_agent {
            self.report(None).await;
        }
    }

    /// Reports a preliminary output of a tool.
    pub(super) async fn output(&mut self, output: &JsonText) {
        self.report(Some(output)).await;
    }

    async fn report(&mut self, output: Option<&JsonText>) {
        let Some((peer, token)) = &self.to else { return };
        self.steps += 1.0;
        let mut progress = ProgressNotificationParam::new(token.clone(), self.steps);
        progress.message = output.map(|output| match output.to_str_value() {
            Some(text) => text.to_string(),
            None => output.to_string(),
        });
        // A client that has left cancels the call.
        let _ = peer.notify_progress(progress).await;
    }
}
