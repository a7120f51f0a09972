mod agents;
mod close;
mod components;
mod gated;
mod handoff;
mod history;
mod planned;
mod recorded;
mod tools;

use std::collections::VecDeque;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use omniassist_core::event::RunErrorCode;
use omniassist_core::message::Message;
use omniassist_core::run::{Action, Input, RunConfig, RunMachine};
use omniassist_core::transcript::ToolCall;
use omniassist_core::{EventBuf, RunEvent, RunRequest, Text, Usage};
use serde_json::{Map, Value};

use super::client::{ClientQueue, ClientRun};
use super::gate::Gate;
use super::handoff::Handoffs;
use super::preparation::{NotPrepared, Preparation, Prepared};
use super::recording::Recording;
use super::script::Script;
use crate::clock::now_ms;
use crate::engine::end::{End, RETRY_ELSEWHERE};
use crate::engine::history::{SummaryCalls, WindowSummary};
use crate::engine::meter::Meter;
use crate::engine::plan::{Call, Refusal, Stepping, Steps};
use crate::engine::settings::{RunMetadata, Setup};
use crate::engine::tree::{Branch, Seed, Work as _};
use crate::provider::LlmStream;
use crate::seal::Sealer;
use crate::telemetry::RunTrace;
use crate::tool::{LoadedTools, RunningTool, ToolSnapshot};
use crate::wake_flag::WakeFlag;
use crate::{Cost, Error, RunContext, one_line};

/// Drives the state machine of one run. It owns the model stream and the tools: dropping it closes the stream and cancels
/// the tools.
pub(in crate::engine) struct Driver {
    setup: Arc<Setup>,
    run: RunContext,
    queue: ClientQueue,
    tools: ToolSnapshot,
    /// Set at the first model call whose tools are deferred.
    loaded: Option<Box<LoadedTools>>,
    call: Call,
    /// Set at the first step of a run whose model calls are prepared.
    steps: Option<Box<Steps>>,
    stepping: Option<Stepping>,
    refusal: Option<Box<Refusal>>,
    has_begun: bool,
    /// `true` after the first model call.
    has_asked: bool,
    stage: Stage,
    events: EventBuf<RunEvent>,
    sealer: Option<Box<Sealer>>,
    /// The seal of the last event. Boxed, because few events have one and every run has the field.
    follow_up: Option<Box<RunEvent>>,
    model: Option<LlmStream>,
    /// Takes the place of the model.
    script: Option<Box<Script>>,
    queued: VecDeque<ToolCall>,
    running: Vec<RunningTool>,
    /// Set by the updates of running tools, and by events that host code sends.
    tools_woken: WakeFlag,
    trace: RunTrace,
    metadata: RunMetadata,
    meter: Option<Meter>,
    recording: Option<Box<Recording>>,
    /// The tokens that a summary of the context used.
    summary_usage: Usage,
    retry_after: Option<Duration>,
    /// The error of the last model call that failed.
    model_error: Option<Arc<Error>>,
    /// The summary of the omitted part of a long conversation.
    summary: Option<Box<WindowSummary>>,
    /// Set for a run that is stored.
    gate: Option<Box<Gate>>,
    /// Set for a run whose tools can ask agents.
    branch: Option<Box<Branch>>,
    /// Set for a run whose tools can make calls.
    seed: Option<Box<Seed>>,
    /// Set for a run whose agent can hand off.
    handoffs: Option<Box<Handoffs>>,
    /// The model calls since the last user message after which the agent takes no more. Before the run begins, those of the
    /// agents that had the conversation before.
    step_limit: u32,
}

enum Stage {
    /// Boxed, because a run outlives its preparation by far.
    Preparing(Box<Beginning>),
    Running(Box<RunMachine>),
    Done,
}

/// The state of a run before its first model call.
struct Beginning {
    request: RunRequest,
    config: RunConfig,
    preparation: Preparation,
    /// Set if the preparation can make summaries.
    summaries: Option<SummaryCalls>,
}

/// The parts of a run of which a driver is made.
pub(in crate::engine) struct RunParts {
    pub(in crate::engine) setup: Arc<Setup>,
    pub(in crate::engine) run: RunContext,
    pub(in crate::engine) queue: ClientQueue,
    pub(in crate::engine) tools: ToolSnapshot,
    pub(in crate::engine) call: Call,
    pub(in crate::engine) request: RunRequest,
    pub(in crate::engine) config: RunConfig,
    pub(in crate::engine) preparation: Preparation,
    pub(in crate::engine) branch: Option<Branch>,
    pub(in crate::engine) seed: Option<Seed>,
    pub(in crate::engine) handoffs: Option<Handoffs>,
    /// The model calls of agents that had the conversation before. They do not count as those of this one.
    pub(in crate::engine) steps_before: u32,
}

impl Driver {
    pub(in crate::engine) fn new(parts: RunParts) -> Self {
        let RunParts { setup, run, queue, tools, call, request, config, preparation, .. } = parts;
        let summaries = setup.may_summarise().then(SummaryCalls::default);
        let preparation = match &summaries {
            Some(calls) => Box::pin(calls.of(preparation)),
            None => preparation,
        };
        Self {
            setup,
            run,
            queue,
            tools,
            loaded: None,
            call,
            steps: None,
            stepping: None,
            refusal: None,
            has_begun: false,
            has_asked: false,
            stage: Stage::Preparing(Box::new(Beginning { request, config, preparation, summaries })),
            // More than two events are rarely pending.
            events: EventBuf::with_capacity(2),
            sealer: None,
            follow_up: None,
            model: None,
            script: None,
            queued: VecDeque::new(),
            running: Vec::new(),
            tools_woken: WakeFlag::new(),
            trace: RunTrace::none(),
            metadata: RunMetadata::begin(),
            meter: None,
            recording: None,
            summary_usage: Usage::default(),
            retry_after: None,
            model_error: None,
            summary: None,
            gate: None,
            branch: parts.branch.map(Box::new),
            seed: parts.seed.map(Box::new),
            handoffs: parts.handoffs.map(Box::new),
            step_limit: parts.steps_before,
        }
    }

    /// Delays the preparation of the run until `first` is complete.
    pub(super) fn wait_for(&mut self, first: Pin<Box<dyn Future<Output = ()> + Send>>) {
        if let Stage::Preparing(beginning) = &mut self.stage {
            let then = mem::replace(&mut beginning.preparation, Box::pin(std::future::pending()));
            beginning.preparation = Box::pin(async move {
                first.await;
                then.await
            });
        }
    }

    /// Seals the events of the run. The client sends the seals back with its next request.
    pub(in crate::engine) fn seal_with(
        &mut self,
        sealer: Sealer,
        continued: Option<&Message>,
        message_id: &Text,
    ) {
        let mut sealer = sealer.message(message_id.clone());
        if let Some(message) = continued {
            sealer.remember(message);
        }
        self.sealer = Some(Box::new(sealer));
    }

    /// Returns the client's id of the run.
    pub(in crate::engine) fn client_run(&self) -> Option<ClientRun> {
        self.run.extensions().get().cloned()
    }

    /// Counts the tokens of the run, and ends it if they exceed the budget.
    pub(in crate::engine) fn meter_with(&mut self, meter: Meter) {
        if let Some(branch) = &mut self.branch {
            branch.meter_with(&meter);
        }
        self.meter = Some(meter);
    }

    /// Begins the trace of an admitted run, and records its events if `on_finish` or the audit log needs them.
    pub(in crate::engine) fn start(
        &mut self,
        continued: Option<&Message>,
        message_id: &Text,
        posted: Option<Vec<Message>>,
    ) {
        let config = &self.setup.config;
        self.trace = RunTrace::begin(
            &self.run,
            self.call.provider.name(),
            self.call.requested_model(),
            config.records_content,
            &config.observers,
            config.records_runs(),
        );
        if self.is_stored() {
            self.trace.keep_used();
        }
        let begun = Recording::begin(&self.setup, &self.run, continued, message_id, posted);
        if let Some((recording, ticket)) = begun {
            self.recording = Some(recording);
            if let Some(ticket) = ticket {
                self.wait_for(Box::pin(ticket.accepted()));
            }
        }
    }

    /// Polls for the next event. Returns `None` after the terminal one.
    pub(in crate::engine) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        loop {
            if self.has_event() {
                return Poll::Ready(match self.recording {
                    None => self.next_event(),
                    Some(_) => self.record_next(),
                });
            }
            if matches!(self.stage, Stage::Done) {
                return Poll::Ready(None);
            }
            ready!(self.poll_progress(cx));
        }
    }

    fn has_event(&self) -> bool {
        self.follow_up.is_some() || !self.events.is_empty()
    }

    /// Returns the next pending event, sealed.
    fn next_event(&mut self) -> Option<RunEvent> {
        if let Some(seal) = self.follow_up.take() {
            return Some(*seal);
        }
        // The event is sealed in place, because a move costs half as much as the seal of a delta.
        if let (Some(sealer), Some(event)) = (&mut self.sealer, self.events.front_mut()) {
            self.follow_up = sealer.seal(event, &self.tools, now_ms).map(Box::new);
        }
        self.events.pop()
    }

    /// Ends the run for a reason outside its state machine.
    pub(in crate::engine) fn end(&mut self, end: End) {
        if let Stage::Preparing(_) = self.stage {
            self.begin_ended();
        }
        let input = match end {
            End::Deadline => Input::Fail(RunErrorCode::Timeout),
            End::Shutdown => {
                self.retry_after = Some(RETRY_ELSEWHERE);
                Input::Fail(RunErrorCode::ServerShutdown)
            }
            End::Panic => Input::Fail(RunErrorCode::Internal),
            End::Abort(reason) => Input::Abort { reason },
        };
        self.step(input);
        self.settle();
    }

    fn poll_progress(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Stage::Preparing(beginning) = &mut self.stage {
            let polled = self.trace.enter_scope(|| beginning.preparation.as_mut().poll(cx));
            match ready!(polled) {
                Ok(prepared) => self.begin(prepared),
                Err(NotPrepared::Failed(code)) => {
                    self.begin_ended();
                    self.step(Input::Fail(code));
                }
                Err(NotPrepared::Refused(refusal)) => self.begin_refused(*refusal),
            }
        } else if self.run.has_sent_data() && self.take_data() {
            return Poll::Ready(());
        } else if self.gate.as_ref().is_some_and(|gate| gate.is_waiting()) {
            return Poll::Pending;
        } else if self.model.is_some() {
            ready!(self.poll_model(cx));
        } else if self.stepping.is_some() {
            ready!(self.poll_stepping(cx));
        } else if self.handoffs.as_ref().is_some_and(|handoffs| handoffs.is_preparing()) {
            ready!(self.poll_handoff(cx));
        } else if !self.running.is_empty() {
            // The event of an agent is shown, and changes nothing else.
            if self.poll_agents(cx).is_ready() {
                return Poll::Ready(());
            }
            ready!(self.poll_tools(cx));
        }
        self.act();
        self.settle();
        Poll::Ready(())
    }

    fn begin(&mut self, prepared: Prepared) {
        self.end_preparation();
        let Stage::Preparing(beginning) = mem::replace(&mut self.stage, Stage::Done) else { return };
        let Beginning { mut request, mut config, .. } = *beginning;
        if let Some(messages) = prepared.messages {
            request.messages = messages;
        }
        self.metadata.context(prepared.receipt);
        self.trace.context_prepared(prepared.receipt);
        if let Some(viewed) = prepared.view {
            self.summary = viewed.summary.map(Box::new);
            config.view = Some(viewed.view);
        }
        self.has_begun = true;
        self.call.system = prepared.system;
        if let Some(plan) = prepared.plan {
            self.call = Call { system: self.call.system.take(), ..plan.call };
            self.tools = plan.tools;
            config.max_steps = plan.max_steps.unwrap_or(config.max_steps);
            self.trace.planned(self.call.provider.name(), self.call.requested_model());
        }
        self.add_ui_instructions();
        config.context = prepared.context;
        config.refused_approvals = prepared.refused_approvals;
        let own_steps = self.limit_steps(&mut config);
        let mut machine = RunMachine::start(&request, config, &self.tools, &mut self.events);
        if self.gate.is_some() {
            machine = self.recover(machine, own_steps);
        }
        self.stage = Stage::Running(Box::new(machine));
        if !prepared.metadata.is_empty() {
            self.start_with(prepared.metadata);
        }
    }

    /// Adds metadata to the start event, which is among the events that wait.
    fn start_with(&mut self, host: Map<String, Value>) {
        let mut events: Vec<_> = self.events.drain().collect();
        if let Some(RunEvent::Start { metadata, .. }) = events.first_mut() {
            metadata.get_or_insert_default().extend(host);
        }
        self.events.extend(events);
    }

    /// Takes the events that host code has sent. Returns `true` if there were any.
    fn take_data(&mut self) -> bool {
        let mut any = false;
        while let Some(event) = self.queue.pop() {
            self.events.push(event);
            any = true;
        }
        any
    }

    fn step(&mut self, input: Input) {
        if let Stage::Running(machine) = &mut self.stage {
            machine.step(input, &self.tools, &mut self.events);
        }
    }

    /// Takes one event from the model.
    fn poll_model(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(model) = &mut self.model else { return Poll::Ready(()) };
        let polled = self.trace.enter_scope(|| model.as_mut().poll_next(cx));
        let prices = self.setup.config.prices.as_ref();
        if let (Some(branch), Poll::Ready(None | Some(Err(_)))) = (&mut self.branch, &polled) {
            branch.settle();
        }
        let input = match polled {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Some(Ok(event))) => {
                self.trace.model_said(&event);
                self.metadata.observe(&event);
                let is_over = self.branch.as_mut().is_some_and(|branch| branch.spend(&event, prices));
                if let Stage::Running(machine) = &mut self.stage {
                    machine.step(Input::Model(event), &self.tools, &mut self.events);
                }
                if is_over {
                    self.model = None;
                    self.exceed();
                }
                return Poll::Ready(());
            }
            Poll::Ready(Some(Err(error))) => {
                self.model = None;
                if let Some(code) = error.stop() {
                    self.retry_after = error.retry_after();
                    self.trace.call_ended(Some(code.as_str()), prices);
                    self.step(Input::Fail(code));
                    return Poll::Ready(());
                }
                tracing::warn!(
                    run_id = self.run.run_id().as_str(),
                    provider = self.call.provider.name(),
                    detail = error.detail().unwrap_or_default(),
                    request_id = error.provider_request_id().unwrap_or_default(),
                    error = %one_line::chain(&error),
                    "the model call failed"
                );
                self.trace.call_ended(Some(error.run_code().as_str()), prices);
                if let Some(refused) = error.refusal() {
                    self.refuse(Refusal::new(refused.code, refused.message.clone()));
                    return Poll::Ready(());
                }
                self.retry_after = error.retry_after();
                let input = match error.is_context_overflow() {
                    true => Input::ContextOverflow,
                    false => Input::ModelError(error.run_code()),
                };
                self.model_error = Some(Arc::new(error));
                input
            }
            Poll::Ready(None) => {
                self.model = None;
                self.trace.call_ended(None, prices);
                Input::ModelEnd
            }
        };
        self.step(input);
        Poll::Ready(())
    }

    fn act(&mut self) {
        let Stage::Running(machine) = &mut self.stage else { return };
        let Some(action) = machine.next_action() else { return };
        if self.gate.is_some() {
            self.hold_for_journal(action);
        } else {
            self.carry_out(action);
        }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::CallModel { transcript } if !self.begin_handoff(&transcript) => {
                self.ask_model(transcript);
            }
            Action::RunTools { calls } => {
                self.queued = calls.into();
                self.fill_tools();
            }
            _ => {}
        }
    }

    pub(super) fn model_error(&self) -> Option<Arc<Error>> {
        self.model_error.clone()
    }

    pub(in crate::engine) fn cost(&self) -> Option<Cost> {
        self.trace.cost()
    }

    /// Returns the delay before a repeated request can succeed: as a failed provider asks for, until another server may be
    /// available, or until the budget has tokens again.
    pub(in crate::engine) fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

/// Dropping the driver ends the run.
impl Drop for Driver {
    fn drop(&mut self) {
        self.leave();
        self.end_recording();
    }
}
