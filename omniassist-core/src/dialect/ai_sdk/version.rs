/// The major version of the client's `ai` package, which requests do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum ClientVersion {
    /// Version 5, which knows no approvals: calls that need one are refused.
    V5,
    /// Version 6 or later, or not known. Everything but approvals is written so that version 5 takes it too.
    #[default]
    V6,
    /// Version 7: the question that goes with an approval, calls that were refused without asking anybody, and why a run
    /// was stopped are written as what they are.
    V7,
}

impl ClientVersion {
    /// The version with this number: that of the `ai-sdk` parameter of a request's query.
    #[must_use]
    pub fn from_number(number: &str) -> Option<Self> {
        match number {
            "5" => Some(Self::V5),
            "6" => Some(Self::V6),
            "7" => Some(Self::V7),
            _ => None,
        }
    }
}
