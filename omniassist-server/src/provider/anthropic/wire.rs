//! The JSON of the Messages API's stream, as far as it is read.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::usage::Counts;
use crate::provider::lenient_fields::{Few, Num, Str};

/// Any event. All are read as one struct, so that a delta is parsed once and nothing looks for its type first.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Str<'a>,
    #[serde(default)]
    pub(super) index: Num,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) usage: Option<Counts>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// The `delta` of a content block, or of the message.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Str<'a>,
    #[serde(borrow, default)]
    pub(super) text: Str<'a>,
    #[serde(borrow, default)]
    pub(super) thinking: Str<'a>,
    #[serde(borrow, default)]
    pub(super) signature: Str<'a>,
    #[serde(borrow, default)]
    pub(super) partial_json: Str<'a>,
    #[serde(borrow, default)]
    pub(super) citation: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Str<'a>,
}

/// The message as its start announces it.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    pub(super) id: Str<'a>,
    #[serde(borrow, default)]
    pub(super) model: Str<'a>,
    #[serde(borrow, default)]
    pub(super) content: Few<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Str<'a>,
    #[serde(default)]
    pub(super) usage: Option<Counts>,
}

/// A content block of any type, as its start announces it.
#[derive(Debug, Deserialize)]
pub(super) struct ContentBlock<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Str<'a>,
    #[serde(borrow, default)]
    pub(super) id: Str<'a>,
    #[serde(borrow, default)]
    pub(super) tool_use_id: Str<'a>,
    #[serde(borrow, default)]
    pub(super) name: Str<'a>,
    #[serde(borrow, default)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) text: Str<'a>,
    #[serde(borrow, default)]
    pub(super) citations: Few<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) thinking: Str<'a>,
    #[serde(borrow, default)]
    pub(super) signature: Str<'a>,
    #[serde(borrow, default)]
    pub(super) data: Str<'a>,
}

/// The source of a piece of text.
#[derive(Debug, Deserialize)]
pub(super) struct Citation<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Str<'a>,
    #[serde(borrow, default)]
    pub(super) url: Str<'a>,
    #[serde(borrow, default)]
    pub(super) title: Str<'a>,
    #[serde(borrow, default)]
    pub(super) source: Str<'a>,
    #[serde(default)]
    pub(super) document_index: Num,
    #[serde(borrow, default)]
    pub(super) document_title: Str<'a>,
}
