use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use omniassist_core::event::CallKind;
use omniassist_core::{FinishReason, LlmEvent, LlmPayload, Text};
use tokio::sync::watch;
use tokio::time::{Sleep, sleep};

use super::turn::{Piece, Turn, pieces};
use crate::provider::{LlmProvider, LlmStream};
use crate::{Error, Result};

/// Bytes of argument text in one delta, so that a test receives arguments in several deltas.
const ARGUMENT_DELTA: usize = 8;

/// A model that follows a script: it answers the n-th model call with the n-th [`Turn`].
///
/// Clones share the script and the record, so a test can keep one and give the other to an assistant. A turn
/// is consumed when its stream is first polled. A call without a turn fails with an [`Error`] that contains
/// the number of turns.
///
/// ```
/// use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
/// use serde_json::json;
///
/// let model = ScriptedProvider::new()
///     .turn(call("order_status", json!({"id": 7})))
///     .turn_with(|payload| text(format!("{} entries so far", payload.transcript.len())));
/// # let _ = model;
/// ```
#[derive(Clone)]
pub struct ScriptedProvider {
    script: Arc<Mutex<Script>>,
    dropped: Arc<watch::Sender<usize>>,
    model: Option<String>,
}

type MakeTurn = Box<dyn FnOnce(&LlmPayload) -> Turn + Send>;
type AlwaysTurn = Arc<dyn Fn(&LlmPayload) -> Turn + Send + Sync>;

#[derive(Default)]
struct Script {
    turns: VecDeque<MakeTurn>,
    always: Option<AlwaysTurn>,
    written: usize,
    payloads: Vec<LlmPayload>,
}

impl ScriptedProvider {
    /// Creates a model without a script.
    #[must_use]
    pub fn new() -> Self {
        Self { script: Arc::default(), dropped: Arc::new(watch::Sender::new(0)), model: None }
    }

    /// Adds the answer to the next model call.
    #[must_use]
    pub fn turn(self, turn: impl Into<Turn>) -> Self {
        let turn = turn.into();
        self.turn_with(move |_| turn)
    }

    /// Adds a turn that is made from the request.
    #[must_use]
    pub fn turn_with(self, turn: impl FnOnce(&LlmPayload) -> Turn + Send + 'static) -> Self {
        let mut script = self.lock();
        script.turns.push_back(Box::new(turn));
        script.written += 1;
        drop(script);
        self
    }

    /// Sets the answer to every model call for which no turn is left.
    #[must_use]
    pub fn otherwise(self, turn: impl Fn(&LlmPayload) -> Turn + Send + Sync + 'static) -> Self {
        self.lock().always = Some(Arc::new(turn));
        self
    }

    /// Sets the model's name, [`LlmProvider::model`]. Default: none.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Returns the requests so far, oldest first.
    #[must_use]
    pub fn payloads(&self) -> Vec<LlmPayload> {
        self.lock().payloads.clone()
    }

    /// Returns the number of turns that no call has used yet.
    #[must_use]
    pub fn turns_left(&self) -> usize {
        self.lock().turns.len()
    }

    /// Returns the number of streams that were dropped before their end.
    #[must_use]
    pub fn drops(&self) -> usize {
        *self.dropped.borrow()
    }

    /// Waits until a stream has been dropped before its end. Returns at once if that has happened already.
    pub fn dropped(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut dropped = self.dropped.subscribe();
        let sender = Arc::clone(&self.dropped);
        async move {
            // The sender lives in this future, so waiting cannot fail.
            let _sender = sender;
            let _ = dropped.wait_for(|drops| *drops > 0).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        crate::sync::lock(&self.script)
    }

    fn next_turn(&self, payload: &LlmPayload) -> (usize, Turn) {
        let (number, make) = {
            let mut script = self.lock();
            script.payloads.push(payload.clone());
            let number = script.payloads.len();
            let make = match (script.turns.pop_front(), &script.always) {
                (Some(turn), _) => turn,
                (None, Some(always)) => {
                    let always = Arc::clone(always);
                    Box::new(move |payload: &LlmPayload| always(payload)) as MakeTurn
                }
                (None, None) => {
                    let written = script.written;
                    return (number, Turn::error(out_of_turns(number, written)));
                }
            };
            (number, make)
        };
        (number, make(payload))
    }
}

impl Default for ScriptedProvider {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ScriptedProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = self.lock();
        f.debug_struct("ScriptedProvider")
            .field("asked", &script.payloads.len())
            .field("turns_left", &script.turns.len())
            .finish_non_exhaustive()
    }
}

impl LlmProvider for ScriptedProvider {
    fn name(&self) -> &str {
        "scripted"
    }

    fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        let asked = Some((self.clone(), payload));
        let dropped = OnDrop { drops: Arc::clone(&self.dropped), polled: false, ended: false };
        Box::pin(Play { asked, steps: VecDeque::new(), sleep: None, dropped })
    }
}

fn out_of_turns(number: usize, written: usize) -> Error {
    Error::configuration(format!(
        "the scripted provider was asked for turn {number}, but its script has {written}"
    ))
}

/// Counts a stream that was polled and then dropped before its end.
struct OnDrop {
    drops: Arc<watch::Sender<usize>>,
    polled: bool,
    ended: bool,
}

impl Drop for OnDrop {
    fn drop(&mut self) {
        if self.polled && !self.ended {
            self.drops.send_modify(|drops| *drops += 1);
        }
    }
}

struct Play {
    asked: Option<(ScriptedProvider, LlmPayload)>,
    steps: VecDeque<Step>,
    sleep: Option<Pin<Box<Sleep>>>,
    dropped: OnDrop,
}

enum Step {
    Event(LlmEvent),
    Delay(Duration),
    Pending,
    Error(Error),
}

impl Stream for Play {
    type Item = Result<LlmEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        this.dropped.polled = true;
        if let Some((provider, payload)) = this.asked.take() {
            let model = payload.model.clone().or_else(|| provider.model.clone().map(Text::from));
            let (number, turn) = provider.next_turn(&payload);
            this.steps = steps(number, model, turn);
        }
        loop {
            if let Some(sleep) = &mut this.sleep {
                ready!(sleep.as_mut().poll(cx));
                this.sleep = None;
            }
            match this.steps.pop_front() {
                Some(Step::Event(event)) => return Poll::Ready(Some(Ok(event))),
                Some(Step::Delay(delay)) => this.sleep = Some(Box::pin(sleep(delay))),
                Some(Step::Pending) => {
                    this.steps.push_front(Step::Pending);
                    return Poll::Pending;
                }
                Some(Step::Error(error)) => {
                    this.steps.clear();
                    this.dropped.ended = true;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    this.dropped.ended = true;
                    return Poll::Ready(None);
                }
            }
        }
    }
}

/// Expands a turn into the events of a real model.
fn steps(number: usize, model: Option<Text>, turn: Turn) -> VecDeque<Step> {
    let mut steps = VecDeque::new();
    let event = |steps: &mut VecDeque<Step>, event| steps.push_back(Step::Event(event));
    let (mut block, mut call) = (0, 0);
    let (mut finish, mut truncated) = (None, false);
    let mut finished = false;
    event(&mut steps, LlmEvent::Start { id: Some(format!("scripted-{number}").into()), model });
    for piece in turn.pieces {
        match piece {
            Piece::Text(chunks) => {
                for delta in chunks {
                    event(&mut steps, LlmEvent::TextDelta { block, delta });
                }
                event(&mut steps, LlmEvent::TextEnd { block, metadata: None });
                block += 1;
            }
            Piece::Reasoning(delta) => {
                event(&mut steps, LlmEvent::ReasoningDelta { block, delta });
                event(&mut steps, LlmEvent::ReasoningEnd { block, metadata: None });
                block += 1;
            }
            Piece::Call { id, name, arguments, complete } => {
                let id = id.unwrap_or_else(|| format!("call_{number}_{}", call + 1).into());
                event(&mut steps, LlmEvent::ToolCallStart { call, id, name, kind: CallKind::Function });
                for delta in pieces(&arguments, ARGUMENT_DELTA) {
                    event(&mut steps, LlmEvent::ToolCallDelta { call, delta: delta.into() });
                }
                if complete {
                    event(
                        &mut steps,
                        LlmEvent::ToolCallEnd { call, arguments: arguments.into(), metadata: None },
                    );
                }
                truncated |= !complete;
                call += 1;
            }
            Piece::Event(event) => {
                finished |= matches!(event, LlmEvent::Finish { .. });
                steps.push_back(Step::Event(event));
            }
            Piece::Finish(reason) => finish = Some(reason),
            Piece::Delay(delay) => steps.push_back(Step::Delay(delay)),
            Piece::Pending => steps.push_back(Step::Pending),
            Piece::Error(error) => steps.push_back(Step::Error(error)),
        }
    }
    if !finished {
        let reason = finish.unwrap_or(match (truncated, call) {
            (true, _) => FinishReason::Length,
            (false, 0) => FinishReason::Stop,
            (false, _) => FinishReason::ToolCalls,
        });
        let truncated = truncated || reason.is_cut();
        event(&mut steps, LlmEvent::Finish { reason, raw: None, truncated });
    }
    steps
}
