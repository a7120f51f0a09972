use crate::message::{Message, Part};

/// One part of posted history that only the server can have written.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HistoryPart<'a> {
    /// The chat that the request names, if it names one.
    pub chat_id: Option<&'a str>,
    /// Who asks, as the host's authentication says; empty for an anonymous caller.
    pub principal: &'a str,
    /// The message that carries the part.
    pub message: &'a Message,
    /// The part.
    pub part: &'a Part,
}

impl<'a> HistoryPart<'a> {
    /// A part of `message`, in an anonymous caller's chat without an id.
    #[must_use]
    pub fn new(message: &'a Message, part: &'a Part) -> Self {
        Self { chat_id: None, principal: "", message, part }
    }
}

/// What is to be done with a part of posted history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Take it as the server's own.
    Accept,
    /// Keep the conversation going without it: an output becomes "no longer verifiable", opaque state is dropped.
    Distrust,
    /// Refuse the request.
    Refuse,
}

/// Decides whether what the client posts as the server's own words really is.
///
/// Every part that only the server can have written (assistant text, reasoning state, server-tool outputs) passes
/// through one verifier before a run starts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a verifier of posted history",
    note = "implement `Verifier`, or leave the default, `TrustHistory`"
)]
pub trait Verifier: Send + Sync {
    /// Judges one part.
    fn verify(&self, part: HistoryPart<'_>) -> Verdict;
}

/// Accepts history as posted.
///
/// Whoever can post to the assistant can then put words and tool results into the model's mouth. Fit for a loopback
/// address and for clients that are trusted.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrustHistory;

impl Verifier for TrustHistory {
    fn verify(&self, _part: HistoryPart<'_>) -> Verdict {
        Verdict::Accept
    }
}
