use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::call::Call;
use super::caller::Caller;
use super::offer::Offer;
use super::settings::Settings;

/// The methods of the protocol.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    settings: Arc<Settings>,
}

impl Handler {
    pub(super) fn new(settings: Arc<Settings>) -> Self {
        Self { settings }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let Settings { name, version, instructions, .. } = &*self.settings;
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new(name, version);
        info.instructions.clone_from(instructions);
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = Caller::of(&context)?;
        let after = request.and_then(|request| request.cursor);
        let (tools, more) =
            Offer::new(&caller, &self.settings).page(after.as_deref(), self.settings.page_size);
        let mut list = ListToolsResult::with_all_items(tools);
        list.next_cursor = more;
        list.ttl_ms = Some(u64::try_from(self.settings.fresh_for.as_millis()).unwrap_or(u64::MAX));
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = Caller::of(&context)?;
        let left = context.ct.clone();
        let call = Call::new(caller, &self.settings, request, context)?;
        // Dropping the call stops its run and cancels the tool.
        tokio::select! {
            biased;
            () = left.cancelled() => Err(ErrorData::internal_error("The client has left.", None)),
            answer = call.answer() => answer,
        }
    }
}
