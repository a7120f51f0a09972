use super::keys::is_id;

/// Bytes of a seal's hash.
pub(super) const MAC_BYTES: usize = 16;

/// Characters of it in base64url without padding (RFC 4648, section 5).
const MAC_CHARS: usize = 22;

/// Bits that the last character has beyond those of the hash. They are zero, so that a hash has one spelling.
const SPARE_BITS: u32 = 4;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

pub(super) type MacBytes = [u8; MAC_BYTES];

/// A seal of a version that this code knows: `v1.<key>.<expiry>.<hash>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// The name of its key.
    pub(super) key: &'a str,
    /// The expiry, in seconds since 1970; 0: never.
    pub(super) expiry: u64,
    /// The hash as it is spelled, which may be anything.
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

    /// Returns `true` if its time is over.
    pub(super) fn is_expired(&self, now_ms: u64) -> bool {
        self.expiry != 0 && now_ms >= self.expiry.saturating_mul(1000)
    }

    /// Its hash, where that is spelled as one.
    pub(super) fn mac_bytes(&self) -> Option<MacBytes> {
        let characters: &[u8; MAC_CHARS] = self.mac.as_bytes().try_into().ok()?;
        let (last, rest) = characters.split_last()?;
        // Ten characters are sixty bits, which a processor shifts at once.
        let bits = |characters: &[u8]| {
            characters.iter().try_fold(0_u64, |bits, character| Some(bits << 6 | value(*character)?))
        };
        let bits = rest.chunks(10).try_fold(0_u128, |all, characters| {
            Some(all << (6 * characters.len()) | u128::from(bits(characters)?))
        })?;
        let last = u128::from(value(*last)?);
        let is_canonical = last.trailing_zeros() >= SPARE_BITS;
        is_canonical.then(|| (bits << (6 - SPARE_BITS) | last >> SPARE_BITS).to_be_bytes())
    }
}

/// The six bits that a character stands for.
fn value(character: u8) -> Option<u64> {
    let value = match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    };
    Some(u64::from(value))
}

/// Spells a seal.
pub(super) fn write(key: &str, expiry: u64, mac: MacBytes) -> String {
    let mut token = format!("v1.{key}.{expiry}.");
    token.reserve_exact(MAC_CHARS);
    let bits = u128::from_be_bytes(mac);
    for index in 0..MAC_CHARS {
        let right_of_it = 128_i64 - 6 * (i64::try_from(index).unwrap_or(0) + 1);
        let value = if right_of_it < 0 { bits << SPARE_BITS } else { bits >> right_of_it };
        let character = ALPHABET.get(usize::try_from(value & 0x3f).unwrap_or(0)).copied();
        token.push(char::from(character.unwrap_or(b'A')));
    }
    token
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_is_read_as_it_was_written() {
        for (mac, text) in [
            ([0; 16], "AAAAAAAAAAAAAAAAAAAAAA"),
            ([0xff; 16], "_____________________w"),
            (*b"sixteen bytes ok", "c2l4dGVlbiBieXRlcyBvaw"),
        ] {
            let token = write("2026-11", 17, mac);
            assert_eq!(token, format!("v1.2026-11.17.{text}"));
            let read = Token::parse(&token).unwrap();
            assert_eq!((read.key, read.expiry, read.mac_bytes()), ("2026-11", 17, Some(mac)));
        }
    }

    #[test]
    fn a_hash_has_one_spelling() {
        for mac in [
            "_____________________x",
            "AAAAAAAAAAAAAAAAAAAAAA=",
            "AAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAA+",
            "",
        ] {
            let token = format!("v1.k.0.{mac}");
            assert_eq!(Token::parse(&token).unwrap().mac_bytes(), None, "{mac}");
        }
    }

    #[test]
    fn anything_else_is_not_a_seal() {
        for token in
            ["", "v1", "v1.k.0", "v2.k.0.A", "V1.k.0.A", "v1..0.A", "v1.k.00.A", "v1.k.+1.A", "v1.k.-1.A"]
        {
            assert_eq!(Token::parse(token), None, "{token}");
        }
        assert_eq!(Token::parse("v1.seventeen-letters.0.A"), None);
        assert_eq!(Token::parse("v1.k.18446744073709551616.A"), None);
        assert_eq!(Token::parse("v1.ü.0.A"), None);
    }
}
