//! Notes about a long conversation that a client carries from one run to the next, in the metadata of an answer.

use omniassist_core::history::TokenRate;
use omniassist_core::message::{OWN_KEY, own_entries};
use omniassist_core::{RunRequest, Text};
use serde_json::{Map, Value};

use super::window_summary::WindowSummary;
use crate::Principal;
use crate::seal::{HistoryNote, SealKeys, Sealer};

/// The key of this project's own entry.
const KEY: &str = "history";

/// The newest rate and the newest summary among the posted messages.
#[derive(Debug, Default)]
pub(in crate::engine) struct Carried {
    pub(super) rate: Option<TokenRate>,
    pub(super) summary: Option<WindowSummary>,
}

impl Carried {
    /// Reads the entries of the posted messages that their seals prove, and ignores all others. It must be called
    /// before the verification of the messages, which removes these entries.
    pub(in crate::engine) fn read(request: &RunRequest, principal: &Principal, keys: &SealKeys) -> Self {
        let mut carried = Self::default();
        for message in request.messages.iter().rev() {
            let metadata = message.metadata.as_ref().and_then(Value::as_object);
            let Some(entry) = metadata.and_then(own_entries).and_then(|own| own.get(KEY)?.as_str()) else {
                continue;
            };
            let Some((note, seal)) = parse(entry) else { continue };
            let chat = request.chat_id.as_deref();
            if !note.is_proved(seal, keys, chat, principal, &message.id) {
                tracing::info!("a posted note about a long conversation was ignored: nothing proves it");
                continue;
            }
            carried.rate = carried.rate.or(Some(note.rate));
            if let Some((covers, text)) = note.summary {
                carried.summary = Some(WindowSummary { covers, text: Text::from(text) });
                break;
            }
        }
        carried
    }
}

/// Reads `RATE SEAL` or `RATE SEAL DIGEST SUMMARY`.
fn parse(entry: &str) -> Option<(HistoryNote<'_>, &str)> {
    let mut words = entry.splitn(4, ' ');
    let (rate, seal) = (words.next()?.parse().ok()?, words.next()?);
    let summary = match (words.next(), words.next()) {
        (Some(covers), Some(text)) => Some((from_hex(covers)?, text)),
        _ => None,
    };
    Some((HistoryNote { rate: TokenRate::from_thousandths(rate), summary }, seal))
}

/// Returns the metadata with which an answer carries these.
pub(in crate::engine) fn metadata(
    rate: TokenRate,
    made: Option<&WindowSummary>,
    sealer: &Sealer,
) -> Option<(String, Value)> {
    let note = HistoryNote { rate, summary: made.map(|made| (made.covers, made.text.as_str())) };
    let seal = note.seal(sealer)?;
    let mut entry = format!("{} {seal}", rate.thousandths());
    if let Some((covers, text)) = note.summary {
        let hex: String = covers.iter().map(|byte| format!("{byte:02x}")).collect();
        entry = format!("{entry} {hex} {text}");
    }
    Some((OWN_KEY.to_owned(), Map::from_iter([(KEY.to_owned(), Value::from(entry))]).into()))
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}
