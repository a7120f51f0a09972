//! The text of agents that a tool asks, and beside it the same text of the run itself.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::try_join_all;
use futures_util::{Stream, StreamExt};
use omniassist_core::tree::TreeLimits;
use omniassist_core::{FinishReason, LlmEvent, LlmPayload, RunEvent, RunRequest};
use omniassist_server::core::event::CallKind;
use omniassist_server::tool::Agents;
use omniassist_server::{Agent, Assistant, LlmProvider, LlmStream, Tool};

use super::{DELTA, Outcome};

/// The name of the tool that asks the agents.
const ASK: &str = "ask";

/// A model that writes this many deltas, and wakes its task for each. With tools, it calls the first one instead.
#[derive(Clone, Copy)]
struct Writer {
    deltas: usize,
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
            is_woken: false,
            end: 0,
        })
    }
}

struct Answer {
    left: usize,
    calls: bool,
    is_woken: bool,
    end: usize,
}

impl Stream for Answer {
    type Item = omniassist_server::Result<LlmEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.left > 0 {
            self.is_woken = !self.is_woken;
            if self.is_woken {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            self.left -= 1;
            return Poll::Ready(Some(Ok(LlmEvent::TextDelta { block: 0, delta: DELTA })));
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
    let assistant = Assistant::builder(Writer { deltas: events }).build()?;
    count(&assistant, |event| matches!(event, RunEvent::TextDelta { .. }))
}

/// Returns the number of deltas of agents that write `events` together.
pub(super) fn asked(events: usize, agents: usize) -> Outcome<usize> {
    let ask = Tool::new(ASK, "Asks the agents", move |asks: Agents| async move {
        let tasks = (0..agents).map(|number| asks.ask("writer", number.to_string()));
        try_join_all(tasks).await.map(|reports| reports.len())
    });
    let writer = Agent::new("writer", "Writes").provider(Writer { deltas: events / agents });
    let limits = TreeLimits::new().parallel(64).children(64).model_calls(100);
    let builder = Assistant::builder(Writer { deltas: 0 }).tool(ask).agent(writer).tree(limits);
    count(&builder.build()?, |event| matches!(event, RunEvent::AgentDelta { .. }))
}

fn count(assistant: &Assistant, is_delta: fn(&RunEvent) -> bool) -> Outcome<usize> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(async {
        let events =
            assistant.run(RunRequest::prompt("Write")).filter(|event| std::future::ready(is_delta(event)));
        events.count().await
    }))
}
