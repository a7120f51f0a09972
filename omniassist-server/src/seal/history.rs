use omniassist_core::history::TokenRate;

use super::binding::{self, Digest, Scope, Sealed, text_digest};
use super::{SealKeys, Sealer, token::Token};
use crate::Principal;

/// A note about a long conversation that an answer carries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HistoryNote<'a> {
    pub(crate) rate: TokenRate,
    /// A summary, and the digest of the messages that it covers.
    pub(crate) summary: Option<(Digest, &'a str)>,
}

impl HistoryNote<'_> {
    /// Returns the seal of the note in the message of a run.
    pub(crate) fn seal(&self, sealer: &Sealer) -> Option<String> {
        self.sealed(|sealed| sealer.token(0, sealed))
    }

    /// Returns `true` if a seal proves the note in this message.
    pub(crate) fn is_proved(
        &self,
        seal: &str,
        keys: &SealKeys,
        chat: Option<&str>,
        principal: &Principal,
        message: &str,
    ) -> bool {
        let Some(token) = Token::parse(seal) else { return false };
        let Some(mac) = keys.mac(token.key) else { return false };
        let scope = Scope { chat, principal: principal.known_id(), message };
        self.sealed(|sealed| binding::proves(&token, mac, scope, sealed))
    }

    fn sealed<T>(&self, with: impl FnOnce(Sealed<'_>) -> T) -> T {
        let (covers, text) = self.summary.unwrap_or_default();
        let text = text_digest(text);
        with(Sealed::History { rate: self.rate.thousandths(), covers: &covers, text: &text })
    }
}
