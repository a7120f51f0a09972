use std::collections::HashMap;
use std::sync::Arc;

use super::detector::{At, Candidate, Detector, Match};
use super::output_filter::{OutputFilter, TextFilter, TextKind};
use super::scan::{Action, Scan, impl_action};
use crate::Text;
use crate::secret::REDACTED;

/// Replaces given words and phrases, such as code names or competitors, or ends the run at one.
///
/// Case is ignored. A word matches if no letter or digit is adjacent to it. Text between the words of a phrase must be
/// the same, but any white space counts as a space.
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
        let words = Words { list: Arc::clone(&self.words), cursors: Vec::new(), in_word: false };
        Some(Box::new(Scan::new(vec![Box::new(words)], self.action.clone())))
    }
}

/// Finds the words of a list.
#[derive(Debug)]
pub(super) struct Words {
    list: Arc<List>,
    cursors: Vec<Cursor>,
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
        if (!is_word || self.list.anywhere)
            && let Some(found) = self.end()
        {
            return Some(found);
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
        if self.list.anywhere { self.end() } else { None }
    }

    fn end(&mut self) -> Option<Match> {
        let complete = self.cursors.iter().filter(|cursor| cursor.read == cursor.word.len());
        let found = complete.min_by_key(|cursor| (cursor.start, std::cmp::Reverse(cursor.end)))?;
        Some(Match { range: found.start..found.end, goes_on: |_| false })
    }

    fn candidate(&self) -> Option<Candidate> {
        let start = self.cursors.iter().map(|cursor| cursor.start).min()?;
        Some(Candidate { start, harmless: self.cursors.iter().filter_map(|cursor| cursor.half).min() })
    }

    fn reset(&mut self) {
        self.cursors.clear();
        self.in_word = true;
    }
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
