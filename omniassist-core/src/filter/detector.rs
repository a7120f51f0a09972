use std::ops::Range;

/// A character with its byte offset in the block.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    pub(super) at: usize,
    pub(super) char: char,
}

impl At {
    pub(super) fn end(self) -> usize {
        self.at + self.char.len_utf8()
    }
}

/// A possible match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) start: usize,
    /// The end of the harmless prefix. `None`: all of it so far.
    pub(super) harmless: Option<usize>,
}

/// A match, and the characters that extend it.
#[derive(Debug, Clone)]
pub(super) struct Match {
    pub(super) range: Range<usize>,
    pub(super) goes_on: fn(char) -> bool,
}

/// Recognises one kind of text, character by character.
pub(super) trait Detector: Send {
    /// Processes the next character.
    fn step(&mut self, next: At) -> Option<Match>;

    /// Processes the end of the block. Default: no match, because every match is complete with its last character.
    fn end(&mut self) -> Option<Match> {
        None
    }

    /// Returns the possible match, if there is one.
    fn candidate(&self) -> Option<Candidate>;

    /// Restarts after a match whose last character belongs to a word.
    fn reset(&mut self);
}
