use std::sync::Arc;
use std::time::Duration;

use http::Extensions;
use omniassist_core::context::{ContextCompressor, ContextSummariser};
use omniassist_core::tree::TreeLimits;
use omniassist_core::{ContextMessage, Limits, ModelOptions, Text};
use serde_json::Value;

use super::explore::Explore;
use super::history_loader::LoaderHook;
use super::hook::RunHook;
use super::on_disconnect::OnDisconnect;
use super::recovery::Recovery;
use super::run_metadata::Reports;
use super::when_busy::WhenBusy;
use crate::RunContext;
use crate::audit::AuditLog;
use crate::cost::Prices;
use crate::engine::guards::Guards;
use crate::engine::history::History;
use crate::engine::meter::Budget;
use crate::engine::plan::{PlanHook, RunPlan, StepPlan};
use crate::http_options::HttpOptions;
use crate::observe::{FinishHooks, Observers};
use crate::store::Retention;
use crate::throttle::RateLimit;
use crate::tool::{DeferAbove, ToolHooks};

/// A function of the host that returns the metadata of a message.
pub(super) type MetadataHook = Arc<dyn Fn(&RunContext) -> Value + Send + Sync>;

impl Config {
    /// Returns `true` if runs may have a window on their conversation.
    pub(in crate::engine) fn may_have_window(&self) -> bool {
        self.history.is_some() || !self.run_hooks.is_empty()
    }

    /// Returns `true` if `on_finish` or the audit log needs the report of each run.
    pub(in crate::engine) fn records_runs(&self) -> bool {
        !self.on_finish.is_empty() || self.audit.is_some()
    }

    /// Returns `true` if functions of the host may choose the model of a run or a model call.
    pub(in crate::engine) fn chooses_models(&self) -> bool {
        !(self.run_hooks.is_empty() && self.step_hooks.is_empty())
    }

    /// Returns `true` if the tokens or the cost of each run are limited, also without agents.
    pub(in crate::engine) fn limits_spending(&self) -> bool {
        self.tree.max_tokens().is_some() || self.tree.max_cost().is_some()
    }

    /// Returns a time that no run exceeds.
    pub(in crate::engine) fn longest_run(&self) -> Duration {
        let Limits { run_timeout, write_timeout, tool_cancel_grace, .. } = *self.limits;
        run_timeout.saturating_add(write_timeout).saturating_add(tool_cancel_grace)
    }
}

/// The settings of an assistant. A builder fills them in, and they do not change afterwards.
#[derive(Default)]
pub(in crate::engine) struct Config {
    pub(in crate::engine) model: Option<Text>,
    pub(in crate::engine) options: Arc<ModelOptions>,
    pub(in crate::engine) prompt: Option<RunHook<Text>>,
    /// The instructions of runs that are offered components.
    pub(in crate::engine) ui_instructions: Option<Text>,
    pub(in crate::engine) delegates: Vec<Text>,
    pub(in crate::engine) handoffs: Vec<Text>,
    pub(in crate::engine) tree: TreeLimits,
    pub(in crate::engine) explore: Explore,
    pub(in crate::engine) run_hooks: Vec<PlanHook<RunPlan>>,
    pub(in crate::engine) step_hooks: Arc<Vec<PlanHook<StepPlan>>>,
    pub(in crate::engine) history_loader: Option<LoaderHook>,
    pub(in crate::engine) context_hooks: Vec<RunHook<Vec<ContextMessage>>>,
    pub(in crate::engine) compressor: ContextCompressor,
    pub(in crate::engine) summariser: Option<Arc<dyn ContextSummariser>>,
    pub(in crate::engine) history: Option<History>,
    pub(in crate::engine) limits: Arc<Limits>,
    pub(in crate::engine) when_busy: WhenBusy,
    /// The treatments that a client may choose.
    pub(in crate::engine) client_when_busy: Vec<WhenBusy>,
    pub(in crate::engine) on_disconnect: OnDisconnect,
    pub(in crate::engine) retention: Retention,
    pub(in crate::engine) recovery: Recovery,
    /// `None` without a hook, so that recovered runs have the principal only.
    pub(in crate::engine) recover: Option<RunHook<Extensions>>,
    pub(in crate::engine) rate_limits: Vec<Arc<dyn RateLimit>>,
    pub(in crate::engine) budget: Option<Arc<Budget>>,
    pub(in crate::engine) prices: Option<Prices>,
    pub(in crate::engine) reports: Reports,
    pub(in crate::engine) metadata_hook: Option<MetadataHook>,
    pub(in crate::engine) records_content: bool,
    pub(in crate::engine) observers: Observers,
    pub(in crate::engine) on_finish: FinishHooks,
    pub(in crate::engine) audit: Option<AuditLog>,
    #[cfg(feature = "files")]
    pub(in crate::engine) files: crate::files::FileSettings,
    pub(in crate::engine) guards: Guards,
    pub(in crate::engine) defer_above: DeferAbove,
    /// `None` without hooks, so that calls run without this step.
    pub(in crate::engine) tool_hooks: Option<Arc<ToolHooks>>,
    /// A setting of the HTTP service. The engine does not read it.
    pub(in crate::engine) http: HttpOptions,
}
