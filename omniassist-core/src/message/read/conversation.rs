use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::record::{Words, parts_seed};
use super::{MessageRecord, optional_id, tool};
use crate::message::raw::{self, Body, present};
use crate::message::{Message, Part, Role, ToolPart, ToolState, tree};
use crate::{Error, JsonText, Limits, Result, Text};

const ROLES: &str = "\"user\", \"assistant\" or \"system\"";

/// Puts posted records together to messages.
pub(super) struct Conversation<'a> {
    body: Body<'a>,
    limits: &'a Limits,
    messages: Vec<Message>,
    /// What every message with an id was read from.
    ids: BTreeMap<Text, Words<'a>>,
    /// Message and part of every tool call.
    calls: BTreeMap<Text, (usize, usize)>,
    /// Messages that came without an id, and the index of their record.
    nameless: Vec<(usize, usize)>,
    /// Whether the record before was an output: a call behind it belongs to a later model turn than the calls before.
    after_output: bool,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(body: Body<'a>, limits: &'a Limits) -> Self {
        Self {
            body,
            limits,
            messages: Vec::new(),
            ids: BTreeMap::new(),
            calls: BTreeMap::new(),
            nameless: Vec::new(),
            after_output: false,
        }
    }

    /// Adds what the record at `index` says.
    pub(super) fn add(&mut self, index: usize, record: MessageRecord<'a>) -> Result<()> {
        let kind = match present(record.fields.kind) {
            Some(raw) if raw::kind(raw) == "a string" => self.body.word(Some(raw), "type")?,
            _ => Cow::Borrowed(""),
        };
        match &*kind {
            "function_call" => self.add_call(index, &record),
            "function_call_output" => self.add_output(&record),
            _ => self.add_message(index, record),
        }
    }

    /// The messages, those without an id named after their record's index.
    pub(super) fn finish(mut self) -> Vec<Message> {
        let mut taken: BTreeSet<Text> = self.ids.into_keys().collect();
        for (position, index) in self.nameless {
            let mut id = Text::from(format!("msg-{index}"));
            while taken.contains(&id) {
                id = Text::from(format!("{id}-{index}"));
            }
            taken.insert(id.clone());
            if let Some(message) = self.messages.get_mut(position) {
                message.id = id;
            }
        }
        self.messages
    }

    fn add_message(&mut self, index: usize, mut record: MessageRecord<'a>) -> Result<()> {
        let fields = &record.fields;
        let role = match &*self.body.word(fields.role, "role")? {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            _ => return Err(Error::invalid_field("role", ROLES, "another string")),
        };
        let id = optional_id(self.body, fields.id, "id", self.limits)?;
        if let Some(other) = id.as_ref().and_then(|id| self.ids.get(id)) {
            if record.words().are_those_of(other) {
                return Ok(());
            }
            return Err(Error::invalid_field("id", "an id of its own", "the id of another message"));
        }
        let metadata = present(fields.metadata).map(|raw| tree::tree(raw, "metadata")).transpose()?;
        let words = record.words();
        let parts = self.parts(&mut record)?;

        let position = self.messages.len();
        let own_parts = Vec::with_capacity(parts.len());
        self.messages.push(Message { id: id.clone().unwrap_or_default(), role, parts: own_parts, metadata });
        match id {
            Some(id) => drop(self.ids.insert(id, words)),
            None => self.nameless.push((position, index)),
        }
        for (number, part) in parts.into_iter().enumerate() {
            self.add_part(position, part)
                .map_err(|error| error.under(&format!("[{number}]")).under("parts"))?;
        }
        self.after_output = false;
        Ok(())
    }

    fn parts(&self, record: &mut MessageRecord<'a>) -> Result<Vec<Part>> {
        let limit = ("max_parts", self.limits.max_parts);
        let (key, parts) = match (record.parts.take(), record.fields.content) {
            (Some((_, parts)), _) => ("parts", parts.at("parts", "an array of parts", limit)?),
            (None, Some(content)) if raw::kind(content) == "a string" => {
                return Ok(vec![Part::text(self.body.text(Some(content), "content")?)]);
            }
            (None, Some(content)) => {
                let parts = raw::read(content.get(), parts_seed(self.body, self.limits))?;
                ("content", parts.at("content", "a string or an array of parts", limit)?)
            }
            (None, None) => return Err(Error::invalid_field("parts", "an array of parts", "nothing")),
        };
        let whole = |(number, part): (usize, raw::Found<Result<Part>>)| {
            part.object_at(format_args!("[{number}]"), "an object")
                .and_then(|part| part.map_err(|error| error.under(&format!("[{number}]"))))
                .map_err(|error| error.under(key))
        };
        parts.into_iter().enumerate().map(whole).collect()
    }

    fn add_part(&mut self, position: usize, part: Part) -> Result<()> {
        if let Part::Tool(call) = &part
            && self.is_known(call, "toolCallId")?
        {
            return Ok(());
        }
        self.push_part(position, part);
        Ok(())
    }

    fn push_part(&mut self, position: usize, part: Part) {
        let Some(message) = self.messages.get_mut(position) else { return };
        if let Part::Tool(call) = &part {
            self.calls.insert(call.call_id.clone(), (position, message.parts.len()));
        }
        message.parts.push(part);
    }

    fn call_mut(&mut self, call_id: &str) -> Option<&mut ToolPart> {
        let &(position, number) = self.calls.get(call_id)?;
        match self.messages.get_mut(position)?.parts.get_mut(number)? {
            Part::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Whether this call stands in the conversation already. Of a call that stands there unfinished and finished, the
    /// finished one counts: a client of version 5 keeps both when the call turned out to be one of a dynamic tool.
    fn is_known(&mut self, call: &ToolPart, key: &'static str) -> Result<bool> {
        let Some(known) = self.call_mut(&call.call_id) else { return Ok(false) };
        let same_tool = known.name == call.name;
        if same_tool && known.state == ToolState::InputStreaming {
            *known = call.clone();
            return Ok(true);
        }
        if *known == *call || (same_tool && call.state == ToolState::InputStreaming) {
            return Ok(true);
        }
        Err(Error::invalid_field(key, "an id of its own", "the id of another tool call"))
    }

    fn add_call(&mut self, index: usize, record: &MessageRecord<'_>) -> Result<()> {
        let call = tool::call(self.body, self.limits, record)?;
        let key = if present(record.fields.call_id).is_some() { "call_id" } else { "id" };
        if let Some(known) = self.call_mut(&call.call_id) {
            let again = known.name == call.name && known.state.input() == call.state.input();
            if again && known.state != ToolState::InputStreaming {
                return Ok(());
            }
        }
        if self.is_known(&call, key)? {
            return Ok(());
        }
        let after_output = std::mem::take(&mut self.after_output);
        let position = match self.messages.last() {
            Some(message) if message.role == Role::Assistant => {
                let position = self.messages.len().saturating_sub(1);
                if after_output {
                    self.push_part(position, Part::StepStart);
                }
                position
            }
            _ => {
                let position = self.messages.len();
                self.nameless.push((position, index));
                let (id, parts) = (Text::new(), Vec::new());
                self.messages.push(Message { id, role: Role::Assistant, parts, metadata: None });
                position
            }
        };
        self.push_part(position, Part::Tool(call));
        Ok(())
    }

    fn add_output(&mut self, record: &MessageRecord<'_>) -> Result<()> {
        let (call_id, answered) = tool::output(self.body, self.limits, record)?;
        let error = |found: &'static str| {
            Error::invalid_field("call_id", "the id of a call before it that waits for its output", found)
        };
        let Some(call) = self.call_mut(&call_id) else { return Err(error("an id of no call")) };
        let state = answered(call.state.input().cloned().unwrap_or(JsonText::EMPTY_OBJECT));
        if call.state.is_answered() {
            return if call.state == state { Ok(()) } else { Err(error("the id of an answered call")) };
        }
        call.state = state;
        self.after_output = true;
        Ok(())
    }
}
