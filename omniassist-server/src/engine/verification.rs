use omniassist_core::run::ToolCatalog;
use omniassist_core::verify::{self, Poster};
use omniassist_core::{Error, RunRequest, Verifier};

use crate::clock::now_ms;
use crate::{Principal, panics};

/// Verifies every claim of a posted history that only the server can have made.
///
/// # Errors
///
/// Returns an error if the verifier refuses a part, which the error names, or panics.
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
    if !request.skipped_messages.is_empty() {
        tracing::warn!(indexes = ?request.skipped_messages, "posted messages of unknown roles were left out");
    }
    panics::catch("the verifier", || verify::history(request, poster, tools, verifier))
        .unwrap_or_else(|| Err(Error::internal()))
}
