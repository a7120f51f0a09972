//! Ids of tool calls in the form that a server accepts.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use omniassist_core::{Text, TranscriptItem};

use super::compat::Ids;

/// The ids that a conversation's calls are sent under. Those that fit stay; the others get one made of their own, the
/// same in each turn of the conversation, and no two calls the same.
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

    /// The id to send for this one.
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

/// Nine letters and digits that stand for an id: they fit every form.
fn make(id: &str, attempt: u8) -> String {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    // FNV-1a. The standard library's hash may change with its version, and so would a conversation's ids.
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

#[cfg(test)]
mod tests {
    use omniassist_core::JsonText;
    use omniassist_core::transcript::ToolCall;

    use super::*;

    fn transcript(ids: &[&str]) -> Vec<TranscriptItem> {
        let call = |id: &&str| {
            let (arguments, kind, metadata) = (JsonText::EMPTY_OBJECT, Default::default(), None);
            TranscriptItem::Call(ToolCall { id: (*id).into(), name: "t".into(), arguments, kind, metadata })
        };
        ids.iter().map(call).collect()
    }

    #[test]
    fn ids_that_fit_stay_and_others_get_one_that_does() {
        let long = "x".repeat(41);
        let items = transcript(&["abcDEF123", "call_1", &long]);
        let sent = |form| {
            let ids = CallIds::of(&items, form);
            ["abcDEF123", "call_1", &long].map(|id| ids.get(&id.into()).to_owned())
        };
        assert_eq!(sent(Ids::Any), ["abcDEF123", "call_1", &long]);
        let capped = sent(Ids::AtMost(40));
        assert_eq!(capped[..2], ["abcDEF123", "call_1"]);
        assert!(capped[2].len() == 9 && capped[2] == sent(Ids::Nine)[2]);
        let nine = sent(Ids::Nine);
        assert_eq!(nine[0], "abcDEF123");
        assert!(nine.iter().all(|id| Ids::Nine.fits(id)), "{nine:?}");
    }

    #[test]
    fn no_two_calls_share_an_id_and_a_longer_conversation_keeps_them() {
        let taken = make("call_1", 0);
        let items = transcript(&["call_1", &taken]);
        let ids = CallIds::of(&items, Ids::Nine);
        assert_eq!(ids.get(&taken.as_str().into()), taken);
        assert_ne!(ids.get(&"call_1".into()), taken);

        let many: Vec<String> = (0..500).map(|n| format!("call_{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let (items, longer) = (transcript(&many[..250]), transcript(&many));
        let (ids, later) = (CallIds::of(&items, Ids::Nine), CallIds::of(&longer, Ids::Nine));
        let sent: HashSet<String> = many.iter().map(|id| later.get(&(*id).into()).to_owned()).collect();
        assert_eq!(sent.len(), 500);
        assert!(many[..250].iter().all(|id| ids.get(&(*id).into()) == later.get(&(*id).into())));
    }
}
