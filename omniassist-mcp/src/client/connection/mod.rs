//! One connection to a server, from its beginning to its end.

mod era;
mod fault;
mod handler;
mod listing;
mod open;
mod request;

use std::sync::Arc;
use std::time::Duration;

use omniassist_server::tool::ToolContext;
use rmcp::model::{
    CallToolRequestParams, ClientRequest, CustomResult, ListToolsResult, PaginatedRequestParams, Request,
    RequestMetaObject, RequestOptionalParam, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningServiceCancellationToken};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

pub(super) use era::Era;
pub(super) use fault::Fault;
use handler::Handler;
pub(super) use handler::{Elicitation, Reply};
use listing::Page;
pub(super) use listing::{Listing, MAX_BYTES, MAX_PAGES, MAX_TIME, MAX_TOOLS};
pub(super) use request::{OpenRequest, Turn};

use super::McpError;
use super::stdio::Group;

/// The time for one page of a list.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection. Dropping it ends it, and the process at its other end.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    handler: Handler,
    /// Is notified when a call was not answered in time.
    pub(super) doubted: Arc<Notify>,
    /// Is cancelled with the transport.
    ended: CancellationToken,
    /// Is cancelled before a message that is too long ends the transport.
    over_limit: CancellationToken,
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
            return Listing::read(async |_| Ok(ListToolsResult::default().into())).await;
        }
        let unusable = || Fault::Answer(McpError::answer("not a list of tools"));
        Listing::read(async |parameters: Option<PaginatedRequestParams>| {
            let request = RequestOptionalParam { params: parameters, ..RequestOptionalParam::default() };
            let request = ClientRequest::ListToolsRequest(request);
            match self.request(request, Instant::now() + PAGE_TIMEOUT).await? {
                ServerResult::ListToolsResult(page) => Ok(page.into()),
                ServerResult::CustomResult(CustomResult(page)) => Page::read(page).ok_or_else(unusable),
                _ => Err(unusable()),
            }
        })
        .await
    }

    /// Sends the call of a tool. Its answer is the [next turn](OpenRequest::next) of the server, or a later one.
    pub(super) async fn call(
        &self,
        parameters: CallToolRequestParams,
        call: &ToolContext,
        deadline: Instant,
    ) -> Result<OpenRequest, Fault> {
        let request = ClientRequest::CallToolRequest(Request::new(parameters));
        let _sending = self.handler.sending.read().await;
        let mut open = self.send(request, call.can_ask_user(), deadline).await?;
        let (id, token) = (open.handle.id.clone(), open.handle.progress_token.clone());
        open.registration = Some(self.handler.register(id, token, call));
        Ok(open)
    }

    /// Sends a request and waits for its answer. One that ends before is cancelled at the server.
    pub(super) async fn request(
        &self,
        request: ClientRequest,
        deadline: Instant,
    ) -> Result<ServerResult, Fault> {
        match self.send(request, false, deadline).await?.next(deadline, None).await? {
            Turn::Answer(answer) => Ok(answer),
            Turn::Asks(..) => Err(Fault::Answer(McpError::answer("a question outside of a call"))),
        }
    }

    /// Sends a request. One with `can_ask` has a user who can be asked.
    async fn send(
        &self,
        request: ClientRequest,
        can_ask: bool,
        deadline: Instant,
    ) -> Result<OpenRequest, Fault> {
        let options = match self.era() {
            Era::Unknown => {
                let mut meta = RequestMetaObject::new();
                meta.set_client_capabilities(self.handler.capabilities(can_ask));
                PeerRequestOptions::no_options().with_meta(meta)
            }
            Era::WithInitialize => PeerRequestOptions::no_options(),
        };
        let send = self.peer.send_cancellable_request(request, options);
        match timeout_at(deadline, send).await {
            Ok(Ok(handle)) => Ok(OpenRequest {
                handle,
                ended: self.ended.clone(),
                over_limit: self.over_limit.clone(),
                doubted: Arc::clone(&self.doubted),
                registration: None,
            }),
            // It has not left the queue.
            Ok(Err(error)) => Err(Fault::NotRun(McpError::disconnected_by(error))),
            Err(_) => Err(Fault::TimedOut),
        }
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
