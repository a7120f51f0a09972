use std::fmt;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use omniassist_core::Text;
use omniassist_server::outbound::OutboundPolicy;
use omniassist_server::tool::source::{
    ReadyFuture, SourceApps, SourceSlot, SourceState, StateFuture, ToolSource,
};
use omniassist_server::{Principal, RunContext};
use tokio::time::timeout;

use super::config::{Config, Endpoint};
use super::hub::Hub;
use super::oauth::Authorizer;
use super::offered;
use super::stdio::Program;
use super::{
    McpApproval, McpAuth, McpContent, McpError, McpMessage, McpPrompt, McpResource, PinPolicy, Pins,
    authorization,
};
use crate::sync::lock;

/// The longest time for a call. A later end is no time that a clock can tell.
const LONGEST_CALL: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The time in which the store of credentials answers for the manifest.
const STATE_TIMEOUT: Duration = Duration::from_secs(2);

/// An MCP server whose tools an assistant has. Give it to `.tool_source(…)`.
///
/// It connects beside the start of the assistant, and again when the connection is lost, after 0.5 s to 60 s, or at once when a
/// call needs it. Each attachment has connections of its own.
#[must_use = "a server does nothing until it is attached"]
pub struct McpServer {
    pub(super) config: Arc<Config>,
    hubs: Mutex<Vec<Arc<Hub>>>,
}

impl McpServer {
    /// Creates a server that is a process of this host, and speaks over its standard input and output.
    ///
    /// The process gets the arguments, the directory and the environment variables of the command. Of the host's variables it
    /// gets the `PATH` alone, unless the command sets or removes it. Its program is searched on the `PATH` of the host. What it
    /// writes to standard error is logged.
    ///
    /// Its standard input is closed when the source is detached, when the assistant is dropped and when the connection is
    /// replaced. After a second its group gets `SIGTERM`, and after another one `SIGKILL`. The group is killed at once when the
    /// host ends, in whatever way. A line of more than 8 MiB ends the connection.
    pub fn stdio(name: impl Into<Text>, command: &Command) -> Self {
        Self::new(name.into(), Endpoint::Stdio(Arc::new(Program::new(command))))
    }

    /// Creates a server at a URL, with the transport “streamable HTTP”. No redirect is followed. A server on this machine is
    /// not reached by the proxy of the system.
    ///
    /// The URL must come from the application: it can be an address of the internal network, unless
    /// [`outbound`](Self::outbound) sets rules for it.
    pub fn http(name: impl Into<Text>, url: impl AsRef<str>) -> Self {
        Self::new(name.into(), Endpoint::Http(url.as_ref().into()))
    }

    fn new(name: Text, endpoint: Endpoint) -> Self {
        let config = Config {
            name,
            endpoint,
            auth: None,
            outbound: None,
            authorizer: OnceLock::new(),
            pins: Pins::memory(PinPolicy::Warn),
            approval: McpApproval::default(),
            trusts_annotations: false,
            is_required: false,
            offers_resources: false,
            has_apps: false,
            call_timeout: Duration::from_secs(30),
            max_output_bytes: 64 * 1024,
        };
        Self { config: Arc::new(config), hubs: Mutex::default() }
    }

    /// Sets the credentials. Default: none. They have no effect on a process, whose credentials are environment variables.
    pub fn auth(mut self, auth: McpAuth) -> Self {
        self.change().auth = Some(auth);
        self
    }

    /// Sets rules for the requests to the server itself: its URL, and the addresses that its host has. Give them if someone
    /// else than the application chooses the URL. Default: none, so that its address can be internal. They have no effect on a
    /// process.
    ///
    /// The bounds of time and bytes of the policy do not apply; those of this client do. Its root certificates are trusted too.
    /// No proxy of the system is used.
    pub fn outbound(mut self, policy: OutboundPolicy) -> Self {
        self.change().outbound = Some(policy);
        self
    }

    /// Sets the record of accepted definitions. Default: [`Pins::memory`] with [`PinPolicy::Warn`].
    pub fn pins(mut self, pins: Pins) -> Self {
        self.change().pins = pins;
        self
    }

    /// Sets the calls that need an approval. Default: [`McpApproval::UnlessReadOnly`], which is every call if the annotations
    /// are not trusted.
    pub fn approval(mut self, approval: McpApproval) -> Self {
        self.change().approval = approval;
        self
    }

    /// Sets whether the annotations of the server's tools are trusted. Default: `false`.
    ///
    /// If they are trusted, a tool that says that it is read-only needs no approval, and a call of one that is read-only or
    /// idempotent is repeated when the connection is lost. The server can lie.
    pub fn trust_annotations(mut self, trusts: bool) -> Self {
        self.change().trusts_annotations = trusts;
        self
    }

    /// Sets whether a run needs the server. Default: `false`; a run begins without the tools of a server that is not connected.
    ///
    /// A run that needs a server waits for it up to 5 s, and then fails with `tool_source_unavailable`.
    pub fn required(mut self, is_required: bool) -> Self {
        self.change().is_required = is_required;
        self
    }

    /// Sets the time for a call, which includes the time to connect again. Default: 30 s; at most a year.
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.change().call_timeout = timeout.min(LONGEST_CALL);
        self
    }

    /// Sets the bytes that a model receives of an output. Default: 64 KiB.
    pub fn max_output_bytes(mut self, bytes: usize) -> Self {
        self.change().max_output_bytes = bytes;
        self
    }

    /// Begins the OAuth authorization of a user, and returns the URL for the user's browser. It replaces an authorization of
    /// the user that has begun before. The user has 10 minutes.
    ///
    /// Give the server as an `Arc` to the assistant to call this while it serves.
    ///
    /// # Errors
    ///
    /// Returns an error if the authorization server cannot be found or trusted, does not accept the application, or has no PKCE
    /// with S256, and if the store of credentials cannot be used.
    pub async fn authorization_url(&self, principal: &Principal) -> Result<String, McpError> {
        let authorizer = self.authorizer()?;
        authorization::ensure_challenge(&self.config, authorizer, principal).await;
        authorizer.begin(principal).await
    }

    /// Ends the authorization of a user. The route of the redirect calls it with the user of its request, as the application
    /// has authenticated it, and with the query of its URL. The next run of the user has the tools.
    ///
    /// # Errors
    ///
    /// Returns an error if this user has not begun this authorization, has finished it already, has taken more than 10 minutes
    /// or declined, and if the issuer is another one or gives no token.
    pub async fn finish_authorization(&self, principal: &Principal, query: &str) -> Result<(), McpError> {
        self.authorizer()?.finish(principal, query).await?;
        for hub in self.hubs().iter() {
            hub.pool().reconnect(principal);
        }
        Ok(())
    }

    /// Removes the tokens of a user, and ends the user's connection. The authorization server still knows the tokens.
    ///
    /// # Errors
    ///
    /// Returns an error if the store of credentials cannot be used.
    pub async fn forget_authorization(&self, principal: &Principal) -> Result<(), McpError> {
        self.authorizer()?.forget(principal).await?;
        for hub in self.hubs().iter() {
            hub.pool().end(principal);
        }
        Ok(())
    }

    fn authorizer(&self) -> Result<&Arc<Authorizer>, McpError> {
        let authorizer = self.config.authorizer();
        authorizer.ok_or_else(|| McpError::authorization("the server has no settings of OAuth"))
    }

    /// Offers two more tools to the model, `list_resources` and `read_resource`, for the resources of the server. Default:
    /// `false`; only the host reads them.
    ///
    /// They need an approval, unless [`approval`](Self::approval) or [`trust_annotations`](Self::trust_annotations) say
    /// otherwise. Tools of the server with these names take precedence.
    pub fn resource_tools(mut self, offers: bool) -> Self {
        self.change().offers_resources = offers;
        self
    }

    /// Sets whether pages show the [apps](super#apps) of the server, which are its code. Default: `false`; the server is not
    /// told that its apps can be shown, and the routes below `/apps/{server}` are unknown.
    ///
    /// A call of a tool with an app sends the client the whole result of the server, beside the output that the model reads.
    pub fn apps(mut self, has_apps: bool) -> Self {
        self.change().has_apps = has_apps;
        self
    }

    /// Reads the list of the server's resources and of their templates, with the connection of a user.
    ///
    /// The server must be [attached](omniassist_server::AssistantBuilder::tool_source): give an `Arc` of it to the builder,
    /// and keep another. Resources are not pinned, since they are data.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is not attached or cannot be used, or the list is larger than one of tools may be.
    pub async fn resources(&self, who: &Principal) -> Result<Vec<McpResource>, McpError> {
        offered::list_resources(self.attached()?.pool(), who).await
    }

    /// Reads a resource with the connection of a user. A resource can have more than one content.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is not attached or cannot be used, or has no such resource.
    pub async fn read(&self, who: &Principal, uri: &str) -> Result<Vec<McpContent>, McpError> {
        let contents = offered::read_resource(self.attached()?.pool(), &self.config, who, uri).await?;
        contents.into_iter().map(McpContent::read).collect()
    }

    /// Reads the list of the server's prompts, with the connection of a user.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is not attached or cannot be used, or the list is larger than one of tools may be.
    pub async fn prompts(&self, who: &Principal) -> Result<Vec<McpPrompt>, McpError> {
        offered::list_prompts(self.attached()?.pool(), who).await
    }

    /// Reads a prompt with its arguments, with the connection of a user. Each message is cut off after
    /// [`max_output_bytes`](Self::max_output_bytes).
    ///
    /// # Errors
    ///
    /// Returns an error if the server is not attached or cannot be used, or refuses the arguments.
    pub async fn prompt(
        &self,
        who: &Principal,
        name: &str,
        arguments: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Vec<McpMessage>, McpError> {
        offered::get_prompt(self.attached()?.pool(), &self.config, who, name, arguments).await
    }

    /// Returns an attachment, which connects if it has not begun.
    pub(super) fn attached(&self) -> Result<Arc<Hub>, McpError> {
        let hub = self.hubs().first().cloned().ok_or_else(McpError::not_attached)?;
        hub.start();
        Ok(hub)
    }

    fn change(&mut self) -> &mut Config {
        Arc::make_mut(&mut self.config)
    }

    /// Returns the hubs of the attachments that exist.
    fn hubs(&self) -> MutexGuard<'_, Vec<Arc<Hub>>> {
        let mut hubs = lock(&self.hubs);
        hubs.retain(|hub| !hub.is_detached());
        hubs
    }
}

impl ToolSource for McpServer {
    fn name(&self) -> &str {
        &self.config.name
    }

    fn attach(&self, slot: SourceSlot) {
        let hub = Hub::new(Arc::clone(&self.config), slot);
        hub.start();
        self.hubs().push(hub);
    }

    fn ready<'a>(&'a self, caller: &'a RunContext) -> ReadyFuture<'a> {
        let hubs = self.hubs().clone();
        Box::pin(async move {
            let mut is_ready = true;
            for hub in hubs {
                hub.start();
                is_ready &= hub.ready(caller).await;
            }
            is_ready
        })
    }

    fn state_for<'a>(&'a self, caller: &'a RunContext) -> StateFuture<'a> {
        Box::pin(async move {
            let authorized = self.config.authorizer()?.is_authorized(caller.principal());
            match timeout(STATE_TIMEOUT, authorized).await {
                Ok(Ok(true)) => None,
                Ok(Ok(false)) => Some(SourceState::AuthorizationNeeded),
                Ok(Err(_)) | Err(_) => Some(SourceState::Unavailable {
                    reason: "the store of credentials cannot be used".into(),
                }),
            }
        })
    }

    fn apps(&self) -> Option<&dyn SourceApps> {
        self.config.has_apps.then_some(self)
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").field("name", &self.config.name).finish_non_exhaustive()
    }
}
