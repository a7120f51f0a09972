use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::keys::is_id;

/// Bytes of a seal's hash.
pub(super) const MAC_BYTES: usize = 16;

pub(super) type MacBytes = [u8; MAC_BYTES];

/// A seal of the supported version: `v1.<key>.<expiry>.<hash>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// The name of its key.
    pub(super) key: &'a str,
    /// The expiry, in seconds since 1970; 0: never.
    pub(super) expiry: u64,
    /// The text of the hash, which may be malformed.
    pub(super) mac: &'a str,
}

impl<'a> Token<'a> {
    /// Reads a seal. `None` for anything of another form.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (key, rest) = text.strip_prefix("v1.")?.split_once('.')?;
        let (expiry, mac) = rest.split_once('.')?;
        let is_canonical = expiry == "0" || !expiry.starts_with(['0', '+']);
        let expiry = expiry.parse().ok().filter(|_| is_canonical)?;
        is_id(key).then_some(Self { key, expiry, mac })
    }

    /// Returns `true` if the seal has expired.
    pub(super) fn is_expired(&self, now_ms: u64) -> bool {
        self.expiry != 0 && now_ms >= self.expiry.saturating_mul(1000)
    }

    /// Returns the hash if its text is base64url without padding, in which each hash has one spelling.
    pub(super) fn mac_bytes(&self) -> Option<MacBytes> {
        // The decoder needs room for whole groups of four characters.
        let mut bytes = [0; MAC_BYTES + 2];
        let length = URL_SAFE_NO_PAD.decode_slice(self.mac, &mut bytes).ok()?;
        bytes.get(..length)?.try_into().ok()
    }
}

pub(super) fn write(key: &str, expiry: u64, mac: &[u8]) -> String {
    let mut token = format!("v1.{key}.{expiry}.");
    URL_SAFE_NO_PAD.encode_string(mac, &mut token);
    token
}
