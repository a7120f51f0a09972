use std::ops::Range;

/// A character, with the byte at which it begins. Bytes are counted from the beginning of the block.
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

/// A match that may not be decided yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) start: usize,
    /// The end of the harmless beginning. `None`: all of it so far.
    pub(super) harmless: Option<usize>,
}

/// A match, and the characters that belong to it where they follow.
#[derive(Debug, Clone)]
pub(super) struct Match {
    pub(super) range: Range<usize>,
    pub(super) goes_on: fn(char) -> bool,
}

/// The recognition of one kind of text, character by character.
pub(super) trait Detector: Send {
    /// Takes the next character.
    fn step(&mut self, next: At) -> Option<Match>;

    /// Takes the end of the block. Default: every match is decided by its last character.
    fn end(&mut self) -> Option<Match> {
        None
    }

    /// Returns the match that is not decided yet.
    fn candidate(&self) -> Option<Candidate>;

    /// Begins anew behind a match, whose last character belongs to a word.
    fn reset(&mut self);
}
