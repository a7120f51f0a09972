use std::time::{SystemTime, UNIX_EPOCH};

use omniassist_core::run::ToolCatalog;
use omniassist_core::verify::{self, Poster};
use omniassist_core::{Error, RunRequest, Verifier};

use crate::Principal;

/// Passes every claim that only the server can vouch for through the verifier.
///
/// # Errors
///
/// When the verifier refuses a part; the error names it.
pub(super) fn verify(
    request: &mut RunRequest,
    principal: &Principal,
    tools: &dyn ToolCatalog,
    verifier: &dyn Verifier,
) -> Result<(), Error> {
    let poster = match principal.known_id() {
        Some(id) => Poster::known(id, now_ms()),
        None => Poster::anonymous(now_ms()),
    };
    verify::history(request, poster, tools, verifier)
}

/// The time, in milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
