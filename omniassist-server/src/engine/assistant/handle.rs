use std::fmt;
use std::mem;
use std::sync::Arc;

use http::Extensions;
#[cfg(doc)]
use omniassist_core::event::RunErrorCode;
use omniassist_core::message::{Message, Role};
use omniassist_core::run::{RunConfig, due_approvals};
use omniassist_core::{ContextMessage, Limits, ModelOptions, RunRequest, Text, ToolChoice};

use crate::afs::ChatHistory;
use crate::engine::history::{Carried, WindowInput};
use crate::engine::plan::{Call, Planning};
use crate::engine::run::{
    ChatKey, ClientQueue, ClientRun, Driver, LiveRuns, Prepare, Run, RunParts, Script, Unprepared, prepare,
    prepare_invalid, prepare_scripted,
};
use crate::engine::settings::{NamedAgent, NamedAgents, Setup};
use crate::engine::tree::{Branch, Origin, Seed};
use crate::http_options::HttpOptions;
use crate::instances::Instances;
use crate::quota::Held;
use crate::seal::Sealer;
use crate::tool::source::SourceStatus;
use crate::tool::{ToolSnapshot, Tools};
use crate::{Principal, RunContext, audit, one_line, sync};

/// An assistant: a model, its tools and its settings. A clone is another handle to the same assistant.
///
/// Runs in progress, used approvals, rates and token budgets are kept in this process, unless the builder got shared
/// implementations for them. With several instances and no shared [store](crate::AssistantBuilder::store), send the
/// requests of a chat to the same one: another instance cannot stop its run or detect a repeated post.
///
/// ```
/// use omniassist_server::core::RunRequest;
/// use omniassist_server::testing::{ScriptedProvider, Turn};
/// use omniassist_server::Assistant;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedProvider::new().turn(Turn::text("Good morning!"));
/// let assistant = Assistant::builder(model).system_prompt("You greet.").build()?;
///
/// let text = assistant.run(RunRequest::prompt("Hello")).text().await?;
/// assert_eq!(text, "Good morning!");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Assistant {
    pub(in crate::engine) setup: Arc<Setup>,
    pub(in crate::engine) live: Arc<LiveRuns>,
    /// `None` for the assistant itself.
    pub(in crate::engine) agent: Option<Arc<NamedAgent>>,
    /// The agents of the configuration to which the agent belongs, by name. `None` for one of code.
    pub(in crate::engine) team: Option<Arc<NamedAgents>>,
}

impl Assistant {
    /// Returns the tools. Registering and unregistering works while serving; a run uses the tools that were registered
    /// when it began.
    #[must_use]
    pub fn tools(&self) -> &Tools {
        self.agent.as_ref().map_or(&self.setup.tools, |agent| &agent.tools)
    }

    /// Returns the tools that the sender of a request with these extensions [sees](crate::Tool::visible_to). A
    /// [`prepare`](crate::AssistantBuilder::prepare) function may hide more of them from a run.
    #[must_use]
    pub fn visible_tools(&self, extensions: &Extensions) -> ToolSnapshot {
        self.tools().snapshot().visible_to(|| self.caller(extensions))
    }

    /// Returns the sources of tools that exist for the sender of a request with these extensions, with their states for this
    /// caller.
    pub async fn visible_sources(&self, extensions: &Extensions) -> Vec<SourceStatus> {
        self.tools().sources_for(|| self.caller(extensions)).await
    }

    /// Returns the limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.setup.config.limits
    }

    /// Returns the name of the provider, and of the model if it is known.
    #[must_use]
    pub fn model(&self) -> (&str, Option<&str>) {
        let provider = self.setup.provider_of(self.agent.as_deref());
        let model = self.setup.model_of(self.agent.as_deref());
        (provider.name(), model.map(Text::as_str).or_else(|| provider.model()))
    }

    /// Returns the model settings of a run whose request has none.
    #[must_use]
    pub fn model_options(&self) -> &Arc<ModelOptions> {
        self.setup.options_of(self.agent.as_deref())
    }

    pub(crate) fn http_options(&self) -> &HttpOptions {
        &self.setup.config.http
    }

    /// Returns `true` if runs are sealed and posted history is verified by those seals. An assistant that
    /// [trusts its clients](crate::AssistantBuilder::trust_client_history) or has another verifier seals nothing.
    #[must_use]
    pub fn seals_history(&self) -> bool {
        self.setup.seals.is_some()
    }

    /// Returns the number of runs in progress.
    #[must_use]
    pub fn live_runs(&self) -> usize {
        self.live.len()
    }

    /// Adds a context message to every later run, such as a feature flag or an announcement. It comes before the
    /// client's context. It replaces a message of the host with the same id. The oldest is dropped when there are more
    /// than [`max_context_messages`](Limits::max_context_messages).
    pub fn add_context(&self, message: ContextMessage) {
        let mut context = sync::write(&self.setup.context);
        if let Some(earlier) = context.iter_mut().find(|earlier| earlier.id == message.id) {
            *earlier = message;
            return;
        }
        if context.len() >= self.limits().max_context_messages && !context.is_empty() {
            context.remove(0);
        }
        context.push(message);
    }

    /// Removes the context message of the host with this id from every later run. Returns `false` if there is none.
    #[expect(clippy::must_use_candidate, reason = "callers may ignore whether the message existed")]
    pub fn remove_context(&self, id: &str) -> bool {
        let mut context = sync::write(&self.setup.context);
        let before = context.len();
        context.retain(|message| message.id != id);
        context.len() < before
    }

    /// Starts a run of the host, without a client and a principal. The limits on the number of runs do not apply, and the run
    /// is not stored.
    ///
    /// If the request is not valid, the run fails with [`RunErrorCode::InvalidRequest`]; [`try_run`](Self::try_run)
    /// returns the reason. After [`drain`](Self::drain) it fails with
    /// [`RunErrorCode::ServerShutdown`].
    ///
    /// Must be called, and the run polled, within a tokio runtime.
    pub fn run(&self, request: RunRequest) -> Run {
        let setup = &self.setup;
        let agent = self.of_conversation(&request.messages, None);
        let tools = check_complete(&request).and_then(|()| agent.tools_for(&request, &Extensions::new()));
        let (tools, prepare): (_, Prepare) = match tools {
            Ok(tools) => (tools, prepare),
            Err(error) => {
                tracing::warn!(error = %one_line::chain(&error), "the request is not valid");
                (ToolSnapshot::default(), prepare_invalid)
            }
        };
        // The host is trusted.
        let instances = Instances::read(&request, self.limits(), |_| true);
        let origin = Origin::new().showing(instances);
        let (driver, continued, message_id) =
            agent.driver(request, Extensions::new(), tools, prepare, Carried::default(), origin);
        let live = self.live.insert(driver, &setup.config.limits);
        live.1.with(|driver| driver.start(continued.as_ref(), &message_id, None));
        Run::new(Arc::clone(&self.live), live, continued, message_id)
    }

    /// Starts a run for a client. `extensions` are those of its HTTP request, in which tools find the [`Principal`] and
    /// the host's data. The posted history is verified, and the events of the run are sealed. The run is not stored: the
    /// [`AssistantService`](crate::http::AssistantService) stores those of HTTP requests.
    ///
    /// A run in progress of the same chat is stopped first, unless the builder's
    /// [`when_busy`](crate::AssistantBuilder::when_busy) is set otherwise. A chat belongs to its principal; all
    /// anonymous clients share one.
    ///
    /// # Errors
    ///
    /// - The request declares a tool that it may not declare, or its history is refused.
    /// - The same message is being answered ([`is_conflict`](omniassist_core::Error::is_conflict)).
    /// - The principal has reached its limit of runs, its rate limit or its token budget
    ///   ([`is_throttled`](omniassist_core::Error::is_throttled)).
    /// - The server has reached its limit of runs, a rate limit or budget cannot be checked, a
    ///   [source of tools](crate::tool::source) has no tools for the run (`tool_source_unavailable`), or the assistant is
    ///   [draining](Self::drain) ([`is_unavailable`](omniassist_core::Error::is_unavailable)).
    ///
    /// The future waits only for [rate limits and budgets](crate::throttle), and for the sources of tools to be
    /// [ready](crate::tool::source::ToolSource::ready) for the caller. Dropping it releases the reservations of the run.
    pub async fn try_run(
        &self,
        request: RunRequest,
        extensions: Extensions,
    ) -> Result<Run, omniassist_core::Error> {
        let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
        let chat_id = request.chat_id.clone();
        self.begin(request, extensions, &principal, None)
            .await
            .inspect_err(|refusal| self.report_refused(&principal, chat_id.as_ref(), refusal))
    }

    pub(in crate::engine) fn report_refused(
        &self,
        principal: &Principal,
        chat_id: Option<&Text>,
        refusal: &omniassist_core::Error,
    ) {
        let config = &self.setup.config;
        config.observers.refused(principal, refusal);
        if let Some(log) = &config.audit {
            audit::refused(log, principal, chat_id, refusal);
        }
    }

    /// Begins the run of a client. With a script, it takes the place of the model.
    pub(in crate::engine) async fn begin(
        &self,
        mut request: RunRequest,
        mut extensions: Extensions,
        principal: &Principal,
        script: Option<Script>,
    ) -> Result<Run, omniassist_core::Error> {
        let setup = &self.setup;
        check_complete(&request)?;
        Held::keep_files(&mut extensions, &request);
        let when_busy = self.when_busy(&extensions)?.without_store();
        let action = script.as_ref().and_then(Script::action_tool).map(Arc::clone);
        // An action runs beside the run of its chat.
        let chat_id = request.chat_id.take_if(|_| action.is_some());
        let admission = self.admit(&request, &mut extensions, principal, when_busy, None).await?;
        request.chat_id = request.chat_id.or(chat_id);
        let carried = self.carried(&request, principal);
        let keeps_seals = !setup.config.on_finish.is_empty();
        let verified =
            self.verified(&mut request, &extensions, principal, &*setup.verifier, keeps_seals, None)?;
        let (agent, mut tools, posted) = (verified.agent, verified.tools, verified.posted);
        let instances = agent.instances(&request, &tools, principal);
        let mut prepare: Prepare = prepare;
        if script.is_some() {
            // The agent after a handoff would call its model.
            (tools, prepare) = (agent.without_handoffs(&tools), prepare_scripted);
        }
        if let Some(tool) = action {
            tools =
                ToolSnapshot::of_one(tool, (*setup.config.limits).clone()).for_principal(principal.clone());
        }
        let sealer = setup.seals.as_ref().map(|seals| {
            let sealer = Sealer::new(&seals.keys, request.chat_id.clone(), principal, Text::new());
            sealer.lifetime(setup.config.limits.approval_lifetime).agent(agent.agent_name().cloned())
        });
        let (mut driver, continued, message_id) =
            agent.driver(request, extensions, tools, prepare, carried, Origin::new().showing(instances));
        if let Some(sealer) = sealer {
            driver.seal_with(sealer, continued.as_ref(), &message_id);
        }
        if let Some(script) = script {
            driver.follow(script);
        }
        if let Some(meter) = admission.meter {
            driver.meter_with(meter);
        }
        let live = self.live.insert_posted(driver, admission.run, &setup.config.limits)?;
        live.1.with(|driver| driver.start(continued.as_ref(), &message_id, posted));
        Ok(Run::new(Arc::clone(&self.live), live, continued, message_id))
    }

    /// Stops the run of a chat for its client: the run ends with an abort. Returns `true` if there was one. It finds only
    /// runs that [`try_run`](Self::try_run) began for this principal, in this process.
    pub fn stop(&self, principal: &Principal, chat_id: &str) -> bool {
        let chat = ChatKey { principal: principal.clone(), chat_id: chat_id.into() };
        let stopped = self.live.stop(&chat, Text::from_static("The user stopped the run."));
        if !stopped {
            tracing::info!(
                chat_id,
                "a client asked to stop a run that is not in progress in this process; with several instances, send the \
                 requests of a chat to the same instance"
            );
        }
        stopped
    }

    /// Returns `true` if a chat has a run in progress in this process for which its client has another id.
    pub(crate) fn runs_other(&self, principal: &Principal, chat_id: &str, named: &ClientRun) -> bool {
        let chat = ChatKey { principal: principal.clone(), chat_id: chat_id.into() };
        self.live.is_other(&chat, named)
    }

    /// Stops an agent that works for the run of a chat. Returns `false` if no such agent works, and `None` if the chat has no
    /// run that [`try_run`](Self::try_run) began for this principal, in this process.
    pub(crate) fn stop_agent(&self, principal: &Principal, chat_id: &str, agent_id: &str) -> Option<bool> {
        let chat = ChatKey { principal: principal.clone(), chat_id: chat_id.into() };
        self.live.stop_agent(&chat, agent_id)
    }

    /// Returns what a window on the conversation needs of the posted messages.
    pub(in crate::engine) fn carried(&self, request: &RunRequest, principal: &Principal) -> Carried {
        match &self.setup.seals {
            Some(seals) if self.setup.config.may_have_window() => {
                Carried::read(request, principal, &seals.keys)
            }
            _ => Carried::default(),
        }
    }

    /// Returns the context of a caller for conditions of visibility.
    pub(crate) fn caller(&self, extensions: &Extensions) -> RunContext {
        RunContext::of_caller(extensions.clone()).with_agent(self.agent_name())
    }

    /// Returns the tools that a request can use.
    pub(in crate::engine) fn tools_for(
        &self,
        request: &RunRequest,
        extensions: &Extensions,
    ) -> Result<ToolSnapshot, omniassist_core::Error> {
        let tools = self.tools().snapshot().for_abilities(request.abilities);
        let tools = tools.visible_to(|| self.caller(extensions));
        let tools = tools.with_shown_components(request.components.as_deref(), &request.tools);
        let tools = self.reserve_handoffs(tools, &request.tools)?;
        let tools = tools.with_declared(&request.tools)?.with_past(&request.past_tools);
        Ok(if request.tool_use.server_tools { tools } else { tools.without_server_tools() })
    }

    pub(in crate::engine) fn driver(
        &self,
        mut request: RunRequest,
        extensions: Extensions,
        tools: ToolSnapshot,
        prepare: Prepare,
        carried: Carried,
        mut origin: Origin,
    ) -> (Driver, Option<Message>, Text) {
        let setup = Arc::clone(&self.setup);
        let queue = ClientQueue::new(self.limits());
        let run = self.context_of_run(&request, extensions, &queue, &mut origin);
        let Origin { id, branch, agents, .. } = origin;
        let continued = request.messages.last().filter(|message| message.role == Role::Assistant).cloned();
        let agents = match &branch {
            Some(branch) => branch.stored_agents().cloned(),
            None => agents.map(Arc::new),
        };
        // Their ends are shown, even if the agent asks none any more.
        let had_agents = agents.as_ref().is_some_and(|agents| !agents.states().is_empty());
        let suspended = self.take_suspended(&mut request, &tools, &run, agents.as_deref());
        let tools = Self::with_removed(tools, &request);
        let before = self.before(&request.messages);
        let handoffs = if branch.is_none() { self.handoffs(&mut request, before.left()) } else { None };
        // A call that hands off would have no effect.
        let tools = if before.left() == 0 { self.without_handoffs(&tools) } else { tools };
        let new_id = Text::from(format!("msg_{}", id.simple()));
        let message_id = continued.as_ref().map_or_else(|| new_id.clone(), |message| message.id.clone());
        let mut config = RunConfig::with_limits(new_id, &setup.config.limits);
        config.max_steps = self.max_steps();
        let due = due_approvals(&request, &tools);
        let call = self.call(&request, &tools);
        let unasked = request.messages.last().filter(|_| continued.is_some());
        // The host has planned the run of a call that a tool makes in the name of another one.
        let is_inner = branch.as_ref().is_some_and(Branch::is_inner);
        let planning = if is_inner { None } else { self.planning(&request, &call, &tools, unasked) };
        let posted =
            setup.config.may_have_window().then(|| Box::new(WindowInput { tools: tools.clone(), carried }));
        let preparation = prepare(Unprepared {
            setup: Arc::clone(&setup),
            agent: self.agent.clone(),
            run: run.clone(),
            due,
            planning,
            posted,
        });
        let (branch, seed) = if let Some(mut branch) = branch {
            branch.set_client(request.abilities, suspended);
            config.call_id_suffix = branch.call_id_suffix();
            if is_inner {
                config.max_steps = u32::MAX;
            }
            (Some(branch), None)
        } else {
            let has_tree = self.has_members() || had_agents || setup.config.limits_spending();
            let root = || Seed::new(Arc::new(self.clone()), agents, request.abilities, suspended);
            match has_tree {
                true => (Some(root().grow(setup.config.tree)), None),
                false => (None, (!tools.is_empty()).then(root)),
            }
        };
        let steps_before = before.steps;
        let driver = Driver::new(RunParts {
            setup,
            run,
            queue,
            tools,
            call,
            request,
            config,
            preparation,
            branch,
            seed,
            handoffs,
            steps_before,
        });
        (driver, continued, message_id)
    }

    /// Returns the context of a run. It takes the shown instances from the run's origin.
    fn context_of_run(
        &self,
        request: &RunRequest,
        mut extensions: Extensions,
        queue: &ClientQueue,
        origin: &mut Origin,
    ) -> RunContext {
        let setup = &self.setup;
        let host = sync::read(&setup.context).clone();
        let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
        let history = request.chat_id.as_ref().and_then(|chat| ChatHistory::of(&setup.afs, &principal, chat));
        if let Some(history) = history {
            extensions.insert(history);
        }
        let run = RunContext::new(format!("run_{}", origin.id.simple()).into(), request, extensions, host)
            .with_client(queue.sender(), setup.config.limits.max_tool_output_bytes);
        let run = run.with_agent(self.agent_name());
        let run = if origin.has_stored_answers { run.answered_by_store() } else { run };
        let run = match &origin.asked_by {
            Some(parent) => run.with_state_of(parent),
            None => run,
        };
        // An agent or a call that may not wait has a request without forms.
        let can_ask = request.abilities.forms && setup.seals.is_some();
        let run = if can_ask { run.asking_user() } else { run };
        let run = run.with_instances(mem::take(&mut origin.instances));
        #[cfg(feature = "files")]
        let run = run.with_files(setup.files.clone());
        run
    }

    /// Returns the settings of the model calls for a request, without the system prompt.
    pub(in crate::engine) fn call(&self, request: &RunRequest, tools: &ToolSnapshot) -> Call {
        let setup = &self.setup;
        Call {
            provider: Arc::clone(setup.provider_of(self.agent.as_deref())),
            model: setup.model_of(self.agent.as_deref()).cloned(),
            system: None,
            options: Arc::clone(request.options.as_ref().unwrap_or(self.model_options())),
            tool_choice: match &request.tool_use.choice {
                ToolChoice::Tool(name) if tools.is_hidden(name) => ToolChoice::Auto,
                choice => choice.clone(),
            },
        }
    }

    /// Returns what the functions that prepare runs begin with. `None` if there are none.
    pub(in crate::engine) fn planning(
        &self,
        request: &RunRequest,
        call: &Call,
        tools: &ToolSnapshot,
        continued: Option<&Message>,
    ) -> Option<Box<Planning>> {
        let config = &self.setup.config;
        (!config.run_hooks.is_empty()).then(|| {
            Box::new(Planning {
                call: call.clone(),
                tools: tools.clone(),
                abilities: request.abilities,
                offers_server_tools: request.tool_use.server_tools,
                history: config.history.clone(),
                continued: continued.cloned(),
            })
        })
    }
}

/// Checks that the request has the whole conversation.
fn check_complete(request: &RunRequest) -> Result<(), omniassist_core::Error> {
    if !request.awaits_history {
        return Ok(());
    }
    let expected = "the whole conversation, since the assistant has no history loader";
    Err(omniassist_core::Error::invalid_field("messages", expected, "nothing"))
}

impl fmt::Debug for Assistant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assistant")
            .field("agent", &self.agent_name())
            .field("provider", &self.model().0)
            .field("tools", &self.tools().names())
            .finish_non_exhaustive()
    }
}
