//! Conversations that a provider has compacted.
//!
//! A compaction is a block of the provider's answer. It is a reasoning part without text in the conversation, with the
//! unchanged block in its metadata, so every client and every seal carries it like encrypted reasoning.

use std::collections::HashSet;

use omniassist_core::message::ProviderMetadata;
use omniassist_core::{LlmEvent, TranscriptItem};
use serde_json::{Map, Value};

use super::answer::Answer;
use super::metadata::Namespace;
use crate::{Error, Result};

/// Returns the provider's compaction in the state of a part.
pub(super) fn of(provider: Namespace, state: Option<&ProviderMetadata>) -> Option<&Map<String, Value>> {
    provider.field(state, ProviderMetadata::COMPACTION)?.as_object()
}

/// Returns the event for a compaction.
pub(super) fn event(provider: Namespace, block: Map<String, Value>, answer: &mut Answer) -> LlmEvent {
    let metadata = provider.state([(ProviderMetadata::COMPACTION, block.into())]);
    LlmEvent::ReasoningEnd { block: answer.new_block(), metadata }
}

/// Returns the transcript from its newest compaction on, after which no result belongs to an earlier call. The provider
/// ignores the items before it.
pub(super) fn since(provider: Namespace, transcript: &[TranscriptItem]) -> &[TranscriptItem] {
    let (mut calls, mut results) = (HashSet::new(), HashSet::new());
    for (at, item) in transcript.iter().enumerate().rev() {
        match item {
            TranscriptItem::Call(call) => drop(calls.insert(&call.id)),
            TranscriptItem::Result(result) => drop(results.insert(&result.call_id)),
            TranscriptItem::Reasoning { metadata, .. }
                if of(provider, metadata.as_ref()).is_some() && results.is_subset(&calls) =>
            {
                return transcript.get(at..).unwrap_or_default();
            }
            _ => {}
        }
    }
    transcript
}

/// Checks the tokens at which a provider compacts a conversation.
pub(super) fn check(tokens: Option<u64>, least: u64) -> Result<()> {
    match tokens.filter(|tokens| *tokens < least) {
        Some(_) => {
            Err(Error::configuration(format!("`compaction`: the API requires at least {least} tokens")))
        }
        None => Ok(()),
    }
}
