//! Text of clients, providers and host code on one line of a log.
//!
//! Subscribers escape a field that is a string. They write an error, or a value that is shown with `%`, as it is. A line
//! break in it would forge a line of the log, and an escape sequence would reach the operator's terminal. So such
//! values are logged through this module.

use std::error::Error;
use std::fmt::{self, Write as _};

use omniassist_core::characters;

/// Shows a value with its hidden characters and joiners escaped.
pub(crate) struct OneLine<T>(pub(crate) T);

/// Shows an error with its sources.
pub(crate) struct Chain<'a>(&'a (dyn Error + 'static));

/// Shows an error and its sources on one line.
pub(crate) fn chain<'a>(error: &'a (dyn Error + 'static)) -> OneLine<Chain<'a>> {
    OneLine(Chain(error))
}

/// Returns `true` for hidden characters and joiners. Two texts that differ in them look the same.
pub(crate) fn is_unseen(char: char) -> bool {
    characters::is_hidden(char) || characters::is_joiner(char)
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
        text.chars().try_for_each(|char| match is_unseen(char) {
            true => write!(self.0, "{}", char.escape_default()),
            false => self.0.write_char(char),
        })
    }
}
