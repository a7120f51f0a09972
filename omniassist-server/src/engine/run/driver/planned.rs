//! The host's decisions about a run and its model calls, as the driver carries them out.

use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use omniassist_core::run::Input;
use omniassist_core::tree::Limit;
use omniassist_core::{LlmPayload, ToolChoice, TranscriptItem};

use super::{Driver, Stage};
use crate::engine::plan::{Admission, Call, Refusal, StepPlan, Steps};
use crate::engine::run::preparation::Prepared;
use crate::engine::run::script::Script;
use crate::tool::ToolSnapshot;

impl Driver {
    /// Lets a script take the place of the model.
    pub(in crate::engine) fn follow(&mut self, script: Script) {
        self.script = Some(Box::new(script));
    }

    fn call_model(&mut self, transcript: Arc<[TranscriptItem]>) {
        if let Some(script) = &mut self.script {
            self.model = Some(script.answer());
            return;
        }
        let kept = self.kept_answer();
        let Call { provider, model, system, options, tool_choice } = &self.call;
        let mut payload = LlmPayload::new(transcript);
        payload.system.clone_from(system);
        if self.loaded.is_none() {
            self.loaded = self.tools.loaded_by(self.run.messages()).map(Box::new);
        }
        if let Some(loaded) = &mut self.loaded {
            loaded.read(&payload.transcript);
        }
        payload.tools = self.tools.offered(self.loaded.as_deref(), tool_choice);
        payload.tool_choice = match tool_choice {
            // All tools are deferred, and the host hides the search.
            ToolChoice::Required if payload.tools.is_empty() => ToolChoice::Auto,
            choice => choice.clone(),
        };
        payload.options = Arc::clone(options);
        payload.model.clone_from(model);
        payload.kept = kept;
        if let Some(branch) = &mut self.branch {
            let price = self.call.price(self.setup.config.prices.as_ref());
            if let Err(limit) = branch.reserve(&mut payload, price) {
                if limit == Limit::Cost && price.is_none() {
                    let model = self.call.requested_model();
                    tracing::error!(model, "a model without a price was not called: its cost is limited");
                }
                return self.exceed();
            }
        }
        self.trace.call_model(&payload, provider.name(), self.call.requested_model());
        let answer = self.trace.enter_scope(|| match &self.meter {
            Some(meter) => meter.stream(Arc::clone(provider), payload),
            None => provider.stream(payload),
        });
        let is_first = !mem::replace(&mut self.has_asked, true);
        let guarded = self.setup.config.guards.around(answer, &self.run, is_first);
        self.model = Some(self.setup.with_generated_files(guarded, &self.run));
    }

    /// Calls the model, after the functions of the host that prepare its calls.
    pub(super) fn ask_model(&mut self, transcript: Arc<[TranscriptItem]>) {
        if self.ends_at_limit() {
            return;
        }
        // The host has prepared the step whose tool makes the call.
        let is_inner = self.branch.as_ref().is_some_and(|branch| branch.is_inner());
        if is_inner || self.setup.config.step_hooks.is_empty() {
            self.call_model(transcript);
        } else {
            self.prepare_step(transcript);
        }
    }

    fn prepare_step(&mut self, transcript: Arc<[TranscriptItem]>) {
        let setup = &self.setup;
        let steps = self.steps.get_or_insert_with(|| {
            let (hooks, state) = (&setup.config.step_hooks, setup.tools.state());
            Box::new(Steps::new(hooks, state, self.call.clone(), self.tools.clone()))
        });
        self.stepping = Some(steps.next(&self.run, transcript, self.trace.usage()));
    }

    pub(super) fn poll_stepping(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(stepping) = &mut self.stepping else { return Poll::Ready(()) };
        let planned = ready!(self.trace.enter_scope(|| stepping.as_mut().poll(cx)));
        self.stepping = None;
        match planned {
            Ok(plan) => {
                let StepPlan { call, tools, transcript, .. } = *plan;
                (self.call, self.tools) = (call, tools);
                self.call_model(transcript);
            }
            Err(refusal) => self.refuse(refusal),
        }
        Poll::Ready(())
    }

    /// Begins a run that ends at once. It has no tools, so that it continues no call of the conversation: an open
    /// approval would suspend it.
    pub(super) fn begin_ended(&mut self) {
        self.tools = ToolSnapshot::default();
        if let Stage::Preparing(beginning) = &mut self.stage {
            beginning.config.max_steps = u32::MAX;
        }
        self.begin(Prepared::default());
    }

    /// Begins and ends a run that the host refuses.
    pub(super) fn begin_refused(&mut self, refusal: Refusal) {
        self.begin_ended();
        self.has_begun = false;
        if let Some(recording) = &mut self.recording {
            recording.leave_out_finish();
        }
        self.refuse(refusal);
    }

    pub(super) fn refuse(&mut self, refusal: Refusal) {
        self.retry_after = refusal.delay();
        let code = refusal.run_code();
        self.refusal = Some(Box::new(refusal));
        self.step(Input::Fail(code));
    }

    /// Returns the refusal of the host that ended the run.
    pub(in crate::engine) fn refusal(&self) -> Option<Refusal> {
        self.refusal.as_deref().cloned()
    }

    /// Returns the host's decision about the beginning of the run, if it was made.
    pub(in crate::engine) fn admission(&self) -> Admission {
        match (&self.stage, &self.refusal) {
            (_, Some(refusal)) if !self.has_begun => Admission::Refused(Box::clone(refusal)),
            (Stage::Preparing(_), _) if self.setup.may_refuse() => Admission::Undecided,
            _ => Admission::Granted,
        }
    }

    /// Returns `true` if the run is prepared. What a recovery withdraws is then among its events.
    pub(in crate::engine) fn is_prepared(&self) -> bool {
        !matches!(self.stage, Stage::Preparing(_))
    }
}
