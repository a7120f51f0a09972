//! The conversation in the form of the Messages API: messages of alternating roles, the first from the user. The
//! message after the calls begins with the results of the tools.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use omniassist_core::message::ProviderMetadata;
use omniassist_core::transcript::{ToolCall, ToolResult, UserContent};
use omniassist_core::{JsonText, Text, TranscriptItem};
use serde::Serialize;

use super::content::{CacheControl, Content, Marked};
use super::server_tools::ServerToolUses;
use super::{file, metadata};
use crate::provider::body::OPENING;
use crate::provider::{call_name, compaction};

/// The text of a user message after an assistant message that the model would refuse to continue.
const GO_ON: &str = "(Go on.)";

/// The result of a call that failed without a text, which the API refuses.
const FAILED: &str = "The call failed.";

#[derive(Debug, Serialize)]
pub(super) struct Message<'a> {
    role: Role,
    content: Vec<Marked<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

/// The messages while they are built.
#[derive(Debug, Default)]
pub(super) struct Messages<'a> {
    messages: Vec<Message<'a>>,
    /// The position of the user's last message.
    last_user: Option<usize>,
    ids: Ids<'a>,
    server_tools: ServerToolUses,
    /// `true` if the API accepts compactions in this request.
    compacts: bool,
}

pub(super) fn messages(transcript: &[TranscriptItem], compacts: bool) -> Messages<'_> {
    let transcript = if compacts { compaction::since(metadata::STATE, transcript) } else { transcript };
    let server_tools = ServerToolUses::of(transcript);
    let mut messages = Messages { server_tools, compacts, ..Messages::default() };
    for item in transcript {
        messages.push(item);
    }
    messages.drop_last_thinking();
    messages
}

impl<'a> Messages<'a> {
    fn push(&mut self, item: &'a TranscriptItem) {
        match item {
            TranscriptItem::User { content } => {
                for content in content {
                    match content {
                        UserContent::Text { text } => self.text(Role::User, text),
                        UserContent::File { media_type, url, filename } => {
                            self.add(Role::User, file::content(media_type, url, filename.as_deref()));
                        }
                        _ => {}
                    }
                }
                if self.messages.last().is_some_and(|last| last.role == Role::User) {
                    self.last_user = self.messages.len().checked_sub(1);
                }
            }
            TranscriptItem::Text { text, .. } => self.text(Role::Assistant, text),
            TranscriptItem::Reasoning { text, metadata } => self.reasoning(text, metadata.as_ref()),
            TranscriptItem::Call(call) => self.call(call),
            TranscriptItem::Result(result) => self.result(result),
            TranscriptItem::ProviderItem { provider, item }
                if *provider == metadata::STATE.0 && self.server_tools.takes_back(item) =>
            {
                self.add(Role::Assistant, Content::Provider(item));
            }
            _ => {}
        }
    }

    fn add(&mut self, role: Role, content: Content<'a>) {
        let marked = Marked { content, cache_control: None };
        if role == Role::User {
            self.drop_last_thinking();
        }
        match self.messages.last_mut() {
            Some(message) if message.role == role => message.content.push(marked),
            _ => self.messages.push(Message { role, content: vec![marked] }),
        }
    }

    /// The API refuses an assistant message that ends with thinking, such as that of a cut turn.
    fn drop_last_thinking(&mut self) {
        if let Some(last) = self.messages.last_mut() {
            while last.content.last().is_some_and(|marked| marked.content.is_thinking()) {
                last.content.pop();
            }
            if last.content.is_empty() {
                self.messages.pop();
            }
        }
    }

    /// The API refuses text without a visible character.
    fn text(&mut self, role: Role, text: &'a Text) {
        if !text.trim().is_empty() {
            self.add(role, Content::Text { text: text.as_str().into() });
        }
    }

    /// Thinking is sent back only with its own signature. The API refuses displayed text and the thinking of other
    /// providers.
    fn reasoning(&mut self, text: &'a Text, state: Option<&'a ProviderMetadata>) {
        if let Some(signature) = metadata::STATE.text(state, metadata::SIGNATURE) {
            self.add(Role::Assistant, Content::Thinking { thinking: text, signature });
        } else if let Some(data) = metadata::STATE.text(state, metadata::REDACTED_DATA) {
            self.add(Role::Assistant, Content::RedactedThinking { data });
        } else if self.compacts
            && let Some(block) = compaction::of(metadata::STATE, state)
        {
            self.add(Role::Assistant, Content::Compaction(block));
        }
    }

    fn call(&mut self, call: &'a ToolCall) {
        let id = self.ids.of(&call.id);
        let input = if call.arguments.is_object() {
            Cow::Borrowed(&call.arguments)
        } else {
            // Free text, for a tool of another provider.
            let input = serde_json::json!({"input": call.arguments.to_value()});
            Cow::Owned(JsonText::from_value(&input))
        };
        self.add(Role::Assistant, Content::ToolUse { id, name: call_name::accepted(&call.name), input });
    }

    fn result(&mut self, result: &'a ToolResult) {
        let tool_use_id = self.ids.of(&result.call_id);
        let (content, is_error) = (result.output_text(), result.is_error);
        let content = match is_error && content.trim().is_empty() {
            true => Text::from_static(FAILED),
            false => content,
        };
        self.add(Role::User, Content::ToolResult { tool_use_id, content, is_error });
    }

    /// `true` if the turn that the model may continue began with thinking. The API requires that of a turn with a
    /// thinking budget.
    pub(super) fn may_think_by_budget(&self) -> bool {
        let turn = self.messages.iter().skip(self.last_user.map_or(0, |at| at + 1));
        turn.filter(|message| message.role == Role::Assistant)
            .all(|message| message.content.first().is_some_and(|marked| marked.content.is_thinking()))
    }

    pub(super) fn finish(self, takes_prefill: bool, cache: bool) -> Vec<Message<'a>> {
        let Self { mut messages, last_user, .. } = self;
        if cache {
            mark(messages.iter_mut().take(last_user.unwrap_or(0)).last());
            // During tool calls, the next request of this run begins with this whole request.
            let last = messages.last_mut();
            mark(last.filter(|last| {
                matches!(last.content.last(), Some(Marked { content: Content::ToolResult { .. }, .. }))
            }));
        }
        let note = |text: &'static str| Message {
            role: Role::User,
            content: vec![Marked { content: Content::Text { text: text.into() }, cache_control: None }],
        };
        if messages.first().is_none_or(|first| first.role == Role::Assistant) {
            messages.insert(0, note(OPENING));
        }
        // A turn that ends with a provider-run tool was interrupted; the API continues it unchanged.
        let is_paused = |last: &Message<'_>| {
            matches!(last.content.last(), Some(Marked { content: Content::Provider(_), .. }))
        };
        let last = messages.last_mut();
        if let Some(last) = last.filter(|last| last.role == Role::Assistant && !is_paused(last)) {
            if !takes_prefill {
                messages.push(note(GO_ON));
            } else if let Some(Marked { content: Content::Text { text }, .. }) = last.content.last_mut() {
                // The API refuses white space at the end of text that the model continues.
                *text = text.trim_end().to_owned().into();
            }
        }
        messages
    }
}

/// Marks the last block of a message that may carry a mark.
fn mark(message: Option<&mut Message<'_>>) {
    let blocks = message.into_iter().flat_map(|message| message.content.iter_mut().rev());
    if let Some(marked) = blocks.into_iter().find(|marked| marked.content.takes_mark()) {
        marked.cache_control = Some(CacheControl::Ephemeral);
    }
}

/// The ids of calls. The API accepts letters, digits, `_` and `-`; ids of other providers may contain more.
#[derive(Debug, Default)]
struct Ids<'a> {
    known: HashMap<&'a str, Cow<'a, str>>,
    taken: HashSet<Cow<'a, str>>,
}

impl<'a> Ids<'a> {
    fn of(&mut self, id: &'a Text) -> Cow<'a, str> {
        if let Some(known) = self.known.get(id.as_str()) {
            return known.clone();
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let mut clean: Cow<'a, str> = if !id.is_empty() && id.chars().all(allowed) {
            id.as_str().into()
        } else {
            let clean: String = id.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
            format!("call_{clean}").into()
        };
        while self.taken.contains(&clean) {
            clean.to_mut().push('_');
        }
        self.taken.insert(clean.clone());
        self.known.insert(id.as_str(), clean.clone());
        clean
    }
}
