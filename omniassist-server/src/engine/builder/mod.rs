mod agents;
mod context;
mod guards;
mod keys;
mod loader;
mod mcp;
mod plan;
#[cfg(feature = "playground")]
mod playground;
mod prices;
mod store;
mod throttle;
mod tools;
mod ui_agent;

use std::fmt;
use std::future::Future;
use std::sync::{Arc, RwLock};

use omniassist_core::context::{ContextCompressor, ContextSummariser};
use omniassist_core::{ContextMessage, Limits, ModelOptions, Text, TrustHistory, Verifier};
use serde_json::Value;

use super::assistant::Assistant;
use super::settings::{Agent, Config, IntoSystemPrompt, Seals, Setup, WhenBusy};
use super::stored::GivenStores;
use crate::access::{Authenticate, Cors};
use crate::afs::Afs;
use crate::agent_config::AgentCatalog;
use crate::audit::AuditLog;
use crate::cost::Prices;
use crate::endpoint::{ObjectEndpoint, OpenAiEndpoint};
use crate::observe::{AtEnd, FinishedRun, Observe, RunReport};
use crate::provider::LlmProvider;
use crate::seal::{InMemoryReplayGuard, ReplayGuard, SealKeys, SealVerifier};
use crate::tool::source::AttachedSource;
use crate::tool::{StateMap, Tool, Tools};
use crate::{BoxError, Error, PageManifest, Result, RunContext, clock};

pub use ui_agent::{DEFAULT_UI_INSTRUCTIONS, UiAgent, UiAgentOptions};

/// Builds an [`Assistant`]. Every setting has a default; only the provider is required.
#[must_use = "a builder does nothing until built"]
pub struct AssistantBuilder {
    provider: Arc<dyn LlmProvider>,
    pub(super) config: Config,
    tools: Vec<Tool>,
    tool_sources: Vec<AttachedSource>,
    agents: Vec<Agent>,
    catalog: Option<AgentCatalog>,
    state: StateMap,
    context: Vec<ContextMessage>,
    verifier: Option<Arc<dyn Verifier>>,
    seal_keys: Result<Option<SealKeys>>,
    replay_guard: Option<Arc<dyn ReplayGuard>>,
    refuses_unsealed_text: bool,
    stores: GivenStores,
    afs: Option<Afs>,
}

impl Assistant {
    /// Creates a builder for an assistant on this model provider.
    pub fn builder(provider: impl LlmProvider) -> AssistantBuilder {
        AssistantBuilder {
            provider: Arc::new(provider),
            config: Config::default(),
            tools: Vec::new(),
            tool_sources: Vec::new(),
            agents: Vec::new(),
            catalog: None,
            state: StateMap::new(),
            context: Vec::new(),
            verifier: None,
            seal_keys: Ok(None),
            replay_guard: None,
            refuses_unsealed_text: false,
            stores: GivenStores::default(),
            afs: None,
        }
    }
}

impl AssistantBuilder {
    /// Sets the system prompt: text, a closure over the run's context, or an async function that takes the context by
    /// value. Default: none.
    pub fn system_prompt<Kind>(mut self, prompt: impl IntoSystemPrompt<Kind>) -> Self {
        self.config.prompt = Some(prompt.into_system_prompt().0);
        self
    }

    /// Adds a value that tools extract by its type, as [`State<T>`](crate::tool::State). A second value of the same
    /// type replaces the first. Default: none.
    pub fn state<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.state.insert(value);
        self
    }

    /// Sets how context messages are compressed. Default: [`ContextCompressor::new`].
    pub fn context_compressor(mut self, compressor: ContextCompressor) -> Self {
        self.config.compressor = compressor;
        self
    }

    /// Sets the summariser for context blocks over the size limit, such as an
    /// [`LlmSummariser`](super::LlmSummariser), which costs a model call for each such block. If it fails, panics or takes
    /// longer than 30 s, the block stays as the compressor's rules made it. Default: none, and it always does.
    pub fn context_summariser(mut self, summariser: impl ContextSummariser + 'static) -> Self {
        self.config.summariser = Some(Arc::new(summariser));
        self
    }

    /// Sets how many model calls one question may take. They are counted from the last user message or the last
    /// [handoff](Self::handoffs), across suspensions and resubmissions. Default: 16.
    pub fn max_steps(mut self, steps: u32) -> Self {
        Arc::make_mut(&mut self.config.limits).max_steps = steps;
        self
    }

    /// Sets all limits. Default: [`Limits::default`]. A time of more than 30 years counts as 30 years. The limits of a
    /// provider are set on the provider.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = Arc::new(clock::finite(limits));
        self
    }

    /// Replaces the provider. Default: that of [`Assistant::builder`].
    pub fn provider(mut self, provider: impl LlmProvider) -> Self {
        self.provider = Arc::new(provider);
        self
    }

    /// Sets the sampling options and other settings of the model. Default: the provider's.
    pub fn model_options(mut self, options: ModelOptions) -> Self {
        self.config.options = Arc::new(options);
        self
    }

    /// Sets the model to request from the provider. Default: the provider's own.
    pub fn model(mut self, model: impl Into<Text>) -> Self {
        self.config.model = Some(model.into());
        self
    }

    /// Sets the keys that prove which parts of a posted conversation this server wrote. See [`seal`](crate::seal).
    ///
    /// Instances that serve the same chats need the same keys. Keep a key for as long as chats can be continued.
    ///
    /// Default: a random key for this process, and a warning in the log. After a restart, tool results of older
    /// messages are then no longer accepted, and open approvals are requested again.
    pub fn seal_keys(mut self, keys: SealKeys) -> Self {
        self.seal_keys = Ok(Some(keys));
        self
    }

    /// Sets the [seal keys](Self::seal_keys) from an environment variable.
    ///
    /// The value is `NAME:SECRET`, or several separated by commas with the current key first, as in
    /// `2026-11:$(openssl rand -hex 32)`; see [`SealKeys::parse`]. If the value is not valid, [`build`](Self::build)
    /// fails. Default: as for `seal_keys`, also if the variable is unset or empty.
    pub fn seal_keys_from_env(mut self, variable: &str) -> Self {
        self.seal_keys = SealKeys::from_env(variable).map_err(|error| {
            Error::configuration(format!("seal keys in {variable}: {error}")).with_source(error)
        });
        self
    }

    /// Sets the record of used approvals, which lets each approval run its call once. Default: an
    /// [`InMemoryReplayGuard`]. Instances that share chats need a shared one.
    pub fn replay_guard(mut self, guard: impl ReplayGuard) -> Self {
        self.replay_guard = Some(Arc::new(guard));
        self
    }

    /// Sets whether a conversation is refused if it has assistant text without a valid seal. Default: `false`. See
    /// [`SealVerifier::refuse_unsealed_text`] for the consequences.
    pub fn refuse_unsealed_text(mut self, refuse: bool) -> Self {
        self.refuses_unsealed_text = refuse;
        self
    }

    /// Accepts posted history without verification, and seals nothing.
    ///
    /// A client can then make the model believe invented tool results, and approve calls that were never proposed.
    /// Use it only if every client is trusted. Default: posted history is verified.
    pub fn trust_client_history(self) -> Self {
        self.verifier(TrustHistory)
    }

    /// Sets the verifier of posted history, in place of seals. Nothing is sealed then. Default: a [`SealVerifier`].
    pub fn verifier(mut self, verifier: impl Verifier + 'static) -> Self {
        self.verifier = Some(Arc::new(verifier));
        self
    }

    /// Sets whether the metadata of a message names the model that answered, as `model`. Default: `false`; the
    /// metadata then holds only the tokens used, as `usage`.
    pub fn report_model(mut self, report: bool) -> Self {
        self.config.reports.model = report;
        self
    }

    /// Sets whether the metadata of a message holds the duration of the answer: `timing`, with `startedAt`
    /// (milliseconds since 1970), `firstTextMs` and `totalMs`. Default: `false`.
    pub fn report_timing(mut self, report: bool) -> Self {
        self.config.reports.timing = report;
        self
    }

    /// Sets whether the metadata of a message holds the numbers of its context: `context`, a
    /// [`ContextReceipt`](omniassist_core::context::ContextReceipt) with `received`, `kept`, `merged`, `dropped`,
    /// `redacted`, `bytesBefore` and `bytesAfter`. Default: `false`.
    pub fn report_context(mut self, report: bool) -> Self {
        self.config.reports.context = report;
        self
    }

    /// Sets a function that returns metadata of a message, as a JSON object. The client gets it with the start of the
    /// message and keeps it, also if the run fails. Default: none.
    ///
    /// The function is called once for each run, after its prompt and context are ready. Keys of the SDK (`context`,
    /// `cost`, `error`, `finishReason`, `model`, `omniassist`, `timing`, `usage`) are dropped, with a warning in the log.
    ///
    /// ```
    /// use omniassist_server::{Assistant, RunContext};
    /// # use omniassist_server::testing::ScriptedProvider;
    ///
    /// let assistant = Assistant::builder(ScriptedProvider::new())
    ///     .on_message_metadata(|run: &RunContext| serde_json::json!({ "runId": run.run_id() }))
    ///     .build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn on_message_metadata(
        mut self,
        hook: impl Fn(&RunContext) -> Value + Send + Sync + 'static,
    ) -> Self {
        self.config.metadata_hook = Some(Arc::new(hook));
        self
    }

    /// Sets the prices of models. Default: none. A [limit of cost](crate::TreeLimits::cost_micro_usd) needs them.
    ///
    /// The cost of a run that succeeds, summaries of its context included, is then in
    /// [`RunOutcome::cost`](super::RunOutcome::cost), in its span, and in the metadata of the message as `cost`. Clients can
    /// read that metadata: set no prices if users must not see them. A stored run that waited for answers has the cost of all
    /// its parts there. It has none if a server stopped after a model call. If the cost becomes unknown in a later part, it
    /// is `null`.
    pub fn prices(mut self, prices: Prices) -> Self {
        self.config.prices = Some(prices);
        self
    }

    /// Sets how OpenAI clients see the assistant. Default: [`OpenAiEndpoint::new`].
    pub fn openai_endpoint(mut self, endpoint: OpenAiEndpoint) -> Self {
        self.config.http.openai = endpoint;
        self
    }

    /// Adds an object that the assistant can generate. Default: none.
    pub fn object(mut self, object: ObjectEndpoint) -> Self {
        self.config.http.objects.push(object);
        self
    }

    /// Adds the pages, forms and schemas of the web application to `GET /manifest.json`, as the member `pages`. Default: none.
    ///
    /// Everybody who may use the assistant can read them. A page passes `pages.routes` to `page.tools`, so that the
    /// assistant navigates to known pages only.
    ///
    /// ```
    /// # use omniassist_server::{Assistant, PageManifest, testing::ScriptedProvider};
    /// # fn main() -> omniassist_server::Result<()> {
    /// # let provider = ScriptedProvider::new();
    /// // Usually `include_str!("../web/routes.json")`, which the scanner of `omniassist-client` has written.
    /// let routes = r#"{ "version": 1, "routes": [{ "path": "/orders/:id", "params": ["id"] }] }"#;
    /// let assistant = Assistant::builder(provider).pages(PageManifest::from_json(routes)?).build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn pages(mut self, pages: PageManifest) -> Self {
        self.config.http.pages = Some(Arc::new(pages));
        self
    }

    /// Sets whether spans record content: the system prompt, the conversation, the model's answers, and the arguments
    /// and outputs of tools. Default: `false`; spans hold names, ids, token counts and error codes.
    ///
    /// Recorded content goes to every trace destination, personal data included, and stays in memory until its span
    /// ends.
    pub fn record_content(mut self, record: bool) -> Self {
        self.config.records_content = record;
        self
    }

    /// Sets what happens to a post to a chat that has a run in progress. A repetition of the message that is being
    /// answered always gets 409 `duplicate_run`. Default: [`WhenBusy::Supersede`].
    pub fn when_busy(mut self, when_busy: WhenBusy) -> Self {
        self.config.when_busy = when_busy;
        self
    }

    /// Adds an observer that is notified of run outcomes. Default: none.
    pub fn observe(mut self, observer: impl Observe) -> Self {
        self.config.observers.add(observer);
        self
    }

    /// Adds a function that is called at the end of each run, whatever its outcome; see [`observe`](crate::observe).
    /// It must return at once. Default: none.
    pub fn on_run_end(self, end: impl Fn(&RunReport) + Send + Sync + 'static) -> Self {
        self.observe(AtEnd(end))
    }

    /// Adds an async function that receives each run that ended, with its messages: to store a conversation, for example.
    /// Default: none.
    ///
    /// It is called exactly once for each run that began, after the last event was passed on: when the run finishes,
    /// fails, is stopped, reaches its deadline or is ended by a shutdown, and when the client disconnects. A
    /// [stored](Self::store) run with which another server goes on has not ended. One that waits for answers has, and
    /// another call follows them: the reports have the usage of their parts, and the message that of the whole run. The
    /// call of a stored run follows when its end is durable; there is none if its server has died and the run does not go
    /// on. It is not called for a refused request, for a run that [`prepare`](Self::prepare) refuses, or for a
    /// [bridge](crate::bridge).
    /// Each call is a task of the tokio runtime on which the run began. The response does not wait for it; [`Assistant::drain`]
    /// does, so drain before the process ends. A task that cannot run or does not complete, because its runtime was shut down,
    /// is logged. So are a panic and an error.
    ///
    /// ```
    /// use omniassist_server::core::RunRequest;
    /// use omniassist_server::observe::FinishedRun;
    /// use omniassist_server::testing::{ScriptedProvider, text};
    /// use omniassist_server::Assistant;
    ///
    /// async fn save(run: FinishedRun) -> Result<(), std::io::Error> {
    ///     for message in run.chat_messages() {
    ///         println!("{:?} {}: {}", run.report.run.chat_id, message.id, message.content);
    ///     }
    ///     Ok(())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedProvider::new().turn(text("Hello"));
    /// let assistant = Assistant::builder(model).on_finish(save).build()?;
    /// assistant.run(RunRequest::prompt("Hi")).text().await?;
    /// assistant.shutdown().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_finish<F, Fut, E>(mut self, hook: F) -> Self
    where
        F: Fn(FinishedRun) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<BoxError>,
    {
        self.config.on_finish.add(hook);
        self
    }

    /// Sets the audit log: a record of each decision about a run or a tool call. It takes an
    /// [`AuditSink`](crate::audit::AuditSink) too. Default: none. See [`audit`](crate::audit).
    pub fn audit(mut self, log: impl Into<AuditLog>) -> Self {
        self.config.audit = Some(log.into());
        self
    }

    /// Sets the hook that authenticates HTTP requests; see [`access`](crate::access). Default: none; a middleware then
    /// puts a [`Principal`](crate::Principal) into the request's extensions.
    pub fn authenticate(mut self, hook: impl Authenticate) -> Self {
        self.config.http.access.hook = Some(Arc::new(hook));
        self
    }

    /// Allows unauthenticated requests. Default: a request without a [`Principal`](crate::Principal) gets 401.
    ///
    /// All unauthenticated clients share one anonymous principal: a client that knows the id of another's chat can stop
    /// its run. Each request costs a model call.
    pub fn allow_anonymous(mut self) -> Self {
        self.config.http.access.anonymous = true;
        self
    }

    /// Allows pages of this origin (`https://app.example.com`) to use the assistant, in addition to the server's own
    /// pages; see [`Cors::allow_origin`]. Default: none.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        let cors = &mut self.config.http.access.cors;
        *cors = std::mem::take(cors).allow_origin(origin);
        self
    }

    /// Sets which pages of other origins may use the assistant, and how. It replaces the origins that
    /// [`allow_origin`](Self::allow_origin) added before. Default: none, [`Cors::new`].
    pub fn cors(mut self, cors: Cors) -> Self {
        self.config.http.access.cors = cors;
        self
    }

    /// Adds hosts that the server answers to: `app.example.com`, `*.example.com` for every name below that one,
    /// `app.example.com:8443` for that port only. Default: every host, except that a connection from this machine
    /// must name this machine; see [`access`](crate::access).
    pub fn allowed_hosts<I>(mut self, hosts: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        self.config.http.access.hosts.list(hosts.into_iter().map(Into::into));
        self
    }

    /// Builds the assistant.
    ///
    /// # Errors
    ///
    /// - A tool cannot be registered: its name or schema is not valid, its name is taken, or it needs a `State` of a
    ///   type that was not given.
    /// - The name of an agent is not valid or taken, its description is empty, or one of its tools cannot be registered.
    /// - A tool of the [catalog](Self::agents) cannot be registered, or two have the same name.
    /// - A function that prepares runs or model calls needs a `State` of a type that was not given.
    /// - A price is not a number from 0 to 1,000,000,000, or a model whose cost is limited has none.
    /// - The name of an endpoint is not valid, two objects have the same name, or providers would refuse the schema of
    ///   one.
    /// - A [`WhenBusy`] needs a store, and there is none.
    /// - An origin, a host or a header is not valid; the error names it.
    /// - The variable of seal keys cannot be read, or there are no keys and the operating system provides no random
    ///   numbers.
    pub fn build(self) -> Result<Assistant> {
        self.check_when_busy()?;
        let mut config = self.config;
        if let Some(prices) = &config.prices {
            prices.check()?;
        }
        config.http = config.http.checked(&config.limits, self.stores.both.is_some())?;
        Self::check_plans(&config, &self.state)?;
        let tools = Tools::searchable(self.state, (*config.limits).clone(), config.defer_above)?;
        self.tools.into_iter().try_for_each(|tool| tools.register(tool))?;
        for source in self.tool_sources {
            tools.attach(source)?;
        }
        let agents = Self::checked_agents(self.agents, &tools, &config)?;
        let configured = |catalog| Self::configured_agents(catalog, &tools, &config);
        let configured_agents = self.catalog.map(configured).transpose()?;
        if let Some(configured) = &configured_agents {
            configured.check(&agents);
        }
        let (verifier, seals): (Arc<dyn Verifier>, _) = match self.verifier {
            Some(verifier) => (verifier, None),
            None => {
                let keys = match self.seal_keys? {
                    Some(keys) => {
                        if self.replay_guard.is_none() {
                            keys::report_local_state(self.stores.both.is_some());
                        }
                        keys
                    }
                    None => keys::process_keys()?,
                };
                let guard = self.replay_guard.unwrap_or_else(|| Arc::new(InMemoryReplayGuard::new()));
                let verifier =
                    SealVerifier::new(keys.clone()).refuse_unsealed_text(self.refuses_unsealed_text);
                (Arc::new(verifier), Some(Seals { keys, guard }))
            }
        };
        let stores = self.stores.together()?;
        let setup = Arc::new(Setup {
            provider: self.provider,
            #[cfg(feature = "files")]
            files: config.files.library(),
            #[cfg(all(feature = "files", feature = "__transport"))]
            fetcher: config.files.fetcher()?,
            config,
            tools,
            agents,
            configured_agents,
            context: RwLock::new(self.context),
            verifier,
            seals,
            afs: Self::afs_of(self.afs, stores.as_deref()),
            stores,
        });
        Self::check_prices(&setup)?;
        if let Some(stores) = &setup.stores {
            stores.begin_sweeps(&setup.config.retention);
        }
        Ok(Assistant { setup, live: Arc::default(), agent: None, team: None })
    }
}

impl fmt::Debug for AssistantBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssistantBuilder").field("provider", &self.provider.name()).finish_non_exhaustive()
    }
}
