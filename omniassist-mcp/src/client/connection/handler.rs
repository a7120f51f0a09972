use std::collections::HashMap;
use std::future::{Future, ready};
use std::sync::{Arc, Mutex, PoisonError};

use omniassist_server::tool::ToolContext;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{NotificationContext, RoleClient};
use serde_json::json;
use tokio::sync::Notify;

use crate::client::cleaned;

/// The client's side of a connection. It declines what a server asks.
#[derive(Clone, Default)]
pub(super) struct Handler {
    /// Is notified when the server's tools have changed.
    pub(super) changed: Arc<Notify>,
    calls: Arc<Mutex<HashMap<ProgressToken, ToolContext>>>,
}

/// A call that shows its progress until this value is dropped.
pub(super) struct ProgressOf {
    handler: Handler,
    token: ProgressToken,
}

impl Handler {
    /// Shows the progress with this token as that of a call.
    pub(super) fn show_progress(&self, token: ProgressToken, call: ToolContext) -> ProgressOf {
        self.with_calls(|calls| calls.insert(token.clone(), call));
        ProgressOf { handler: self.clone(), token }
    }

    fn with_calls<T>(&self, change: impl FnOnce(&mut HashMap<ProgressToken, ToolContext>) -> T) -> T {
        change(&mut self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for ProgressOf {
    fn drop(&mut self) {
        self.handler.with_calls(|calls| calls.remove(&self.token));
    }
}

impl ClientHandler for Handler {
    fn on_progress(
        &self,
        given: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        let call = self.with_calls(|calls| calls.get(&given.progress_token).cloned());
        if let Some(call) = call {
            let message = given.message.as_deref().map(cleaned::description);
            call.progress(json!({"progress": given.progress, "total": given.total, "message": message}));
        }
        ready(())
    }

    fn on_tool_list_changed(
        &self,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.changed.notify_one();
        ready(())
    }

    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("omniassist", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), client)
    }
}
