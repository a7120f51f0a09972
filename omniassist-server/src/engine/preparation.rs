//! The work of a run before its first model call: prompt, context, stored files, metadata and approvals.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use omniassist_core::Text;
use omniassist_core::context::{ContextReceipt, SummaryUsage};
use omniassist_core::event::RunErrorCode;
use omniassist_core::message::Message;
use omniassist_core::run::{DueApproval, RefusedApproval};
use serde_json::{Map, Value};

use super::run_metadata;
use super::setup::Setup;
use crate::{RunContext, one_line, panics};

/// The preparation of a run, as a future that the run polls first.
pub(super) type Preparation = Pin<Box<dyn Future<Output = Result<Prepared, RunErrorCode>> + Send>>;

/// The result of a preparation.
#[derive(Default)]
pub(super) struct Prepared {
    pub(super) system: Option<Text>,
    pub(super) context: Option<Text>,
    pub(super) receipt: ContextReceipt,
    pub(super) summary: Option<SummaryUsage>,
    /// The conversation, if it names stored files. They are replaced by their content.
    pub(super) messages: Option<Vec<Message>>,
    /// The host's metadata of the message.
    pub(super) metadata: Map<String, Value>,
    /// The approved calls that must not run.
    pub(super) refused_approvals: Vec<RefusedApproval>,
}

pub(super) fn prepare(setup: Arc<Setup>, run: RunContext, due: Vec<DueApproval>) -> Preparation {
    let prepared = panics::catch_async("the preparation of a run", async move {
        let config = &setup.config;
        let system = match &config.prompt {
            None => None,
            Some(prompt) => Some(prompt.call("the system prompt", &run).await?),
        };
        let mut host = run.host_context().to_vec();
        for hook in &config.context_hooks {
            host.extend(hook.call("the context hook", &run).await?);
        }
        let mut compressed = config.compressor.compress_with_host(&host, run.client_context());
        if let Some(summariser) = &config.summariser {
            compressed = compressed.summarise_with(&**summariser).await;
        }
        if let Some(error) = compressed.summary_error() {
            let error = one_line::chain(error);
            tracing::warn!(run_id = run.run_id().as_str(), %error, "the context summary failed");
        }
        let messages = setup.with_stored_files(&run).await?;
        let metadata = config.metadata_hook.as_ref().map(|hook| run_metadata::of_host(hook(&run)));
        // Approvals are claimed last, so that a failed preparation does not use them up.
        let refused_approvals = match &setup.seals {
            Some(seals) => seals.claim(due, &run).await,
            None => Vec::new(),
        };
        Ok(Prepared {
            system,
            receipt: *compressed.receipt(),
            summary: compressed.summary_usage().cloned(),
            context: compressed.into_block().map(|block| block.into_text()),
            messages,
            metadata: metadata.unwrap_or_default(),
            refused_approvals,
        })
    });
    Box::pin(async { prepared.await.unwrap_or(Err(RunErrorCode::Internal)) })
}
