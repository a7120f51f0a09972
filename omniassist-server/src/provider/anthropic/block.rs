//! The open content blocks of an answer, and the events at their ends.

use omniassist_core::{EventBuf, JsonText, LlmEvent, Text};
use serde_json::{Map, Value};

use super::metadata;
use crate::provider::answer::Answer;
use crate::provider::compaction;

type Out = EventBuf<LlmEvent>;

/// A content block that was announced.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) index: Option<u64>,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Text {
        /// Its number, after the first text.
        block: Option<u32>,
    },
    Thinking {
        block: Option<u32>,
        signature: String,
    },
    /// Thinking in encrypted form.
    Redacted {
        block: u32,
        data: String,
    },
    Call {
        number: u32,
        /// The input at the start of the block: the complete one if no deltas follow.
        given: Text,
        arguments: String,
    },
    /// The call or the result of a provider-run tool.
    Provider(ProviderBlock),
    /// The compaction of the conversation so far.
    Compaction(Map<String, Value>),
    /// A block of an unknown type.
    Other,
}

#[derive(Debug)]
pub(super) struct ProviderBlock {
    pub(super) id: Text,
    pub(super) kind: Text,
    pub(super) name: Option<Text>,
    /// The complete block at its start.
    pub(super) item: JsonText,
    /// Its input, if it was sent in pieces.
    pub(super) input: String,
}

/// A call whose block has stopped.
#[derive(Debug)]
pub(super) struct StoppedCall {
    pub(super) number: u32,
    pub(super) arguments: Text,
}

impl Block {
    /// The provider has ended the block.
    pub(super) fn stop(self, answer: &mut Answer, out: &mut Out) -> Option<StoppedCall> {
        match self.kind {
            Kind::Text { block: Some(block) } => out.push(LlmEvent::TextEnd { block, metadata: None }),
            Kind::Thinking { block, signature } => {
                let signed = !signature.is_empty();
                // Hidden thinking has no text, but its signature must be sent back.
                let block = block.or_else(|| signed.then(|| answer.new_block()));
                if let Some(block) = block {
                    let signature = signed.then(|| (metadata::SIGNATURE, signature.into()));
                    let metadata = metadata::STATE.state(signature);
                    out.push(LlmEvent::ReasoningEnd { block, metadata });
                }
            }
            Kind::Redacted { block, data } => {
                let metadata = metadata::STATE.state([(metadata::REDACTED_DATA, data.into())]);
                out.push(LlmEvent::ReasoningEnd { block, metadata });
            }
            Kind::Call { number, given, arguments } => {
                let arguments = if arguments.is_empty() { given } else { arguments.into() };
                return Some(StoppedCall { number, arguments });
            }
            Kind::Provider(block) => out.push(block.into_event()),
            // A failed compaction has no content and no effect.
            Kind::Compaction(block) => {
                if block.get("content").and_then(Value::as_str).is_some_and(|content| !content.is_empty()) {
                    out.push(compaction::event(metadata::STATE, block, answer));
                }
            }
            Kind::Text { block: None } | Kind::Other => {}
        }
        None
    }

    /// Ends a block whose answer has ended, or that another block has replaced. Its text is kept; a call is incomplete.
    pub(super) fn abandon(self, out: &mut Out) {
        match self.kind {
            Kind::Text { block: Some(block) } => out.push(LlmEvent::TextEnd { block, metadata: None }),
            Kind::Thinking { block: Some(block), .. } => {
                out.push(LlmEvent::ReasoningEnd { block, metadata: None });
            }
            _ => {}
        }
    }
}

impl ProviderBlock {
    fn into_event(self) -> LlmEvent {
        let Self { id, kind, name, mut item, input } = self;
        if !input.is_empty()
            && let (Ok(mut fields), Ok(input)) =
                (item.to::<Map<String, Value>>(), serde_json::from_str(&input))
        {
            fields.insert("input".to_owned(), input);
            item = JsonText::from_serialize(&fields).unwrap_or_default();
        }
        let replay_to = Some(Text::from_static(metadata::STATE.0));
        LlmEvent::ProviderTool { id, kind, name, item, replay_to }
    }
}
