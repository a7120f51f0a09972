//! Names that models may use.

use sha2::{Digest, Sha256};

/// The maximum length of a name, for all providers.
const MAX_NAME: usize = 64;

/// Returns a name of at most 64 of `[A-Za-z0-9_-]`, and those that `also` allows. If the original has to be changed for that,
/// it ends in `_` and six hexadecimal digits of the SHA-256 of the original.
pub(crate) fn safe(original: &str, also: &str) -> String {
    let is_safe =
        |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-') || also.contains(char);
    if original.len() <= MAX_NAME && !original.is_empty() && original.chars().all(is_safe) {
        return original.to_owned();
    }
    marked(original, original, also)
}

/// Returns a name that ends in the digits of `of`, even if it did not have to be changed.
pub(crate) fn marked(name: &str, of: &str, also: &str) -> String {
    let mut safe = String::new();
    for char in name.chars() {
        if char.is_ascii_alphanumeric() || matches!(char, '_' | '-') || also.contains(char) {
            safe.push(char);
        } else if !safe.ends_with('_') {
            safe.push('_');
        }
    }
    let digits = Sha256::digest(of.as_bytes());
    let digits: String = digits.iter().take(3).map(|byte| format!("{byte:02x}")).collect();
    // All characters are ASCII.
    safe.truncate(MAX_NAME - 1 - digits.len());
    format!("{}_{digits}", safe.trim_end_matches('_'))
}

#[cfg(test)]
mod tests {
    use super::{marked, safe};

    #[test]
    fn a_changed_name_ends_in_digits_of_the_original() {
        let long = "a".repeat(64);
        assert_eq!(safe(&long, ""), long);
        let longer = safe(&"a".repeat(65), "");
        assert_eq!((longer.len(), longer.get(..57)), (64, long.get(..57)));
        // `printf %s 'filter[id]' | sha256sum`
        assert_eq!(safe("filter[id]", "."), "filter_id_665d00");
        assert_eq!(safe("a.b", "."), "a.b");
        assert_ne!(safe("a.b", ""), safe("a/b", ""));
        assert_eq!(safe("", "").len(), 7);
        assert_eq!(marked("x", "y", "").len(), 8);
    }
}
