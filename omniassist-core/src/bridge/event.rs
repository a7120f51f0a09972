use super::FlowStatus;
use crate::{JsonText, Text, Usage};

/// An event of an agent runtime. The [module](super) lists them.
///
/// A runtime in this process constructs them. [`parse`](Self::parse) reads those of a remote one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AgentEvent {
    /// `agent:text:delta`: a fragment of visible text.
    TextDelta {
        /// The agent.
        agent: AgentRun,
        /// The fragment.
        content: Text,
    },
    /// `agent:text`: a text is complete.
    Text {
        /// The agent.
        agent: AgentRun,
        /// The whole text. It is written only if it had no delta.
        content: Text,
    },
    /// `agent:thinking:delta`: a fragment of reasoning.
    ThinkingDelta {
        /// The agent.
        agent: AgentRun,
        /// The fragment.
        content: Text,
    },
    /// `agent:thinking`: the reasoning is complete.
    Thinking {
        /// The agent.
        agent: AgentRun,
        /// The whole reasoning. It is written only if it had no delta.
        content: Text,
    },
    /// `agent:tool`: a tool call, its output, or both.
    Tool {
        /// The agent that made the call.
        agent: AgentRun,
        /// The call.
        report: ToolReport,
    },
    /// `agent:error`: an error. It does not end the message unless [`BridgeOptions::end_at_error`] is set.
    ///
    /// [`BridgeOptions::end_at_error`]: super::BridgeOptions::end_at_error
    Error {
        /// The agent that failed.
        agent: AgentRun,
        /// The text to show to the user. `None` for a general sentence.
        message: Option<Text>,
        /// The runtime's class of the error, for `error.type` in the message's metadata.
        error_type: Option<Text>,
    },
    /// `agent:complete`: the agent has finished its answer.
    Complete {
        /// The agent.
        agent: AgentRun,
        /// The tokens of this agent's run.
        usage: Usage,
    },
    /// `agent:paused`: the agent waits for input.
    Paused {
        /// The agent.
        agent: AgentRun,
        /// The id of the session to resume, for `paused.sessionId` in the message's metadata.
        session_id: Option<Text>,
    },
    /// `agent:aborted`: the agent was stopped.
    Aborted {
        /// The agent.
        agent: AgentRun,
        /// The text to show to the user. `None` for a general sentence.
        reason: Option<Text>,
    },
    /// `node:start`: a node of the flow begins.
    NodeStart {
        /// The node.
        node_id: Text,
        /// Its run.
        run_id: Option<Text>,
    },
    /// `node:complete`: a node of the flow ends.
    NodeComplete {
        /// The node.
        node_id: Text,
        /// Its run.
        run_id: Option<Text>,
        /// The output for the nodes after it.
        output: JsonText,
    },
    /// `flow:start`: the flow begins.
    FlowStart {
        /// Its name.
        flow_name: Text,
    },
    /// `flow:paused`: the flow waits for input.
    FlowPaused {
        /// Its name. `None` for the name of the flow that began.
        flow_name: Option<Text>,
    },
    /// `flow:complete`: the flow ends.
    FlowComplete {
        /// Its name. `None` for the name of the flow that began.
        flow_name: Option<Text>,
        /// The final status.
        status: FlowStatus,
    },
}

impl AgentEvent {
    /// Returns the `type` of the event.
    #[must_use]
    pub fn event_type(&self) -> &'static str {
        match self {
            Self::TextDelta { .. } => "agent:text:delta",
            Self::Text { .. } => "agent:text",
            Self::ThinkingDelta { .. } => "agent:thinking:delta",
            Self::Thinking { .. } => "agent:thinking",
            Self::Tool { .. } => "agent:tool",
            Self::Error { .. } => "agent:error",
            Self::Complete { .. } => "agent:complete",
            Self::Paused { .. } => "agent:paused",
            Self::Aborted { .. } => "agent:aborted",
            Self::NodeStart { .. } => "node:start",
            Self::NodeComplete { .. } => "node:complete",
            Self::FlowStart { .. } => "flow:start",
            Self::FlowPaused { .. } => "flow:paused",
            Self::FlowComplete { .. } => "flow:complete",
        }
    }
}

/// Identifies the agent of an event. Agents that work at the same time write separate parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRun {
    /// The run.
    pub run_id: Text,
    /// The node of the flow.
    pub node_id: Text,
}

impl AgentRun {
    /// Creates the identity of an agent.
    #[must_use]
    pub fn new(run_id: impl Into<Text>, node_id: impl Into<Text>) -> Self {
        Self { run_id: run_id.into(), node_id: node_id.into() }
    }
}

/// The content of `agent:tool`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolReport {
    /// The tool.
    pub name: Text,
    /// The runtime's id of the call. A call without one gets a new id. An output without one belongs to the oldest call
    /// of that agent and tool that has no output.
    pub call_id: Option<Text>,
    /// The input.
    pub input: Option<JsonText>,
    /// The output.
    pub output: Option<JsonText>,
    /// The error of the call. It takes precedence over `output`.
    pub error: Option<Text>,
}
