//! Content blocks of messages.

use std::borrow::Cow;

use omniassist_core::{JsonText, Text};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A content block, and its cache mark: the provider caches everything up to a marked block.
#[derive(Debug)]
pub(super) struct Marked<'a> {
    pub(super) content: Content<'a>,
    pub(super) cache_control: Option<CacheControl>,
}

impl Serialize for Marked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Own<'a> {
            #[serde(flatten)]
            content: &'a Content<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            cache_control: Option<CacheControl>,
        }
        match &self.content {
            Content::Provider(item) => item.serialize(serializer),
            Content::Compaction(block) => block.serialize(serializer),
            content => Own { content, cache_control: self.cache_control }.serialize(serializer),
        }
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum CacheControl {
    Ephemeral,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Content<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Text,
        input: Cow<'a, JsonText>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "str::is_empty")]
        content: Text,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// The API's compaction of everything before it, unchanged.
    #[serde(skip)]
    Compaction(&'a Map<String, Value>),
    /// A block of a provider-run tool, unchanged.
    #[serde(skip)]
    Provider(&'a JsonText),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Url { url: &'a Text },
    File { file_id: &'a str },
    Text { media_type: &'static str, data: String },
}

impl Content<'_> {
    pub(super) fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. })
    }

    /// Returns `true` if the block may carry a cache mark.
    pub(super) fn takes_mark(&self) -> bool {
        !self.is_thinking() && !matches!(self, Self::Provider(_) | Self::Compaction(_))
    }
}
