//! The JSON of a Chat Completions stream, reduced to the fields in use, with the variants of all servers.
//!
//! Nearly all chunks contain one piece of text. Large fields of other chunks are boxed, because a chunk is moved
//! several times while it is decoded, and the moves of unused fields were most of its cost.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess};
use serde_json::Number;
use serde_json::value::RawValue;

use super::super::usage::WireUsage;
use crate::provider::lenient_fields::{Few, Lenient, Num, Str, lenient};

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Chunk<'a> {
    pub(super) id: Str<'a>,
    pub(super) model: Str<'a>,
    pub(super) object: Str<'a>,
    pub(super) choices: Few<Choice<'a>>,
    pub(super) usage: Option<Box<WireUsage>>,
    pub(super) error: Option<&'a RawValue>,
    /// URLs of the answer's sources (xAI, Perplexity), repeated in every chunk.
    pub(super) citations: Option<&'a RawValue>,
    /// The same URLs with titles (Perplexity).
    pub(super) search_results: Option<&'a RawValue>,
    /// Groq's extension with usage and errors.
    pub(super) x_groq: Option<Box<Groq<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Groq<'a> {
    pub(super) usage: Option<Box<WireUsage>>,
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Choice<'a> {
    pub(super) index: Num,
    pub(super) delta: Option<Delta<'a>>,
    pub(super) finish_reason: Str<'a>,
    /// The finish reason of the model's own provider behind a router (OpenRouter).
    pub(super) native_finish_reason: Option<Box<Str<'a>>>,
    /// Moonshot's place for usage.
    pub(super) usage: Option<Box<WireUsage>>,
    /// OpenRouter's place for an upstream's error.
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Delta<'a> {
    pub(super) content: Content<'a>,
    pub(super) refusal: Option<Box<Str<'a>>>,
    pub(super) reasoning_content: Str<'a>,
    pub(super) reasoning: Str<'a>,
    pub(super) reasoning_details: Option<Box<Few<&'a RawValue>>>,
    pub(super) tool_calls: Option<Box<Few<ToolDelta<'a>>>>,
    /// The older form of `tool_calls`.
    pub(super) function_call: Option<Box<FunctionDelta<'a>>>,
    pub(super) annotations: Option<Box<Few<Annotation<'a>>>>,
    /// The tools that Groq's systems ran themselves.
    pub(super) executed_tools: Option<Box<Few<&'a RawValue>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ExecutedTool<'a> {
    pub(super) index: Num,
    #[serde(rename = "type")]
    pub(super) kind: Str<'a>,
    pub(super) output: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ReasoningDetail<'a> {
    pub(super) text: Str<'a>,
    pub(super) summary: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ToolDelta<'a> {
    pub(super) index: Num,
    pub(super) id: Str<'a>,
    pub(super) function: Option<FunctionDelta<'a>>,
    pub(super) custom: Option<FunctionDelta<'a>>,
    /// Metadata that must be sent back with the call (Gemini's thought signature).
    pub(super) extra_content: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct FunctionDelta<'a> {
    pub(super) name: Str<'a>,
    /// A string. Some servers send the object itself.
    pub(super) arguments: Option<&'a RawValue>,
    /// The input of a custom tool, in place of arguments.
    pub(super) input: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Annotation<'a> {
    pub(super) url_citation: Option<UrlCitation<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct UrlCitation<'a> {
    pub(super) url: Str<'a>,
    pub(super) title: Str<'a>,
}

/// Visible text: a string, or a list of parts (Mistral).
#[derive(Debug)]
pub(super) enum Content<'a> {
    Text(Str<'a>),
    Parts(Box<Few<ContentPart<'a>>>),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ContentPart<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Str<'a>,
    pub(super) text: Str<'a>,
    pub(super) thinking: Few<ReasoningDetail<'a>>,
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Text(Str::default())
    }
}

impl<'de: 'a, 'a> Lenient<'de> for Content<'a> {
    fn text(text: Cow<'de, str>) -> Self {
        Self::Text(Str::text(text))
    }

    fn number(number: Number) -> Self {
        Self::Text(Str::number(number))
    }

    fn list<A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        Ok(Self::Parts(Box::new(Few::list(list)?)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient(deserializer)
    }
}
