//! Reasoning that a server leaves at the beginning of an answer's text, as `<think>…</think>`: LM Studio, MiniMax, Groq with
//! some models, and vLLM and llama.cpp without a parser of reasoning.

use std::mem;

use omniassist_core::Text;

use crate::provider::answer::BlockKind;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// The position in the text of an answer. Tags count at its beginning only, since a later one may be quoted.
#[derive(Debug)]
pub(super) enum Think {
    /// Before the first visible character, with the text that may be the tag.
    Start(String),
    /// After the tag, before the first visible character of the reasoning.
    Opened,
    /// Within the reasoning, with the text that may be the closing tag.
    Inside(String),
    /// After the closing tag, before the first visible character of the answer.
    Closed,
    /// Within the answer.
    Over,
}

impl Default for Think {
    fn default() -> Self {
        Self::Start(String::new())
    }
}

impl Think {
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Over)
    }

    /// Takes the next text, and returns what is known of it.
    pub(super) fn feed(&mut self, mut text: Text) -> Vec<(BlockKind, Text)> {
        let mut said = Vec::new();
        if let Self::Start(held) | Self::Inside(held) = self
            && !held.is_empty()
        {
            text = (mem::take(held) + &text).into();
        }
        loop {
            let rest = text.trim_start();
            match self {
                Self::Start(held) => match rest.strip_prefix(OPEN) {
                    Some(rest) => (*self, text) = (Self::Opened, text.slice_ref(rest)),
                    None if OPEN.starts_with(rest) => {
                        held.push_str(&text);
                        return said;
                    }
                    None => *self = Self::Over,
                },
                Self::Opened | Self::Closed if rest.is_empty() => return said,
                Self::Opened => (*self, text) = (Self::Inside(String::new()), text.slice_ref(rest)),
                Self::Closed => (*self, text) = (Self::Over, text.slice_ref(rest)),
                Self::Inside(held) => {
                    if let Some((reasoning, rest)) = text.split_once(CLOSE) {
                        said.push((BlockKind::Reasoning, text.slice_ref(reasoning)));
                        (*self, text) = (Self::Closed, text.slice_ref(rest));
                        continue;
                    }
                    let begun = |length| text.strip_suffix(CLOSE.get(..length)?);
                    let reasoning = (1..CLOSE.len()).rev().find_map(begun).unwrap_or(&text);
                    held.push_str(text.get(reasoning.len()..).unwrap_or_default());
                    said.push((BlockKind::Reasoning, text.slice_ref(reasoning)));
                    return said;
                }
                Self::Over => {
                    said.push((BlockKind::Text, text));
                    return said;
                }
            }
        }
    }

    /// Returns the text that turned out to be no tag.
    pub(super) fn flush(&mut self) -> Option<(BlockKind, Text)> {
        match self {
            Self::Start(held) if !held.is_empty() => {
                let held = mem::take(held).into();
                *self = Self::Over;
                Some((BlockKind::Text, held))
            }
            Self::Inside(held) => Some((BlockKind::Reasoning, mem::take(held).into())),
            _ => None,
        }
    }
}
