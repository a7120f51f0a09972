use std::fmt;
use std::sync::Arc;

use serde_json::Map;

use super::state::{CallState, OpenCall, Phase, RunState, VERSION};
use super::turn::{BlockKind, Finish, Turn};
use super::{ClientAbilities, RunRequest, obligation};
use crate::event::{LlmEvent, RunErrorCode};
use crate::message::{Message, Part, Role, call_label};
use crate::transcript::{ToolCall, from_messages, insert_context};
use crate::{EventBuf, JsonText, Limits, RunEvent, Text, ToolSide, TranscriptItem, Usage};

/// What the run loop needs to know of tools. A run sees one unchanging catalog.
pub trait ToolCatalog {
    /// Who runs the tool with exactly this name; `None` where there is no such tool.
    fn side(&self, name: &str) -> Option<ToolSide>;

    /// Whether a tool takes these arguments.
    ///
    /// # Errors
    ///
    /// What is wrong with them, for the model to read.
    fn check(&self, name: &str, arguments: &JsonText) -> Result<(), Text>;

    /// Who is to be asked before a call with arguments that fit runs. Default: nobody.
    fn gate(&self, name: &str, arguments: &JsonText) -> Gate {
        let _ = (name, arguments);
        Gate::Open
    }

    /// Returns the name and the summary of a call that clients show to people. Default: neither.
    fn label(&self, name: &str, arguments: Option<&JsonText>) -> CallLabel {
        let _ = (name, arguments);
        CallLabel::default()
    }

    /// Whether what a client gave back for a front-end tool fits the call. Default: anything does.
    ///
    /// # Errors
    ///
    /// What is wrong with it, for the user and the model.
    fn check_output(&self, name: &str, arguments: &JsonText, output: &JsonText) -> Result<(), Text> {
        let _ = (name, arguments, output);
        Ok(())
    }
}

/// The name and the summary of a call, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallLabel {
    /// The tool's title.
    pub title: Option<Text>,
    /// One line about the arguments. `None` while they are incomplete, and for a tool without a summary.
    pub summary: Option<Text>,
}

impl CallLabel {
    /// Returns the event that gives the label to the client, or `None` for an empty label.
    pub(super) fn event(self, call_id: &Text) -> Option<RunEvent> {
        let fields = [("title", self.title), ("summary", self.summary)];
        let label: Map<_, _> = fields
            .into_iter()
            .filter_map(|(key, text)| Some((key.to_owned(), text?.as_str().into())))
            .collect();
        (!label.is_empty()).then(|| RunEvent::Metadata(call_label(call_id, label)))
    }
}

/// What stands between a call and its execution.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gate {
    /// Nothing.
    Open,
    /// Somebody must approve it.
    Approval {
        /// A question for the user.
        message: Option<Text>,
        /// Whether whoever approves may change the arguments.
        editable: bool,
    },
    /// The call is a form: the client shows it, and what the user enters is its output.
    Form {
        /// What the user is asked.
        message: Option<Text>,
        /// JSON Schema of the answer.
        schema: JsonText,
    },
    /// It must not run.
    Refused {
        /// Why, for the user and the model.
        reason: Text,
    },
}

/// A catalog without tools.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTools;

impl ToolCatalog for NoTools {
    fn side(&self, _name: &str) -> Option<ToolSide> {
        None
    }

    fn check(&self, _name: &str, _arguments: &JsonText) -> Result<(), Text> {
        Ok(())
    }
}

/// What a run is given beside the request. Ids come in here, since the machine draws no random numbers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunConfig {
    /// Id of the assistant message, if the run starts a new one.
    pub message_id: Text,
    /// Rendered application context, for the head of the last user message. Default: none.
    pub context: Option<Text>,
    /// Model calls since the last user message. Default: that of [`Limits`].
    pub max_steps: u32,
    /// Turns in a row in which every call is unusable. Default: that of [`Limits`].
    pub max_invalid_turns: u32,
    /// Bytes of one call's arguments. Default: that of [`Limits`].
    pub max_tool_args_bytes: usize,
    /// What the client can do; the request says so. Default: everything.
    pub abilities: ClientAbilities,
    /// Calls whose approval was used before: they do not run again. Default: none.
    pub spent_approvals: Vec<Text>,
}

impl RunConfig {
    /// The defaults, with the id for a new assistant message.
    #[must_use]
    pub fn new(message_id: impl Into<Text>) -> Self {
        Self::with_limits(message_id, &Limits::default())
    }

    /// The limits that concern the run loop, with the id for a new assistant message.
    #[must_use]
    pub fn with_limits(message_id: impl Into<Text>, limits: &Limits) -> Self {
        Self {
            message_id: message_id.into(),
            context: None,
            max_steps: limits.max_steps,
            max_invalid_turns: limits.max_invalid_turns,
            max_tool_args_bytes: limits.max_tool_args_bytes,
            abilities: ClientAbilities::default(),
            spent_approvals: Vec::new(),
        }
    }
}

/// What happened since the machine was last stepped.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input {
    /// The model said something.
    Model(LlmEvent),
    /// The model's stream has ended.
    ModelEnd,
    /// The model refused the conversation as too long. Where nothing was shown of the turn yet, it is asked for once
    /// more with a compacted conversation ([`compact`](crate::transcript::compact)); otherwise the run fails.
    ContextOverflow,
    /// The model's stream failed.
    ModelError(RunErrorCode),
    /// A tool reports progress.
    ToolProgress {
        /// The call.
        call_id: Text,
        /// What it has so far.
        output: JsonText,
    },
    /// A tool has ended.
    ToolResult {
        /// The call.
        call_id: Text,
        /// What it gave, or why it failed.
        result: Result<JsonText, Text>,
    },
    /// Something outside the run failed it: a deadline, a limit.
    Fail(RunErrorCode),
    /// The run is to stop now.
    Abort {
        /// Why, for the client.
        reason: Text,
    },
}

/// What is due.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Call the model with this transcript, and feed what it says.
    CallModel {
        /// The conversation, in legal form.
        transcript: Arc<[TranscriptItem]>,
    },
    /// Run these server tools, and feed what comes of each. All of them have arguments that fit.
    RunTools {
        /// The calls, in the model's order.
        calls: Vec<ToolCall>,
    },
}

/// The run loop. See the [module](super).
#[derive(Clone)]
pub struct RunMachine {
    pub(super) state: RunState,
    pub(super) config: RunConfig,
}

impl RunMachine {
    /// Begins a run. A conversation that ends in an assistant message is continued in that message: with the calls
    /// that were approved, where there are any. While the client still owes something of the message's last step (an
    /// output, an approval, a form), the run stays suspended and asks for it again.
    #[must_use]
    pub fn start(
        request: &RunRequest,
        mut config: RunConfig,
        tools: &dyn ToolCatalog,
        events: &mut EventBuf<RunEvent>,
    ) -> Self {
        let continued = obligation::continued(request);
        config.abilities = request.abilities;
        let message_id = continued.map_or_else(|| config.message_id.clone(), |message| message.id.clone());
        let mut transcript = from_messages(&request.messages);
        if let Some(block) = config.context.take() {
            insert_context(&mut transcript, block);
        }
        let state = RunState {
            version: VERSION,
            message_id: message_id.clone(),
            phase: Phase::ModelDue,
            transcript,
            left_out_calls: Vec::new(),
            steps: steps_since_user(&request.messages),
            invalid_turns: 0,
            next_block: 0,
            usage: Usage::default(),
            turn: Turn::default(),
            calls: Vec::new(),
            resumed: false,
        };
        let mut machine = Self { state, config };
        events.push(RunEvent::Start { message_id, metadata: None });
        if let Some(message) = continued {
            obligation::tell_unaccepted(message, &request.unaccepted, events);
            machine.take_up(message, tools, events);
        }
        if machine.state.phase == Phase::ModelDue && machine.out_of_steps() {
            machine.fail(RunErrorCode::MaxSteps, events);
        }
        machine
    }

    /// Takes up a run where its state was taken. `None` for a state of a version that this code does not know.
    #[must_use]
    pub fn resume(state: RunState, config: RunConfig) -> Option<Self> {
        (state.version == VERSION).then_some(Self { state, config })
    }

    /// All that the run knows. Take it only when no events wait to be delivered.
    #[must_use]
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// Id of the assistant message being written.
    #[must_use]
    pub fn message_id(&self) -> &Text {
        &self.state.message_id
    }

    /// The conversation as far as it is settled: with the results of every step that is over.
    #[must_use]
    pub fn transcript(&self) -> &[TranscriptItem] {
        &self.state.transcript
    }

    /// Whether the terminal event was written. Nothing follows it.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.state.phase, Phase::Done | Phase::Suspended)
    }

    /// Whether the run waits for its client: for outputs of front-end tools, approvals or forms.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        self.state.phase == Phase::Suspended
    }

    /// What is due; each action is named once.
    pub fn next_action(&mut self) -> Option<Action> {
        match self.state.phase {
            Phase::ModelDue => {
                self.state.phase = Phase::Model;
                self.state.steps = self.state.steps.saturating_add(1);
                Some(Action::CallModel { transcript: self.state.transcript.as_slice().into() })
            }
            Phase::ToolsDue => {
                self.state.phase = Phase::Tools;
                Some(Action::RunTools { calls: self.running_calls() })
            }
            _ => None,
        }
    }

    /// Whether the next model call would pass the limit of steps.
    pub(super) fn out_of_steps(&self) -> bool {
        self.state.steps >= self.config.max_steps
    }

    fn running_calls(&self) -> Vec<ToolCall> {
        self.state
            .calls
            .iter()
            .filter(|call| call.state == CallState::Running)
            .map(|call| ToolCall {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
                kind: crate::event::CallKind::Function,
                metadata: None,
            })
            .collect()
    }

    /// Takes one input and writes what follows from it. Inputs that come after the end, or for a call that is not
    /// running, change nothing.
    pub fn step(&mut self, input: Input, tools: &dyn ToolCatalog, events: &mut EventBuf<RunEvent>) {
        if self.is_done() {
            return;
        }
        match input {
            Input::Model(event) if self.state.phase == Phase::Model => self.model(event, tools, events),
            Input::ModelEnd if self.state.phase == Phase::Model => self.model_end(tools, events),
            Input::ModelError(code) if self.state.phase == Phase::Model => {
                // The answer was complete: what came after it does not matter.
                if self.state.turn.finish.is_some() {
                    self.model_end(tools, events);
                } else {
                    self.fail(code, events);
                }
            }
            Input::ContextOverflow if self.state.phase == Phase::Model => {
                self.context_overflow(tools, events);
            }
            Input::ToolProgress { call_id, output } if self.is_running(&call_id) => {
                events.push(RunEvent::ToolOutput {
                    call_id,
                    output,
                    preliminary: true,
                    provider_executed: false,
                });
            }
            Input::ToolResult { call_id, result } if self.is_running(&call_id) => {
                self.tool_result(call_id, result, events);
            }
            Input::Fail(code) => self.fail(code, events),
            Input::Abort { reason } => {
                events.push(RunEvent::Abort { reason });
                self.state.phase = Phase::Done;
            }
            _ => {}
        }
    }

    fn is_running(&self, call_id: &str) -> bool {
        self.state.phase == Phase::Tools
            && self.state.calls.iter().any(|call| call.id == call_id && call.state == CallState::Running)
    }

    fn model(&mut self, event: LlmEvent, tools: &dyn ToolCatalog, events: &mut EventBuf<RunEvent>) {
        let RunState { turn, next_block, transcript, left_out_calls, .. } = &mut self.state;
        if !std::mem::replace(&mut turn.started, true) {
            events.push(RunEvent::StepStart);
        }
        turn.shown |=
            !matches!(event, LlmEvent::Start { .. } | LlmEvent::Usage(_) | LlmEvent::Unknown { .. });
        match event {
            LlmEvent::TextDelta { block, delta } | LlmEvent::RefusalDelta { block, delta } => {
                turn.delta(BlockKind::Text, block, delta, next_block, events);
            }
            LlmEvent::ReasoningDelta { block, delta } => {
                turn.delta(BlockKind::Reasoning, block, delta, next_block, events);
            }
            LlmEvent::TextEnd { block, metadata } => {
                turn.end_block(BlockKind::Text, block, metadata, next_block, events);
            }
            LlmEvent::ReasoningEnd { block, metadata } => {
                turn.end_block(BlockKind::Reasoning, block, metadata, next_block, events);
            }
            LlmEvent::ToolCallStart { call, id, name, kind } => {
                let id = unused_call_id(id, transcript, left_out_calls, turn);
                events.push(RunEvent::ToolInputStart { call_id: id.clone(), name: name.clone() });
                let title = CallLabel { summary: None, ..tools.label(&name, None) };
                if let Some(title) = title.event(&id) {
                    events.push(title);
                }
                turn.start_call(call, id, name, kind);
            }
            LlmEvent::ToolCallDelta { call, delta } => {
                let Some(call) = turn.call_mut(call).filter(|_| !delta.is_empty()) else { return };
                if call.partial.len() + delta.len() > self.config.max_tool_args_bytes {
                    return self.fail(RunErrorCode::LimitExceeded, events);
                }
                call.partial.push_str(&delta);
                events.push(RunEvent::ToolInputDelta { call_id: call.id.clone(), delta });
            }
            LlmEvent::ToolCallEnd { call, arguments, metadata } => {
                if arguments.len() > self.config.max_tool_args_bytes {
                    return self.fail(RunErrorCode::LimitExceeded, events);
                }
                if let Some(call) = turn.call_mut(call) {
                    call.arguments = Some(arguments);
                    call.metadata = metadata;
                }
            }
            LlmEvent::ProviderTool { id, kind, name, item, replay_to } => {
                if let Some(provider) = replay_to {
                    turn.provider_item(provider, item.clone());
                }
                let name = name.unwrap_or(kind);
                let (call_id, input, output) = (id.clone(), JsonText::EMPTY_OBJECT, item);
                let (provider_executed, metadata, preliminary) = (true, None, false);
                events.push(RunEvent::ToolInputAvailable {
                    call_id,
                    name,
                    input,
                    provider_executed,
                    metadata,
                });
                events.push(RunEvent::ToolOutput { call_id: id, output, preliminary, provider_executed });
            }
            LlmEvent::Source(source) => events.push(RunEvent::Source(source)),
            LlmEvent::File { media_type, url } => events.push(RunEvent::File { media_type, url }),
            LlmEvent::Usage(usage) => turn.usage = Some(usage),
            LlmEvent::Finish { reason, truncated, .. } => turn.finish = Some(Finish { reason, truncated }),
            LlmEvent::Start { .. } | LlmEvent::Unknown { .. } => {}
        }
    }

    fn tool_result(
        &mut self,
        call_id: Text,
        result: Result<JsonText, Text>,
        events: &mut EventBuf<RunEvent>,
    ) {
        let (output, is_error) = match &result {
            Ok(output) => (output.clone(), false),
            Err(text) => (JsonText::from_str_value(text), true),
        };
        if let Some(call) = self.state.calls.iter_mut().find(|call| call.id == call_id) {
            call.state = CallState::Answered { output, is_error };
        }
        events.push(match result {
            Ok(output) => {
                RunEvent::ToolOutput { call_id, output, preliminary: false, provider_executed: false }
            }
            Err(error_text) => RunEvent::ToolError { call_id, error_text, provider_executed: false },
        });
        if !self.state.calls.iter().any(|call| call.state == CallState::Running) {
            self.finish_step(events);
        }
    }
}

impl fmt::Debug for RunMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunMachine")
            .field("phase", &self.state.phase)
            .field("steps", &self.state.steps)
            .finish_non_exhaustive()
    }
}

impl OpenCall {
    pub(super) fn new(id: Text, name: Text, arguments: JsonText, state: CallState) -> Self {
        Self { id, name, arguments, state }
    }
}

/// The id, changed if the conversation has it already: some servers number their calls anew in every answer, and a
/// transcript needs one id per call.
fn unused_call_id(id: Text, transcript: &[TranscriptItem], left_out: &[Text], turn: &Turn) -> Text {
    let taken = |id: &str| {
        turn.calls.iter().any(|call| call.id == id)
            || left_out.iter().any(|call| call == id)
            || transcript.iter().any(|item| matches!(item, TranscriptItem::Call(call) if call.id == id))
    };
    if !taken(&id) {
        return id;
    }
    (2_u32..).map(|n| format!("{id}-{n}")).find(|id| !taken(id)).map_or(id, Text::from)
}

/// Model calls that the conversation shows since the last user message.
fn steps_since_user(messages: &[Message]) -> u32 {
    let trailing = messages.iter().rev().take_while(|message| message.role != Role::User);
    let steps = trailing.filter(|message| message.role == Role::Assistant).map(|message| {
        let marked = message.parts.iter().filter(|part| matches!(part, Part::StepStart)).count();
        marked.max(usize::from(!message.parts.is_empty()))
    });
    u32::try_from(steps.sum::<usize>()).unwrap_or(u32::MAX)
}
