use std::fmt;

use super::output_filter::{MAX_HELD_BYTES, Stage, TextFilter, Verdict};
use crate::Text;
use crate::characters::prefix;
use crate::secret::REDACTED;

/// The end of a run by a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    message: Text,
}

impl Stopped {
    /// Returns the message for the client.
    #[must_use]
    pub fn message(&self) -> &Text {
        &self.message
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a filter stopped the run")
    }
}

impl std::error::Error for Stopped {}

/// A filter, with the text that it withholds.
pub(super) struct Held {
    filter: Box<dyn TextFilter>,
    text: String,
    /// The last replacement, until other text is released. It is not repeated.
    replaced: Option<Text>,
    /// `true` if text was replaced.
    pub(super) altered: bool,
}

impl Held {
    pub(super) fn new(filter: Box<dyn TextFilter>) -> Self {
        Self { filter, text: String::new(), replaced: None, altered: false }
    }

    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Adds a delta of the block, and writes the text that is released.
    pub(super) fn feed(&mut self, piece: &str, stage: Stage, out: &mut String) -> Result<(), Stopped> {
        self.text.push_str(piece);
        self.check(stage, out)?;
        if self.text.len() > MAX_HELD_BYTES { self.check(Stage::Due, out) } else { Ok(()) }
    }

    fn check(&mut self, stage: Stage, out: &mut String) -> Result<(), Stopped> {
        loop {
            match self.filter.check(&self.text, stage) {
                Verdict::Pass(bytes) => {
                    self.pass(bytes, out);
                    if stage != Stage::Open && !self.text.is_empty() {
                        self.text.clear();
                        self.replace(Text::from_static(REDACTED), out);
                    }
                    return Ok(());
                }
                Verdict::Replace { range, with } => {
                    let passed = self.pass(range.start, out);
                    let bytes = prefix(&self.text, range.end.saturating_sub(passed)).len();
                    self.text.drain(..bytes);
                    self.replace(with, out);
                    if passed + bytes == 0 {
                        // An empty range would repeat forever.
                        return Ok(());
                    }
                }
                Verdict::Stop { at, message } => {
                    self.pass(at, out);
                    self.text.clear();
                    return Err(Stopped { message });
                }
            }
        }
    }

    fn pass(&mut self, bytes: usize, out: &mut String) -> usize {
        let bytes = prefix(&self.text, bytes).len();
        if bytes > 0 {
            self.replaced = None;
            out.extend(self.text.drain(..bytes));
        }
        bytes
    }

    fn replace(&mut self, with: Text, out: &mut String) {
        self.altered = true;
        if !with.is_empty() && self.replaced.as_ref() != Some(&with) {
            out.push_str(&with);
            self.replaced = Some(with);
        }
    }
}
