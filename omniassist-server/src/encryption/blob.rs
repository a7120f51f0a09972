//! Encrypted values: a version, a nonce, and the ciphertext with its tag.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::store::StoreError;

/// The version of the format, and the first byte of each value.
const VERSION: u8 = 1;

/// The length of a nonce in bytes.
const NONCE: usize = 24;

/// The number of bytes by which a value is longer than its content.
pub(super) const OVERHEAD: usize = 1 + NONCE + 16;

/// The length of a key in bytes.
pub(super) const KEY: usize = 32;

/// A key. Its memory is overwritten when it is dropped.
pub(super) struct BlobKey {
    cipher: XChaCha20Poly1305,
    mac: Hmac<Sha256>,
}

impl BlobKey {
    /// Creates a key from [`KEY`] bytes.
    pub(super) fn new(secret: &[u8]) -> Option<Self> {
        let cipher = XChaCha20Poly1305::new_from_slice(secret).ok()?;
        let mac = Hmac::new_from_slice(secret).ok()?;
        Some(Self { cipher, mac })
    }

    /// Encrypts a value for a place.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system provides no random numbers.
    pub(super) fn seal(&self, place: &[u8], content: &[u8]) -> Result<Vec<u8>, StoreError> {
        let nonce: [u8; NONCE] = random()?;
        let payload = Payload { msg: content, aad: place };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| too_long())?;
        let mut blob = Vec::with_capacity(content.len() + OVERHEAD);
        blob.push(VERSION);
        blob.extend_from_slice(&nonce);
        blob.extend_from_slice(&sealed);
        Ok(blob)
    }

    /// Decrypts the value of a place. Returns `None` if it is not one of this key and place.
    pub(super) fn open(&self, place: &[u8], blob: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = blob.strip_prefix(&[VERSION])?.split_first_chunk::<NONCE>()?;
        self.cipher.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: place }).ok()
    }

    /// Returns a keyed digest.
    pub(super) fn digest(&self, content: &[u8]) -> Vec<u8> {
        self.mac
            .clone()
            .chain_update(b"omniassist post 1")
            .chain_update(content)
            .finalize()
            .into_bytes()
            .to_vec()
    }
}

fn too_long() -> StoreError {
    StoreError::invalid("a value is too long to be encrypted")
}

/// Returns random bytes.
pub(super) fn random<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|_| StoreError::unavailable("the operating system gives no random numbers"))?;
    Ok(bytes)
}
