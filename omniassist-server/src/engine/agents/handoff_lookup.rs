//! The agent that has a conversation, and the settings of a run that goes on with it.

use std::cell::LazyCell;
use std::slice;
use std::sync::Arc;

use http::Extensions;
use omniassist_core::event::RunErrorCode;
use omniassist_core::message::{Message, ToolState};
use omniassist_core::run::ToolCatalog;
use omniassist_core::{Error, JsonText, RunRequest, Text, ToolSide, ToolSpec, Verifier};

use crate::engine::Assistant;
use crate::engine::run::handoff::{self, Before, HandedOff, HandingOff, Handoffs, Successors};
use crate::engine::run::{NotPrepared, contained, verification};
use crate::engine::settings::NamedAgent;
use crate::tool::ToolSnapshot;
use crate::{Principal, RunContext, one_line};

/// A conversation that was verified.
pub(in crate::engine) struct Verified {
    /// The agent that has it.
    pub(in crate::engine) agent: Assistant,
    pub(in crate::engine) tools: ToolSnapshot,
    pub(in crate::engine) posted: Option<Vec<Message>>,
}

/// The tools of the agents that can have a conversation.
pub(in crate::engine) struct PossibleTools(Vec<(Option<Text>, ToolSnapshot)>);

impl PossibleTools {
    /// Returns the tools of an agent, if it is one of these.
    fn of(&self, agent: &Assistant) -> Option<&ToolSnapshot> {
        self.0.iter().find(|(name, _)| name.as_ref() == agent.agent_name()).map(|(_, tools)| tools)
    }

    fn with(&self, tool: &str) -> Option<&ToolSnapshot> {
        self.0.iter().map(|(_, tools)| tools).find(|tools| tools.side(tool).is_some())
    }
}

impl ToolCatalog for PossibleTools {
    fn side(&self, name: &str) -> Option<ToolSide> {
        self.with(name).and_then(|tools| tools.side(name))
    }

    fn check(&self, name: &str, arguments: &JsonText) -> Result<(), Text> {
        self.with(name).map_or(Ok(()), |tools| tools.check(name, arguments))
    }

    fn check_output(&self, name: &str, arguments: &JsonText, output: &JsonText) -> Result<(), Text> {
        self.with(name).map_or(Ok(()), |tools| tools.check_output(name, arguments, output))
    }
}

/// Returns `true` if a message has a call that a user has approved.
fn has_approval(message: &Message) -> bool {
    message.tools().any(|tool| matches!(tool.state, ToolState::ApprovalResponded { .. }))
}

impl Assistant {
    /// Returns the agent that has a conversation: this one, or the last one to which the conversation was handed off.
    ///
    /// `extensions` are those of the request, for agents that are not for every caller. `None` for a run that has begun.
    pub(in crate::engine) fn of_conversation(
        &self,
        messages: &[Message],
        extensions: Option<&Extensions>,
    ) -> Self {
        match self.successors().is_empty() {
            true => self.clone(),
            false => self.follow(handoff::in_messages(messages), extensions),
        }
    }

    /// Returns the agent that has the conversation of a run, of which a part is written.
    pub(in crate::engine) fn of_written(&self, messages: &[Message], written: Option<&Message>) -> Self {
        let Some(written) = written else { return self.of_conversation(messages, None) };
        let before = match messages.split_last() {
            // The part that earlier legs have written.
            Some((last, before)) if last.id == written.id => before,
            _ => messages,
        };
        self.of_conversation(before, None).of_conversation(slice::from_ref(written), None)
    }

    /// Verifies a posted conversation for the agent that has it. Returns that agent, its tools, and the verified messages
    /// with their seals, if they are asked for. `known` are tools that were read before.
    ///
    /// # Errors
    ///
    /// Returns an error if a part of the conversation, or a tool that the client declares, is refused.
    pub(in crate::engine) fn verified(
        &self,
        request: &mut RunRequest,
        extensions: &Extensions,
        principal: &Principal,
        verifier: &dyn Verifier,
        keeps_seals: bool,
        known: Option<&PossibleTools>,
    ) -> Result<Verified, Error> {
        let tools_of = |agent: &Self, request: &RunRequest| {
            let tools = match known.and_then(|known| known.of(agent)) {
                Some(tools) => tools.clone(),
                None => agent.tools_for(request, extensions)?,
            };
            Ok::<_, Error>(tools.for_principal(principal.clone()))
        };
        let mut agent = self.of_conversation(&request.messages, Some(extensions));
        let mut tools = tools_of(&agent, request)?;
        let posted = verification::verify(request, agent.poster(principal), &tools, verifier, keeps_seals)?;
        // A handoff that is not proved has no effect.
        let proved = self.of_conversation(&request.messages, Some(extensions));
        if proved.agent_name() != agent.agent_name() {
            if request.messages.last().is_some_and(has_approval) {
                return Err(Error::seal_invalid("messages"));
            }
            tools = tools_of(&proved, request)?;
            agent = proved;
        }
        Ok(Verified { agent, tools, posted })
    }

    /// Returns the tools of all agents that can have a conversation of this one, to find the sides of their calls.
    ///
    /// # Errors
    ///
    /// Returns an error if a tool that the client declares is refused.
    pub(in crate::engine) fn possible_tools(
        &self,
        request: &RunRequest,
        extensions: &Extensions,
    ) -> Result<PossibleTools, Error> {
        let caller = LazyCell::new(|| RunContext::of_caller(extensions.clone()));
        let is_for = |agent: &NamedAgent| agent.is_for(|| caller.clone());
        let mut agents = vec![self.clone()];
        let mut tools = Vec::new();
        while let Some(agent) = agents.get(tools.len()).cloned() {
            tools.push((agent.agent_name().cloned(), agent.tools_for(request, extensions)?));
            for name in agent.successors() {
                let is_new = agents.iter().all(|agent| agent.agent_name() != Some(name));
                let next = self.member(name).filter(|_| is_new);
                agents.extend(next.filter(|next| next.agent.as_deref().is_some_and(&is_for)));
            }
        }
        Ok(PossibleTools(tools))
    }

    /// Returns the part of the question that is answered already, up to the handoff to this agent.
    pub(in crate::engine) fn before(&self, messages: &[Message]) -> Before {
        match self.has_members() {
            true => Before::read(messages, |to| self.member(to).is_some()),
            false => Before::default(),
        }
    }

    /// Returns the model calls of one question that this agent may take.
    pub(in crate::engine) fn max_steps(&self) -> u32 {
        let own = self.agent.as_ref().and_then(|agent| agent.settings.max_steps);
        own.unwrap_or(self.setup.config.limits.max_steps)
    }

    /// Returns the handoffs of a run of this agent, at most `left`. `None` if it does not hand off.
    pub(in crate::engine) fn handoffs(&self, request: &mut RunRequest, left: u32) -> Option<Handoffs> {
        if self.successors().is_empty() || left == 0 {
            return None;
        }
        let messages = std::mem::take(&mut request.messages);
        let without_messages = request.clone();
        request.messages = messages;
        Some(Handoffs::new(Arc::new(self.clone()), without_messages, left))
    }

    /// Keeps the names of handoffs for the server: the result of a client's tool of this name would move the conversation. They
    /// are refused for agents that do not exist too, so that the error reveals none.
    ///
    /// # Errors
    ///
    /// Returns an error if the client declares a tool of such a name.
    pub(in crate::engine) fn reserve_handoffs(
        &self,
        tools: ToolSnapshot,
        declared: &[Arc<ToolSpec>],
    ) -> Result<ToolSnapshot, Error> {
        let members = || self.setup.agents.values().chain(self.team.iter().flat_map(|team| team.values()));
        let has_handoffs = |agent: &Arc<NamedAgent>| !agent.settings.handoffs.is_empty();
        if self.setup.config.handoffs.is_empty() && !members().any(has_handoffs) {
            return Ok(tools);
        }
        if let Some(index) = declared.iter().position(|spec| handoff::is_reserved(&spec.name)) {
            let reason = "names that begin with `transfer_to_` belong to tools of the server".to_owned();
            return Err(Error::invalid_tool(format!("tools[{index}]"), reason));
        }
        Ok(tools.reserving(members().map(|agent| handoff::tool_name(&agent.settings.name))))
    }

    /// Returns these tools without those that hand off.
    pub(in crate::engine) fn without_handoffs(&self, tools: &ToolSnapshot) -> ToolSnapshot {
        let names: Vec<_> = self.successors().iter().map(handoff::tool_name).collect();
        tools.hiding(|tool| names.contains(&tool.spec().name))
    }

    fn successors(&self) -> &[Text] {
        self.agent.as_ref().map_or(&self.setup.config.handoffs, |agent| &agent.settings.handoffs)
    }

    /// Returns the agent after handoffs. One that the agent before it does not make, or that leads to an agent which does not
    /// work for the caller, has no effect.
    fn follow<'a>(
        &self,
        handoffs: impl IntoIterator<Item = &'a str>,
        extensions: Option<&Extensions>,
    ) -> Self {
        let caller = LazyCell::new(|| RunContext::of_caller(extensions.cloned().unwrap_or_default()));
        let is_for = |agent: &NamedAgent| extensions.is_none() || agent.is_for(|| caller.clone());
        let mut current = self.clone();
        for to in handoffs {
            if current.successors().iter().any(|name| name == to)
                && let Some(next) = current.member(to)
                && next.agent.as_deref().is_some_and(is_for)
            {
                current = next;
            }
        }
        current
    }

    fn prepare_handoff(
        self,
        request: &RunRequest,
        run: RunContext,
        is_last: bool,
    ) -> Result<HandingOff, Error> {
        // A tool of the agent takes precedence over one that the client declares.
        let own = self.tools().snapshot();
        let mut request = request.clone();
        request.tools.retain(|declared| own.get(&declared.name).is_none());
        let request = &request;
        let tools = self.tools_for(request, run.extensions())?.for_principal(run.principal().clone());
        let tools = if is_last { self.without_handoffs(&tools) } else { tools };
        let call = self.call(request, &tools);
        let planning = self.planning(request, &call, &tools, None);
        let (setup, agent, max_steps) = (Arc::clone(&self.setup), self.agent.clone(), self.max_steps());
        Ok(contained("the preparation of an agent", async move {
            let mut next = HandedOff { run, call, tools, max_steps };
            if let Some(planning) = planning {
                let plan = planning.plan(&setup.config.run_hooks, &setup.tools, &next.run).await?;
                (next.call, next.tools) = (plan.call, plan.tools);
                next.max_steps = plan.max_steps.unwrap_or(max_steps);
            }
            next.call.offer(&next.tools);
            next.call.system =
                setup.system_prompt(next.call.system.take(), agent.as_deref(), &next.run).await?;
            Ok(next)
        }))
    }
}

impl Successors for Assistant {
    fn hand_off(
        &self,
        to: &[&str],
        run: &RunContext,
        request: &RunRequest,
        is_last: bool,
    ) -> Option<HandingOff> {
        let current = match run.agent() {
            Some(name) => self.member(name)?,
            None => self.clone(),
        };
        let next = current.follow(to.iter().copied(), Some(run.extensions()));
        if next.agent_name() == run.agent() {
            return None;
        }
        let run = run.clone().with_agent(next.agent_name());
        Some(next.prepare_handoff(request, run, is_last).unwrap_or_else(|error| {
            tracing::error!(error = %one_line::chain(&error), "the conversation cannot be handed off");
            Box::pin(async { Err(NotPrepared::from(RunErrorCode::Internal)) })
        }))
    }
}
