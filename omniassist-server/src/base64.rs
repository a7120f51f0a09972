//! Base64 (RFC 4648): for files in data URLs and for bodies in cassettes.

#[cfg(feature = "testing")]
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[cfg(feature = "testing")]
pub(crate) fn encode(bytes: &[u8]) -> String {
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

/// The bytes; `None` if the text is not base64. Reads both alphabets, that of section 4 and that for URLs, and takes
/// padding or none: browsers and servers write all of these into data URLs.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    // A lone last character holds no whole byte.
    if padding > 2 || (padding > 0 && !text.len().is_multiple_of(4)) || body.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(body.len() / 4 * 3 + 2);
    for group in body.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for byte in group {
            bits = bits << 6 | u32::from(value(*byte)?);
        }
        let [_, whole @ ..] = (bits << (6 * (4 - group.len()))).to_be_bytes();
        bytes.extend(whole.iter().take(group.len() * 6 / 8));
    }
    Some(bytes)
}

fn value(character: u8) -> Option<u8> {
    Some(match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

#[cfg(all(test, feature = "testing"))]
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
            assert_eq!(decode(text.trim_end_matches('=')).unwrap(), bytes.as_bytes());
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)).unwrap(), all);
        assert_eq!(decode(&encode(&all).replace('+', "-").replace('/', "_")).unwrap(), all);
    }

    #[test]
    fn what_is_no_base64_is_told() {
        for wrong in ["Z", "Zg=", "Z===", "Zm9v!m9v", "Zm9v m9v", "Zm9vZ", "=", "==", "====", "Zg==Zg=="] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
