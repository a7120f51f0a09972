//! The regular expressions of a schema.

use std::collections::HashMap;

use regex_lite::{Regex, RegexBuilder};

/// Memory of one compiled pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 64 * 1024;

/// A pattern and the states of its automaton: the steps that a match takes for each character.
#[derive(Debug)]
struct Compiled {
    regex: Regex,
    states: u64,
}

/// The patterns of a schema, each compiled once. A pattern that cannot be read has no entry in effect: it matches
/// everything.
#[derive(Debug, Default)]
pub(super) struct Patterns(HashMap<String, Option<Compiled>>);

impl Patterns {
    /// Compiles a pattern, unless this has been done before. Returns its number of states.
    ///
    /// # Errors
    ///
    /// Returns an error if the engine cannot read the pattern. Its time is linear in the text, so look-around and
    /// back-references are not supported.
    pub(super) fn add(&mut self, pattern: &str) -> Result<u64, regex_lite::Error> {
        if let Some(known) = self.0.get(pattern) {
            return Ok(known.as_ref().map_or(0, |known| known.states));
        }
        let regex = RegexBuilder::new(pattern).size_limit(MAX_PATTERN_BYTES).build();
        let states = states(pattern);
        let (compiled, result) = match regex {
            Ok(regex) => (Some(Compiled { regex, states }), Ok(states)),
            Err(error) => (None, Err(error)),
        };
        self.0.insert(pattern.to_owned(), compiled);
        result
    }

    pub(super) fn contains(&self, pattern: &str) -> bool {
        self.0.contains_key(pattern)
    }

    /// Returns the steps that a match of this text takes at most.
    pub(super) fn cost(&self, pattern: &str, text: &str) -> u64 {
        let states = self.0.get(pattern).and_then(Option::as_ref).map_or(0, |compiled| compiled.states);
        states.saturating_mul(text.len() as u64)
    }

    /// Returns `true` if the pattern matches somewhere in the text, or if it could not be read.
    pub(super) fn matches(&self, pattern: &str, text: &str) -> bool {
        let compiled = self.0.get(pattern).and_then(Option::as_ref);
        compiled.is_none_or(|compiled| compiled.regex.is_match(text))
    }
}

/// Estimates the states of a pattern's automaton: its characters and classes, times their counted repetitions.
fn states(pattern: &str) -> u64 {
    let mut groups = Vec::new();
    let (mut sum, mut last) = (0_u64, 0_u64);
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        last = match char {
            '\\' => {
                chars.next();
                1
            }
            '[' => {
                while let Some(inner) = chars.next() {
                    match inner {
                        '\\' => drop(chars.next()),
                        ']' => break,
                        _ => {}
                    }
                }
                1
            }
            '(' => {
                groups.push(std::mem::take(&mut sum));
                continue;
            }
            ')' => {
                let inner = sum;
                sum = groups.pop().unwrap_or_default();
                inner
            }
            '{' => {
                let bounds: String = chars.by_ref().take_while(|char| *char != '}').collect();
                let most = bounds.split(',').filter_map(|bound| bound.trim().parse::<u64>().ok()).max();
                last.saturating_mul(most.unwrap_or(1).saturating_sub(1))
            }
            _ => 1,
        };
        sum = sum.saturating_add(last);
    }
    sum.saturating_add(groups.into_iter().sum()).max(1)
}
