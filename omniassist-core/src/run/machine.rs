use std::fmt;
use std::sync::Arc;

use super::config::RunConfig;
use super::state::{CallState, Phase, RunState, VERSION};
use super::turn::{Finish, Turn};
use super::turn_record::TurnRecord;
use super::{CallLabel, Gate, ToolCatalog, call_ids};
use crate::event::{BlockKind, LlmEvent, RunErrorCode};
use crate::history::TokenRate;
use crate::transcript::ToolCall;
use crate::{AnswerHandle, EventBuf, JsonText, RunEvent, Text, TranscriptItem, canonical};

/// An input of the run machine.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input {
    /// An event of the model.
    Model(LlmEvent),
    /// The model's stream has ended.
    ModelEnd,
    /// The model rejected the conversation as too long. If the client has seen nothing of the turn, the model is called
    /// again with a compacted conversation ([`compact`](crate::transcript::compact)). Otherwise the run fails.
    ContextOverflow,
    /// The model's stream failed.
    ModelError(RunErrorCode),
    /// Progress of a tool.
    ToolProgress {
        /// The call.
        call_id: Text,
        /// The output so far.
        output: JsonText,
    },
    /// The end of a tool call.
    ToolResult {
        /// The call.
        call_id: Text,
        /// The output, or the error.
        result: Result<JsonText, Text>,
    },
    /// Nobody knows if a call took effect: the server stopped while it ran. The model and the client receive this as the
    /// error of the call. Another call of a tool without approval with the same arguments is refused for the rest of the
    /// run.
    ToolUnknown {
        /// The call.
        call_id: Text,
    },
    /// A tool did not run, because the host requires approval of the call.
    ApprovalNeeded {
        /// The call.
        call_id: Text,
        /// The condition, a [`Gate::Approval`].
        gate: Gate,
    },
    /// An agent that a tool has asked waits for the user. The call stays open, and the run waits for its client once all
    /// other calls of the step have ended.
    ToolWaits {
        /// The call of the tool.
        call_id: Text,
        /// The calls of the agent that wait, as the events that show them. They follow in a step of their own, because
        /// clients go on by themselves when all calls of the last step are settled.
        questions: Vec<RunEvent>,
    },
    /// The run failed for an external reason, such as a deadline or a limit.
    Fail(RunErrorCode),
    /// The run must stop now.
    Abort {
        /// The reason, for the client.
        reason: Text,
    },
}

/// The next action of the driver.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Call the model with this transcript, and feed its events.
    CallModel {
        /// The conversation, in legal form.
        transcript: Arc<[TranscriptItem]>,
    },
    /// Run these server tools, and feed their results. All of them have valid arguments.
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
    /// The record of the last turn, until it is taken.
    pub(super) record: Option<Box<TurnRecord>>,
    /// The handle of the turn's answer, until it is taken.
    pub(super) kept: Option<Box<AnswerHandle>>,
    /// The questions of asked agents, until the step ends.
    pub(super) questions: Vec<RunEvent>,
}

impl RunMachine {
    /// Restores a run from its state. Returns `None` if the version of the state is unknown.
    #[must_use]
    pub fn resume(state: RunState, config: RunConfig) -> Option<Self> {
        (state.version == VERSION).then_some(Self {
            state,
            config,
            record: None,
            kept: None,
            questions: Vec::new(),
        })
    }

    /// Returns the state of the run. Take it only if no events are pending.
    #[must_use]
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// Returns the id of the assistant message.
    #[must_use]
    pub fn message_id(&self) -> &Text {
        &self.state.message_id
    }

    /// Returns the tool and the arguments of a call of the last step.
    #[must_use]
    pub fn call(&self, call_id: &str) -> Option<(&Text, &JsonText)> {
        let call = self.state.calls.iter().find(|call| call.id == call_id)?;
        Some((&call.name, &call.arguments))
    }

    /// Returns the conversation with the results of all complete steps.
    #[must_use]
    pub fn transcript(&self) -> &[TranscriptItem] {
        &self.state.transcript
    }

    /// Returns the relation of the provider's tokens to the estimate, if the run has a
    /// [window](crate::history::Window) and the provider reported its tokens.
    #[must_use]
    pub fn token_rate(&self) -> Option<TokenRate> {
        self.state.window.as_ref()?.measured_rate()
    }

    /// Returns `true` if the terminal event was written. No event follows it.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.state.phase, Phase::Done | Phase::Suspended)
    }

    /// Returns `true` if the run waits for its client: for outputs of front-end tools, approvals or form input.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        self.state.phase == Phase::Suspended
    }

    /// Returns the record of the turn that has ended, for the journal of the run. There is one after a model's turn, and
    /// after the start of a run that continues approved calls, if the run is [journaled](RunConfig::journaled). It belongs
    /// in the journal after the events of the same step of the machine, and before the next action is carried out.
    pub fn take_record(&mut self) -> Option<Box<TurnRecord>> {
        self.record.take()
    }

    /// Returns the handle of the turn's answer, for the journal of the run, once the provider has sent it
    /// ([`LlmEvent::Kept`]). It belongs in the journal after the events of the same step of the machine. There is none if
    /// the run is not [journaled](RunConfig::journaled).
    pub fn take_kept(&mut self) -> Option<Box<AnswerHandle>> {
        self.kept.take()
    }

    /// Returns the next action. Each action is returned once.
    pub fn next_action(&mut self) -> Option<Action> {
        match self.state.phase {
            Phase::ModelDue => {
                self.begin_turn();
                let transcript = match self.state.transcript.as_slice() {
                    items if call_ids::is_renamed(items) => call_ids::for_provider(items).into(),
                    items => items.into(),
                };
                Some(Action::CallModel { transcript })
            }
            Phase::ToolsDue => {
                self.state.phase = Phase::Tools;
                Some(Action::RunTools { calls: self.running_calls() })
            }
            _ => None,
        }
    }

    /// Returns the number of model calls since the last user message, with the one that is due to be answered.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.state.steps
    }

    pub(super) fn begin_turn(&mut self) {
        self.state.phase = Phase::Model;
        self.state.steps = self.state.steps.saturating_add(1);
        if let Some(window) = &mut self.state.window {
            self.state.left_out_calls.extend(window.fit(&mut self.state.transcript));
        }
    }

    /// Returns `true` if another model call would exceed the limit of steps.
    pub(super) fn out_of_steps(&self) -> bool {
        self.state.steps >= self.config.max_steps
    }

    fn running_calls(&self) -> Vec<ToolCall> {
        self.state
            .calls
            .iter()
            .filter(|call| call.state == CallState::Running)
            .map(|call| call.to_call(None))
            .collect()
    }

    /// Processes one input and appends the resulting events. Inputs after the end, or for a call that is not running,
    /// have no effect.
    pub fn step(&mut self, input: Input, tools: &dyn ToolCatalog, events: &mut EventBuf<RunEvent>) {
        if self.is_done() {
            return;
        }
        match input {
            Input::Model(event) if self.state.phase == Phase::Model => self.model(event, tools, events),
            Input::ModelEnd if self.state.phase == Phase::Model => self.model_end(tools, events),
            Input::ModelError(code) if self.state.phase == Phase::Model => {
                // The answer was complete, so a later failure does not matter.
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
                let Ok(output) = self.outgoing(output) else { return };
                events.push(RunEvent::ToolOutput {
                    call_id,
                    output,
                    preliminary: true,
                    provider_executed: false,
                });
            }
            Input::ToolResult { call_id, result } if self.is_running(&call_id) => {
                let result = result.and_then(|output| self.outgoing(output));
                self.tool_result(call_id, result, events);
            }
            Input::ToolUnknown { call_id } if self.is_running(&call_id) => {
                self.unknown_outcome(call_id, events);
            }
            Input::ApprovalNeeded { call_id, gate } if self.is_running(&call_id) => {
                self.ask_approval(&call_id, gate, events);
            }
            Input::ToolWaits { call_id, questions } if self.is_running(&call_id) => {
                self.wait_for_agent(&call_id, questions, events);
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
        let RunState { turn, next_block, transcript, left_out_calls, call_ids, .. } = &mut self.state;
        if !std::mem::replace(&mut turn.started, true) {
            events.push(RunEvent::StepStart);
        }
        turn.shown |= event.is_visible();
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
                let made = turn.calls.len();
                if made > self.config.max_calls_per_turn {
                    return;
                }
                let own = call_ids::replacement(&id, self.config.max_id_bytes);
                let own = match &self.config.call_id_suffix {
                    Some(suffix) => Some(format!("{}-{suffix}", own.as_ref().unwrap_or(&id)).into()),
                    None => own,
                };
                let wanted = own.as_ref().unwrap_or(&id);
                let known = known_call_ids(transcript, left_out_calls, turn);
                let unused = call_ids.unused(wanted, known);
                // An empty or repeated provider id does not identify the call.
                let provider_id = Some(id).filter(|id| own.as_ref() == Some(&unused) && !id.is_empty());
                let id = unused;
                let label = CallLabel { summary: None, ..tools.label(&name, None) };
                let (title, app) = (label.title.clone(), label.app.clone());
                events.push(RunEvent::ToolInputStart { call_id: id.clone(), name: name.clone(), title, app });
                if let Some(title) = label.event(&id) {
                    events.push(title);
                }
                turn.start_call(call, id, name, kind);
                if let Some(call) = turn.calls.last_mut() {
                    call.provider_id = provider_id;
                    call.is_surplus = made == self.config.max_calls_per_turn;
                }
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
                    call.metadata = match &call.provider_id {
                        Some(id) => Some(call_ids::with_provider_id(metadata, id)),
                        None => metadata,
                    };
                }
            }
            LlmEvent::ProviderTool { id, kind, name, item, replay_to } => {
                if let Some(provider) = replay_to {
                    turn.provider_item(provider, item.clone());
                }
                let name = name.unwrap_or(kind);
                let id = call_ids::replacement(&id, self.config.max_id_bytes).unwrap_or(id);
                let (call_id, input) = (id.clone(), JsonText::EMPTY_OBJECT);
                let (provider_executed, metadata, preliminary) = (true, None, false);
                events.push(RunEvent::ToolInputAvailable {
                    call_id,
                    name,
                    input,
                    provider_executed,
                    metadata,
                });
                events.push(match self.too_deep(&item) {
                    Some(error_text) => RunEvent::ToolError { call_id: id, error_text, provider_executed },
                    None => {
                        RunEvent::ToolOutput { call_id: id, output: item, preliminary, provider_executed }
                    }
                });
            }
            LlmEvent::Source(source) => events.push(RunEvent::Source(source)),
            LlmEvent::File { media_type, url } => events.push(RunEvent::File { media_type, url }),
            LlmEvent::Usage(usage) => turn.usage = Some(usage),
            LlmEvent::Finish { reason, truncated, .. } => turn.finish = Some(Finish { reason, truncated }),
            LlmEvent::Kept(handle) => {
                if self.config.journaled {
                    self.kept = Some(Box::new(handle));
                }
            }
            LlmEvent::Start { .. } | LlmEvent::Unknown { .. } => {}
        }
    }

    /// Returns the output in a form that a client returns unchanged, or the reason why that is impossible.
    fn outgoing(&self, output: JsonText) -> Result<JsonText, Text> {
        match self.too_deep(&output) {
            Some(error_text) => Err(error_text),
            None => Ok(canonical::with_exact_numbers(&output).unwrap_or(output)),
        }
    }

    /// Returns the reason for dropping an output that a client could not send back.
    fn too_deep(&self, output: &JsonText) -> Option<Text> {
        let max = self.config.max_value_depth;
        canonical::is_deeper_than(output, max)
            .then(|| format!("The output was dropped: it is nested in more than {max} levels.").into())
    }

    pub(super) fn tool_result(
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
        self.finish_step_if_settled(events);
    }

    /// Ends the step if every server tool has returned.
    pub(super) fn finish_step_if_settled(&mut self, events: &mut EventBuf<RunEvent>) {
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

/// Returns the ids of the calls that the client has.
fn known_call_ids<'a>(
    transcript: &'a [TranscriptItem],
    left_out: &'a [Text],
    turn: &'a Turn,
) -> impl Iterator<Item = Text> + 'a {
    let shown = transcript.iter().filter_map(TranscriptItem::as_call).map(|call| &call.id);
    shown.chain(left_out).chain(turn.calls.iter().map(|call| &call.id)).cloned()
}
