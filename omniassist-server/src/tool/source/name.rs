use omniassist_core::{Text, check_tool_name};
use sha2::{Digest, Sha256};

/// The maximum length of the name of a source.
const MAX_SOURCE_NAME: usize = 16;

/// The maximum length of the name of a tool.
const MAX_TOOL_NAME: usize = 64;

/// The number of bytes of the hash in a name that was changed.
const HASH_BYTES: usize = 3;

/// Checks the name of a source.
///
/// # Errors
///
/// Returns the rule that the name breaks.
pub(in crate::tool) fn check_source_name(name: &str) -> Result<(), &'static str> {
    let is_allowed = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-';
    let begins = name.bytes().next().is_some_and(|first| first.is_ascii_lowercase());
    match begins && name.len() <= MAX_SOURCE_NAME && name.bytes().all(is_allowed) {
        true => Ok(()),
        false => Err(
            "the name of a source has 1 to 16 of `a` to `z`, `0` to `9` and `-`, and begins with a letter",
        ),
    }
}

/// Returns the name for models of a tool of a source: `docs_open` for `open` of `docs`.
///
/// Models accept 64 of `[A-Za-z0-9_-]`. If the name is longer or has other characters, they are replaced by `_` or cut, and the
/// first 6 hexadecimal digits of the SHA-256 hash of the original name follow. The result does not depend on the other tools.
///
/// ```
/// use omniassist_server::tool::source::source_tool_name;
///
/// assert_eq!(source_tool_name("docs", "open"), "docs_open");
/// assert_eq!(source_tool_name("docs", "page.open"), "docs_page_open_f778a2");
/// ```
#[must_use]
pub fn source_tool_name(source: &str, tool: &str) -> Text {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let name = format!("{source}_{tool}");
    if check_tool_name(&name).is_ok() {
        return name.into();
    }
    let hash = Sha256::digest(tool.as_bytes());
    let hash: String = hash.iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect();
    let kept = MAX_TOOL_NAME - hash.len() - 1;
    let name: String =
        name.chars().map(|letter| if is_allowed(letter) { letter } else { '_' }).take(kept).collect();
    format!("{name}_{hash}").into()
}
