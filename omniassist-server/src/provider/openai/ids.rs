//! Ids of tool calls in the form that a server accepts.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use omniassist_core::{Text, TranscriptItem};

/// The form of the ids of tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
    Any,
    /// A maximum length.
    AtMost(usize),
    /// Exactly nine letters and digits.
    Nine,
}

/// The ids under which the calls of a conversation are sent. An id that fits is kept. Another gets a generated one,
/// which is the same in each turn of the conversation and unique in it.
pub(super) struct CallIds<'a> {
    changed: HashMap<&'a str, String>,
}

impl<'a> CallIds<'a> {
    pub(super) fn of(transcript: &'a [TranscriptItem], form: Ids) -> Self {
        let ids = || {
            transcript.iter().filter_map(|item| match item {
                TranscriptItem::Call(call) => Some(call.id.as_str()),
                _ => None,
            })
        };
        let mut changed = HashMap::new();
        if ids().all(|id| form.fits(id)) {
            return Self { changed };
        }
        let mut taken: HashSet<Cow<'_, str>> = ids().filter(|id| form.fits(id)).map(Cow::Borrowed).collect();
        for id in ids().filter(|id| !form.fits(id)) {
            let mut attempt = 0;
            let made = loop {
                let made = make(id, attempt);
                if taken.insert(Cow::Owned(made.clone())) {
                    break made;
                }
                attempt += 1;
            };
            changed.insert(id, made);
        }
        Self { changed }
    }

    pub(super) fn get<'b>(&'b self, id: &'b Text) -> &'b str {
        self.changed.get(id.as_str()).map_or(id.as_str(), String::as_str)
    }
}

impl Ids {
    fn fits(self, id: &str) -> bool {
        match self {
            Self::Any => true,
            Self::AtMost(length) => id.chars().count() <= length,
            Self::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        }
    }
}

/// Returns nine letters and digits derived from an id. They fit every form.
fn make(id: &str, attempt: u8) -> String {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    // FNV-1a. The hash of the standard library may change with its version, which would change a conversation's ids.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in id.bytes().chain([attempt]) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (0..9)
        .map(|_| {
            let digit = usize::try_from(hash % 62).unwrap_or_default();
            hash /= 62;
            ALPHABET.get(digit).map_or('0', |letter| char::from(*letter))
        })
        .collect()
}
