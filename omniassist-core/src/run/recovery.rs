//! A run rebuilt from its journal.

use std::collections::BTreeSet;

use super::machine::RunMachine;
use super::state::{CallState, OpenCall, Phase};
use super::turn::{Said, Turn};
use super::turn_record::{CallRecord, TurnRecord};
use crate::event::{BlockId, BlockKind};
use crate::message::ProviderMetadata;
use crate::{AnswerHandle, EventBuf, JsonText, RunEvent, Text, TranscriptItem};

/// A run that was recovered from its journal.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Recovered {
    /// The machine. Its next action is the one that was due when the journal ends.
    pub machine: RunMachine,
    /// Calls that had begun and have no result. They are among the calls of the next action, in its order. The host
    /// decides about each: run it again, or feed [`Input::ToolUnknown`](super::Input::ToolUnknown).
    pub interrupted: Vec<Text>,
    /// The answer that the model was writing, if its provider keeps it. It answers the next model call.
    pub kept: Option<AnswerHandle>,
    /// Events that follow from the journal and that it does not have. They come before any other event of the run.
    pub events: Vec<RunEvent>,
}

/// Reads a run's journal, oldest entry first.
#[derive(Debug)]
pub(crate) struct Recovery {
    machine: RunMachine,
    step: Step,
    next_block: u32,
    begun: BTreeSet<Text>,
    /// Events that follow from the state, and were not found in the journal so far.
    missing: Vec<RunEvent>,
    /// Set by the terminal event. `true` if it is [`RunEvent::Finish`].
    ended: Option<bool>,
}

/// The events of the current step.
#[derive(Debug, Default)]
struct Step {
    /// `true` if the model's turn has begun and not ended.
    is_open: bool,
    is_finished: bool,
    /// The answer of the turn, if its provider keeps it.
    kept: Option<AnswerHandle>,
    blocks: Vec<Block>,
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Block {
    id: BlockId,
    kind: BlockKind,
    text: String,
    metadata: Option<ProviderMetadata>,
}

#[derive(Debug)]
struct Call {
    id: Text,
    name: Text,
    input: JsonText,
    metadata: Option<ProviderMetadata>,
}

impl Recovery {
    /// Begins with the machine that the run's request gives.
    pub(crate) fn new(machine: RunMachine) -> Self {
        Self {
            machine,
            step: Step::default(),
            next_block: 0,
            begun: BTreeSet::new(),
            missing: Vec::new(),
            ended: None,
        }
    }

    pub(crate) fn event(&mut self, event: RunEvent) {
        match event {
            RunEvent::StepStart => self.begin_step(None),
            // The answer of a turn that was withdrawn may still be there.
            RunEvent::StepReset => {
                let kept = self.step.kept.take();
                self.begin_step(kept);
            }
            RunEvent::TextStart { id } => self.open(id, BlockKind::Text),
            RunEvent::ReasoningStart { id } => self.open(id, BlockKind::Reasoning),
            RunEvent::TextDelta { id, delta } | RunEvent::ReasoningDelta { id, delta } => {
                if let Some(block) = self.step.block(id) {
                    block.text.push_str(&delta);
                }
            }
            RunEvent::TextEnd { id, metadata } | RunEvent::ReasoningEnd { id, metadata } => {
                if let Some(block) = self.step.block(id) {
                    block.metadata = without_seal(metadata);
                }
            }
            RunEvent::ToolInputAvailable { call_id: id, name, input, provider_executed: false, metadata }
            | RunEvent::ToolInputError { call_id: id, name, input, metadata, .. } => {
                self.step.calls.push(Call { id, name, input, metadata: without_seal(metadata) });
            }
            RunEvent::ToolOutput { call_id, output, preliminary: false, provider_executed: false } => {
                self.settle(&call_id, CallState::Answered { output, is_error: false });
            }
            RunEvent::ToolError { call_id, error_text, provider_executed: false } => {
                let output = JsonText::from_str_value(&error_text);
                self.settle(&call_id, CallState::Answered { output, is_error: true });
            }
            RunEvent::ToolApprovalRequest(request) => self.settle(&request.call_id, CallState::HandedOver),
            RunEvent::ToolRefused { call_id, reason: error_text } => {
                self.settle(&call_id, CallState::Refused { error_text });
            }
            RunEvent::StepFinish { .. } => {
                self.step.is_finished = true;
                self.missing.retain(|event| !matches!(event, RunEvent::StepFinish { .. }));
            }
            RunEvent::Finish { .. } => self.end(true),
            RunEvent::Error { .. } | RunEvent::Abort { .. } => self.end(false),
            _ => {}
        }
    }

    /// Applies the record of a turn. Returns `false` if the journal lacks an event of this turn.
    #[must_use]
    pub(crate) fn turn(&mut self, record: TurnRecord) -> bool {
        let TurnRecord { compacted, resumed, said, calls, usage, finish } = record;
        let mut events = EventBuf::new();
        if resumed {
            let Some(calls) = calls.into_iter().map(OpenCall::of_record).collect() else { return false };
            self.machine.record = None;
            self.machine.resume_calls(calls, &mut events);
            self.expect(&mut events);
            return true;
        }
        let calls: Option<Vec<_>> = calls.into_iter().map(|call| self.step.call(call)).collect();
        let Some(calls) = calls else { return false };
        let items: Option<Vec<_>> = said.into_iter().map(|said| self.step.item(said, &calls)).collect();
        let Some(items) = items else { return false };
        self.machine.begin_turn();
        if compacted && self.machine.shorten() {
            self.machine.begin_turn();
        }
        self.machine.state.turn = Turn::ended(usage, finish);
        self.machine.end_turn(items, calls.into_iter().map(|(call, _)| call).collect(), &mut events);
        self.step.is_open = false;
        self.expect(&mut events);
        true
    }

    /// Applies the handle of an answer.
    pub(crate) fn kept(&mut self, handle: AnswerHandle) {
        self.step.kept = Some(handle);
    }

    /// Applies the start of tools.
    pub(crate) fn begun(&mut self, calls: Vec<Text>) {
        self.begun.extend(calls);
    }

    /// Applies the unknown outcome of a call, whose error is an event.
    pub(crate) fn unknown_outcome(&mut self, call_id: &Text) {
        self.machine.remember_unknown(call_id);
    }

    /// Returns the run at the end of its journal.
    pub(crate) fn finish(mut self) -> Recovered {
        let state = &mut self.machine.state;
        state.next_block = state.next_block.max(self.next_block);
        let mut kept = None;
        match self.ended {
            Some(true) if state.phase == Phase::Suspended => {}
            Some(_) => state.phase = Phase::Done,
            // The tools of a turn start after its end. Nothing has happened, so the model is asked again.
            None if self.step.is_open => {
                state.turn.started = true;
                self.missing = vec![RunEvent::StepReset];
                kept = self.step.kept;
            }
            None => {}
        }
        let interrupted = state.calls.iter().filter(|call| call.state == CallState::Running);
        let interrupted = interrupted.map(|call| &call.id).filter(|id| self.begun.contains(*id));
        Recovered {
            interrupted: interrupted.cloned().collect(),
            kept,
            machine: self.machine,
            events: self.missing,
        }
    }

    fn begin_step(&mut self, kept: Option<AnswerHandle>) {
        self.missing.clear();
        self.step = Step { is_open: true, kept, ..Step::default() };
    }

    fn open(&mut self, id: BlockId, kind: BlockKind) {
        self.next_block = self.next_block.max(id.0.wrapping_add(1));
        self.step.blocks.push(Block { id, kind, text: String::new(), metadata: None });
    }

    /// Changes the state of a call that runs.
    fn settle(&mut self, call_id: &Text, settled: CallState) {
        let mut calls = self.machine.state.calls.iter_mut();
        let call = calls.find(|call| call.id == *call_id && call.state == CallState::Running);
        let Some(call) = call else { return };
        call.state = settled;
        let mut events = EventBuf::new();
        self.machine.finish_step_if_settled(&mut events);
        self.expect(&mut events);
    }

    fn end(&mut self, well: bool) {
        self.ended = Some(well);
        self.missing.clear();
    }

    /// Keeps the events that the journal has not shown yet.
    fn expect(&mut self, events: &mut EventBuf<RunEvent>) {
        let (is_finished, has_ended) = (self.step.is_finished, self.ended.is_some());
        let is_missing = |event: &RunEvent| match event {
            RunEvent::StepFinish { .. } => !is_finished,
            event => !(event.is_terminal() && has_ended),
        };
        self.missing.extend(events.drain().filter(is_missing));
    }
}

impl Step {
    fn block(&mut self, id: BlockId) -> Option<&mut Block> {
        self.blocks.iter_mut().rev().find(|block| block.id == id)
    }

    /// Returns a call with the metadata of its transcript item.
    fn call(&self, record: CallRecord) -> Option<(OpenCall, Option<ProviderMetadata>)> {
        let shown = self.calls.iter().find(|call| call.id == record.id)?;
        let arguments = record.arguments.unwrap_or_else(|| shown.input.clone());
        let name = record.name.unwrap_or_else(|| shown.name.clone());
        Some((OpenCall::new(record.id, name, arguments, record.state), shown.metadata.clone()))
    }

    fn item(&self, said: Said, calls: &[(OpenCall, Option<ProviderMetadata>)]) -> Option<TranscriptItem> {
        Some(match said {
            Said::Item { provider, item } => TranscriptItem::ProviderItem { provider, item },
            Said::Call(index) => {
                let (call, metadata) = calls.get(index)?;
                TranscriptItem::Call(call.to_call(metadata.clone()))
            }
            Said::Block(id) => {
                let block = self.blocks.iter().rev().find(|block| block.id == id)?;
                let (text, metadata) = (Text::from(block.text.as_str()), block.metadata.clone());
                match block.kind {
                    BlockKind::Text => TranscriptItem::Text { text, metadata },
                    BlockKind::Reasoning => TranscriptItem::Reasoning { text, metadata },
                }
            }
        })
    }
}

impl OpenCall {
    /// Returns the call of a record that has all its fields.
    fn of_record(record: CallRecord) -> Option<Self> {
        Some(Self::new(record.id, record.name?, record.arguments?, record.state))
    }
}

impl RunMachine {
    /// Continues with calls that the journal has. The start of the run derives them too, from tools that may have changed.
    fn resume_calls(&mut self, calls: Vec<OpenCall>, events: &mut EventBuf<RunEvent>) {
        for call in &calls {
            self.set_arguments(&call.id, &call.arguments);
        }
        self.state.calls = calls;
        self.state.resumed = true;
        self.run_or_finish(events);
    }
}

/// Returns the state of a provider without the seals that were added for the client.
fn without_seal(metadata: Option<ProviderMetadata>) -> Option<ProviderMetadata> {
    let mut metadata = metadata?;
    if metadata.own().is_none() {
        return Some(metadata);
    }
    metadata.forget_own();
    (!metadata.is_empty()).then_some(metadata)
}
