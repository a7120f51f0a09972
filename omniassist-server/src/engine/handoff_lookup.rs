//! The agent that has a conversation, and the settings of a run that goes on with it.

use std::cell::LazyCell;
use std::slice;
use std::sync::Arc;

use http::Extensions;
use omniassist_core::event::RunErrorCode;
use omniassist_core::message::{Message, ToolState};
use omniassist_core::run::ToolCatalog;
use omniassist_core::{Error, JsonText, RunRequest, Text, ToolSide, Verifier};

use super::agent::NamedAgent;
use super::handoff::{self, HandedOff, HandingOff, Handoffs, Successors};
use super::preparation::NotPrepared;
use super::{Assistant, verification};
use crate::tool::ToolSnapshot;
use crate::{Principal, RunContext, one_line, panics};

/// A conversation that was verified.
pub(super) struct Verified {
    /// The agent that has it.
    pub(super) agent: Assistant,
    pub(super) tools: ToolSnapshot,
    pub(super) posted: Option<Vec<Message>>,
}

/// The tools of several agents.
pub(super) struct ToolSides(Vec<ToolSnapshot>);

impl ToolCatalog for ToolSides {
    fn side(&self, name: &str) -> Option<ToolSide> {
        self.0.iter().find_map(|tools| tools.side(name))
    }

    fn check(&self, name: &str, arguments: &JsonText) -> Result<(), Text> {
        self.0
            .iter()
            .find(|tools| tools.side(name).is_some())
            .map_or(Ok(()), |tools| tools.check(name, arguments))
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
    pub(super) fn of_conversation(&self, messages: &[Message], extensions: Option<&Extensions>) -> Self {
        match self.successors().is_empty() {
            true => self.clone(),
            false => self.follow(handoff::in_messages(messages), extensions),
        }
    }

    /// Returns the agent that has the conversation of a run, of which a part is written.
    pub(super) fn of_written(&self, messages: &[Message], written: Option<&Message>) -> Self {
        let Some(written) = written else { return self.of_conversation(messages, None) };
        let before = match messages.split_last() {
            // The part that earlier legs have written.
            Some((last, before)) if last.id == written.id => before,
            _ => messages,
        };
        self.of_conversation(before, None).of_conversation(slice::from_ref(written), None)
    }

    /// Verifies a posted conversation for the agent that has it. Returns that agent, its tools, and the verified messages
    /// with their seals, if they are asked for.
    ///
    /// # Errors
    ///
    /// Returns an error if a part of the conversation, or a tool that the client declares, is refused.
    pub(super) fn verified(
        &self,
        request: &mut RunRequest,
        extensions: &Extensions,
        principal: &Principal,
        verifier: &dyn Verifier,
        keeps_seals: bool,
    ) -> Result<Verified, Error> {
        let mut agent = self.of_conversation(&request.messages, Some(extensions));
        let mut tools = agent.tools_for(request, extensions)?.for_principal(principal.clone());
        let posted = verification::verify(request, agent.poster(principal), &tools, verifier, keeps_seals)?;
        // A handoff that is not proved has no effect.
        let proved = self.of_conversation(&request.messages, Some(extensions));
        if proved.agent_name() != agent.agent_name() {
            if request.messages.last().is_some_and(has_approval) {
                return Err(Error::seal_invalid("messages"));
            }
            tools = proved.tools_for(request, extensions)?.for_principal(principal.clone());
            agent = proved;
        }
        Ok(Verified { agent, tools, posted })
    }

    /// Returns the tools of all agents that can have a conversation of this one, to find the sides of their calls.
    ///
    /// # Errors
    ///
    /// Returns an error if a tool that the client declares is refused.
    pub(super) fn tool_sides(
        &self,
        request: &RunRequest,
        extensions: &Extensions,
    ) -> Result<ToolSides, Error> {
        let mut agents = vec![self.clone()];
        let mut tools = Vec::new();
        while let Some(agent) = agents.get(tools.len()).cloned() {
            tools.push(agent.tools_for(request, extensions)?);
            for name in agent.successors() {
                let is_new = agents.iter().all(|agent| agent.agent_name() != Some(name));
                agents.extend(self.member(name).filter(|_| is_new));
            }
        }
        Ok(ToolSides(tools))
    }

    /// Returns the handoffs of a run of this agent. `None` if it does not hand off.
    pub(super) fn handoffs(&self, request: &mut RunRequest) -> Option<Handoffs> {
        if self.successors().is_empty() {
            return None;
        }
        let messages = std::mem::take(&mut request.messages);
        let without_messages = request.clone();
        request.messages = messages;
        Some(Handoffs::new(Arc::new(self.clone()), without_messages))
    }

    /// Returns these tools without those that hand off.
    pub(super) fn without_handoffs(&self, tools: &ToolSnapshot) -> ToolSnapshot {
        let names: Vec<_> = self.successors().iter().map(handoff::tool_name).collect();
        tools.hiding(|tool| names.contains(&tool.spec().name))
    }

    fn successors(&self) -> &[Text] {
        self.agent.as_ref().map_or(&self.setup.config.hands_off, |agent| &agent.settings.hands_off)
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
        let tools = self.tools_for(request, run.extensions())?.for_principal(run.principal().clone());
        let tools = if is_last { self.without_handoffs(&tools) } else { tools };
        let call = self.call(request, &tools);
        let planning = self.planning(request, &call, &tools, None);
        let (setup, agent) = (Arc::clone(&self.setup), self.agent.clone());
        let prepared = panics::catch_async("the preparation of an agent", async move {
            let mut next = HandedOff { run, call, tools };
            if let Some(planning) = planning {
                let plan = planning.plan(&setup.config.run_hooks, &setup.tools, &next.run).await?;
                (next.call, next.tools) = (plan.call, plan.tools);
            }
            next.call.offer(&next.tools);
            next.call.system =
                setup.system_prompt(next.call.system.take(), agent.as_deref(), &next.run).await?;
            Ok(next)
        });
        Ok(Box::pin(async { prepared.await.unwrap_or(Err(RunErrorCode::Internal.into())) }))
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
