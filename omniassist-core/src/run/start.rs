use super::config::RunConfig;
use super::machine::RunMachine;
use super::state::{Phase, RunState, VERSION};
use super::turn::Turn;
use super::{RunRequest, ToolCatalog, call_ids, obligation};
use crate::event::RunErrorCode;
use crate::message::{Message, Part, Role, ToolState};
use crate::transcript::{from_messages, insert_context};
use crate::{EventBuf, RunEvent, Text, Usage};

impl RunMachine {
    /// Begins a run. If the conversation ends in an assistant message, the run continues that message, starting with
    /// its approved calls. While the client has open obligations in the message's last step (an output, an approval, a
    /// form), the run stays suspended and requests them again.
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
        let (mut transcript, window, left_out_calls) = match config.view.take() {
            None => (from_messages(&request.messages), None, Vec::new()),
            Some(view) => {
                let (transcript, sent) = view.open(&request.messages);
                (transcript, Some(Box::new(sent)), view.left_out_calls(&request.messages))
            }
        };
        let left_out_calls = left_out_calls.into_iter().chain(request.asked_calls.iter().cloned());
        let left_out_calls = left_out_calls.chain(calls_without_item(&request.messages)).collect();
        if let Some(block) = config.context.take() {
            insert_context(&mut transcript, block);
        }
        let state = RunState {
            version: VERSION,
            message_id: message_id.clone(),
            phase: Phase::ModelDue,
            transcript,
            left_out_calls,
            window,
            call_ids: call_ids::CallIds::default(),
            unknown_calls: Vec::new(),
            steps: steps_since_user(&request.messages),
            invalid_turns: 0,
            next_block: 0,
            usage: Usage::default(),
            turn: Turn::default(),
            calls: Vec::new(),
            resumed: false,
            corrected: false,
        };
        let mut machine = Self { state, config, record: None, kept: None, questions: Vec::new() };
        events.push(RunEvent::Start { message_id, metadata: None });
        if let Some(message) = continued {
            obligation::report_unaccepted(message, &request.unaccepted, events);
            machine.continue_message(message, &request.resumed_calls, tools, events);
        }
        if machine.state.phase == Phase::ModelDue && machine.out_of_steps() {
            machine.fail(RunErrorCode::MaxSteps, events);
        }
        machine
    }
}

/// Returns the calls that the client has and no transcript contains.
fn calls_without_item(messages: &[Message]) -> impl Iterator<Item = Text> {
    let calls = messages.iter().flat_map(Message::tools);
    let without = calls.filter(|call| call.provider_executed || call.state == ToolState::InputStreaming);
    without.map(|call| call.call_id.clone())
}

/// Returns the number of model calls in the conversation since the last user message.
fn steps_since_user(messages: &[Message]) -> u32 {
    let trailing = messages.iter().rev().take_while(|message| message.role != Role::User);
    let steps = trailing.filter(|message| message.role == Role::Assistant).map(|message| {
        let marked = message.parts.iter().filter(|part| matches!(part, Part::StepStart)).count();
        marked.max(usize::from(!message.parts.is_empty()))
    });
    u32::try_from(steps.sum::<usize>()).unwrap_or(u32::MAX)
}
