//! Characters that a person does not see, and the start of a text that ends between two characters.
//!
//! A text of a model, a client or another server can have characters that hide text, reorder it, or spell words that only
//! a model reads. Remove or escape those of [`is_hidden`] wherever such a text is shown. [`is_joiner`] and
//! [`is_selector`] are sets of their own, because scripts and emoji need them: add them where the text is compared by eye.

/// Returns `true` for characters that break a line, change the direction of text, have no glyph, or are tags.
///
/// ```
/// use omniassist_core::characters::is_hidden;
///
/// assert!("\u{1b}\u{2028}\u{202e}\u{200b}\u{e0041}".chars().all(is_hidden));
/// assert!(!"a b-ü\u{200d}\u{fe0f}".chars().any(is_hidden));
/// ```
#[must_use]
pub fn is_hidden(char: char) -> bool {
    char.is_control() || is_separator(char) || is_direction(char) || is_blank(char) || is_tag(char)
}

/// Returns `true` for the two joiners, with which scripts and emoji make one sign of several characters.
#[must_use]
pub fn is_joiner(char: char) -> bool {
    matches!(char, '\u{200c}' | '\u{200d}')
}

/// Returns `true` for the selectors of a variant, which choose between the text and the picture of an emoji.
#[must_use]
pub fn is_selector(char: char) -> bool {
    matches!(char, '\u{fe00}'..='\u{fe0f}')
}

/// Returns the longest start of a text that has at most `max_bytes` and ends between two characters.
///
/// ```
/// assert_eq!(omniassist_core::characters::prefix("aü", 2), "a");
/// ```
#[must_use]
pub fn prefix(text: &str, max_bytes: usize) -> &str {
    // `str::floor_char_boundary` is newer than the oldest supported toolchain.
    (0..=max_bytes.min(text.len())).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

/// Returns `true` for the separators of lines and paragraphs, which are no control characters.
fn is_separator(char: char) -> bool {
    matches!(char, '\u{2028}' | '\u{2029}')
}

/// Returns `true` for marks of the direction of text.
fn is_direction(char: char) -> bool {
    matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns `true` for characters without a glyph: soft hyphens, fillers, zero widths, and marks of annotations.
fn is_blank(char: char) -> bool {
    matches!(
        char,
        '\u{ad}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
    )
}

/// Returns `true` for tags and the further selectors among them, which spell text that only a model reads.
fn is_tag(char: char) -> bool {
    matches!(char, '\u{e0000}'..='\u{e0fff}')
}
