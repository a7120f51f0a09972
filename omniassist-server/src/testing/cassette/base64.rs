//! Base64 (RFC 4648, section 4), for bodies that are no text.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let value = bits >> (18 - 6 * place) & 63;
            let character = ALPHABET.get(value as usize).filter(|_| place <= group.len());
            text.push(character.map_or('=', |byte| char::from(*byte)));
        }
    }
    text
}

/// The bytes; `None` if the text is not base64 with its padding.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let body = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - body.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in body.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for byte in group {
            let value = ALPHABET.iter().position(|known| known == byte)?;
            bits = bits << 6 | u32::try_from(value).ok()?;
        }
        let [_, whole @ ..] = (bits << (6 * (4 - group.len()))).to_be_bytes();
        bytes.extend(whole.iter().take(group.len() * 6 / 8));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn known_values_and_round_trips() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).unwrap(), bytes.as_bytes());
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)).unwrap(), all);
        for wrong in ["Zg", "Zg=", "Z===", "Zm9v!m9v", "====", "Zg==Zg=="] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
