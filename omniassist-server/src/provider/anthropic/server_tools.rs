//! The blocks of provider-run tools that may be sent back. The API refuses a use without its result and a result
//! without its use, except for a pending result of an unfinished turn.
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

/// The uses in a conversation.
#[derive(Debug, Default)]
pub(super) struct ServerToolUses {
    /// The uses that can no longer get a result, because a user message follows.
    lost: HashSet<Text>,
    /// The uses that were sent so far.
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

    /// Returns `true` if this block, the next one of the conversation, is sent back.
    pub(super) fn takes_back(&mut self, item: &JsonText) -> bool {
        match head(item) {
            Some((id, false)) => !self.lost.contains(&id) && self.used.insert(id),
            Some((id, true)) => self.used.remove(&id),
            None => false,
        }
    }
}

/// Returns the id of a use, and `true` if the block is its result.
fn head(item: &JsonText) -> Option<(Text, bool)> {
    let head: Head<'_> = serde_json::from_str(item.as_str()).ok()?;
    let of_result = head.tool_use_id.to_text().map(|id| (id, true));
    of_result.or_else(|| Some((head.id.to_text()?, false)))
}
