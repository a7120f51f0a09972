//! The state of an agent or a tool that waits for the user, as its client keeps it.
//!
//! It is encrypted, because it holds what the agent has read and the client was not shown. Its text is that of a
//! [seal](super::token), with a nonce and the ciphertext in the place of the hash. The key of the cipher is derived from that
//! of the seals.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::Mac as _;

use super::binding::{self, Scope};
use super::keys::SealKeys;
use super::sealer::Sealer;
use super::token::{self, Token};
use crate::Principal;
use crate::clock::now_ms;

/// The length of a nonce in bytes.
const NONCE: usize = 24;

/// The name of the derived key.
const PURPOSE: &[u8] = b"omniassist agent state 2";

impl Sealer {
    /// Encrypts the state of a call of this message. Returns `None` if the operating system provides no random numbers.
    pub(crate) fn seal_state(&self, asked_by: &str, state: &[u8]) -> Option<String> {
        let (keys, scope) = self.scope();
        let (key, expiry) = (keys.current_id(), self.state_expiry(now_ms()));
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).ok()?;
        let place = binding::place_of_state(scope, asked_by, expiry);
        let payload = Payload { msg: state, aad: &place };
        let sealed = cipher(keys, key)?.encrypt(&XNonce::from(nonce), payload).ok()?;
        Some(token::write(key, expiry, &[&nonce[..], &sealed].concat()))
    }
}

/// Decrypts the state of a call. Returns `None` if it was not made under one of these keys for this call, or has expired.
pub(crate) fn open_state(
    keys: &SealKeys,
    chat: Option<&str>,
    principal: &Principal,
    message: &str,
    asked_by: &str,
    text: &str,
) -> Option<Vec<u8>> {
    let token = Token::parse(text).filter(|token| !token.is_expired(now_ms()))?;
    let bytes = URL_SAFE_NO_PAD.decode(token.mac).ok()?;
    let (nonce, sealed) = bytes.split_first_chunk::<NONCE>()?;
    let scope = Scope { chat, principal: principal.known_id(), message };
    let place = binding::place_of_state(scope, asked_by, token.expiry);
    cipher(keys, token.key)?.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: &place }).ok()
}

fn cipher(keys: &SealKeys, id: &str) -> Option<XChaCha20Poly1305> {
    let key = keys.mac(id)?.clone().chain_update(PURPOSE).finalize().into_bytes();
    XChaCha20Poly1305::new_from_slice(&key).ok()
}
