use std::sync::Arc;
use std::time::Duration;

use http::Extensions;
use omniassist_core::context::{ContextCompressor, ContextSummariser};
use omniassist_core::tree::TreeLimits;
use omniassist_core::{ContextMessage, Limits, ModelOptions, Text};
use serde_json::Value;

use super::explore_settings::Explore;
use super::guards::Guards;
use super::history::History;
use super::history_loader::LoaderHook;
use super::hook::RunHook;
use super::meter::Budget;
use super::on_disconnect::OnDisconnect;
use super::plan::{PlanHook, RunPlan, StepPlan};
use super::recovery::Recovery;
use super::run_metadata::Reports;
use super::when_busy::WhenBusy;
use crate::RunContext;
use crate::audit::AuditLog;
use crate::cost::Prices;
use crate::http_options::HttpOptions;
use crate::observe::{FinishHooks, Observers};
use crate::store::Retention;
use crate::throttle::RateLimit;
use crate::tool::{DeferAbove, ToolHooks};

/// A function of the host that returns the metadata of a message.
pub(super) type MetadataHook = Arc<dyn Fn(&RunContext) -> Value + Send + Sync>;

impl Config {
    /// Returns `true` if runs may have a window on their conversation.
    pub(super) fn may_have_window(&self) -> bool {
        self.history.is_some() || !self.run_hooks.is_empty()
    }

    /// Returns `true` if `on_finish` or the audit log needs the report of each run.
    pub(super) fn records_runs(&self) -> bool {
        !self.on_finish.is_empty() || self.audit.is_some()
    }

    /// Returns `true` if functions of the host may choose the model of a run or a model call.
    pub(super) fn chooses_models(&self) -> bool {
        !(self.run_hooks.is_empty() && self.step_hooks.is_empty())
    }

    /// Returns `true` if the tokens or the cost of each run are limited, also without agents.
    pub(super) fn limits_spending(&self) -> bool {
        self.tree.max_tokens().is_some() || self.tree.max_cost().is_some()
    }

    /// Returns a time that no run exceeds.
    pub(super) fn longest_run(&self) -> Duration {
        let Limits { run_timeout, write_timeout, tool_cancel_grace, .. } = *self.limits;
        run_timeout.saturating_add(write_timeout).saturating_add(tool_cancel_grace)
    }
}

/// The settings of an assistant. A builder fills them in, and they do not change afterwards.
#[derive(Default)]
pub(super) struct Config {
    pub(super) model: Option<Text>,
    pub(super) options: Arc<ModelOptions>,
    pub(super) prompt: Option<RunHook<Text>>,
    /// The instructions of runs that are offered components.
    pub(super) ui_instructions: Option<Text>,
    pub(super) delegates: Vec<Text>,
    pub(super) handoffs: Vec<Text>,
    pub(super) tree: TreeLimits,
    pub(super) explore: Explore,
    pub(super) run_hooks: Vec<PlanHook<RunPlan>>,
    pub(super) step_hooks: Arc<Vec<PlanHook<StepPlan>>>,
    pub(super) history_loader: Option<LoaderHook>,
    pub(super) context_hooks: Vec<RunHook<Vec<ContextMessage>>>,
    pub(super) compressor: ContextCompressor,
    pub(super) summariser: Option<Arc<dyn ContextSummariser>>,
    pub(super) history: Option<History>,
    pub(super) limits: Arc<Limits>,
    pub(super) when_busy: WhenBusy,
    /// The treatments that a client may choose.
    pub(super) client_when_busy: Vec<WhenBusy>,
    pub(super) on_disconnect: OnDisconnect,
    pub(super) retention: Retention,
    pub(super) recovery: Recovery,
    /// `None` without a hook, so that recovered runs have the principal only.
    pub(super) recover: Option<RunHook<Extensions>>,
    pub(super) rate_limits: Vec<Arc<dyn RateLimit>>,
    pub(super) budget: Option<Arc<Budget>>,
    pub(super) prices: Option<Prices>,
    pub(super) reports: Reports,
    pub(super) metadata_hook: Option<MetadataHook>,
    pub(super) records_content: bool,
    pub(super) observers: Observers,
    pub(super) on_finish: FinishHooks,
    pub(super) audit: Option<AuditLog>,
    #[cfg(feature = "files")]
    pub(super) files: crate::files::FileSettings,
    pub(super) guards: Guards,
    pub(super) defer_above: DeferAbove,
    /// `None` without hooks, so that calls run without this step.
    pub(super) tool_hooks: Option<Arc<ToolHooks>>,
    /// A setting of the HTTP service. The engine does not read it.
    pub(super) http: HttpOptions,
}
