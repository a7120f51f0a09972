//! Finding the end of a JSON string.
//!
//! For whatever walks over JSON by itself, where a parser would do more than is needed.
//!
//! ```
//! use omniassist_core::json_scan::plain_length;
//!
//! assert_eq!(plain_length(b"no more\", \"next"), 7);
//! assert_eq!(plain_length(b"a line\\n"), 6);
//! assert_eq!(plain_length("for itself, up to the end: ü".as_bytes()), 29);
//! ```

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// How many bytes at the front may stand in a JSON string as they are: up to the first quote, backslash or control
/// character.
#[must_use]
pub fn plain_length(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((word, behind)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        // The lowest high bit that is set is exact; a borrow can only set bits above it.
        let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
        let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
        let special = (below(word, 0x20) | equal(b'"') | equal(b'\\')) & HIGH_BITS;
        if special != 0 {
            return bytes.len() - rest.len() + special.trailing_zeros() as usize / 8;
        }
        rest = behind;
    }
    let is_plain = |byte: &&u8| !matches!(**byte, b'"' | b'\\' | 0..0x20);
    bytes.len() - rest.len() + rest.iter().take_while(is_plain).count()
}

#[cfg(test)]
mod tests {
    use super::plain_length;

    #[test]
    fn every_byte_counts_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            let is_special = byte < 0x20 || byte == b'"' || byte == b'\\';
            for around in [0x20, 0x21, 0x5b, 0x7f, 0x80, 0xff] {
                for at in 0..20 {
                    let mut bytes = [around; 20];
                    bytes[at] = byte;
                    assert_eq!(
                        plain_length(&bytes),
                        if is_special { at } else { 20 },
                        "{byte} {around} {at}"
                    );
                }
            }
        }
        // What a borrow from the first would change.
        assert_eq!(plain_length(b"a\x00\x20\x20\x20\x20\x20\x20"), 1);
        assert_eq!(plain_length(b"a\"\"\x23\x22aaa"), 1);
    }
}
