use crate::filter::detector::{At, Candidate, Detector, Match};

/// The maximum number of bytes of the part before the `@` (RFC 5321, 4.5.3.1.1), and of one label of a domain.
const MAX_PART: usize = 64;

/// Finds e-mail addresses.
#[derive(Debug, Default)]
pub(super) struct Mails {
    state: State,
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
    #[default]
    None,
    Local {
        start: usize,
    },
    Domain {
        start: usize,
        /// The offset of the `@`.
        at: usize,
        /// The offset of the current label.
        label: usize,
        /// `true` after the first dot.
        dotted: bool,
        /// The number of letters at the start of the label, until another character follows.
        letters: Option<u8>,
    },
}

impl Detector for Mails {
    fn step(&mut self, next: At) -> Option<Match> {
        let At { at, char } = next;
        self.state = match self.state {
            State::None if is_letter(char) || char.is_ascii_digit() || matches!(char, '_' | '+') => {
                State::Local { start: at }
            }
            State::None => State::None,
            State::Local { start } if is_local(char) => {
                State::Local { start: start.max(next.end().saturating_sub(MAX_PART)) }
            }
            State::Local { start } if char == '@' => {
                State::Domain { start, at, label: next.end(), dotted: false, letters: Some(0) }
            }
            State::Local { .. } => State::None,
            State::Domain { start, at: sign, label, dotted, letters } => {
                let is_first = at == label;
                if is_letter(char) {
                    let letters = letters.map(|letters| letters + 1);
                    if dotted && letters == Some(2) {
                        return Some(Match { range: start..next.end(), goes_on: is_domain });
                    }
                    // Counts above 2 are not needed.
                    let letters = letters.map(|letters| letters.min(2));
                    Self::label(State::Domain { start, at: sign, label, dotted, letters }, next, label)
                } else if char.is_ascii_digit() || char == '-' && !is_first {
                    let state = State::Domain { start, at: sign, label, dotted, letters: None };
                    Self::label(state, next, label)
                } else if char == '.' && !is_first {
                    State::Domain { start, at: sign, label: next.end(), dotted: true, letters: Some(0) }
                } else if char == '@' && !is_first {
                    // The apparent domain is the part before another `@`.
                    let start = sign + 1;
                    State::Domain { start, at, label: next.end(), dotted: false, letters: Some(0) }
                } else {
                    State::None
                }
            }
        };
        None
    }

    fn candidate(&self) -> Option<Candidate> {
        match self.state {
            State::None => None,
            State::Local { start } => Some(Candidate { start, harmless: None }),
            State::Domain { start, at, .. } => Some(Candidate { start, harmless: Some(at) }),
        }
    }

    fn reset(&mut self) {
        *self = Self::default();
    }
}

impl Mails {
    fn label(state: State, next: At, label: usize) -> State {
        if next.end() - label > MAX_PART { State::None } else { state }
    }
}

/// Returns `true` for letters of scripts that separate words by spaces.
fn is_letter(char: char) -> bool {
    char.is_ascii_alphabetic() || char < '\u{530}' && char.is_alphabetic()
}

fn is_local(char: char) -> bool {
    is_letter(char) || char.is_ascii_digit() || matches!(char, '.' | '_' | '%' | '+' | '-' | '\'')
}

fn is_domain(char: char) -> bool {
    is_letter(char) || char.is_ascii_digit() || matches!(char, '.' | '-')
}
