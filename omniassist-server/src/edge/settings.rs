use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Extensions;
use http::request::Parts;

use super::{AuthError, Authenticate};
use crate::Principal;

/// What the host says of who may use the assistant over HTTP.
#[derive(Clone, Default)]
pub(crate) struct Edge {
    hook: Option<Arc<dyn Authenticate>>,
    anonymous: bool,
    has_warned: Arc<AtomicBool>,
}

impl Edge {
    pub(crate) fn authenticate(&mut self, hook: Arc<dyn Authenticate>) {
        self.hook = Some(hook);
    }

    pub(crate) fn allow_anonymous(&mut self) {
        self.anonymous = true;
    }

    /// Finds out whose request it is; afterwards its extensions say so.
    pub(crate) async fn identify(&self, parts: &mut Parts) -> Result<(), AuthError> {
        if let Some(hook) = &self.hook {
            let told = hook.authenticate(parts).await;
            let principal = told.inspect_err(report)?;
            if let Some(principal) = principal {
                parts.extensions.insert(principal);
            }
        }
        self.require(&parts.extensions)
    }

    /// Refuses what comes from nobody, unless everybody is welcome.
    pub(crate) fn require(&self, extensions: &Extensions) -> Result<(), AuthError> {
        if self.anonymous || extensions.get::<Principal>().is_some() {
            return Ok(());
        }
        // Where there is a hook, a request that it knows nobody for is nothing strange.
        if self.hook.is_none() && !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "refused a request that says nothing of who it is from (401 unauthenticated), and will refuse others: \
                 put a `Principal` into the request's extensions, give the assistant a hook with \
                 `AssistantBuilder::authenticate`, or serve everybody with `AssistantBuilder::allow_anonymous`"
            );
        }
        Err(AuthError::unauthenticated())
    }
}

fn report(error: &AuthError) {
    let detail = error as &(dyn std::error::Error + 'static);
    if error.is_unavailable() {
        tracing::error!(error = detail, "a request was refused");
    } else {
        tracing::debug!(error = detail, "a request was refused");
    }
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edge")
            .field("has_hook", &self.hook.is_some())
            .field("anonymous", &self.anonymous)
            .finish_non_exhaustive()
    }
}
