use crate::filter::detector::{At, Candidate, Detector, Match};
use crate::secret::{KEY_PREFIXES, KeyForm, MIN_KEY, is_key_char};

/// The beginning of a signed token: `{"` in Base64.
const TOKEN: &str = "eyJ";

/// Finds API keys and signed tokens.
#[derive(Debug, Default)]
pub(super) struct Keys {
    start: usize,
    /// The candidate, until a prefix is found.
    word: String,
    state: State,
    /// The last three characters, newest first.
    before: [Option<char>; 3],
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
    #[default]
    None,
    /// `word` may become a prefix.
    Prefix,
    /// A prefix of this length is complete.
    Key { prefix: usize, form: KeyForm },
    /// The first part of a signed token.
    Header,
    /// The part after the header, with the number of matching bytes.
    Payload { fits: usize },
}

impl Detector for Keys {
    fn step(&mut self, next: At) -> Option<Match> {
        let found = self.advance(next);
        self.before = [Some(next.char), self.before[0], self.before[1]];
        found
    }

    fn candidate(&self) -> Option<Candidate> {
        let harmless = match self.state {
            State::None => return None,
            State::Prefix => None,
            State::Key { prefix, .. } => Some(self.start + prefix),
            State::Header | State::Payload { .. } => Some(self.start + TOKEN.len()),
        };
        Some(Candidate { start: self.start, harmless })
    }

    fn reset(&mut self) {
        *self = Self { before: [Some('0'), None, None], ..Self::default() };
    }
}

impl Keys {
    fn advance(&mut self, next: At) -> Option<Match> {
        let At { at, char } = next;
        let is_part = is_key_char(char);
        match self.state {
            State::None => {}
            State::Prefix if is_part => {
                self.word.push(char);
                self.look();
            }
            State::Key { prefix, mut form } if is_part => {
                form.take(char);
                if next.end() - self.start >= MIN_KEY && form.is_key() {
                    return Some(self.matched(next));
                }
                self.state = State::Key { prefix, form };
            }
            State::Header if char == '.' => self.state = State::Payload { fits: 0 },
            State::Header if is_part => {}
            State::Payload { fits } if TOKEN.get(fits..).is_some_and(|rest| rest.starts_with(char)) => {
                if fits + 1 == TOKEN.len() {
                    return Some(self.matched(next));
                }
                self.state = State::Payload { fits: fits + 1 };
            }
            _ => self.state = State::None,
        }
        if matches!(self.state, State::None) && self.begins_word() && is_part {
            self.start = at;
            self.word.clear();
            self.word.push(char);
            self.look();
        }
        None
    }

    /// Searches for a prefix at the start of the word, or at a later start of a word.
    fn look(&mut self) {
        loop {
            let word = self.word.as_str();
            let prefix = KEY_PREFIXES.iter().find(|prefix| word.starts_with(**prefix));
            self.state = if let Some(prefix) = prefix {
                State::Key { prefix: prefix.len(), form: KeyForm::default() }
            } else if word == TOKEN {
                State::Header
            } else if KEY_PREFIXES.iter().chain([&TOKEN]).any(|prefix| prefix.starts_with(word)) {
                State::Prefix
            } else {
                State::None
            };
            if !matches!(self.state, State::None) {
                return;
            }
            // Every character of a word is ASCII.
            let inner = word.bytes().zip(word.bytes().skip(1));
            let at = inner.take_while(|(before, _)| before.is_ascii_alphanumeric()).count() + 1;
            match word.get(at..).filter(|rest| !rest.is_empty()) {
                Some(rest) => {
                    self.start += at;
                    self.word = rest.to_owned();
                }
                None => return,
            }
        }
    }

    /// Returns `true` if a word can begin here: not within `task-force`, but after the escape of `\nsk-…` and
    /// `%20sk-…`.
    fn begins_word(&self) -> bool {
        let [last, escape, percent] = self.before;
        !last.is_some_and(|char| char.is_ascii_alphanumeric()) || escape == Some('\\') || percent == Some('%')
    }

    fn matched(&self, next: At) -> Match {
        Match { range: self.start..next.end(), goes_on: is_key_char }
    }
}
