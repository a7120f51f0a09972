use std::sync::Arc;

use omniassist_core::Text;
use omniassist_core::run::DueApproval;

use crate::clock::now_ms;
use crate::seal::{ReplayGuard, SealClaim, SealKeys};

/// What an assistant seals with, and where it notes which approvals were used.
pub(super) struct Seals {
    pub(super) keys: SealKeys,
    pub(super) guard: Arc<dyn ReplayGuard>,
}

impl Seals {
    /// Uses approvals up, and gives the calls whose approval was used before.
    pub(super) async fn claim(&self, due: Vec<DueApproval>) -> Vec<Text> {
        let mut spent = Vec::new();
        for approval in due {
            let first = match approval.signature.as_deref().and_then(SealClaim::of) {
                Some(claim) => self.guard.claim(claim, claim.lifetime(now_ms())).await,
                None => false,
            };
            if !first {
                tracing::warn!(
                    call_id = approval.call_id.as_str(),
                    "an approval was used before; the call does not run"
                );
                spent.push(approval.call_id);
            }
        }
        spent
    }
}
