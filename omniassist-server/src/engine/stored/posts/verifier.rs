use omniassist_core::Verifier;
use omniassist_core::verify::{HistoryPart, Verdict};

/// Accepts what comes from the store, and leaves the rest to the assistant's verifier.
pub(in crate::engine::stored) struct Stored<'a>(pub(in crate::engine::stored) &'a dyn Verifier);

impl Verifier for Stored<'_> {
    fn verify(&self, part: HistoryPart<'_>) -> Verdict {
        if part.is_loaded { Verdict::Accept } else { self.0.verify(part) }
    }
}
