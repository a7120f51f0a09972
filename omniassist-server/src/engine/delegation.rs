//! The runs of agents that other agents ask.

use omniassist_core::RunRequest;
use omniassist_core::tree::AgentBudget;
use omniassist_core::verify::{self, Poster, TrustHistory};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Assistant;
use super::agent::Agent;
use super::assistant::Origin;
use super::history::Carried;
use super::preparation::prepare;
use super::tree::{Asked, Begin, Branch, Suspended, Work};
use crate::RunContext;
use crate::tool::{Agents, Args, Json, Tool, ToolError};

/// The arguments of a tool that asks an agent.
#[derive(Deserialize, JsonSchema)]
struct Task {
    /// The whole task, with all that the agent needs to know: it sees nothing else.
    task: String,
}

/// Returns the tool by which a model asks an agent.
pub(super) fn tool(Agent { name, description, .. }: &Agent) -> Tool {
    let asked = name.clone();
    let ask = move |Args(Task { task }): Args<Task>, agents: Agents| {
        let asked = asked.clone();
        async move { agents.delegate(asked, task.into()).await.map(Json) }
    };
    // Running the call again repeats no work: the agent is restored from its records.
    Tool::new(name.clone(), description.clone(), ask).idempotent()
}

impl Begin for Assistant {
    fn budget_of(&self, agent: &str) -> Option<AgentBudget> {
        Some(self.member(agent)?.agent?.settings.budget)
    }

    fn begin(
        &self,
        asked: Asked<'_>,
        parent: &RunContext,
        branch: Branch,
    ) -> Result<Box<dyn Work>, ToolError> {
        let agent = self.member(asked.agent).ok_or_else(|| ToolError::new("There is no such agent."))?;
        let mut request = RunRequest::prompt(asked.task.clone());
        request.chat_id = parent.chat_id().cloned();
        request.abilities = asked.abilities;
        let unaccepted = asked.suspended.map(|Suspended { message, unaccepted, .. }| {
            request.messages.push(message);
            unaccepted
        });
        let extensions = parent.extensions().clone();
        let tools = agent.tools_of_asked(&request, &extensions, branch.may_ask())?;
        // The client's answers were verified with the message of the run, and the server has encrypted all else.
        let poster = Poster::anonymous(0);
        verify::history(&mut request, poster, &tools, &TrustHistory).map_err(ToolError::internal)?;
        request.unaccepted = unaccepted.unwrap_or_default();
        let (mut driver, _, message_id) = agent.driver(
            request,
            extensions,
            tools,
            prepare,
            Carried::default(),
            Origin::asked(asked.id, parent.is_answered_by_store(), branch),
        );
        if let Some(journal) = asked.journal {
            driver.store_asked(journal);
        }
        if let Some(sealer) = asked.sealer {
            driver.seal_as(sealer);
        }
        driver.start_asked(&message_id);
        Ok(Box::new(driver))
    }
}
