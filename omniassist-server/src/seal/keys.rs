use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit};
use secrecy::{ExposeSecret, SecretSlice};
use sha2::Sha256;

pub(super) type Mac = Hmac<Sha256>;

/// The minimum length of a key in bytes.
const MIN_BYTES: usize = 32;

/// The maximum length of a key's name.
const MAX_ID: usize = 16;

/// The keys that seals are made and verified with.
///
/// One key signs. Previous keys only verify: to rotate, put a new key in front, and keep the old one until the chats that
/// it sealed may lose their proofs. Parts under an unknown key count as unproved and are not refused.
///
/// A clone is another handle to the same keys. The keys are held as the state of a hash, which is overwritten when the
/// last handle is dropped. `Debug` shows names only.
///
/// ```
/// use omniassist_server::seal::SealKeys;
///
/// let secret = "at least thirty-two bytes of randomness";
/// let older = "the secret that was used before November";
/// let keys = SealKeys::new("2026-11", secret)?.with_previous_key("2026-08", older)?;
/// assert_eq!(keys.current_id(), "2026-11");
/// # Ok::<(), omniassist_server::seal::InvalidSealKey>(())
/// ```
#[derive(Clone)]
pub struct SealKeys {
    /// The current key first.
    keys: Arc<[Key]>,
}

#[derive(Clone)]
struct Key {
    id: Box<str>,
    mac: Mac,
}

impl SealKeys {
    /// Creates keys with one key, which signs: a public name of 1 to 16 characters `A-Z a-z 0-9 _ -`, and at least 32
    /// secret bytes. Never use the name for another secret: parts that were sealed under it would be refused.
    ///
    /// # Errors
    ///
    /// Returns an error if the name has another form, or the secret is shorter.
    pub fn new(id: &str, secret: impl AsRef<[u8]>) -> Result<Self, InvalidSealKey> {
        Ok(Self { keys: Arc::new([Key::new(id, secret.as_ref())?]) })
    }

    /// Adds a key that verifies earlier seals and signs nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if the name has another form or is in use, or the secret is shorter than 32 bytes.
    pub fn with_previous_key(self, id: &str, secret: impl AsRef<[u8]>) -> Result<Self, InvalidSealKey> {
        if self.mac(id).is_some() {
            return Err(InvalidSealKey::SAME_NAME);
        }
        let key = Key::new(id, secret.as_ref())?;
        Ok(Self { keys: self.keys.iter().cloned().chain([key]).collect() })
    }

    /// Reads keys from text: `NAME:SECRET`, separated by commas, the current key first. A secret is hexadecimal or base64
    /// (either alphabet, with or without padding), as `openssl rand -hex 32` or `openssl rand -base64 32` print it.
    ///
    /// # Errors
    ///
    /// Returns an error if the text has another form, or a key cannot be used.
    pub fn parse(keys: &str) -> Result<Self, InvalidSealKey> {
        let mut parsed: Option<Self> = None;
        for key in keys.split(',') {
            let (id, secret) = key.trim().split_once(':').ok_or(InvalidSealKey::FORM)?;
            let secret = decode(secret).ok_or(InvalidSealKey::ENCODING)?;
            let secret = secret.expose_secret();
            parsed = Some(match parsed {
                None => Self::new(id, secret)?,
                Some(keys) => keys.with_previous_key(id, secret)?,
            });
        }
        parsed.ok_or(InvalidSealKey::FORM)
    }

    /// Reads keys from an environment variable, as [`parse`](Self::parse) does. `None` if it is unset or empty.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`parse`](Self::parse).
    pub fn from_env(variable: &str) -> Result<Option<Self>, InvalidSealKey> {
        match std::env::var(variable) {
            Ok(keys) if keys.trim().is_empty() => Ok(None),
            Ok(keys) => Self::parse(&keys).map(Some),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => Err(InvalidSealKey::FORM),
        }
    }

    /// Creates one random key. Its seals can be verified by this process only, until it ends: enough for one server whose
    /// chats need not outlive it.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system provides no random numbers.
    pub fn random() -> Result<Self, InvalidSealKey> {
        let (mut id, mut secret) = ([0; 5], vec![0; MIN_BYTES]);
        let filled = getrandom::fill(&mut id).and_then(|()| getrandom::fill(&mut secret));
        let secret = SecretSlice::from(secret);
        filled.map_err(|_| InvalidSealKey::NO_RANDOMNESS)?;
        // A random name: under the name of an earlier process, old seals would be wrong, not unknown.
        let id = id.iter().fold(String::from("r"), |id, byte| format!("{id}{byte:02x}"));
        Self::new(&id, secret.expose_secret())
    }

    /// Returns the name of the key that signs.
    #[must_use]
    pub fn current_id(&self) -> &str {
        self.keys.first().map_or("", |key| &key.id)
    }

    /// Returns a hash keyed with the key of this name.
    pub(crate) fn mac(&self, id: &str) -> Option<&Mac> {
        self.keys.iter().find(|key| *key.id == *id).map(|key| &key.mac)
    }
}

impl Key {
    fn new(id: &str, secret: &[u8]) -> Result<Self, InvalidSealKey> {
        if !is_id(id) {
            return Err(InvalidSealKey::NAME);
        }
        if secret.len() < MIN_BYTES {
            return Err(InvalidSealKey::TOO_SHORT);
        }
        let mac = Mac::new_from_slice(secret).map_err(|_| InvalidSealKey::TOO_SHORT)?;
        Ok(Self { id: id.into(), mac })
    }
}

/// Reads a secret. Text that can be hexadecimal is read as such: base64 of 32 random bytes never looks like it.
fn decode(text: &str) -> Option<SecretSlice<u8>> {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let mut secret = Vec::with_capacity(text.len() / 2);
        for pair in text.as_bytes().chunks(2) {
            let &[high, low] = pair else { return None };
            let digit = |byte: u8| char::from(byte).to_digit(16);
            secret.push(u8::try_from(digit(high)? << 4 | digit(low)?).ok()?);
        }
        return Some(secret.into());
    }
    let alphabet = if text.contains(['+', '/']) { STANDARD_NO_PAD } else { URL_SAFE_NO_PAD };
    alphabet.decode(text.trim_end_matches('=')).ok().map(SecretSlice::from)
}

/// Returns `true` if a key may have this name.
pub(super) fn is_id(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

impl fmt::Debug for SealKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.keys.iter().map(|key| &*key.id).collect();
        f.debug_tuple("SealKeys").field(&ids).finish()
    }
}

/// An error that occurs when keys cannot be used. It never shows a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct InvalidSealKey(&'static str);

impl InvalidSealKey {
    const NAME: Self = Self("a key's name is 1 to 16 characters of A-Z, a-z, 0-9, `_` and `-`");
    const SAME_NAME: Self = Self("two keys have the same name");
    const TOO_SHORT: Self = Self("a key needs at least 32 secret bytes");
    const FORM: Self = Self("keys are written as NAME:SECRET, separated by commas");
    const ENCODING: Self = Self("a key's secret is neither hexadecimal nor base64");
    const NO_RANDOMNESS: Self = Self("the operating system gives no random numbers");
}

impl fmt::Display for InvalidSealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for InvalidSealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InvalidSealKey({self})")
    }
}

impl StdError for InvalidSealKey {}
