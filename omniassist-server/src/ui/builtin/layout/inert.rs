//! Text of a model as it may be written to a terminal: without control characters, escape sequences, and marks that change
//! the direction or the width of other characters.

use omniassist_core::characters::is_selector;
use unicode_width::UnicodeWidthChar;

use crate::one_line::is_unseen;

/// The number of combining marks on one character. More would cover the lines above.
const MAX_MARKS: usize = 4;

/// The width of a tab, which a terminal would place by columns of its own.
const TAB: &str = "    ";

/// Returns the text on one line, with one space between words.
pub(crate) fn one_line(text: &str) -> String {
    let text = inert(text);
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns the text with its line breaks. Tabs become spaces.
pub(crate) fn inert(text: &str) -> String {
    let mut marks = 0;
    let mut inert = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' => inert.push('\n'),
            '\t' => inert.push_str(TAB),
            '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{b}' | '\u{c}' => inert.push('\n'),
            _ if is_unseen(char) || is_selector(char) => continue,
            _ if char.width() == Some(0) => {
                marks += 1;
                if marks <= MAX_MARKS {
                    inert.push(char);
                }
                continue;
            }
            _ => inert.push(char),
        }
        marks = 0;
    }
    inert
}
