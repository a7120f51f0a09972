use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use hmac::{Hmac, KeyInit};
use sha2::Sha256;

pub(super) type Mac = Hmac<Sha256>;

/// Fewest bytes of a key.
const MIN_BYTES: usize = 32;

/// Longest name of a key.
const MAX_ID: usize = 16;

/// The keys that seals are made and verified with.
///
/// One key signs. Older keys only verify: to rotate, put a new key in front and keep the old one until the chats that it
/// sealed may lose their proofs. Parts under a key that is not here are not refused, only no longer trusted.
///
/// Cloning gives another handle to the same keys. The secrets themselves are not kept, only the state of the hash that
/// they lead to; that state is overwritten when the last handle is dropped, and `Debug` shows names only.
///
/// ```
/// use omniassist_server::seal::SealKeys;
///
/// let secret = "at least thirty-two bytes of randomness";
/// let older = "the secret that was used before November";
/// let keys = SealKeys::new("2026-11", secret)?.and_older("2026-08", older)?;
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
    /// The key that signs: a name of 1 to 16 characters `A-Z a-z 0-9 _ -`, which is public, and at least 32 secret
    /// bytes. The name must not be used again for another secret: what was sealed under it would then be refused.
    ///
    /// # Errors
    ///
    /// When the name has another form, or the secret is shorter.
    pub fn new(id: &str, secret: impl AsRef<[u8]>) -> Result<Self, InvalidSealKey> {
        Ok(Self { keys: Arc::new([Key::new(id, secret.as_ref())?]) })
    }

    /// Adds a key that verifies what it sealed earlier, and signs nothing.
    ///
    /// # Errors
    ///
    /// When the name has another form or is in use here, or the secret is shorter than 32 bytes.
    pub fn and_older(self, id: &str, secret: impl AsRef<[u8]>) -> Result<Self, InvalidSealKey> {
        if self.mac(id).is_some() {
            return Err(InvalidSealKey(Fault::SameName));
        }
        let key = Key::new(id, secret.as_ref())?;
        Ok(Self { keys: self.keys.iter().cloned().chain([key]).collect() })
    }

    /// One random key that nobody else has. What it seals can be verified until the process ends, by this process only:
    /// enough for one server whose chats need not outlive it.
    ///
    /// # Errors
    ///
    /// When the operating system gives no random numbers.
    pub fn random() -> Result<Self, InvalidSealKey> {
        let (mut id, mut secret) = ([0; 5], [0; MIN_BYTES]);
        let filled = getrandom::fill(&mut id).and_then(|()| getrandom::fill(&mut secret));
        filled.map_err(|_| InvalidSealKey(Fault::NoRandomness))?;
        // A name of its own: with that of an earlier process, old seals would count as wrong and not as unknown.
        let id = id.iter().fold(String::from("r"), |id, byte| format!("{id}{byte:02x}"));
        let keys = Self::new(&id, secret);
        secret.fill(0);
        std::hint::black_box(&mut secret);
        keys
    }

    /// The name of the key that signs.
    #[must_use]
    pub fn current_id(&self) -> &str {
        self.keys.first().map_or("", |key| &key.id)
    }

    /// A hash keyed with the key of this name.
    pub(super) fn mac(&self, id: &str) -> Option<&Mac> {
        self.keys.iter().find(|key| *key.id == *id).map(|key| &key.mac)
    }
}

impl Key {
    fn new(id: &str, secret: &[u8]) -> Result<Self, InvalidSealKey> {
        if !is_id(id) {
            return Err(InvalidSealKey(Fault::Name));
        }
        if secret.len() < MIN_BYTES {
            return Err(InvalidSealKey(Fault::TooShort));
        }
        let mac = Mac::new_from_slice(secret).map_err(|_| InvalidSealKey(Fault::TooShort))?;
        Ok(Self { id: id.into(), mac })
    }
}

/// Whether a key may have this name.
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

/// Why keys cannot be used. Never shows a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct InvalidSealKey(pub(super) Fault);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Name,
    SameName,
    TooShort,
    NoRandomness,
}

impl fmt::Display for InvalidSealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Fault::Name => "a key's name is 1 to 16 characters of A-Z, a-z, 0-9, `_` and `-`",
            Fault::SameName => "two keys have the same name",
            Fault::TooShort => "a key needs at least 32 secret bytes",
            Fault::NoRandomness => "the operating system gives no random numbers",
        })
    }
}

impl fmt::Debug for InvalidSealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InvalidSealKey({self})")
    }
}

impl StdError for InvalidSealKey {}
