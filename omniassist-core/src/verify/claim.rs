use std::cell::Cell;

use crate::ToolSide;
use crate::message::{Message, Part};

/// The principal that posts a request, and the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Poster<'a> {
    /// The id that the host's authentication gave; `None` for an anonymous caller, who is not the caller with the empty
    /// id.
    pub principal: Option<&'a str>,
    /// The time, in milliseconds since 1970.
    pub now_ms: u64,
}

impl<'a> Poster<'a> {
    /// Somebody whom the host knows.
    #[must_use]
    pub fn known(principal: &'a str, now_ms: u64) -> Self {
        Self { principal: Some(principal), now_ms }
    }

    /// Nobody in particular.
    #[must_use]
    pub fn anonymous(now_ms: u64) -> Self {
        Self { principal: None, now_ms }
    }
}

/// A claim of posted history about the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Claim {
    /// The assistant wrote this text, and the provider gave this state with it.
    Text,
    /// The provider reasoned so, and gave this state with it.
    Reasoning,
    /// The provider gave this state with the call.
    Call,
    /// The call gave this output. Of a front-end tool: the server made this call and left it to the client.
    Output,
    /// The call failed with this text. Of a front-end tool: as with an output.
    Failure,
    /// The server asked for approval of this very call, and this is the answer.
    Approval,
    /// The server made this very call and waits for its approval.
    Request,
}

/// One claim of posted history that only the server can vouch for.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HistoryPart<'a> {
    /// The claim.
    pub claim: Claim,
    /// The chat that the request names, if it names one.
    pub chat_id: Option<&'a str>,
    /// The principal that posts it, and the time.
    pub poster: Poster<'a>,
    /// The message that carries the part.
    pub message: &'a Message,
    /// The part.
    pub part: &'a Part,
    /// The call's arguments in their [canonical](crate::canonical) form; `None` where there are none, or they have no
    /// such form.
    pub arguments: Option<&'a str>,
    /// A digest of the arguments that was asked for with an earlier claim of the part.
    pub(super) known_digest: Option<&'a Cell<Option<[u8; 32]>>>,
    /// The call's output, likewise in its canonical form.
    pub output: Option<&'a str>,
    /// The side that runs the part's tool today. `None`: there is no such tool, or the part is no call.
    pub side: Option<ToolSide>,
    /// `true` if the part stands in the last step of the last message, so that the run continues with its answer.
    pub is_due: bool,
}

impl<'a> HistoryPart<'a> {
    /// A claim of a part in the last step of `message`, the last one, in an anonymous caller's chat without an id. A
    /// call's arguments and output in canonical form are to be added.
    #[must_use]
    pub fn new(claim: Claim, message: &'a Message, part: &'a Part) -> Self {
        let poster = Poster::anonymous(0);
        Self {
            claim,
            chat_id: None,
            poster,
            message,
            part,
            arguments: None,
            known_digest: None,
            output: None,
            side: None,
            is_due: true,
        }
    }

    /// A digest of [`arguments`](Self::arguments), made by `make` once for all claims of the part: the same one each time. `None` where there
    /// are none.
    #[must_use]
    pub fn arguments_digest(&self, make: impl FnOnce(&str) -> [u8; 32]) -> Option<[u8; 32]> {
        let arguments = self.arguments?;
        let known = self.known_digest.and_then(Cell::get);
        let digest = known.unwrap_or_else(|| make(arguments));
        if let Some(slot) = self.known_digest {
            slot.set(Some(digest));
        }
        Some(digest)
    }
}

/// The decision about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Take it as the server's own.
    Accept,
    /// Keep the conversation going without it: an output becomes "no longer verifiable", state is dropped, an approval
    /// is asked for again.
    Distrust,
    /// It was the server's own, and its time is over. Like [`Distrust`](Self::Distrust), but an output says so.
    Expired,
    /// Refuse the request.
    Refuse,
}

/// Decides whether what the client posts as the server's own words really is.
///
/// Every part that only the server can have written (assistant text, reasoning state, outputs of server tools, approvals)
/// passes through one verifier before a run starts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a verifier of posted history",
    note = "implement `Verifier`, or take one that exists: the server's seals, or `TrustHistory`"
)]
pub trait Verifier: Send + Sync {
    /// Judges one claim.
    fn verify(&self, part: HistoryPart<'_>) -> Verdict;
}

/// Accepts history as posted.
///
/// Whoever can post to the assistant can then put words and tool results into the model's mouth, and approve calls that
/// nobody asked about. Fit for a loopback address and for clients that are trusted.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrustHistory;

impl Verifier for TrustHistory {
    fn verify(&self, _part: HistoryPart<'_>) -> Verdict {
        Verdict::Accept
    }
}
