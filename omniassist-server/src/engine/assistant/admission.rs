//! The limits that a client's run must pass before it begins.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use http::Extensions;
use omniassist_core::{Error, RunRequest, Text};

use super::handle::Assistant;
use crate::Principal;
use crate::audit::AuditLog;
use crate::engine::end::RETRY_ELSEWHERE;
use crate::engine::meter::Meter;
use crate::engine::run::{Admitted, ChatKey, LiveRuns, Post, Wanted};
use crate::engine::settings::WhenBusy;
use crate::sync::lock;
use crate::throttle::{self, Attempt};

/// The permission to begin a run: its slot, and its meter if there is a budget. Dropping it releases both.
pub(in crate::engine) struct Admission {
    pub(in crate::engine) run: Admitted,
    pub(in crate::engine) meter: Option<Meter>,
}

/// An admission in the extensions of its request, until the run takes it. Only the first of its clones has an effect.
#[derive(Clone)]
struct Early {
    of: Arc<LiveRuns>,
    admission: Arc<Mutex<Option<Admission>>>,
}

/// The record in the extensions of a post that may be opened again: the rate limits count it once.
#[derive(Clone, Default)]
pub(in crate::engine) struct CountedOnce(Arc<AtomicBool>);

impl Assistant {
    /// Admits a client's run, unless its extensions have an admission. `key` is the idempotency key of a stored run. Posts with
    /// one key are the same, so that none ends the run of another.
    ///
    /// # Errors
    ///
    /// Returns an error if the run passes a limit, a limit cannot be checked, the chat's run answers the same message or
    /// takes precedence, or the assistant is draining.
    pub(in crate::engine) async fn admit(
        &self,
        request: &RunRequest,
        extensions: &mut Extensions,
        principal: &Principal,
        when_busy: WhenBusy,
        key: Option<&[u8]>,
    ) -> Result<Admission, Error> {
        let config = &self.setup.config;
        let wanted = self.wanted(request, principal, when_busy, key);
        let counted: CountedOnce = extensions.remove().unwrap_or_default();
        if let Some(early) = self.early_admission(extensions)
            && early.run.is_of(principal)
        {
            counted.0.store(true, Ordering::Relaxed);
            // The host may have changed the request since.
            return Ok(Admission { run: early.run.now_for(wanted), ..early });
        }
        if config.audit.as_ref().is_some_and(AuditLog::is_full) {
            return Err(Error::overloaded(RETRY_ELSEWHERE));
        }
        let run = self.live.admit(wanted, &config.limits)?;
        let attempt = Attempt::new(principal, request, extensions);
        if !counted.0.load(Ordering::Relaxed) {
            throttle::check(&config.rate_limits, &attempt).await?;
            counted.0.store(true, Ordering::Relaxed);
        }
        let meter = match &config.budget {
            Some(budget) => Some(Meter::admit(budget, &attempt, config.longest_run()).await?),
            None => None,
        };
        if !self.tools().are_ready(|| self.caller(extensions)).await {
            return Err(Error::tool_source_unavailable(RETRY_ELSEWHERE));
        }
        Ok(Admission { run, meter })
    }

    /// Admits a client's run before its request is complete, and ends the run in progress of its chat.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`admit`](Self::admit).
    pub(super) async fn admit_early(
        &self,
        request: &RunRequest,
        extensions: &mut Extensions,
        principal: &Principal,
    ) -> Result<Admission, Error> {
        let admitted = async {
            let when_busy = self.when_busy(extensions)?.without_store();
            let mut admission = self.admit(request, extensions, principal, when_busy, None).await?;
            self.live.make_way(&mut admission.run, self.limits()).await?;
            Ok(admission)
        };
        let chat_id = request.chat_id.as_ref();
        admitted.await.inspect_err(|refusal| self.report_refused(principal, chat_id, refusal))
    }

    fn wanted(
        &self,
        request: &RunRequest,
        principal: &Principal,
        when_busy: WhenBusy,
        key: Option<&[u8]>,
    ) -> Wanted {
        let post = request.chat_id.clone().map(|chat_id| Post {
            chat: ChatKey { principal: principal.clone(), chat_id },
            digest: key.map_or_else(|| post_digest(request, self.agent_name()), key_digest),
        });
        Wanted { principal: principal.clone(), post, when_busy }
    }

    /// Stores an admission in the extensions of its request.
    pub(in crate::engine) fn keep_admission(&self, admission: Admission, extensions: &mut Extensions) {
        let admission = Arc::new(Mutex::new(Some(admission)));
        extensions.insert(Early { of: Arc::clone(&self.live), admission });
    }

    /// Takes the admission from the extensions of its request.
    pub(in crate::engine) fn early_admission(&self, extensions: &mut Extensions) -> Option<Admission> {
        let early: Early = extensions.remove()?;
        if Arc::ptr_eq(&early.of, &self.live) { lock(&early.admission).take() } else { None }
    }
}

fn key_digest(key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// Returns a digest that distinguishes the posts of one chat: the agent, the trigger, and the last message. Loaded messages
/// do not count.
pub(in crate::engine) fn post_digest(request: &RunRequest, agent: Option<&Text>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let posted = request.messages.get(request.loaded_messages..).unwrap_or_default();
    (request.trigger, &request.message_id, posted.len()).hash(&mut hasher);
    if let Some(agent) = agent {
        agent.hash(&mut hasher);
    }
    if let Some(message) = posted.last() {
        serde_json::to_string(message).unwrap_or_default().hash(&mut hasher);
    }
    hasher.finish()
}
