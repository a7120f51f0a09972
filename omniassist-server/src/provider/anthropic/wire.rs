//! The JSON of the Messages API's stream, reduced to the fields in use. Fields that deltas of content lack are boxed,
//! because an event is moved several times while it is decoded.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::usage::Counts;
use crate::provider::lenient_fields::{Few, Num, Str};

/// Any event. One struct reads all of them, so that a delta is parsed once and its type is not searched for first.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Event<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Str<'a>,
    pub(super) index: Num,
    pub(super) delta: Option<Delta<'a>>,
    pub(super) content_block: Option<&'a RawValue>,
    pub(super) message: Option<&'a RawValue>,
    pub(super) usage: Option<Box<Counts>>,
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
    pub(super) signature: Option<Box<Str<'a>>>,
    pub(super) partial_json: Str<'a>,
    pub(super) citation: Option<&'a RawValue>,
    pub(super) stop_reason: Option<Box<Str<'a>>>,
}

/// The message in its start event.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Message<'a> {
    pub(super) id: Str<'a>,
    pub(super) model: Str<'a>,
    pub(super) content: Few<&'a RawValue>,
    pub(super) stop_reason: Str<'a>,
    pub(super) usage: Option<Counts>,
}

/// A content block of any type, in its start event.
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
