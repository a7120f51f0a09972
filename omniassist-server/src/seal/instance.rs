//! The state of an instance of a component, as its client keeps it.

use omniassist_core::Text;
use omniassist_core::event::InstanceState;

use super::binding::{self, Scope, Sealed, json_digest, text_digest};
use super::keys::SealKeys;
use super::sealer::Sealer;
use super::token::Token;
use crate::Principal;

impl Sealer {
    /// Seals a state. It is bound to the chat and the principal, and to no message, because later messages replace it.
    pub(crate) fn seal_instance(&self, id: &str, state: &mut InstanceState) {
        let (keys, scope) = self.scope();
        let scope = Scope { message: "", ..scope };
        let seal = sealed(id, state, |sealed| binding::seal(keys, 0, scope, sealed));
        state.seal = seal.flatten().map(Text::from);
    }
}

/// Returns `true` if the seal of a posted state proves it under one of these keys.
pub(crate) fn proves_instance(
    keys: &SealKeys,
    chat: Option<&str>,
    principal: &Principal,
    id: &str,
    state: &InstanceState,
) -> bool {
    let Some(token) = state.seal.as_deref().and_then(Token::parse) else { return false };
    let Some(mac) = keys.mac(token.key) else { return false };
    let scope = Scope { chat, principal: principal.known_id(), message: "" };
    sealed(id, state, |sealed| binding::proves(&token, mac, scope, sealed)).unwrap_or(false)
}

/// Passes on the claim of a state. `None` if its server part has no canonical form.
fn sealed<T>(id: &str, state: &InstanceState, with: impl FnOnce(Sealed<'_>) -> T) -> Option<T> {
    // A missing part and an empty one differ.
    let server = match &state.server {
        Some(server) => json_digest(server, &mut Vec::new())?,
        None => text_digest(""),
    };
    Some(with(Sealed::Instance { id, component: &state.component, rev: state.rev, server: &server }))
}
