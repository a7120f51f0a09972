//! The text of agents that a tool asks, and beside it the same text of the run itself.

use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::future::try_join_all;
use futures_util::{Stream, StreamExt};
use omniassist_core::tree::TreeLimits;
use omniassist_core::{FinishReason, LlmEvent, LlmPayload, RunEvent, RunRequest};
use omniassist_server::core::event::CallKind;
use omniassist_server::tool::Agents;
use omniassist_server::{Agent, Assistant, AssistantBuilder, LlmProvider, LlmStream, Tool};

use super::{DELTA, Outcome, pipe};

/// The name of the tool that asks the agents.
const ASK: &str = "ask";

/// The turns in which models write. Each delta wakes its run alone, as one that arrives from a provider does. Models that wake
/// their run together would share one turn of the runtime, and their deltas would cost less than those of one model.
#[derive(Clone, Default)]
struct Turns(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    models: VecDeque<Waker>,
    is_one_writing: bool,
}

impl Turns {
    /// Gives the turn to the next model, if the caller has it or none has. `waker` is that of a caller that writes more.
    fn pass(&self, has_turn: bool, waker: Option<&Waker>) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.models.extend(waker.cloned());
        if has_turn || !waiting.is_one_writing {
            let next = waiting.models.pop_front();
            waiting.is_one_writing = next.is_some();
            drop(waiting);
            next.into_iter().for_each(Waker::wake);
        }
    }
}

/// A model that writes this many deltas, each in its turn. With tools, it calls the first one instead.
#[derive(Clone)]
struct Writer {
    deltas: usize,
    turns: Turns,
}

impl Writer {
    fn new(deltas: usize) -> Self {
        Self { deltas, turns: Turns::default() }
    }
}

impl LlmProvider for Writer {
    fn name(&self) -> &str {
        "writer"
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        let is_asked = payload.transcript.len() == 1 && !payload.tools.is_empty();
        Box::pin(Answer {
            left: if is_asked { 0 } else { self.deltas },
            calls: is_asked,
            turns: self.turns.clone(),
            has_turn: false,
            is_woken: false,
            end: 0,
        })
    }
}

struct Answer {
    left: usize,
    calls: bool,
    turns: Turns,
    has_turn: bool,
    is_woken: bool,
    end: usize,
}

impl Stream for Answer {
    type Item = omniassist_server::Result<LlmEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.left > 0 {
            self.is_woken = !self.is_woken;
            if self.is_woken {
                let has_turn = mem::replace(&mut self.has_turn, true);
                self.turns.pass(has_turn, Some(cx.waker()));
                return Poll::Pending;
            }
            self.left -= 1;
            return Poll::Ready(Some(Ok(LlmEvent::TextDelta { block: 0, delta: DELTA })));
        }
        if mem::replace(&mut self.has_turn, false) {
            self.turns.pass(true, None);
        }
        let (calls, at) = (self.calls, self.end);
        self.end += 1;
        let reason = if calls { FinishReason::ToolCalls } else { FinishReason::Stop };
        Poll::Ready(match (calls, at) {
            (true, 0) => Some(Ok(LlmEvent::ToolCallStart {
                call: 0,
                id: "call".into(),
                name: ASK.into(),
                kind: CallKind::Function,
            })),
            (true, 1) => Some(Ok(LlmEvent::ToolCallEnd { call: 0, arguments: "{}".into(), metadata: None })),
            (true, 2) | (false, 0) => Some(Ok(LlmEvent::Finish { reason, raw: None, truncated: false })),
            _ => None,
        })
    }
}

/// Returns the number of deltas of a run that writes `events`.
pub(super) fn root(events: usize) -> Outcome<usize> {
    let assistant = Assistant::builder(Writer::new(events)).build()?;
    count(&assistant, |event| matches!(event, RunEvent::TextDelta { .. }))
}

/// Returns the number of deltas of agents that write `events` together.
pub(super) fn asked(events: usize, agents: usize) -> Outcome<usize> {
    let builder = asking(Writer::new(events / agents), agents);
    count(&builder.build()?, |event| matches!(event, RunEvent::AgentDelta { .. }))
}

/// Measures an agent as `assistant` does a run: the bytes of its provider to those of the response body.
pub(super) fn served(events: usize) -> Outcome<usize> {
    pipe::serve(asking(pipe::model(events), 1), false, b"\"data-agent-delta\"")
}

/// Returns an assistant whose tool asks an agent this many times at once.
fn asking(writer: impl LlmProvider, agents: usize) -> AssistantBuilder {
    let ask = Tool::new(ASK, "Asks the agents", move |asks: Agents| async move {
        let tasks = (0..agents).map(|number| asks.ask("writer", number.to_string()));
        try_join_all(tasks).await.map(|reports| reports.len())
    });
    let writer = Agent::new("writer", "Writes").provider(writer);
    let limits = TreeLimits::new().parallel(64).children(64).model_calls(100);
    Assistant::builder(Writer::new(0)).tool(ask).agent(writer).tree(limits)
}

fn count(assistant: &Assistant, is_delta: fn(&RunEvent) -> bool) -> Outcome<usize> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(async {
        let events =
            assistant.run(RunRequest::prompt("Write")).filter(|event| std::future::ready(is_delta(event)));
        events.count().await
    }))
}
