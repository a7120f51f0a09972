use std::sync::Arc;
use std::time::Duration;

use omniassist_core::Text;
use omniassist_core::run::{DueApproval, RefusedApproval};
use tokio::time::timeout;

use crate::RunContext;
use crate::clock::now_ms;
use crate::seal::{ClaimOutcome, ReplayGuard, SealClaim, SealKeys};

/// The longest time that a record of used approvals may take for a claim.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(10);

/// The error of an approval that came a second time.
const USED: &str = "This approval was used before; the call was not run again.";

/// The error of answers that came a second time.
const ANSWERED: &str = "The answers of this call were used before; it was not run again.";

/// The error of an approval that a full guard cannot remember.
const FULL: &str =
    "This call did not run: too many calls were approved in the last minutes. Try again later.";

/// The error of an approval that the replay guard could not check.
const UNKNOWN: &str =
    "This call did not run: the record of used approvals cannot be reached. Try again later.";

/// The keys of an assistant, and its record of the calls that ran after an approval.
pub(in crate::engine) struct Seals {
    pub(in crate::engine) keys: SealKeys,
    pub(in crate::engine) guard: Arc<dyn ReplayGuard>,
}

impl Seals {
    /// Uses approvals up, and returns those whose call must not run.
    pub(in crate::engine) async fn claim(
        &self,
        due: Vec<DueApproval>,
        run: &RunContext,
    ) -> Vec<RefusedApproval> {
        let chat = run.chat_id().map(Text::as_str);
        let mut refused = Vec::new();
        for approval in due {
            let reason = match SealClaim::of(&approval, chat, run.principal()) {
                Some(claim) => {
                    let claimed = self.guard.claim(&claim, claim.lifetime(now_ms()));
                    match timeout(CLAIM_TIMEOUT, claimed).await {
                        Ok(ClaimOutcome::First) => continue,
                        Ok(ClaimOutcome::Used) if approval.is_resumed => ANSWERED,
                        Ok(ClaimOutcome::Used) => USED,
                        Ok(ClaimOutcome::Full) => FULL,
                        Ok(ClaimOutcome::Unknown) | Err(_) => UNKNOWN,
                    }
                }
                None => UNKNOWN,
            };
            tracing::warn!(call_id = approval.call_id.as_str(), reason, "an approved call does not run");
            refused.push(RefusedApproval { call_id: approval.call_id, reason: Text::from_static(reason) });
        }
        refused
    }
}
