use omniassist_core::message::Message;
use omniassist_core::run::ToolCatalog;
use omniassist_core::verify::{self, Poster};
use omniassist_core::{Error, RunRequest, Verifier};

use crate::panics;

/// Verifies every claim of a posted history that only the server can have made. Returns the verified messages with their
/// seals, if they are asked for.
///
/// # Errors
///
/// Returns an error if the verifier refuses a part, which the error names, or panics.
pub(in crate::engine) fn verify(
    request: &mut RunRequest,
    poster: Poster<'_>,
    tools: &dyn ToolCatalog,
    verifier: &dyn Verifier,
    keeps_seals: bool,
) -> Result<Option<Vec<Message>>, Error> {
    if !request.skipped_messages.is_empty() {
        tracing::warn!(indexes = ?request.skipped_messages, "posted messages of unknown roles were left out");
    }
    let verify = || match keeps_seals {
        true => verify::history_with_seals(request, poster, tools, verifier).map(Some),
        false => verify::history(request, poster, tools, verifier).map(|()| None),
    };
    panics::catch("the verifier", verify).unwrap_or_else(|| Err(Error::internal()))
}
