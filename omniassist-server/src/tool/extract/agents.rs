use omniassist_core::Text;
use serde::Serialize;
use tokio::sync::oneshot;

use crate::tool::context::{AgentAsk, AgentReport, Answered};
use crate::tool::{FromToolCall, Json, ToolContext, ToolError};

/// The agents of the assistant, for a tool that asks some of them. It is an extractor.
///
/// An agent works within the call: it ends when the call does, has the same principal, and spends from the
/// [limits](crate::AssistantBuilder::tree) of the run. The time of the tool goes on, so give the tool a
/// [timeout](crate::Tool::timeout) that suits its agents.
///
/// ```
/// use futures_util::join;
/// use omniassist_server::tool::{Agents, Args, Tool, ToolError};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Trip {
///     route: String,
///     city: String,
/// }
///
/// async fn plan_trip(Args(trip): Args<Trip>, agents: Agents) -> Result<String, ToolError> {
///     let (fly, stay) = join!(agents.ask("flights", trip.route), agents.ask("hotels", trip.city));
///     Ok(format!("{}\n{}", fly?.result, stay?.result))
/// }
/// # let _ = Tool::new("plan_trip", "Plans a trip", plan_trip);
/// ```
#[derive(Debug)]
pub struct Agents(ToolContext);

impl Agents {
    /// Asks an agent, and waits for its report. The task is a text, or a [`Json`] for an agent whose
    /// [input](crate::Agent::input) has a type. The agent sees the task and the context of the host, and nothing of the
    /// conversation.
    ///
    /// As many agents as [`TreeLimits::parallel`](omniassist_core::tree::TreeLimits::parallel) allows work at the same time,
    /// and more wait. Dropping the future stops the agent.
    ///
    /// The agent cannot wait for the user, because the tool cannot go on later: its calls that need an approval or a form do
    /// not run. An agent that a model [asks](crate::AssistantBuilder::delegates) can.
    ///
    /// # Errors
    ///
    /// Returns an error for the model if there is no such agent, if the task does not fit its type, or if a limit of the tree
    /// does not allow to ask it. An agent that fails is a report with this [status](omniassist_core::event::AgentStatus).
    pub async fn ask(&self, agent: impl Into<Text>, task: impl IntoTask) -> Result<AgentReport, ToolError> {
        self.send(agent.into(), task.into_task()?, false).await
    }

    /// Asks an agent that may wait for the user. The call must do nothing else, because it is made again then.
    pub(crate) async fn delegate(&self, agent: Text, task: Text) -> Result<AgentReport, ToolError> {
        self.send(agent, task, true).await
    }

    async fn send(&self, agent: Text, task: Text, may_wait: bool) -> Result<AgentReport, ToolError> {
        let (reply, report) = oneshot::channel();
        let call_id = self.0.call_id().clone();
        self.0.ask_agent(AgentAsk { agent, task, inner: None, call_id, call: None, may_wait, reply });
        match report.await {
            Ok(Ok(Answered::Report(report))) => Ok(report),
            Ok(Err(error)) => Err(self.0.noted(error)),
            _ => Err(ToolError::new("No agent can be asked here.")),
        }
    }
}

/// A task for an agent: a text, or a [`Json`] of a type that implements [`Serialize`]. There is nothing to implement.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the task of an agent",
    label = "neither a text nor a `Json`",
    note = "wrap a value that implements `serde::Serialize` in `omniassist_server::tool::Json`"
)]
pub trait IntoTask {
    /// Returns the text that the agent reads.
    ///
    /// # Errors
    ///
    /// Returns an internal error if the value cannot be serialised.
    fn into_task(self) -> Result<Text, ToolError>;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Text>> IntoTask for T {
    fn into_task(self) -> Result<Text, ToolError> {
        Ok(self.into())
    }
}

impl<T: Serialize> IntoTask for Json<T> {
    fn into_task(self) -> Result<Text, ToolError> {
        Ok(serde_json::to_string(&self.0)?.into())
    }
}

impl FromToolCall for Agents {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(call.clone()))
    }
}
