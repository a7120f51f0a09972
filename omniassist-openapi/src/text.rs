//! The texts of a document, which models read.

use omniassist_server::core::characters::{is_hidden, is_joiner, is_selector};

/// The maximum number of bytes of a description.
const MAX_DESCRIPTION: usize = 1024;

/// Returns a description in a bounded form: without control and invisible characters, and cut off after 1,024 bytes.
pub(crate) fn description(text: &str) -> String {
    let mut clean = String::new();
    for char in text.trim().chars().map(|char| if char == '\t' { ' ' } else { char }) {
        if is_unseen(char) {
            continue;
        }
        if clean.len() + char.len_utf8() > MAX_DESCRIPTION - '…'.len_utf8() {
            clean.push('…');
            break;
        }
        clean.push(char);
    }
    clean
}

/// Returns `true` for characters that a person does not see, besides line feeds.
fn is_unseen(char: char) -> bool {
    char != '\n' && (is_hidden(char) || is_joiner(char) || is_selector(char))
}

/// Returns the description of an operation: its summary, and its description if that says more.
pub(crate) fn of_operation(summary: Option<&str>, details: Option<&str>, otherwise: &str) -> String {
    let summary = summary.unwrap_or_default().trim();
    let details = details.unwrap_or_default().trim();
    let text = match (summary, details) {
        ("", "") => String::new(),
        (text, "") | ("", text) => description(text),
        (summary, details) if details.starts_with(summary) => description(details),
        (summary, details) => description(&format!("{summary}\n{details}")),
    };
    // A text of invisible characters is empty too.
    if text.is_empty() { otherwise.to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::{description, of_operation};

    #[test]
    fn invisible_characters_are_removed_and_length_is_bounded() {
        assert_eq!(description(" a\u{202e}b\u{e0041}\u{200b}\u{3164}\u{2028}\u{7}\r\nc\td "), "ab\nc d");
        assert_eq!(description(&"é".repeat(510)).len(), 1020);
        let cut = description(&"é".repeat(600));
        assert!(cut.ends_with("é…") && cut.len() <= 1024, "{}", cut.len());
        assert_eq!(of_operation(Some("\u{200b}"), None, "GET /a"), "GET /a");
        assert_eq!(of_operation(Some("Reads a."), Some("Reads a. Slowly."), ""), "Reads a. Slowly.");
    }
}
