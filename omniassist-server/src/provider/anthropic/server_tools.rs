//! The blocks of the provider's own tools that may go back. A use without its result, and a result without its use, is
//! refused; but the result of a use may still be due while the turn goes on.
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools>

use std::collections::HashSet;

use omniassist_core::{JsonText, Text, TranscriptItem};
use serde::Deserialize;

use super::metadata;
use crate::provider::lenient_fields::Str;

/// The ids of a block.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Head<'a> {
    id: Str<'a>,
    tool_use_id: Str<'a>,
}

/// The uses of a conversation.
#[derive(Debug, Default)]
pub(super) struct ServerToolUses {
    /// Those that cannot get a result any more: the user has spoken since.
    lost: HashSet<Text>,
    /// Those that went out so far.
    used: HashSet<Text>,
}

impl ServerToolUses {
    pub(super) fn of(transcript: &[TranscriptItem]) -> Self {
        let mut uses = Self::default();
        let mut open = HashSet::new();
        for item in transcript {
            match item {
                TranscriptItem::User { .. } => uses.lost.extend(open.drain()),
                TranscriptItem::ProviderItem { provider, item } if *provider == metadata::STATE.0 => {
                    match head(item) {
                        Some((id, false)) => drop(open.insert(id)),
                        Some((id, true)) => drop(open.remove(&id)),
                        None => {}
                    }
                }
                _ => {}
            }
        }
        uses
    }

    /// Returns `true` if this block, the next one of the conversation, goes back.
    pub(super) fn takes_back(&mut self, item: &JsonText) -> bool {
        match head(item) {
            Some((id, false)) => !self.lost.contains(&id) && self.used.insert(id),
            Some((id, true)) => self.used.remove(&id),
            None => false,
        }
    }
}

/// The id of a use, and `true` if the block is its result.
fn head(item: &JsonText) -> Option<(Text, bool)> {
    let head: Head<'_> = serde_json::from_str(item.as_str()).ok()?;
    let of_result = head.tool_use_id.to_text().map(|id| (id, true));
    of_result.or_else(|| Some((head.id.to_text()?, false)))
}
