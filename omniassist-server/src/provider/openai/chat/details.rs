//! Reasoning in OpenRouter's form: all `reasoning_details` entries of the answer, with their pieces joined.
//!
//! <https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks>

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::super::metadata;
use omniassist_core::message::ProviderMetadata;

/// The entries of an answer that were not sent yet.
#[derive(Debug, Default)]
pub(super) struct Details {
    entries: Vec<Map<String, Value>>,
    /// `true` if an entry has data that only its provider can read. Otherwise the text suffices, and no entry is sent
    /// back.
    opaque: bool,
}

impl Details {
    pub(super) fn push(&mut self, entry: &RawValue) {
        let Ok(entry) = serde_json::from_str::<Map<String, Value>>(entry.get()) else { return };
        let filled = |name| entry.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        self.opaque |= filled("signature") || filled("data");
        match self.entries.last_mut() {
            Some(last) if continues(last, &entry) => join(last, entry),
            _ => self.entries.push(entry),
        }
    }

    /// Returns the entries so far, if they must be sent back.
    pub(super) fn take(&mut self) -> Option<Value> {
        if !std::mem::take(&mut self.opaque) {
            return None;
        }
        Some(std::mem::take(&mut self.entries).into_iter().map(Value::Object).collect())
    }

    pub(super) fn take_state(&mut self) -> Option<ProviderMetadata> {
        metadata::STATE.state(self.take().map(|details| (metadata::REASONING_DETAILS, details)))
    }
}

/// Returns `true` if an entry is the next piece of the previous one. Encrypted data arrives in one piece.
fn continues(last: &Map<String, Value>, next: &Map<String, Value>) -> bool {
    let same = |name| last.get(name) == next.get(name);
    same("type") && same("index") && !next.contains_key("data")
}

fn join(last: &mut Map<String, Value>, next: Map<String, Value>) {
    for (name, value) in next {
        match (last.get_mut(&name), value) {
            (Some(Value::String(text)), Value::String(more)) if name == "text" || name == "summary" => {
                text.push_str(&more);
            }
            (Some(_), Value::Null) => {}
            (_, value) => drop(last.insert(name, value)),
        }
    }
}
