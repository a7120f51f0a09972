//! The runs of agents that other agents ask.

use omniassist_core::run::ClientAbilities;
use omniassist_core::tree::AgentBudget;
use omniassist_core::{RunRequest, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Assistant;
use super::agent::Agent;
use super::assistant::Origin;
use super::history::Carried;
use super::preparation::prepare;
use super::tree::{Begin, Branch, Work};
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
        async move { agents.ask(asked, task).await.map(Json) }
    };
    Tool::new(name.clone(), description.clone(), ask)
}

impl Begin for Assistant {
    fn budget_of(&self, agent: &str) -> Option<AgentBudget> {
        Some(self.member(agent)?.agent?.settings.budget)
    }

    fn begin(
        &self,
        agent: &str,
        task: &Text,
        parent: &RunContext,
        branch: Branch,
    ) -> Result<Box<dyn Work>, ToolError> {
        let agent = self.member(agent).ok_or_else(|| ToolError::new("There is no such agent."))?;
        let mut request = RunRequest::prompt(task.clone());
        request.chat_id = parent.chat_id().cloned();
        request.abilities = ClientAbilities::none();
        let extensions = parent.extensions().clone();
        let tools = agent.tools_of_asked(&request, &extensions, branch.may_ask())?;
        let (mut driver, _, message_id) =
            agent.driver(request, extensions, tools, prepare, Carried::default(), Origin::asked(branch));
        driver.start_asked(&message_id);
        Ok(Box::new(driver))
    }
}
