use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Extensions;
use omniassist_core::message::ToolState;
use omniassist_core::{ContextMessage, JsonText, Message, RunEvent, RunRequest, Text, check_tool_name};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::Principal;
use crate::instances::Instances;
use crate::shared_state::SharedState;

/// Receives the events that host code sends to the client of a run.
pub(crate) trait ClientEvents: fmt::Debug + Send + Sync {
    /// Queues an event. Returns `false` if the queue is full.
    fn send(&self, event: RunEvent) -> bool;
}

/// The run that a system prompt, a tool or a hook works for. Cloning is cheap.
///
/// An assistant creates one for each run. A test of a tool or a prompt creates its own:
///
/// ```
/// use http::Extensions;
/// use omniassist_server::core::{JsonText, Limits, RunRequest};
/// use omniassist_server::tool::{StateMap, Tool, ToolError, ToolInvocation, Tools};
/// use omniassist_server::{Principal, RunContext};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let whoami = |user: Principal| async move { Ok::<_, ToolError>(user.id().to_owned()) };
/// let tools = Tools::new(StateMap::new(), Limits::default());
/// tools.register(Tool::new("whoami", "The user's name", whoami))?;
///
/// let mut extensions = Extensions::new();
/// extensions.insert(Principal::new("ada"));
/// let run = RunContext::for_request(RunRequest::prompt("Who am I?"), extensions);
/// let tool = tools.snapshot().get("whoami").cloned().ok_or("no such tool")?;
/// let call = tools.start(&tool, ToolInvocation::new("call-1", JsonText::EMPTY_OBJECT, run));
/// let outcome = call.outcome().await;
/// assert!(outcome.result.is_ok_and(|output| output.as_str() == "\"ada\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RunContext {
    inner: Arc<Inner>,
    /// It changes with a handoff; all else of a run stays.
    agent: Option<Text>,
}

struct Inner {
    run_id: Text,
    chat_id: Option<Text>,
    principal: Principal,
    extensions: Extensions,
    messages: Arc<[Message]>,
    /// The context of the host, then that of the client.
    context: Arc<[ContextMessage]>,
    host_context: usize,
    shared_state: Arc<SharedState>,
    instances: Instances,
    /// `false` for a client that is sent components as text.
    shows_components: bool,
    forwarded: Option<JsonText>,
    extra: BTreeMap<Text, JsonText>,
    client: Option<Client>,
    is_answered_by_store: bool,
    can_ask_user: bool,
    #[cfg(feature = "files")]
    files: Option<Arc<crate::files::Library>>,
}

/// The way to the client of a run.
struct Client {
    events: Arc<dyn ClientEvents>,
    max_data_bytes: usize,
    /// Lets the run skip the queue, and its lock, as long as nothing was sent.
    was_used: AtomicBool,
}

impl RunContext {
    /// Creates the context of a run for a request. `host` is the context that the assistant adds.
    pub(crate) fn new(
        run_id: Text,
        request: &RunRequest,
        extensions: Extensions,
        host: Vec<ContextMessage>,
    ) -> Self {
        let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
        let host_context = host.len();
        let mut context = host;
        context.extend_from_slice(&request.context);
        Self {
            agent: None,
            inner: Arc::new(Inner {
                run_id,
                chat_id: request.chat_id.clone(),
                principal,
                extensions,
                messages: request.messages.as_slice().into(),
                context: context.into(),
                host_context,
                shared_state: Arc::new(SharedState::new(request.state.as_ref())),
                instances: Instances::default(),
                shows_components: request.abilities.components,
                forwarded: request.forwarded.clone(),
                extra: request.extra.clone(),
                client: None,
                is_answered_by_store: false,
                can_ask_user: false,
                #[cfg(feature = "files")]
                files: None,
            }),
        }
    }

    /// Creates the context of a caller: its principal and extensions, and nothing of a conversation.
    pub(crate) fn of_caller(extensions: Extensions) -> Self {
        Self::new(Text::new(), &RunRequest::default(), extensions, Vec::new())
    }

    /// Sets the named agent of the run.
    pub(crate) fn with_agent(mut self, agent: Option<&Text>) -> Self {
        self.agent = agent.cloned();
        self
    }

    /// Connects the context to the client of its run.
    pub(crate) fn with_client(mut self, events: Arc<dyn ClientEvents>, max_data_bytes: usize) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.client = Some(Client { events, max_data_bytes, was_used: AtomicBool::new(false) });
        }
        self
    }

    /// Shares the state of the run that has asked for this one.
    pub(crate) fn with_state_of(mut self, other: &Self) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.shared_state = Arc::clone(&other.inner.shared_state);
        }
        self
    }

    /// Marks a run whose approvals come from the store.
    pub(crate) fn answered_by_store(mut self) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.is_answered_by_store = true;
        }
        self
    }

    pub(crate) fn is_answered_by_store(&self) -> bool {
        self.inner.is_answered_by_store
    }

    /// Sets the instances of components that the conversation shows.
    pub(crate) fn with_instances(mut self, instances: Instances) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.instances = instances;
        }
        self
    }

    pub(crate) fn instances(&self) -> &Instances {
        &self.inner.instances
    }

    pub(crate) fn shows_components(&self) -> bool {
        self.inner.shows_components
    }

    /// Marks a run whose tools can show the user forms.
    pub(crate) fn asking_user(mut self) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.can_ask_user = true;
        }
        self
    }

    pub(crate) fn can_ask_user(&self) -> bool {
        self.inner.can_ask_user
    }

    /// Connects the context to the stored files of the assistant.
    #[cfg(feature = "files")]
    pub(crate) fn with_files(mut self, files: Option<Arc<crate::files::Library>>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.files = files;
        }
        self
    }

    /// Stores a file for the principal of the run, within its quota. A name and a media type are recommended; a type of
    /// binary content that its first bytes contradict is replaced.
    ///
    /// ```
    /// use omniassist_server::files::StoredFile;
    /// use omniassist_server::tool::{Tool, ToolContext, ToolError};
    ///
    /// /// The model and the page get the URL of the file.
    /// async fn export(call: ToolContext) -> Result<StoredFile, ToolError> {
    ///     let csv = "order,total\n1001,24.90\n";
    ///     Ok(call.run().store_file("orders.csv", "text/csv", csv).await?)
    /// }
    /// # let _ = Tool::new("export", "Exports all orders", export);
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the assistant has no store, a [limit](crate::files::FileLimits) is passed, or the store fails.
    #[cfg(feature = "files")]
    pub async fn store_file(
        &self,
        name: &str,
        media_type: &str,
        content: impl Into<bytes::Bytes>,
    ) -> Result<crate::files::StoredFile, crate::files::FileError> {
        use crate::files::{Kind, StoredFile, essence};

        let library = self.inner.files.as_ref().ok_or(Kind::Off)?;
        let content = content.into();
        let (owner, size) = (self.principal(), content.len() as u64);
        let mut upload = library.begin(owner, Some(name), essence(media_type), size).await?;
        upload.write(content).await?;
        let info = upload.finish().await?;
        Ok(StoredFile::new(info, self.extensions().get()))
    }

    /// Creates the context that a run of this request would have, under a new id: for tests, and for hosts that run
    /// tools without an assistant.
    ///
    /// It does not contain the context that an assistant adds ([`add_context`](crate::Assistant::add_context)), and
    /// the request is not checked. [`data`](Self::data) is dropped, because there is no client.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "tests build the request in place")]
    pub fn for_request(request: RunRequest, extensions: Extensions) -> Self {
        let run_id = format!("run_{}", Uuid::now_v7().simple()).into();
        Self::new(run_id, &request, extensions, Vec::new())
    }

    /// Returns the id of the run, which the server generates.
    #[must_use]
    pub fn run_id(&self) -> &Text {
        &self.inner.run_id
    }

    /// Returns the client's id of the chat. It is an address, not a credential.
    #[must_use]
    pub fn chat_id(&self) -> Option<&Text> {
        self.inner.chat_id.as_ref()
    }

    /// Returns the principal that the run is for.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.inner.principal
    }

    /// Returns the name of the [agent](crate::Agent) that the run is for. `None` for the assistant itself. After a
    /// [handoff](crate::Agent::handoffs), it is the agent that has the conversation now.
    #[must_use]
    pub fn agent(&self) -> Option<&Text> {
        self.agent.as_ref()
    }

    /// Returns the extensions of the HTTP request, which the host's middleware can set.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.inner.extensions
    }

    /// Returns the conversation as it was posted.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.inner.messages
    }

    /// Returns `true` if the last message of the conversation approves the call. An approval that is not accepted counts too:
    /// its call does not run.
    pub(crate) fn is_approved(&self, call_id: &Text) -> bool {
        let last = self.inner.messages.last();
        last.into_iter().flat_map(Message::tools).any(|tool| match &tool.state {
            ToolState::ApprovalResponded { approval, .. } => {
                tool.call_id == *call_id && approval.is_approved()
            }
            _ => false,
        })
    }

    /// Returns the context messages of the host, followed by those of the client.
    #[must_use]
    pub fn context(&self) -> &[ContextMessage] {
        &self.inner.context
    }

    /// Returns the state that client and server share (AG-UI), or null if there is none. The client sets its first value,
    /// so do not trust it. The model sees it only if the host puts it into the prompt.
    #[must_use]
    pub fn shared_state(&self) -> Value {
        self.inner.shared_state.get()
    }

    pub(crate) fn state(&self) -> &SharedState {
        &self.inner.shared_state
    }

    /// Returns the data that the client sent beside the conversation (AG-UI's `forwardedProps`). Do not trust it. The
    /// model does not see it.
    #[must_use]
    pub fn forwarded(&self) -> Option<&JsonText> {
        self.inner.forwarded.as_ref()
    }

    /// Returns the additional fields of the request's body, by name, such as those that a page adds with the `body` option
    /// of `useChat`. Do not trust them. The model does not see them.
    #[must_use]
    pub fn body_fields(&self) -> &BTreeMap<Text, JsonText> {
        &self.inner.extra
    }

    /// Returns one of the [additional fields](Self::body_fields) of the request's body.
    #[must_use]
    pub fn body_field(&self, name: &str) -> Option<&JsonText> {
        self.inner.extra.get(name)
    }

    pub(crate) fn host_context(&self) -> &[ContextMessage] {
        self.inner.context.get(..self.inner.host_context).unwrap_or_default()
    }

    pub(crate) fn client_context(&self) -> &[ContextMessage] {
        self.inner.context.get(self.inner.host_context..).unwrap_or_default()
    }

    /// Sends data to the client, which keeps it with the message: a `data-NAME` part in the AI SDK, a `CUSTOM` event in
    /// AG-UI. With an `id`, later data of the same name and id replaces it. The model does not see it.
    ///
    /// It works in prompts, hooks and tools, and never waits. Data that is sent before the answer begins follows its
    /// start. Data is dropped, with a warning in the log, if it
    ///
    /// - has no JSON form, or is larger than [`max_tool_output_bytes`](omniassist_core::Limits::max_tool_output_bytes),
    /// - has a name that is not 1 to 64 of `[A-Za-z0-9_-]`,
    /// - comes while too much data waits for a slow client.
    ///
    /// ```
    /// use omniassist_server::{Assistant, RunContext};
    /// # use omniassist_server::testing::ScriptedProvider;
    ///
    /// let assistant = Assistant::builder(ScriptedProvider::new())
    ///     .system_prompt(|run: &RunContext| {
    ///         run.data("plan", None, "free");
    ///         "You help."
    ///     })
    ///     .build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn data(&self, name: &str, id: Option<&str>, value: impl Serialize) {
        self.send_data(name, id, &value, false);
    }

    /// Sends data to the client like [`data`](Self::data), but the client does not keep it.
    pub fn transient_data(&self, name: &str, value: impl Serialize) {
        self.send_data(name, None, &value, true);
    }

    fn send_data(&self, name: &str, id: Option<&str>, value: &impl Serialize, transient: bool) {
        let Some(client) = &self.inner.client else { return };
        let dropped =
            |reason: &str| tracing::warn!(run_id = self.inner.run_id.as_str(), reason, "data was dropped");
        if check_tool_name(name).is_err() {
            return dropped("its name is not valid");
        }
        let Ok(data) = JsonText::from_serialize(value) else { return dropped("it has no JSON form") };
        if data.as_str().len() > client.max_data_bytes {
            return dropped("it is too large");
        }
        client.was_used.store(true, Ordering::Release);
        let event = RunEvent::Data { name: name.into(), id: id.map(Text::from), data, transient };
        if !client.events.send(event) {
            dropped("too much data waits for the client");
        }
    }

    pub(crate) fn has_sent_data(&self) -> bool {
        self.inner.client.as_ref().is_some_and(|client| client.was_used.load(Ordering::Acquire))
    }
}

impl fmt::Debug for RunContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunContext")
            .field("run_id", &self.inner.run_id)
            .field("chat_id", &self.inner.chat_id)
            .field("principal", &self.inner.principal)
            .finish_non_exhaustive()
    }
}
