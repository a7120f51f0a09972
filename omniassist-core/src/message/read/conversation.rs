use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use super::record::{Words, part_records};
use super::{MessageRecord, PartRecord, optional_id, tool};
use crate::message::body::Body;
use crate::message::raw::{self, present};
use crate::message::{Message, Part, Role, ToolPart, ToolState};
use crate::{Error, JsonText, Limits, Result, Text};

/// The messages of a posted conversation.
pub(crate) struct ReadMessages {
    pub(crate) messages: Vec<Message>,
    /// Ids of the calls posted as records.
    pub(crate) recorded_calls: BTreeSet<Text>,
    /// Indexes of the records that were dropped because of an unknown role.
    pub(crate) skipped: Vec<usize>,
    /// The index of the record of the last message.
    last_index: usize,
}

impl ReadMessages {
    /// Makes a conversation of at most one message.
    pub(crate) fn of(message: Option<Message>) -> Self {
        let messages = message.into_iter().collect();
        Self { messages, recorded_calls: BTreeSet::new(), skipped: Vec::new(), last_index: 0 }
    }

    /// Checks that the user message to be answered can be read. Older messages are not checked.
    pub(crate) fn check_question(&self) -> Result<()> {
        match self.messages.last() {
            Some(message) if message.role == Role::User => {
                message.check_readable(&format!("messages[{}]", self.last_index))
            }
            _ => Ok(()),
        }
    }
}

/// Combines posted records into messages.
pub(super) struct Conversation<'a> {
    body: Body<'a>,
    limits: &'a Limits,
    messages: Vec<Message>,
    /// The source of every message with an id. `None` if only a function call named the message.
    ids: HashMap<Text, Option<Words<'a>>>,
    /// The message and part of every tool call.
    calls: HashMap<Text, (usize, usize)>,
    /// Messages without an id, with the index of their record.
    nameless: Vec<(usize, usize)>,
    /// `true` after an output: the next call belongs to a later turn of the model than the previous calls.
    after_output: bool,
    recorded_calls: BTreeSet<Text>,
    skipped: Vec<usize>,
    /// The index of the record of the last message.
    last_index: usize,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(body: Body<'a>, limits: &'a Limits) -> Self {
        Self {
            body,
            limits,
            messages: Vec::new(),
            ids: HashMap::new(),
            calls: HashMap::new(),
            nameless: Vec::new(),
            after_output: false,
            recorded_calls: BTreeSet::new(),
            skipped: Vec::new(),
            last_index: 0,
        }
    }

    /// Adds the record at `index`.
    pub(super) fn add(&mut self, index: usize, record: MessageRecord<'a>) -> Result<()> {
        let kind = match present(record.fields.kind) {
            Some(raw) if raw::kind(raw) == "a string" => self.body.word(Some(raw), "type")?,
            _ => Cow::Borrowed(""),
        };
        match &*kind {
            "function_call" => self.add_call(index, &record),
            "function_call_output" | "tool_call_output" => self.add_output(&record),
            "" if is_bare_call(&record) => self.add_call(index, &record),
            _ => self.add_message(index, record),
        }
    }

    /// Returns the messages. A message without an id gets one from the index of its record.
    pub(super) fn finish(mut self) -> ReadMessages {
        for (position, index) in self.nameless {
            let mut id = Text::from(format!("msg-{index}"));
            while self.ids.contains_key(&id) {
                id = Text::from(format!("{id}-{index}"));
            }
            self.ids.insert(id.clone(), None);
            if let Some(message) = self.messages.get_mut(position) {
                message.id = id;
            }
        }
        let Self { messages, recorded_calls, skipped, last_index, .. } = self;
        ReadMessages { messages, recorded_calls, skipped, last_index }
    }

    fn add_message(&mut self, index: usize, mut record: MessageRecord<'a>) -> Result<()> {
        let fields = &record.fields;
        let role = match &*self.body.word(fields.role, "role")? {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            // Newer clients may use further roles. Rejecting them would end the chat.
            _ => {
                self.skipped.push(index);
                return Ok(());
            }
        };
        let id = optional_id(self.body, fields.id, "id", self.limits)?;
        let mut begun = None;
        match id.as_ref().and_then(|id| self.ids.get(id)) {
            Some(Some(other)) if record.words() == *other => return Ok(()),
            None => {}
            Some(other) => {
                let last = self.messages.len().saturating_sub(1);
                let is_last = self.messages.last().is_some_and(|message| Some(&message.id) == id.as_ref());
                if other.is_some() || !is_last || role != Role::Assistant {
                    return Err(Error::invalid_field("id", "a unique id", "the id of another message"));
                }
                begun = Some(last);
            }
        }
        self.last_index = index;
        let metadata = present(fields.metadata).map(|raw| self.body.tree(raw, "metadata")).transpose()?;
        let words = record.words();
        let parts = self.parts(&mut record)?;
        let position = begun.unwrap_or(self.messages.len());
        match self.messages.get_mut(position) {
            Some(message) => message.metadata = metadata,
            None => {
                let (id, own_parts) = (id.clone().unwrap_or_default(), Vec::with_capacity(parts.len()));
                self.messages.push(Message { id, role, parts: own_parts, metadata });
            }
        }
        match id {
            Some(id) => drop(self.ids.insert(id, Some(words))),
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
            (Some(parts), _) => ("parts", parts.at("parts", "an array of parts", limit)?),
            (None, Some(content)) if raw::kind(content) == "a string" => {
                return Ok(vec![Part::text(self.body.text(Some(content), "content")?)]);
            }
            (None, Some(content)) => {
                let parts = part_records(&mut raw::reader(content), self.body, self.limits)?;
                ("content", parts.at("content", "a string or an array of parts", limit)?)
            }
            (None, None) => return Err(Error::invalid_field("parts", "an array of parts", "nothing")),
        };
        let whole = |(number, (_, part)): (usize, PartRecord<'a>)| {
            part.object_at(format_args!("[{number}]"), "an object")
                .and_then(|part| part.map_err(|error| error.under(&format!("[{number}]"))))
                .map_err(|error| error.under(key))
        };
        parts.into_iter().enumerate().map(whole).collect()
    }

    fn add_part(&mut self, position: usize, part: Part) -> Result<()> {
        if let Part::Tool(call) = &part
            && (self.is_copy(position, call) || self.is_known(call, "toolCallId")?)
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

    /// Returns `true` if the message at `position` already contains this call with the same arguments. The first copy is
    /// kept, with the result of the later one if only that has one: clients of version 5 add the parts of a message
    /// again if they resume it.
    fn is_copy(&mut self, position: usize, call: &ToolPart) -> bool {
        let is_here = self.calls.get(&call.call_id).is_some_and(|(message, _)| *message == position);
        let Some(known) = self.call_mut(&call.call_id).filter(|_| is_here) else { return false };
        let input = known.state.input();
        if known.name != call.name || input.is_none() || input != call.state.input() {
            return false;
        }
        if call.state.is_answered() && !known.state.is_answered() {
            known.state = call.state.clone();
        }
        true
    }

    /// Returns `true` if the conversation already contains this call. Of an unfinished and a finished version, the
    /// finished one is kept: clients of version 5 post both for a dynamic tool.
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
        Err(Error::invalid_field(key, "a unique id", "the id of another tool call"))
    }

    fn add_call(&mut self, index: usize, record: &MessageRecord<'_>) -> Result<()> {
        let mut call = tool::call(self.body, self.limits, &record.fields)?;
        let message_id = call.message_id.take();
        let mut call = ToolPart::from(call);
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
        let position = self.message_of_call(index, message_id)?;
        if self.nameless.last().is_some_and(|(nameless, _)| *nameless == position) {
            // A seal is bound to its message's id. Without the id it proves nothing, and must not be treated as a
            // forgery.
            call.metadata = None;
        }
        self.recorded_calls.insert(call.call_id.clone());
        self.push_part(position, Part::Tool(call));
        Ok(())
    }

    /// Returns the position of the assistant's message that a recorded call belongs to.
    fn message_of_call(&mut self, index: usize, message_id: Option<Text>) -> Result<usize> {
        let after_output = std::mem::take(&mut self.after_output);
        let end = self.messages.len();
        if let Some(message) = self.messages.last().filter(|message| message.role == Role::Assistant)
            && message_id.as_ref().is_none_or(|id| *id == message.id)
        {
            let position = end.saturating_sub(1);
            if after_output {
                self.push_part(position, Part::StepStart);
            }
            return Ok(position);
        }
        match &message_id {
            Some(id) if self.ids.contains_key(id) => {
                let expected = "the id of the message before the call, or a new one";
                return Err(Error::invalid_field("messageId", expected, "the id of another message"));
            }
            Some(id) => drop(self.ids.insert(id.clone(), None)),
            None => self.nameless.push((end, index)),
        }
        let (id, parts) = (message_id.unwrap_or_default(), Vec::new());
        self.messages.push(Message { id, role: Role::Assistant, parts, metadata: None });
        Ok(end)
    }

    fn add_output(&mut self, record: &MessageRecord<'_>) -> Result<()> {
        let output = tool::output(self.body, self.limits, &record.fields)?;
        let error = |found: &'static str| {
            Error::invalid_field("call_id", "the id of an earlier call without an output", found)
        };
        let Some(call) = self.call_mut(&output.call_id) else { return Err(error("an unknown id")) };
        let state = output.into_state(call.state.input().cloned().unwrap_or(JsonText::EMPTY_OBJECT));
        if call.state.is_answered() {
            return if call.state == state { Ok(()) } else { Err(error("the id of an answered call")) };
        }
        call.state = state;
        self.after_output = true;
        Ok(())
    }
}

/// Returns `true` for a function call record without a type and a role.
fn is_bare_call(record: &MessageRecord<'_>) -> bool {
    let fields = &record.fields;
    fields.role.is_none() && fields.name.is_some() && fields.arguments.is_some()
}
