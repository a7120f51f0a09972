//! Names of called tools in the form that the APIs accept.

use omniassist_core::{Text, check_tool_name};
use sha2::{Digest, Sha256};

/// The characters that stay of a name that is changed. With `_` before them and the hash after them, it has at most 64.
const MAX_KEPT: usize = 56;

/// Returns the name under which a call is sent. A model may call a tool that does not exist, by a name for which the APIs
/// refuse each later request. Characters of such a name are replaced by `_`, and the first 6 hexadecimal digits of its SHA-256
/// hash follow.
pub(super) fn accepted(name: &Text) -> Text {
    // Gemini refuses a name that begins with a digit or `-`.
    let begins = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    if name.starts_with(begins) && check_tool_name(name).is_ok() {
        return name.clone();
    }
    let accepted = |letter: char| match letter {
        '-' | '_' => letter,
        letter if letter.is_ascii_alphanumeric() => letter,
        _ => '_',
    };
    let kept: String = name.chars().map(accepted).take(MAX_KEPT).collect();
    let first = if kept.starts_with(begins) { "" } else { "_" };
    let hash = Sha256::digest(name.as_bytes());
    let hash: String = hash.iter().take(3).map(|byte| format!("{byte:02x}")).collect();
    format!("{first}{kept}_{hash}").into()
}
