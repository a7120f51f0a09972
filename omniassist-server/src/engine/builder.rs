use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, RwLock};

use omniassist_core::context::{ContextCompressor, ContextSummariser};
use omniassist_core::{ContextMessage, Limits, ModelOptions, Text, TrustHistory, Verifier};

use super::assistant::{Assistant, Inner};
use super::facts::Reports;
use super::live::WhenBusy;
use super::meter::Budget;
use super::prompt::{IntoSystemPrompt, SystemPrompt};
use super::seals::Seals;
use crate::access::{AccessPolicy, Authenticate, Cors};
use crate::cost::Prices;
use crate::endpoint::{ObjectEndpoint, OpenAiEndpoint};
use crate::observe::{AtEnd, Observe, Observers, RunReport};
use crate::provider::LlmProvider;
use crate::seal::{InMemoryReplayGuard, ReplayGuard, SealKeys, SealVerifier};
use crate::throttle::{RateLimit, TokenBudget};
use crate::tool::{StateMap, Tool, Tools};
use crate::{Error, Result};

/// Builds an [`Assistant`]. Every setting has a default; only the provider is required.
#[must_use = "a builder does nothing until built"]
pub struct AssistantBuilder {
    provider: Arc<dyn LlmProvider>,
    prompt: Option<SystemPrompt>,
    tools: Vec<Tool>,
    state: StateMap,
    compressor: ContextCompressor,
    summariser: Option<Arc<dyn ContextSummariser>>,
    context: Vec<ContextMessage>,
    limits: Limits,
    options: ModelOptions,
    model: Option<Text>,
    verifier: Option<Arc<dyn Verifier>>,
    seal_keys: Result<Option<SealKeys>>,
    replay_guard: Arc<dyn ReplayGuard>,
    refuses_unsealed_text: bool,
    reports: Reports,
    prices: Option<Prices>,
    openai: OpenAiEndpoint,
    objects: Vec<ObjectEndpoint>,
    records_content: bool,
    when_busy: WhenBusy,
    rate_limit: Option<Arc<dyn RateLimit>>,
    budget: Option<Arc<Budget>>,
    observers: Observers,
    access: AccessPolicy,
}

impl AssistantBuilder {
    pub(super) fn new(provider: Arc<dyn LlmProvider>) -> Self {
        Self {
            provider,
            prompt: None,
            tools: Vec::new(),
            state: StateMap::new(),
            compressor: ContextCompressor::new(),
            summariser: None,
            context: Vec::new(),
            limits: Limits::default(),
            options: ModelOptions::default(),
            model: None,
            verifier: None,
            seal_keys: Ok(None),
            replay_guard: Arc::new(InMemoryReplayGuard::new()),
            refuses_unsealed_text: false,
            reports: Reports::default(),
            prices: None,
            openai: OpenAiEndpoint::new(),
            objects: Vec::new(),
            records_content: false,
            when_busy: WhenBusy::default(),
            rate_limit: None,
            budget: None,
            observers: Observers::default(),
            access: AccessPolicy::default(),
        }
    }

    /// What the model is told about its task: text, a closure over the run's context, or an async function that takes
    /// the context by value. Default: nothing.
    pub fn system_prompt<Kind>(mut self, prompt: impl IntoSystemPrompt<Kind>) -> Self {
        self.prompt = Some(prompt.into_system_prompt().0);
        self
    }

    /// Adds a tool. Default: none. More can be registered while serving, with [`Assistant::tools`].
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Gives tools a value to find by its type, as [`State<T>`](crate::tool::State). A second value of one type
    /// replaces the first. Default: none.
    pub fn state<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.state.insert(value);
        self
    }

    /// Tells every run something about the application. It comes before what the client sends. Default: nothing.
    pub fn context(mut self, message: ContextMessage) -> Self {
        self.context.push(message);
        self
    }

    /// How context messages are compressed. Default: [`ContextCompressor::new`].
    pub fn context_compressor(mut self, compressor: ContextCompressor) -> Self {
        self.compressor = compressor;
        self
    }

    /// Who shortens a context block that is over its size; an [`LlmSummariser`](super::LlmSummariser), for example.
    /// Costs a model call where it is needed. Default: nobody, the block stays as the rules made it.
    pub fn context_summariser(mut self, summariser: impl ContextSummariser + 'static) -> Self {
        self.summariser = Some(Arc::new(summariser));
        self
    }

    /// How many model calls one question may take, counted since the last user message across suspensions and
    /// resubmissions. Default: 16.
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.limits.max_steps = steps;
        self
    }

    /// All limits at once. Default: [`Limits::default`]. A provider has limits of its own; this does not change them.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Another provider than the one the builder began with.
    pub fn provider(mut self, provider: impl LlmProvider) -> Self {
        self.provider = Arc::new(provider);
        self
    }

    /// Sampling and other settings of the model. Default: the provider's.
    pub fn model_options(mut self, options: ModelOptions) -> Self {
        self.options = options;
        self
    }

    /// The model to ask the provider for. Default: the provider's own.
    pub fn model(mut self, model: impl Into<Text>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// The keys that prove, when a client posts a conversation back, what in it this server wrote. Give every instance
    /// that serves the same chats the same keys, and keep a key for as long as chats may come back. See
    /// [`seal`](crate::seal). Default: a key of this process alone, and a warning; after a restart, tool results of
    /// older messages are then no longer believed, and open approvals are asked again.
    pub fn seal_keys(mut self, keys: SealKeys) -> Self {
        self.seal_keys = Ok(Some(keys));
        self
    }

    /// As [`seal_keys`](Self::seal_keys), from an environment variable: `NAME:SECRET`, the current key first, separated
    /// by commas, as [`SealKeys::parse`] reads them (`2026-11:$(openssl rand -hex 32)`). Where it is not set or empty,
    /// as without keys; where it cannot be read, [`build`](Self::build) fails.
    pub fn seal_keys_from_env(mut self, variable: &str) -> Self {
        self.seal_keys = SealKeys::from_env(variable).map_err(|error| {
            Error::configuration(format!("seal keys in {variable}: {error}")).with_source(error)
        });
        self
    }

    /// Where used approvals are noted, so that each runs its call once. Default: an [`InMemoryReplayGuard`]; give
    /// instances that share chats a shared one.
    pub fn replay_guard(mut self, guard: impl ReplayGuard) -> Self {
        self.replay_guard = Arc::new(guard);
        self
    }

    /// Whether a conversation with assistant text that this server cannot prove to be its own is refused. Default:
    /// `false`. See [`SealVerifier::refuse_unsealed_text`] for what that costs.
    pub fn refuse_unsealed_text(mut self, refuse: bool) -> Self {
        self.refuses_unsealed_text = refuse;
        self
    }

    /// Takes what clients post as the server's own words as it comes, and seals nothing: whoever can post can make the
    /// model believe in tool results that never were, and approve calls that nobody asked about. Only for clients that
    /// are trusted. Default: posted history is verified.
    pub fn trusting(self) -> Self {
        self.verifier(TrustHistory)
    }

    /// Who judges what clients post as the server's own words, in place of seals. Nothing is sealed then. Default: a
    /// [`SealVerifier`].
    pub fn verifier(mut self, verifier: impl Verifier + 'static) -> Self {
        self.verifier = Some(Arc::new(verifier));
        self
    }

    /// Whether the metadata of a message names the model that answered, as `model`. Default: `false`; clients then learn
    /// the tokens used, as `usage`, and nothing else.
    pub fn report_model(mut self, report: bool) -> Self {
        self.reports.model = report;
        self
    }

    /// Whether the metadata of a message says how long the answer took: `timing`, with `startedAt` (milliseconds since
    /// 1970), `firstTextMs` and `totalMs`. Default: `false`.
    pub fn report_timing(mut self, report: bool) -> Self {
        self.reports.timing = report;
        self
    }

    /// What models cost. A run that ends well then tells its cost, in [`RunOutcome::cost`](super::RunOutcome::cost), as
    /// `cost` in the metadata of the message and in its span. Users see that metadata: leave prices out where they
    /// should not know. Default: no prices.
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// How the assistant looks to OpenAI's clients. Default: [`OpenAiEndpoint::new`].
    pub fn openai_endpoint(mut self, endpoint: OpenAiEndpoint) -> Self {
        self.openai = endpoint;
        self
    }

    /// Adds an object that the assistant makes. Default: none.
    pub fn object(mut self, object: ObjectEndpoint) -> Self {
        self.objects.push(object);
        self
    }

    /// Whether spans hold what was said: the system prompt, the conversation, the model's answers, arguments and
    /// outputs of tools. All of it then goes wherever the host sends its traces, personal data included, and is kept in
    /// memory until the span ends. Default: `false`, spans tell names, ids, token counts and error codes only.
    pub fn record_content(mut self, record: bool) -> Self {
        self.records_content = record;
        self
    }

    /// What happens to a post to a chat that has a run under way. A repetition of the message that is being answered
    /// gets 409 `duplicate_run` in any case. Default: [`WhenBusy::Supersede`].
    pub fn when_busy(mut self, when_busy: WhenBusy) -> Self {
        self.when_busy = when_busy;
        self
    }

    /// How often clients may begin runs: a `PrincipalRate` of [`throttle`](crate::throttle), or the host's own
    /// [`RateLimit`]. Runs that the host starts with [`Assistant::run`] are not asked about. Default: as often as they
    /// like, within [`Limits::max_runs_per_principal`].
    pub fn rate_limit(mut self, limit: impl RateLimit) -> Self {
        self.rate_limit = Some(Arc::new(limit));
        self
    }

    /// How many tokens each principal may use: an [`InMemoryTokenBudget`](crate::throttle::InMemoryTokenBudget), or the
    /// host's own [`TokenBudget`]. Kept while the model talks. Runs that the host starts with [`Assistant::run`] are not
    /// counted. Default: as many as they like.
    pub fn token_budget(mut self, budget: impl TokenBudget) -> Self {
        self.budget = Some(Arc::new(Budget::new(Arc::new(budget))));
        self
    }

    /// Adds somebody who is told what becomes of runs. Default: nobody.
    pub fn observe(mut self, observer: impl Observe) -> Self {
        self.observers.add(observer);
        self
    }

    /// Adds something that is done at the end of each run, however it ended; see [`observe`](crate::observe). It must
    /// return at once. Default: nothing.
    pub fn on_run_end(self, end: impl Fn(&RunReport) + Send + Sync + 'static) -> Self {
        self.observe(AtEnd(end))
    }

    /// Who says whose request an HTTP request is; see [`access`](crate::access). Default: nobody but the host's middleware,
    /// which puts a [`Principal`](crate::Principal) into the request's extensions.
    pub fn authenticate(mut self, hook: impl Authenticate) -> Self {
        self.access.authenticate(Arc::new(hook));
        self
    }

    /// Serves HTTP requests that nobody says the [`Principal`](crate::Principal) of. All who send one are then the same
    /// anonymous user: whoever knows the id of a chat of theirs can stop its run, and each request costs what a model
    /// costs. Default: such a request is refused with 401.
    pub fn allow_anonymous(mut self) -> Self {
        self.access.allow_anonymous();
        self
    }

    /// Lets pages of this origin use the assistant (`https://app.example.com`), on top of those that the server itself
    /// serves; see [`Cors::allow_origin`]. Default: none.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.access.allow_origin(origin.into());
        self
    }

    /// Which pages of other origins may use the assistant, and how. It takes the place of what
    /// [`allow_origin`](Self::allow_origin) listed before. Default: none, [`Cors::new`].
    pub fn cors(mut self, cors: Cors) -> Self {
        self.access.cors(cors);
        self
    }

    /// The hosts that the server answers to, as requests name them: `app.example.com`, `*.example.com` for any name
    /// below that one, `app.example.com:8443` for that port only. Given twice, all count. Default: any, but on a
    /// connection from this machine only names of this machine; see [`access`](crate::access).
    pub fn allowed_hosts<I>(mut self, hosts: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        self.access.allowed_hosts(hosts.into_iter().map(Into::into));
        self
    }

    /// Builds the assistant.
    ///
    /// # Errors
    ///
    /// When a tool cannot be registered: its name or schema is not acceptable, its name is taken, or it needs a
    /// `State` of a type that was not given. When a price is not a number from 0 to 1,000,000,000. When an endpoint's
    /// name is not allowed, two objects have one name, or a provider would refuse the schema of one. When an origin, a
    /// host or a header is written wrongly; the error names it. When the variable of seal keys cannot be read, or none
    /// were given and the operating system gives no random numbers.
    pub fn build(self) -> Result<Assistant> {
        if let Some(prices) = &self.prices {
            prices.check()?;
        }
        self.openai.check()?;
        let access = self.access.checked()?;
        let objects = objects_by_name(self.objects)?;
        let limits = Arc::new(self.limits);
        let tools = Tools::new(self.state, (*limits).clone());
        for tool in self.tools {
            tools.register(tool)?;
        }
        let (verifier, seals): (Arc<dyn Verifier>, _) = match self.verifier {
            Some(verifier) => (verifier, None),
            None => {
                let keys = match self.seal_keys? {
                    Some(keys) => keys,
                    None => process_keys()?,
                };
                let verifier =
                    SealVerifier::new(keys.clone()).refuse_unsealed_text(self.refuses_unsealed_text);
                (Arc::new(verifier), Some(Seals { keys, guard: self.replay_guard }))
            }
        };
        Ok(Assistant::from_inner(Inner {
            provider: self.provider,
            limits,
            tools,
            prompt: self.prompt,
            compressor: self.compressor,
            summariser: self.summariser,
            context: RwLock::new(self.context),
            options: Arc::new(self.options),
            model: self.model,
            verifier,
            seals,
            reports: self.reports,
            prices: self.prices,
            openai: self.openai,
            objects,
            records_content: self.records_content,
            when_busy: self.when_busy,
            rate_limit: self.rate_limit,
            budget: self.budget,
            observers: self.observers,
            access,
            live: Arc::default(),
        }))
    }
}

fn process_keys() -> Result<SealKeys> {
    tracing::warn!(
        "no seal keys were given: what this process seals, no other instance can verify, nor this one after a restart"
    );
    SealKeys::random().map_err(|error| Error::configuration("no seal key could be made").with_source(error))
}

fn objects_by_name(objects: Vec<ObjectEndpoint>) -> Result<BTreeMap<String, ObjectEndpoint>> {
    let mut by_name = BTreeMap::new();
    for object in objects {
        let object = object.checked()?;
        if let Some(twice) = by_name.insert(object.name().to_owned(), object) {
            let name = twice.name();
            return Err(Error::configuration(format!("object `{name}`: another object has this name")));
        }
    }
    Ok(by_name)
}

impl fmt::Debug for AssistantBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssistantBuilder").field("provider", &self.provider.name()).finish_non_exhaustive()
    }
}
