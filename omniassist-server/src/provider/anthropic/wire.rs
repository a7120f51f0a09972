//! The JSON of the Messages API's stream, as far as it is read.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::usage::Counts;
use crate::provider::lenient_fields::{Few, Num, Str};

/// Any event. All are read as one struct, so that a delta is parsed once and nothing looks for its type first.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Event<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Str<'a>,
    pub(super) index: Num,
    pub(super) delta: Option<Delta<'a>>,
    pub(super) content_block: Option<&'a RawValue>,
    pub(super) message: Option<&'a RawValue>,
    pub(super) usage: Option<Counts>,
    pub(super) error: Option<&'a RawValue>,
}

/// The `delta` of a content block, or of the message.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Delta<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Str<'a>,
    pub(super) text: Str<'a>,
    pub(super) thinking: Str<'a>,
    pub(super) signature: Str<'a>,
    pub(super) partial_json: Str<'a>,
    pub(super) citation: Option<&'a RawValue>,
    pub(super) stop_reason: Str<'a>,
}

/// The message as its start announces it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Message<'a> {
    pub(super) id: Str<'a>,
    pub(super) model: Str<'a>,
    pub(super) content: Few<&'a RawValue>,
    pub(super) stop_reason: Str<'a>,
    pub(super) usage: Option<Counts>,
}

/// A content block of any type, as its start announces it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ContentBlock<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Str<'a>,
    pub(super) id: Str<'a>,
    pub(super) tool_use_id: Str<'a>,
    pub(super) name: Str<'a>,
    pub(super) input: Option<&'a RawValue>,
    pub(super) text: Str<'a>,
    pub(super) citations: Few<&'a RawValue>,
    pub(super) thinking: Str<'a>,
    pub(super) signature: Str<'a>,
    pub(super) data: Str<'a>,
}

/// The source of a piece of text.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Citation<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Str<'a>,
    pub(super) url: Str<'a>,
    pub(super) title: Str<'a>,
    pub(super) source: Str<'a>,
    pub(super) document_index: Num,
    pub(super) document_title: Str<'a>,
}
