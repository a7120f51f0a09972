//! The runs of agents that other agents ask.

use omniassist_core::run::AnswerCheck;
use omniassist_core::tree::AgentBudget;
use omniassist_core::verify::{self, Poster, TrustHistory};
use omniassist_core::{RunRequest, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::inner_call;
use crate::RunContext;
use crate::cost::Price;
use crate::engine::Assistant;
use crate::engine::history::Carried;
use crate::engine::run::prepare;
use crate::engine::settings::Agent;
use crate::engine::tree::{AgentQuestion, Begin, Branch, Origin, Suspended, Work};
use crate::tool::{Agents, Args, FromToolCall, InnerCall, Json, Tool, ToolContext, ToolError};

// No doc comment: it would be the description of the schema, which models read.
#[derive(Deserialize, JsonSchema)]
struct Task {
    /// The whole task, with all that the agent needs to know: it sees nothing else.
    task: String,
}

/// Returns the tool by which a model asks an agent.
pub(in crate::engine) fn tool(Agent { name, description, input, .. }: &Agent) -> Tool {
    let (asked, name, description) = (name.clone(), name.clone(), description.clone());
    let tool = match input {
        None => Tool::new(name, description, move |Args(Task { task }): Args<Task>, agents: Agents| {
            let asked = asked.clone();
            async move { agents.delegate(asked, task.into()).await.map(Json) }
        }),
        Some(input) => {
            let schema = input.schema.clone();
            Tool::from_fn_with_schema(name, description, schema, move |_: Value, call: ToolContext| {
                let (asked, task) = (asked.clone(), Text::from(call.arguments().as_str()));
                async move { Agents::from_call(&call)?.delegate(asked, task).await.map(Json) }
            })
        }
    };
    // Running the call again repeats no work: the agent is restored from its records.
    tool.idempotent()
}

impl Begin for Assistant {
    fn budget_of(&self, agent: &str) -> Option<AgentBudget> {
        Some(self.member(agent)?.agent?.settings.budget)
    }

    fn price_of(&self, agent: &str) -> Option<Price> {
        let agent = self.member(agent)?;
        let (_, model) = agent.model();
        self.setup.config.prices.as_ref()?.price(model?).copied()
    }

    fn begin(
        &self,
        asked: AgentQuestion<'_>,
        parent: &RunContext,
        branch: Branch,
    ) -> Result<Box<dyn Work>, ToolError> {
        let agent = self.member(asked.agent).ok_or_else(|| ToolError::new("There is no such agent."))?;
        let (input, output) =
            agent.agent.as_ref().map_or((None, None), |agent| (agent.input.as_ref(), agent.output.clone()));
        if let Some(input) = input {
            input.check(asked.task).map_err(|mismatch| ToolError::new(mismatch.to_string()))?;
        }
        let mut request = RunRequest::prompt(asked.task.clone());
        request.options = output.as_ref().map(|output| output.with_schema(agent.model_options()));
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
            Origin::asked(asked.id, parent, branch),
        );
        if let Some(journal) = asked.journal {
            driver.store_asked(journal);
        }
        if let Some(sealer) = asked.sealer {
            driver.seal_as(sealer);
        }
        if let Some(output) = output {
            let check = move |answer: &str| output.check(answer).map_err(|mismatch| mismatch.correction());
            driver.check_answer(AnswerCheck::new(check));
        }
        driver.start_asked(&message_id);
        Ok(Box::new(driver))
    }

    fn begin_call(
        &self,
        asked: AgentQuestion<'_>,
        call: &InnerCall,
        parent: &RunContext,
        branch: Branch,
    ) -> Result<Box<dyn Work>, ToolError> {
        inner_call::begin(self, asked, call, parent, branch)
    }
}
