use std::cell::Cell;

use crate::ToolSide;
use crate::message::{Message, Part};

/// The principal of a request, and the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Poster<'a> {
    /// The id from the host's authentication. `None` for an anonymous caller, which differs from the empty id.
    pub principal: Option<&'a str>,
    /// The named agent that the request is for. `None` for the assistant itself.
    pub agent: Option<&'a str>,
    /// The time, in milliseconds since 1970.
    pub now_ms: u64,
}

impl<'a> Poster<'a> {
    /// Returns an authenticated principal.
    #[must_use]
    pub fn known(principal: &'a str, now_ms: u64) -> Self {
        Self { principal: Some(principal), agent: None, now_ms }
    }

    /// Returns an anonymous caller.
    #[must_use]
    pub fn anonymous(now_ms: u64) -> Self {
        Self { principal: None, agent: None, now_ms }
    }

    /// Sets the named agent that the request is for. Default: none, the assistant itself.
    #[must_use]
    pub fn agent(mut self, agent: Option<&'a str>) -> Self {
        self.agent = agent;
        self
    }
}

/// A claim in posted history about the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Claim {
    /// The assistant wrote this text, and the provider sent this state with it.
    Text,
    /// The provider sent this reasoning and this state.
    Reasoning,
    /// The provider sent this state with the call.
    Call,
    /// The call had this output. For a front-end tool: the server made this call and left it to the client.
    Output,
    /// The call failed with this text. For a front-end tool, the same as for an output.
    Failure,
    /// The server requested approval of exactly this call, and this is the answer.
    Approval,
    /// The server made exactly this call and awaits its approval.
    Request,
}

/// One claim of posted history that only the server can prove.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HistoryPart<'a> {
    /// The claim.
    pub claim: Claim,
    /// The chat id of the request, if there is one.
    pub chat_id: Option<&'a str>,
    /// The principal of the request, and the time.
    pub poster: Poster<'a>,
    /// The message with the part.
    pub message: &'a Message,
    /// The part.
    pub part: &'a Part,
    /// The call's arguments in [canonical](crate::canonical) form. `None` if there are none, or if they have no such
    /// form.
    pub arguments: Option<&'a str>,
    /// The digest of the arguments, if an earlier claim of the part computed it.
    pub(super) known_digest: Option<&'a Cell<Option<[u8; 32]>>>,
    /// The call's output in canonical form.
    pub output: Option<&'a str>,
    /// The side that currently runs the part's tool. `None` if the tool does not exist, or the part is not a call.
    pub side: Option<ToolSide>,
    /// `true` if the part is in the last step of the last message, so that the run continues with its answer.
    pub is_due: bool,
    /// `true` if the message comes from the host's store and not from the client. Its plain text needs no proof.
    pub is_loaded: bool,
}

impl<'a> HistoryPart<'a> {
    /// Creates a claim about a part in the last step of `message`, the last message, in the chat of an anonymous caller
    /// without a chat id. The caller adds a call's canonical arguments and output.
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
            is_loaded: false,
        }
    }

    /// Returns a digest of [`arguments`](Self::arguments), or `None` if there are none. `make` is called once for all
    /// claims of the part and must always return the same digest.
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
    /// The claim is proved.
    Accept,
    /// The claim is not proved, and the conversation continues without it: an output becomes an error, state is
    /// dropped, and an approval is requested again.
    Distrust,
    /// The claim was proved and has expired. Like [`Distrust`](Self::Distrust), with an error that states the expiry.
    Expired,
    /// The request is rejected.
    Refuse,
}

/// Decides whether posted history that only the server can have written is genuine.
///
/// Every part that only the server can have written (assistant text, reasoning state, outputs of server tools,
/// approvals) passes through one verifier before a run starts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a verifier of posted history",
    note = "implement `Verifier`, or take one that exists: the server's seals, or `TrustHistory`"
)]
pub trait Verifier: Send + Sync {
    /// Verifies one claim.
    fn verify(&self, part: HistoryPart<'_>) -> Verdict;
}

/// Accepts history as posted.
///
/// Any client of the assistant can then forge words of the model and results of tools, and approve calls without a
/// request for approval. Use it only on a loopback address or with trusted clients.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrustHistory;

impl Verifier for TrustHistory {
    fn verify(&self, _part: HistoryPart<'_>) -> Verdict {
        Verdict::Accept
    }
}
