//! Lines of at most a given width, measured in cells of a terminal.

use textwrap::{Options, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::inert::{inert, one_line};

/// The number of items of an array that is shown.
pub(crate) const MAX_ITEMS: usize = 1_000;

/// The end of a line that was cut.
const ELLIPSIS: char = '…';

/// The side of a cell at which its text is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Align {
    #[default]
    Left,
    Right,
}

/// Returns the text in lines of at most `columns`. Words that are longer are broken.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    hanging("", "", text, columns)
}

/// Returns the text in lines that begin with `first` and, from the second one, with `rest`.
pub(crate) fn hanging(first: &str, rest: &str, text: &str, columns: usize) -> Vec<String> {
    let options = Options::new(columns.max(rest.width() + 2))
        .initial_indent(first)
        .subsequent_indent(rest)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let text = inert(text);
    let lines = textwrap::wrap(text.trim_end(), options);
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Returns the text on one line, cut with an ellipsis if it is longer.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    cut_inert(&one_line(text), columns)
}

/// Returns a line that is inert already, cut with an ellipsis if it is longer.
pub(crate) fn cut_inert(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let mut cut = String::new();
    let mut room = columns.saturating_sub(1);
    for char in line.chars() {
        let width = char.width().unwrap_or_default();
        let Some(left) = room.checked_sub(width) else { break };
        room = left;
        cut.push(char);
    }
    cut.truncate(cut.trim_end().len());
    if columns > 0 {
        cut.push(ELLIPSIS);
    }
    cut
}

/// Returns a line that is inert already with spaces up to `columns`.
pub(crate) fn padded(line: &str, columns: usize, align: Align) -> String {
    let line = cut_inert(line, columns);
    let spaces = " ".repeat(columns.saturating_sub(line.width()));
    match align {
        Align::Left => line + &spaces,
        Align::Right => spaces + &line,
    }
}

/// Returns the width of a text on one line.
pub(crate) fn width(line: &str) -> usize {
    line.width()
}

/// Returns the part of the items that is shown, and a note about the others.
pub(crate) fn shown<T>(items: &[T]) -> (&[T], Option<String>) {
    let (shown, more) = items.split_at(items.len().min(MAX_ITEMS));
    (shown, (!more.is_empty()).then(|| format!("… and {} more", more.len())))
}
