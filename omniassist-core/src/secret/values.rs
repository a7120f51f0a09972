use std::ops::Range;

use super::REDACTED;

/// Prefixes of API keys.
pub(crate) const KEY_PREFIXES: [&str; 19] = [
    "AIza",
    "AKIA",
    "ASIA",
    "csk-",
    "fw_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "gsk_",
    "hf_",
    "nvapi-",
    "pk-",
    "pplx-",
    "r8_",
    "rk-",
    "sk-",
    "sk_",
    "xai-",
];

/// The length of the shortest recognised API key, in bytes.
pub(crate) const MIN_KEY: usize = 12;

/// The length of the longest recognised header of a signed token, in bytes. It bounds the search at each offset.
const MAX_HEADER: usize = 2048;

/// Finds given values, API keys and signed tokens (JWT).
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// Longest first, so that no part of a longer value remains.
    values: Vec<String>,
}

impl Secrets {
    /// Creates a finder of these values. Empty ones are ignored.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> = values.into_iter().filter(|value| !value.is_empty()).collect();
        values.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self { values }
    }

    /// Returns the text with [`REDACTED`] in place of each secret.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        redacted(text, self.ranges(text.as_bytes()))
    }

    /// Returns the ranges of secrets, in order. They do not touch.
    #[must_use]
    pub fn ranges(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut found = keys(bytes);
        for value in self.values.iter().map(String::as_bytes) {
            found.extend(memchr::memmem::find_iter(bytes, value).map(|at| at..at + value.len()));
        }
        found.sort_unstable_by_key(|range| range.start);
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(found.len());
        for range in found {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        merged
    }
}

/// Returns the ranges of words with the form of a key.
fn keys(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let word = if begins_word(bytes, at) { key_word(rest) } else { None };
        // The rest of a word that is no key is none either.
        let (length, is_key) = word.unwrap_or((1, false));
        found.extend(is_key.then_some(at..at + length));
        at += length;
    }
    found
}

/// Returns `true` if a word can begin at this offset: not within `task-force`, but after the escape of `\nsk-…` and
/// `%20sk-…`.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let is_before = |distance: usize, byte: u8| {
        at.checked_sub(distance).and_then(|at| bytes.get(at)).is_some_and(|before| *before == byte)
    };
    let before = at.checked_sub(1).and_then(|at| bytes.get(at));
    !before.is_some_and(u8::is_ascii_alphanumeric) || is_before(2, b'\\') || is_before(3, b'%')
}

/// Returns the length of the word at the start if it begins like a key, and `true` if it is one.
fn key_word(bytes: &[u8]) -> Option<(usize, bool)> {
    let is_token = || {
        let dot = || memchr::memchr(b'.', bytes.get(..MAX_HEADER).unwrap_or(bytes));
        let payload = || bytes.get(dot()? + 1..);
        bytes.starts_with(b"eyJ") && payload().is_some_and(|payload| payload.starts_with(b"eyJ"))
    };
    let prefix = KEY_PREFIXES.iter().find(|prefix| bytes.starts_with(prefix.as_bytes()));
    let is_token = prefix.is_none() && is_token();
    if prefix.is_none() && !is_token {
        return None;
    }
    let word = || bytes.iter().map(|byte| char::from(*byte)).take_while(|char| is_key_char(*char));
    let (length, mut form) = (word().count(), KeyForm::default());
    word().skip(prefix.map_or(0, |prefix| prefix.len())).for_each(|char| form.take(char));
    Some((length, length >= MIN_KEY && (is_token || form.is_key())))
}

/// The form of the text after a prefix. It distinguishes keys from names such as `hf_hub_download`: a key has at least
/// two digits, capital letters or asterisks, or a long part of small letters.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct KeyForm {
    /// Digits, capital letters and asterisks, as far as they matter.
    signs: u8,
    /// Small letters in a row.
    letters: u8,
}

impl KeyForm {
    const SIGNS: u8 = 2;

    /// Longer than the parts of names.
    const LETTERS: u8 = 16;

    pub(crate) fn take(&mut self, char: char) {
        let is_letter = char.is_ascii_lowercase();
        self.letters = if is_letter { self.letters.saturating_add(1) } else { 0 };
        let is_sign = char.is_ascii_digit() || char.is_ascii_uppercase() || char == '*';
        self.signs = self.signs.saturating_add(u8::from(is_sign));
        if self.letters >= Self::LETTERS {
            self.signs = Self::SIGNS;
        }
    }

    pub(crate) fn is_key(self) -> bool {
        self.signs >= Self::SIGNS
    }
}

/// Returns `true` for characters of keys and tokens. Some servers show a key with asterisks.
pub(crate) fn is_key_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.' | '*')
}

/// Returns the text with [`REDACTED`] in these ranges, which are in order and do not overlap.
pub(crate) fn redacted(text: &str, places: Vec<Range<usize>>) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    for place in places {
        clean.push_str(text.get(from..place.start).unwrap_or_default());
        clean.push_str(REDACTED);
        from = place.end;
    }
    clean.push_str(text.get(from..).unwrap_or_default());
    clean
}
