//! The JSON of a Chat Completions stream, as far as it is read, in the variants of the servers that speak it.
//!
//! Nearly all chunks hold one piece of text. Fields of other chunks are boxed where they are large: a chunk is moved
//! several times while it is read, and most of its cost was the room for what it does not hold.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::super::usage::WireUsage;
use crate::provider::lenient_fields::{Few, Num, Str};

#[derive(Debug, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) id: Str<'a>,
    #[serde(borrow, default)]
    pub(super) model: Str<'a>,
    #[serde(borrow, default)]
    pub(super) object: Str<'a>,
    #[serde(borrow, default)]
    pub(super) choices: FirstChoice<'a>,
    #[serde(default)]
    pub(super) usage: Option<Box<WireUsage>>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    /// URLs that the answer rests on (xAI, Perplexity), repeated in every chunk.
    #[serde(borrow, default)]
    pub(super) citations: Option<&'a RawValue>,
    /// The same with titles (Perplexity).
    #[serde(borrow, default)]
    pub(super) search_results: Option<&'a RawValue>,
    /// Groq's extension: usage, and errors.
    #[serde(borrow, default)]
    pub(super) x_groq: Option<Box<Groq<'a>>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Groq<'a> {
    #[serde(default)]
    pub(super) usage: Option<Box<WireUsage>>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Num,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Str<'a>,
    /// The text of the model's own provider, behind a router (OpenRouter).
    #[serde(borrow, default)]
    pub(super) native_finish_reason: Str<'a>,
    /// Moonshot puts usage here.
    #[serde(default)]
    pub(super) usage: Option<Box<WireUsage>>,
    /// OpenRouter puts an upstream's error here.
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Content<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Str<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Str<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning: Str<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning_details: Few<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Box<Few<ToolDelta<'a>>>>,
    /// The form before `tool_calls`.
    #[serde(borrow, default)]
    pub(super) function_call: Option<Box<FunctionDelta<'a>>>,
    #[serde(borrow, default)]
    pub(super) annotations: Option<Box<Few<Annotation<'a>>>>,
    /// The tools that Groq's systems ran themselves.
    #[serde(borrow, default)]
    pub(super) executed_tools: Few<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ExecutedTool<'a> {
    #[serde(default)]
    pub(super) index: Num,
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Str<'a>,
    #[serde(borrow, default)]
    pub(super) output: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ReasoningDetail<'a> {
    #[serde(borrow, default)]
    pub(super) text: Str<'a>,
    #[serde(borrow, default)]
    pub(super) summary: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ToolDelta<'a> {
    #[serde(default)]
    pub(super) index: Num,
    #[serde(borrow, default)]
    pub(super) id: Str<'a>,
    #[serde(borrow, default)]
    pub(super) function: Option<FunctionDelta<'a>>,
    #[serde(borrow, default)]
    pub(super) custom: Option<FunctionDelta<'a>>,
    /// State that must come back with the call (Gemini's thought signature).
    #[serde(borrow, default)]
    pub(super) extra_content: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    pub(super) name: Str<'a>,
    /// A string; some servers send the object itself.
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    /// The input of a custom tool, in place of arguments.
    #[serde(borrow, default)]
    pub(super) input: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Annotation<'a> {
    #[serde(borrow, default)]
    pub(super) url_citation: Option<UrlCitation<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct UrlCitation<'a> {
    #[serde(borrow, default)]
    pub(super) url: Str<'a>,
    #[serde(borrow, default)]
    pub(super) title: Str<'a>,
}

/// The choice with index 0, or without one. Others (`n` above 1) are not read.
#[derive(Debug, Default)]
pub(super) struct FirstChoice<'a>(pub(super) Option<Choice<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for FirstChoice<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let choices: Few<Choice<'a>> = Few::deserialize(deserializer)?;
        Ok(Self(choices.into_iter().find(|choice| choice.index.0.unwrap_or(0) == 0)))
    }
}

/// Visible text: a string, or a list of parts (Mistral).
#[derive(Debug)]
pub(super) enum Content<'a> {
    Text(Str<'a>),
    Parts(Vec<ContentPart<'a>>),
}

#[derive(Debug, Deserialize)]
pub(super) struct ContentPart<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Str<'a>,
    #[serde(borrow, default)]
    pub(super) text: Str<'a>,
    #[serde(borrow, default)]
    pub(super) thinking: Few<ThinkingPart<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ThinkingPart<'a> {
    #[serde(borrow, default)]
    pub(super) text: Str<'a>,
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Text(Str::default())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Contents<'a>(PhantomData<&'a ()>);

        impl<'de: 'a, 'a> Visitor<'de> for Contents<'a> {
            type Value = Content<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or a list of parts")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Str::borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Str::owned(text.to_owned())))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Content::default())
            }

            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Content::default())
            }

            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Content::Text(Str::owned(number.to_string())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = seq.next_element()? {
                    parts.push(part);
                }
                Ok(Content::Parts(parts))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Content::default())
            }
        }

        deserializer.deserialize_any(Contents(PhantomData))
    }
}
