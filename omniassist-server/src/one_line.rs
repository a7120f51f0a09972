//! Text of clients, providers and host code on one line of a log.
//!
//! Subscribers escape a field that is a string. They write an error, or a value that is shown with `%`, as it is. A line
//! break in it would forge a line of the log, and an escape sequence would reach the operator's terminal. So such
//! values are logged through this module.

use std::error::Error;
use std::fmt::{self, Write as _};

/// Shows a value with its control characters and marks of text direction escaped.
pub(crate) struct OneLine<T>(pub(crate) T);

/// Shows an error with its sources.
pub(crate) struct Chain<'a>(&'a (dyn Error + 'static));

/// Shows an error and its sources on one line.
pub(crate) fn chain<'a>(error: &'a (dyn Error + 'static)) -> OneLine<Chain<'a>> {
    OneLine(Chain(error))
}

/// Returns `true` for characters that break a line, or that are not visible and change how others are shown.
pub(crate) fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl<T: fmt::Display> fmt::Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(source) = next {
            write!(f, ": {source}")?;
            next = source.source();
        }
        Ok(())
    }
}

struct Escaping<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl fmt::Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|char| match is_hidden(char) {
            true => write!(self.0, "{}", char.escape_default()),
            false => self.0.write_char(char),
        })
    }
}
