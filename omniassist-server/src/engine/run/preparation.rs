//! The work of a run before its first model call: prompt, context, stored files, metadata and approvals.

use std::future::{Future, ready};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;

use omniassist_core::Text;
use omniassist_core::context::{ContextBlock, ContextReceipt};
use omniassist_core::event::RunErrorCode;
use omniassist_core::message::Message;
use omniassist_core::run::{DueApproval, RefusedApproval};
use omniassist_core::transcript::with_made_files;
use serde_json::{Map, Value};

use super::shown_components;
use crate::engine::history::{Viewed, WindowInput, summary_calls};
use crate::engine::plan::{Planned, Planning, Refusal};
use crate::engine::settings::{NamedAgent, Setup, run_metadata};
use crate::{RunContext, one_line, panics};

/// The preparation of a run, as a future that the run polls first.
pub(super) type Preparation<T = Prepared> = Pin<Box<dyn Future<Output = Result<T, NotPrepared>> + Send>>;

/// A function that begins a preparation.
pub(in crate::engine) type Prepare = fn(Unprepared) -> Preparation;

/// A run before its preparation.
pub(in crate::engine) struct Unprepared {
    pub(in crate::engine) setup: Arc<Setup>,
    pub(in crate::engine) agent: Option<Arc<NamedAgent>>,
    pub(in crate::engine) run: RunContext,
    /// The approved calls.
    pub(in crate::engine) due: Vec<DueApproval>,
    pub(in crate::engine) planning: Option<Box<Planning>>,
    /// The input of the window on the conversation. `None` without a window.
    pub(in crate::engine) posted: Option<Box<WindowInput>>,
}

/// The reason why a run does not begin.
pub(in crate::engine) enum NotPrepared {
    Failed(RunErrorCode),
    Refused(Box<Refusal>),
}

impl From<RunErrorCode> for NotPrepared {
    fn from(code: RunErrorCode) -> Self {
        Self::Failed(code)
    }
}

impl From<Refusal> for NotPrepared {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

/// The result of a preparation.
#[derive(Default)]
pub(in crate::engine) struct Prepared {
    pub(in crate::engine) system: Option<Text>,
    /// The host's plan, if it makes plans. Its system prompt is `system`.
    pub(in crate::engine) plan: Option<Box<Planned>>,
    pub(in crate::engine) context: Option<Text>,
    pub(in crate::engine) receipt: ContextReceipt,
    /// The part of the conversation that is sent to the model. `None` for all of it.
    pub(in crate::engine) view: Option<Box<Viewed>>,
    /// The conversation, if it names stored files. They are replaced by their content.
    pub(in crate::engine) messages: Option<Vec<Message>>,
    /// The host's metadata of the message.
    pub(in crate::engine) metadata: Map<String, Value>,
    /// The approved calls that must not run.
    pub(super) refused_approvals: Vec<RefusedApproval>,
}

/// Makes a preparation of a future. A panic in it fails the run; `what` is the subject of the log line.
pub(in crate::engine) fn contained<T>(
    what: &'static str,
    prepared: impl Future<Output = Result<T, NotPrepared>> + Send + 'static,
) -> Preparation<T> {
    let prepared = panics::catch_async(what, prepared);
    Box::pin(async { prepared.await.unwrap_or(Err(RunErrorCode::Internal.into())) })
}

/// Prepares a run whose model is asked.
pub(in crate::engine) fn prepare(unprepared: Unprepared) -> Preparation {
    let Unprepared { setup, agent, run, mut due, planning, posted } = unprepared;
    contained("the preparation of a run", async move {
        let config = &setup.config;
        let agent = agent.as_deref();
        let mut plan = match planning {
            None => None,
            Some(planning) => Some(Box::new(planning.plan(&config.run_hooks, &setup.tools, &run).await?)),
        };
        let mut history = config.history.as_ref();
        let mut planned_context = Vec::new();
        let mut metadata = Map::new();
        let mut system = None;
        if let Some(plan) = &mut plan {
            due = mem::take(&mut plan.due);
            planned_context = mem::take(&mut plan.context);
            metadata = run_metadata::of_host(mem::take(&mut plan.metadata).into());
            system = plan.call.system.take();
        }
        let fetched = setup.with_fetched_files(&run).await?;
        let system = setup.system_prompt(system, agent, &run).await?;
        let mut host = run.host_context().to_vec();
        for hook in &config.context_hooks {
            host.extend(hook.call("the context hook", &run).await?);
        }
        host.extend(planned_context);
        shown_components::load(&run).await?;
        host.extend(shown_components::context(run.instances()));
        let mut compressed =
            config.compressor.compress_with_host(&host, &shown_components::of_client(run.client_context()));
        if let Some(summariser) = &config.summariser {
            compressed = summary_calls::summarise(compressed, &**summariser).await;
        }
        if let Some(error) = compressed.summary_error() {
            let error = one_line::chain(error);
            tracing::warn!(run_id = run.run_id().as_str(), %error, "the context summary failed");
        }
        let messages = setup.with_stored_files(&run, fetched).await?;
        let messages = with_made_files(messages.as_deref().unwrap_or(run.messages())).or(messages);
        if let Some(plan) = &plan {
            history = plan.history.as_ref();
        }
        let view = match (history, posted) {
            (Some(history), Some(mut posted)) => {
                let mut provider = setup.provider_of(agent);
                if let Some(plan) = &plan {
                    posted.tools = plan.tools.clone();
                    provider = &plan.call.provider;
                }
                let conversation = messages.as_deref().unwrap_or(run.messages());
                let texts = [system.as_deref(), compressed.block().map(ContextBlock::as_str)];
                Some(Box::new(history.view(conversation, texts, *posted, provider).await))
            }
            _ => None,
        };
        if let Some(hook) = &config.metadata_hook {
            metadata.extend(run_metadata::of_host(hook(&run)));
        }
        // Approvals are claimed last, so that a failed preparation does not use them up.
        let refused_approvals = claim(&setup, due, &run).await;
        Ok(Prepared {
            system,
            receipt: *compressed.receipt(),
            context: compressed.into_block().map(|block| block.into_text()),
            messages,
            view,
            metadata,
            plan,
            refused_approvals,
        })
    })
}

/// Prepares a run whose model is a script: the host plans it, and nothing is made that only a model reads.
pub(in crate::engine) fn prepare_scripted(unprepared: Unprepared) -> Preparation {
    let Unprepared { setup, run, mut due, planning, .. } = unprepared;
    contained("the preparation of a run", async move {
        let mut plan = None;
        if let Some(planning) = planning {
            let mut planned = planning.plan(&setup.config.run_hooks, &setup.tools, &run).await?;
            due = mem::take(&mut planned.due);
            plan = Some(Box::new(planned));
        }
        shown_components::load(&run).await?;
        let refused_approvals = claim(&setup, due, &run).await;
        Ok(Prepared { plan, refused_approvals, ..Prepared::default() })
    })
}

/// Refuses a run whose request is not valid.
pub(in crate::engine) fn prepare_invalid(_: Unprepared) -> Preparation {
    Box::pin(ready(Err(RunErrorCode::InvalidRequest.into())))
}

/// Claims the approved calls of a run, each of which may run once. Returns those that must not.
async fn claim(setup: &Setup, due: Vec<DueApproval>, run: &RunContext) -> Vec<RefusedApproval> {
    match &setup.seals {
        // A store lets each answer be given once.
        Some(seals) if !run.is_answered_by_store() => seals.claim(due, run).await,
        _ => Vec::new(),
    }
}
