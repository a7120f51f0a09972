//! One connection to a server, from its beginning to its end.

mod era;
mod fault;
mod handler;
mod listing;
mod open;

use std::time::Duration;

use omniassist_server::tool::ToolContext;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientRequest, JsonObject, ListToolsResult,
    PaginatedRequestParams, Request,
    RequestOptionalParam, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningServiceCancellationToken};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

pub(super) use era::Era;
pub(super) use fault::Fault;
use handler::Handler;
pub(super) use listing::{Listing, MAX_BYTES, MAX_PAGES, MAX_TIME, MAX_TOOLS};

use super::McpError;
use super::stdio::Group;

/// The time for one page of a list.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// The time for the message that a call is cancelled.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// A connection. Dropping it ends it, and the process at its other end.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    handler: Handler,
    /// Is notified when a call was not answered in time.
    pub(super) doubted: Notify,
    /// Is cancelled with the transport.
    ended: CancellationToken,
    /// Is cancelled when no call should use the connection.
    unusable: CancellationToken,
    quit: Option<RunningServiceCancellationToken>,
    /// Killed when the connection is dropped.
    _group: Option<Group>,
}

impl Connection {
    /// Reads the list of tools. A server that offers something else only has none.
    pub(super) async fn list(&self) -> Result<Listing, McpError> {
        let has_no_tools = self.peer.peer_info().is_some_and(|info| {
            let offered = &info.capabilities;
            offered.tools.is_none() && (offered.resources.is_some() || offered.prompts.is_some())
        });
        if has_no_tools {
            return Listing::read(async |_| Ok(ListToolsResult::default())).await;
        }
        Listing::read(async |parameters: Option<PaginatedRequestParams>| {
            let request = RequestOptionalParam { params: parameters, ..RequestOptionalParam::default() };
            let request = ClientRequest::ListToolsRequest(request);
            match self.request(request, Instant::now() + PAGE_TIMEOUT, None).await? {
                ServerResult::ListToolsResult(page) => Ok(page),
                _ => Err(Fault::Answer(McpError::answer("not a list of tools"))),
            }
        })
        .await
    }

    /// Calls a tool.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        call: &ToolContext,
        deadline: Instant,
    ) -> Result<CallToolResult, Fault> {
        let parameters = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(Request::new(parameters));
        match self.request(request, deadline, Some(call)).await? {
            ServerResult::CallToolResult(result) => Ok(result),
            ServerResult::InputRequiredResult(_) => {
                Err(Fault::Refused("the server needs an input, which this client cannot give".to_owned()))
            }
            _ => Err(Fault::Answer(McpError::answer("not the result of a tool"))),
        }
    }

    /// Sends a request and waits for its answer. One that ends before is cancelled at the server.
    pub(super) async fn request(
        &self,
        request: ClientRequest,
        deadline: Instant,
        call: Option<&ToolContext>,
    ) -> Result<ServerResult, Fault> {
        let send = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        let mut handle = match timeout_at(deadline, send).await {
            Ok(Ok(handle)) => handle,
            // It has not left the queue.
            Ok(Err(error)) => return Err(Fault::NotRun(McpError::disconnected_by(error))),
            Err(_) => return Err(Fault::TimedOut),
        };
        let _progress =
            call.map(|call| self.handler.show_progress(handle.progress_token.clone(), call.clone()));
        let cancelled = async {
            match call {
                Some(call) => call.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let fault = tokio::select! {
            biased;
            answer = &mut handle.rx => {
                return match answer {
                    Ok(answer) => answer.map_err(Fault::of),
                    Err(_) => Err(Fault::Gone(McpError::disconnected())),
                };
            }
            () = self.ended.cancelled() => return Err(Fault::Gone(McpError::disconnected())),
            () = tokio::time::sleep_until(deadline) => Fault::TimedOut,
            () = cancelled => Fault::Cancelled,
        };
        if matches!(fault, Fault::TimedOut) {
            // The list of tools is read as a sign of life.
            self.doubted.notify_one();
        }
        // A server that does not read cannot hold the call.
        let _ = timeout(CANCEL_TIMEOUT, handle.cancel(Some("the caller has left".to_owned()))).await;
        Err(fault)
    }

    /// Returns the versions that the server speaks.
    pub(super) fn era(&self) -> Era {
        match self.peer.peer_info() {
            Some(info) if info.protocol_version.has_initialize() => Era::WithInitialize,
            _ => Era::Unknown,
        }
    }

    /// Waits until the server says that its tools have changed.
    pub(super) async fn changed(&self) {
        self.handler.changed.notified().await;
    }

    /// Gives the connection up. Calls that are under way end by themselves.
    pub(super) fn abandon(&self) {
        self.unusable.cancel();
    }

    /// Ends the connection, and the calls that are under way.
    pub(super) fn close(&self) {
        self.unusable.cancel();
        self.ended.cancel();
    }

    pub(super) fn is_unusable(&self) -> bool {
        self.unusable.is_cancelled()
    }

    /// Waits until the connection cannot be used.
    pub(super) async fn unusable(&self) {
        self.unusable.cancelled().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(quit) = self.quit.take() {
            quit.cancel();
        }
    }
}
