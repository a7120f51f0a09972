//! Texts in the database, which refuses the character U+0000.

use std::borrow::Cow;

use omniassist_server::core::Text;

/// The character that begins an escape.
const ESCAPE: char = '\u{1A}';

/// Returns a text as the database stores it. Equal texts stay equal, and different ones different.
pub(crate) fn stored(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(ESCAPE, "\u{1A}1").replace('\0', "\u{1A}0"))
}

/// Returns a stored text.
pub(crate) fn loaded(text: &str) -> Text {
    if !text.contains(ESCAPE) {
        return text.into();
    }
    text.replace("\u{1A}0", "\0").replace("\u{1A}1", "\u{1A}").into()
}

#[cfg(test)]
mod tests {
    use super::{loaded, stored};

    #[test]
    fn every_text_is_loaded_as_it_was() {
        let texts = ["", "a", "\0", "\u{1A}", "\u{1A}0", "\u{1A}\0", "\0\u{1A}1", "a\0b\u{1A}c", "\u{1A}10"];
        for text in texts {
            let stored = stored(text);
            assert!(!stored.contains('\0'), "{text:?}");
            assert_eq!(loaded(&stored), text, "{text:?}");
        }
        let all: std::collections::HashSet<_> = texts.iter().map(|text| stored(text)).collect();
        assert_eq!(all.len(), texts.len());
    }
}
