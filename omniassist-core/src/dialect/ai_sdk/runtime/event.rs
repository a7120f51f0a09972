use super::{FlowStatus, Skipped, read};
use crate::{JsonText, Text, Usage};

/// What a runtime reports: one of the events that the [module](super) lists.
///
/// A runtime in this process makes them; of one elsewhere, [`parse`](Self::parse) reads them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RuntimeEvent {
    /// `agent:text:delta`: a piece of visible text.
    TextDelta {
        /// Whose.
        agent: AgentRun,
        /// The piece.
        content: Text,
    },
    /// `agent:text`: a text is complete.
    Text {
        /// Whose.
        agent: AgentRun,
        /// The whole text. It is written only where no delta of it came.
        content: Text,
    },
    /// `agent:thinking:delta`: a piece of reasoning.
    ThinkingDelta {
        /// Whose.
        agent: AgentRun,
        /// The piece.
        content: Text,
    },
    /// `agent:thinking`: a reasoning is complete.
    Thinking {
        /// Whose.
        agent: AgentRun,
        /// The whole reasoning. It is written only where no delta of it came.
        content: Text,
    },
    /// `agent:tool`: a tool is called, has given its output, or both at once.
    Tool {
        /// Whose call it is.
        agent: AgentRun,
        /// The call.
        report: ToolReport,
    },
    /// `agent:error`: something went wrong. By itself not the end.
    Error {
        /// For whom.
        agent: AgentRun,
        /// What is shown to the user, as it is. `None` for a sentence that says nothing of the cause.
        message: Option<Text>,
        /// The runtime's class of the error; it goes into the message's metadata as `error.type`.
        error_type: Option<Text>,
    },
    /// `agent:complete`: the agent has answered.
    Complete {
        /// Which.
        agent: AgentRun,
        /// Tokens of this agent's run.
        usage: Usage,
    },
    /// `agent:paused`: the agent waits.
    Paused {
        /// Which.
        agent: AgentRun,
    },
    /// `agent:aborted`: the agent was stopped.
    Aborted {
        /// Which.
        agent: AgentRun,
        /// By what: shown to the user, as it is. `None` for a sentence that says nothing of the cause.
        reason: Option<Text>,
    },
    /// `node:start`: a node of the flow begins.
    NodeStart {
        /// The node.
        node_id: Text,
        /// Its run.
        run_id: Option<Text>,
    },
    /// `node:complete`: a node of the flow is over.
    NodeComplete {
        /// The node.
        node_id: Text,
        /// Its run.
        run_id: Option<Text>,
        /// What it gives to the nodes behind it.
        output: JsonText,
    },
    /// `flow:start`: the flow begins.
    FlowStart {
        /// Its name.
        flow_name: Text,
    },
    /// `flow:paused`: the flow waits.
    FlowPaused {
        /// Its name; where there is none, that of the flow that began.
        flow_name: Option<Text>,
    },
    /// `flow:complete`: the flow is over.
    FlowComplete {
        /// Its name; where there is none, that of the flow that began.
        flow_name: Option<Text>,
        /// How it ended.
        status: FlowStatus,
    },
}

impl RuntimeEvent {
    /// Reads one event, a JSON object. Its text shares the buffer of `json`.
    ///
    /// # Errors
    ///
    /// When it is no event of the vocabulary, or lacks what it must have.
    pub fn parse(json: impl Into<Text>) -> Result<Self, Skipped> {
        read::event(&json.into())
    }

    /// Its `type`.
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

/// Which agent an event is about. Agents that work at the same time write parts of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRun {
    /// The run.
    pub run_id: Text,
    /// The node of the flow.
    pub node_id: Text,
}

impl AgentRun {
    /// The agent of this run and node.
    #[must_use]
    pub fn new(run_id: impl Into<Text>, node_id: impl Into<Text>) -> Self {
        Self { run_id: run_id.into(), node_id: node_id.into() }
    }
}

/// What `agent:tool` says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolReport {
    /// The tool.
    pub name: Text,
    /// The runtime's id of the call. `None` where it has none: the call gets one, and an output without an id belongs
    /// to the oldest call of that agent and tool that has no output yet.
    pub call_id: Option<Text>,
    /// The input.
    pub input: Option<JsonText>,
    /// The output.
    pub output: Option<JsonText>,
    /// Why there is none; it counts, and not `output`, where both are there.
    pub error: Option<Text>,
}

impl ToolReport {
    /// A report that names the tool and nothing else.
    #[must_use]
    pub fn new(name: impl Into<Text>) -> Self {
        Self { name: name.into(), call_id: None, input: None, output: None, error: None }
    }

    /// Sets the id of the call. Default: none.
    #[must_use]
    pub fn call_id(mut self, call_id: impl Into<Text>) -> Self {
        self.call_id = Some(call_id.into());
        self
    }

    /// Sets the input. Default: none.
    #[must_use]
    pub fn input(mut self, input: JsonText) -> Self {
        self.input = Some(input);
        self
    }

    /// Sets the output. Default: none.
    #[must_use]
    pub fn output(mut self, output: JsonText) -> Self {
        self.output = Some(output);
        self
    }

    /// Sets the error. Default: none.
    #[must_use]
    pub fn error(mut self, error: impl Into<Text>) -> Self {
        self.error = Some(error.into());
        self
    }
}
