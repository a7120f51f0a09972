use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, PromptsCapability, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Reference, ResourcesCapability, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::time::timeout;

use super::call::Call;
use super::caller::Caller;
use super::catalogue::{Entry, Page};
use super::offer::Offer;
use super::page::Found;
use super::question::{asks_with_forms, is_without_sessions};
use super::refusal;
use super::settings::Settings;

/// The time that a client waits for a function of the host.
const HOST_TIMEOUT: Duration = Duration::from_secs(60);

/// The methods of the protocol.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    settings: Arc<Settings>,
}

/// Sets how long and by whom a list may be used.
macro_rules! for_one_caller {
    ($settings:expr, $list:expr, $more:expr) => {{
        let mut list = $list;
        list.next_cursor = $more;
        list.ttl_ms = Some($settings.fresh_ms());
        list.cache_scope = Some(CacheScope::Private);
        list
    }};
}

impl Handler {
    pub(super) fn new(settings: Arc<Settings>) -> Self {
        Self { settings }
    }

    /// Requires that a method is offered.
    fn require(&self, method: &str) -> Result<(), ErrorData> {
        let Settings { resources, prompts, .. } = &*self.settings;
        let is_offered = match method {
            "initialize" | "server/discover" | "tools/list" | "tools/call" => true,
            "resources/list" | "resources/templates/list" | "resources/read" => !resources.is_empty(),
            "prompts/list" | "prompts/get" => !prompts.is_empty(),
            "completion/complete" => self.completes(),
            _ => false,
        };
        if is_offered { Ok(()) } else { Err(refusal::unknown_method(method)) }
    }

    /// Returns one page of a list of the host, whose conditions of visibility are code of the host.
    async fn page<T>(
        &self,
        method: &str,
        request: Option<PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
        list: impl FnOnce(&Settings, Page<'_>) -> Result<Found<T>, ErrorData>,
    ) -> Result<Found<T>, ErrorData> {
        self.require(method)?;
        let (caller, settings) = (Caller::of(context)?.context(), &self.settings);
        let page = (&caller, cursor(request.as_ref()), settings.page_size);
        guarded(context, async { list(settings, page) }).await
    }

    fn completes(&self) -> bool {
        self.settings.resources.have_completions() || self.settings.prompts.have_completions()
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let Settings { name, version, instructions, resources, prompts, .. } = &*self.settings;
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        capabilities.resources = (!resources.is_empty()).then(ResourcesCapability::default);
        capabilities.prompts = (!prompts.is_empty()).then(PromptsCapability::default);
        capabilities.completions = self.completes().then(Default::default);
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new(name, version);
        info.instructions.clone_from(instructions);
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (caller, settings) = (Caller::of(&context)?, &self.settings);
        let (tools, more) =
            Offer::new(&caller, settings).page(cursor(request.as_ref()), settings.page_size)?;
        Ok(for_one_caller!(settings, ListToolsResult::with_all_items(tools), more))
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
            () = left.cancelled() => Err(refusal::left()),
            answer = call.answer() => answer,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let list = |settings: &Settings, page: Page<'_>| settings.resources.list(page);
        let (resources, more) = self.page("resources/list", request, &context, list).await?;
        Ok(for_one_caller!(self.settings, ListResourcesResult::with_all_items(resources), more))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let list = |settings: &Settings, page: Page<'_>| settings.resources.list_templates(page);
        let (templates, more) = self.page("resources/templates/list", request, &context, list).await?;
        Ok(for_one_caller!(self.settings, ListResourceTemplatesResult::with_all_items(templates), more))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.require("resources/read")?;
        let caller = Caller::of(&context)?.context();
        let contents = guarded(&context, self.settings.resources.read(request.uri, caller)).await?;
        // The server does not know how long the content of the host stays as it is.
        let read = ReadResourceResult::new(vec![contents]).with_ttl_ms(0);
        Ok(read.with_cache_scope(CacheScope::Private).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let list = |settings: &Settings, page: Page<'_>| settings.prompts.list(page);
        let (prompts, more) = self.page("prompts/list", request, &context, list).await?;
        Ok(for_one_caller!(self.settings, ListPromptsResult::with_all_items(prompts), more))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.require("prompts/get")?;
        let caller = Caller::of(&context)?.context();
        let can_ask = asks_with_forms(&context);
        guarded(&context, self.settings.prompts.answer(request, caller, can_ask)).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.require("completion/complete")?;
        let (caller, settings) = (Caller::of(&context)?.context(), &self.settings);
        let complete = async {
            let completers = match &request.r#ref {
                Reference::Prompt(prompt) => {
                    let found = settings.prompts.get(&prompt.name, &caller).map(Entry::completers);
                    found.ok_or_else(refusal::unknown_prompt)?
                }
                Reference::Resource(resource) => {
                    let found = settings.resources.get(&resource.uri, &caller).map(Entry::completers);
                    found.ok_or_else(|| refusal::unknown_resource(&resource.uri))?
                }
                _ => return Err(refusal::unknown_reference()),
            };
            completers.complete(request.argument, request.context, caller.clone()).await
        };
        guarded(&context, complete).await.map(CompleteResult::new)
    }

    /// Refuses a method that is not known, and one that is offered but whose parameters `rmcp` cannot read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // Later versions have no sessions that could begin.
        if request.method == "initialize" && is_without_sessions(&context) {
            return Err(refusal::unknown_method(&request.method));
        }
        self.require(&request.method)?;
        Err(refusal::unreadable())
    }
}

fn cursor(request: Option<&PaginatedRequestParams>) -> Option<&str> {
    request.and_then(|request| request.cursor.as_deref())
}

/// Runs code of the host until the client leaves. It has a deadline, and a panic is an error.
async fn guarded<T>(
    context: &RequestContext<RoleServer>,
    work: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    let work = timeout(HOST_TIMEOUT, AssertUnwindSafe(work).catch_unwind());
    tokio::select! {
        biased;
        () = context.ct.cancelled() => Err(refusal::left()),
        answer = work => match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(refusal::panicked()),
            Err(_) => Err(refusal::timed_out()),
        },
    }
}
