use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::detector::{At, Candidate, Detector, Match};
use super::output_filter::{OutputFilter, TextFilter, TextKind};
use super::scan::{Action, Scan, impl_action};
use crate::Text;
use crate::secret::REDACTED;

/// Replaces given words and phrases, such as code names or competitors, or ends the run at one.
///
/// Case is ignored. A word matches if no letter or digit is adjacent to it. Text between the words of a phrase must be
/// the same, but any white space counts as a space. If several begin at one place, the longest counts.
///
/// ```
/// use omniassist_core::filter::WordList;
///
/// let names = WordList::new(["Bluebird", "Project Falcon"]).replacement("our next product");
/// let topics = WordList::new(["insider trading"]).stop_run("I cannot talk about this.");
/// ```
#[derive(Debug, Clone)]
#[must_use = "a filter does nothing until an assistant has it"]
pub struct WordList {
    words: Arc<List>,
    action: Action,
}

/// The words in lower case.
#[derive(Debug, Clone, Default)]
struct List {
    by_first: HashMap<char, Vec<Arc<[char]>>>,
    anywhere: bool,
}

impl WordList {
    /// Creates a list. Empty words are ignored.
    pub fn new(words: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut list = List::default();
        for word in words {
            let word: Arc<[char]> = word.as_ref().trim().chars().flat_map(folded).collect();
            if let Some(first) = word.first() {
                list.by_first.entry(*first).or_default().push(word);
            }
        }
        Self { words: Arc::new(list), action: Action::Replace(Text::from_static(REDACTED)) }
    }

    /// Sets whether a word also matches within another one. Scripts without spaces between words need it. Default:
    /// `false`.
    pub fn anywhere(mut self, anywhere: bool) -> Self {
        Arc::make_mut(&mut self.words).anywhere = anywhere;
        self
    }
}

impl_action!(WordList);

impl OutputFilter for WordList {
    fn begin(&self, _kind: TextKind) -> Option<Box<dyn TextFilter>> {
        let list = Arc::clone(&self.words);
        let words = Words { list, cursors: Vec::new(), found: None, in_word: false };
        Some(Box::new(Scan::new(vec![Box::new(words)], self.action.clone())))
    }
}

/// Finds the words of a list.
#[derive(Debug)]
pub(super) struct Words {
    list: Arc<List>,
    cursors: Vec<Cursor>,
    /// The word that matches, while a longer one may.
    found: Option<Range<usize>>,
    /// `true` after a letter or a digit.
    in_word: bool,
}

/// A partially matched word.
#[derive(Debug)]
struct Cursor {
    word: Arc<[char]>,
    read: usize,
    start: usize,
    end: usize,
    /// The end of its first half, once that has matched.
    half: Option<usize>,
}

impl Detector for Words {
    fn step(&mut self, next: At) -> Option<Match> {
        let is_word = next.char.is_alphanumeric();
        if !is_word {
            self.take_complete();
        }
        let begins = !std::mem::replace(&mut self.in_word, is_word) || !is_word || self.list.anywhere;
        let first = folded(next.char).next().filter(|_| begins);
        let words = first.and_then(|first| self.list.by_first.get(&first)).into_iter().flatten();
        self.cursors.extend(words.map(|word| Cursor {
            word: Arc::clone(word),
            read: 0,
            start: next.at,
            end: next.at,
            half: None,
        }));
        self.cursors.retain_mut(|cursor| cursor.step(next));
        if self.list.anywhere {
            self.take_complete();
        }
        let cursors = &self.cursors;
        self.found.take_if(|found| cursors.iter().all(|cursor| cursor.start > found.start)).map(matched)
    }

    fn end(&mut self) -> Option<Match> {
        self.take_complete();
        self.found.take().map(matched)
    }

    fn candidate(&self) -> Option<Candidate> {
        let found = self.found.as_ref().map(|found| found.start);
        let start = self.cursors.iter().map(|cursor| cursor.start).chain(found).min()?;
        let harmless = self.cursors.iter().filter_map(|cursor| cursor.half).chain(found).min();
        Some(Candidate { start, harmless })
    }

    fn reset(&mut self) {
        self.cursors.clear();
        (self.found, self.in_word) = (None, true);
    }
}

impl Words {
    /// Takes the words that are complete. The first one counts, and of several the longest.
    fn take_complete(&mut self) {
        let complete = self.cursors.extract_if(.., |cursor| cursor.read == cursor.word.len());
        let complete = complete.map(|cursor| cursor.start..cursor.end).chain(self.found.take());
        self.found = complete.min_by_key(|found| (found.start, Reverse(found.end)));
    }
}

fn matched(range: Range<usize>) -> Match {
    Match { range, goes_on: |_| false }
}

impl Cursor {
    /// Returns `false` if the character does not match.
    fn step(&mut self, next: At) -> bool {
        let fits = folded(next.char).all(|char| {
            self.read += 1;
            self.word.get(self.read - 1) == Some(&char)
        });
        self.end = next.end();
        if self.read > self.word.len() / 2 {
            self.half.get_or_insert(next.at);
        }
        fits
    }
}

/// Returns a character in lower case. White space becomes a space.
fn folded(char: char) -> impl Iterator<Item = char> {
    if char.is_whitespace() { ' ' } else { char }.to_lowercase()
}
