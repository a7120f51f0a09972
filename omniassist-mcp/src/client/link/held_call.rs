use std::sync::Arc;

use rmcp::model::ElicitResult;

use super::Used;
use crate::client::connection::{Connection, OpenRequest, Reply};
use crate::client::elicitation::OpenCall;

/// A call that its server has not answered yet. It can be one that waits for the user.
pub(in crate::client) struct HeldCall {
    pub(in crate::client) open: OpenRequest,
    /// The receiver of the answer, if the server has asked.
    pub(in crate::client) reply: Option<Reply>,
    /// The connection does not end, and is not idle.
    pub(in crate::client) connection: Arc<Connection>,
    pub(in crate::client) in_use: Used,
}

impl HeldCall {
    /// Gives the server the answer of the user, unless it does not wait any more.
    pub(in crate::client) fn answer(&mut self, answer: Option<ElicitResult>) {
        if let (Some(reply), Some(answer)) = (self.reply.take(), answer) {
            let _ = reply.send(Ok(answer));
        }
    }
}

impl OpenCall for HeldCall {
    async fn cancel(self) {
        self.open.cancel().await;
    }
}
