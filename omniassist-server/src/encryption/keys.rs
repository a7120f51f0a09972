use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use hmac::Mac as _;
use secrecy::zeroize::Zeroizing;

use super::blob::{self, BlobKey};
use super::content::ContentKey;
use super::place::fields;
use crate::seal::{InvalidSealKey, SealKeys};
use crate::store::{ConversationKey, Scope, StoreError};

/// The keys of an application that wrap the data keys of conversations.
///
/// One key is current and wraps the data keys of new conversations. Previous keys only unwrap. Every server that opens the
/// database needs all of them; [the module](super) describes the rotation. A key that is lost takes its conversations with it.
///
/// Use other secrets than those of [`SealKeys`]. `Debug` shows names only.
///
/// ```
/// use omniassist_server::encryption::EncryptionKeys;
///
/// let secret = "at least thirty-two bytes of randomness";
/// let older = "the secret that was used before November";
/// let keys = EncryptionKeys::new("2026-11", secret)?.with_previous_key("2026-08", older)?;
/// assert_eq!(keys.current_id(), "2026-11");
/// # Ok::<(), omniassist_server::seal::InvalidSealKey>(())
/// ```
#[derive(Clone)]
pub struct EncryptionKeys(SealKeys);

impl EncryptionKeys {
    /// Creates keys with one key: a public name of 1 to 16 characters `A-Z a-z 0-9 _ -`, and at least 32 secret bytes.
    /// Never use the name for another secret.
    ///
    /// # Errors
    ///
    /// Returns an error if the name has another form, or the secret is shorter.
    pub fn new(id: &str, secret: impl AsRef<[u8]>) -> Result<Self, InvalidSealKey> {
        SealKeys::new(id, secret).map(Self)
    }

    /// Adds a key that unwraps data keys and wraps none.
    ///
    /// # Errors
    ///
    /// Returns an error if the name has another form or is in use, or the secret is shorter than 32 bytes.
    pub fn with_previous_key(self, id: &str, secret: impl AsRef<[u8]>) -> Result<Self, InvalidSealKey> {
        self.0.with_previous_key(id, secret).map(Self)
    }

    /// Reads keys from text, as [`SealKeys::parse`] does: `NAME:SECRET`, separated by commas, the current key first. A
    /// secret is hexadecimal or base64.
    ///
    /// # Errors
    ///
    /// Returns an error if the text has another form, or a key cannot be used.
    pub fn parse(keys: &str) -> Result<Self, InvalidSealKey> {
        SealKeys::parse(keys).map(Self)
    }

    /// Reads keys from an environment variable, as [`parse`](Self::parse) does. `None` if it is unset or empty.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`parse`](Self::parse).
    pub fn from_env(variable: &str) -> Result<Option<Self>, InvalidSealKey> {
        Ok(SealKeys::from_env(variable)?.map(Self))
    }

    /// Returns the name of the current key.
    #[must_use]
    pub fn current_id(&self) -> &str {
        self.0.current_id()
    }

    /// Creates the data key of a new conversation. Returns it, and wrapped.
    pub(super) fn create(&self, scope: &Scope, chat: &str) -> Result<(Bytes, ContentKey), StoreError> {
        let secret = Zeroizing::new(blob::random::<{ blob::KEY }>()?);
        Ok((self.wrap(scope, chat, &*secret)?, content_key(&*secret)?))
    }

    /// Returns the data key of a conversation.
    pub(super) fn open(
        &self,
        scope: &Scope,
        chat: &str,
        wrapped: Option<&Bytes>,
    ) -> Result<ContentKey, StoreError> {
        match wrapped {
            Some(wrapped) => content_key(&self.unwrap(scope, chat, wrapped)?.1),
            None => Ok(ContentKey::plain()),
        }
    }

    /// Returns the data key of a conversation, wrapped with the current key, or `None` if it is so already, or there is none.
    pub(super) fn rewrap(&self, known: &ConversationKey) -> Result<Option<Bytes>, StoreError> {
        let Some(wrapped) = &known.key else { return Ok(None) };
        let (id, secret) = self.unwrap(&known.scope, &known.chat, wrapped)?;
        (id != self.current_id()).then(|| self.wrap(&known.scope, &known.chat, &secret)).transpose()
    }

    fn wrap(&self, scope: &Scope, chat: &str, secret: &[u8]) -> Result<Bytes, StoreError> {
        let id = self.current_id();
        let key = self.wrapping_key(id).ok_or_else(|| missing(id))?;
        let mut wrapped = vec![u8::try_from(id.len()).unwrap_or(u8::MAX)];
        wrapped.extend_from_slice(id.as_bytes());
        wrapped.extend_from_slice(&key.seal(&place(id, scope, chat), secret)?);
        Ok(wrapped.into())
    }

    /// Returns the name of the key that wrapped a data key, and the data key.
    fn unwrap<'w>(
        &self,
        scope: &Scope,
        chat: &str,
        wrapped: &'w [u8],
    ) -> Result<(&'w str, Zeroizing<Vec<u8>>), StoreError> {
        let (id, blob) = split(wrapped).ok_or_else(|| StoreError::corrupt("a wrapped key was changed"))?;
        let key = self.wrapping_key(id).ok_or_else(|| missing(id))?;
        let secret = key.open(&place(id, scope, chat), blob).ok_or_else(|| {
            let reason =
                format!("the encryption key `{id}` has another secret, or the wrapped key was changed");
            StoreError::missing_key(reason)
        })?;
        Ok((id, Zeroizing::new(secret)))
    }

    fn wrapping_key(&self, id: &str) -> Option<BlobKey> {
        let derived = self.0.mac(id)?.clone().chain_update(b"omniassist data keys 1").finalize();
        BlobKey::new(&*Zeroizing::<[u8; blob::KEY]>::new(derived.into_bytes().into()))
    }
}

fn content_key(secret: &[u8]) -> Result<ContentKey, StoreError> {
    let key = BlobKey::new(secret).ok_or_else(|| StoreError::corrupt("no data key"))?;
    Ok(ContentKey::of(Arc::new(key)))
}

fn split(wrapped: &[u8]) -> Option<(&str, &[u8])> {
    let (&length, rest) = wrapped.split_first()?;
    let (id, blob) = rest.split_at_checked(length.into())?;
    Some((str::from_utf8(id).ok()?, blob))
}

fn place(id: &str, scope: &Scope, chat: &str) -> Vec<u8> {
    fields("key", &[id.as_bytes(), scope.owner().as_bytes(), chat.as_bytes()])
}

fn missing(id: &str) -> StoreError {
    StoreError::missing_key(format!("the encryption key `{id}` is not given"))
}

impl fmt::Debug for EncryptionKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EncryptionKeys").field(&self.0).finish()
    }
}
