use std::collections::{HashMap, HashSet};

use super::content;
use super::tool_calls::CallFields;
use crate::dialect::ag_ui::{client_state, ids};
use crate::dialect::posted;
use crate::message::body::Body;
use crate::message::raw::{Raw, raw_record};
use crate::message::{Message, Part, ProviderMetadata, ReasoningPart, Role, TextPart};
use crate::{Error, JsonText, Limits, Result, Text};

raw_record! {
    /// The fields of a message.
    MessageFields {
        id: "id",
        role: "role",
        content: "content",
        tool_calls: "toolCalls",
        tool_call_id: "toolCallId",
        error: "error",
        encrypted_value: "encryptedValue",
        metadata: "metadata",
        subagent_run_id: "subagentRunId",
    }
}

impl MessageFields<'_> {
    fn says_the_same(&self, other: &Self) -> bool {
        fn texts<'a>(fields: &MessageFields<'a>) -> [Option<&'a str>; 7] {
            let MessageFields {
                role,
                content,
                tool_calls,
                tool_call_id,
                error,
                encrypted_value,
                metadata,
                ..
            } = fields;
            [role, content, tool_calls, tool_call_id, error, encrypted_value, metadata]
                .map(|raw| raw.map(Raw::get))
        }
        texts(self) == texts(other)
    }
}

/// Combines posted messages into answers.
///
/// Consecutive assistant, reasoning and tool messages form one answer: the protocol does not mark the start of an
/// answer, and a run without a new message continues the last one. A resumed run continues the last answer too, even
/// after new user messages. Its messages are recognised by their ids, and the user messages are moved before the
/// answer.
pub(super) struct Conversation<'a> {
    pub(super) body: Body<'a>,
    pub(super) limits: &'a Limits,
    pub(super) messages: Vec<Message>,
    pub(super) ids: HashMap<Text, MessageFields<'a>>,
    pub(super) calls: HashMap<Text, Call>,
    pub(super) answer: Option<Answer>,
    /// The last complete answer.
    past: Option<Answer>,
    names: Vec<Name>,
    /// For each part of each answer, the index of the record that it was read from.
    pub(super) origins: Vec<Vec<usize>>,
    /// The index of the current record.
    index: usize,
    /// The indexes of the records that were dropped because of an unknown role.
    pub(super) skipped: Vec<usize>,
    /// The index of the last record that is not from the assistant.
    pub(super) last_index: usize,
}

/// The name of a message.
struct Name {
    position: usize,
    /// The index of the first record of the message.
    index: usize,
    id: Option<Text>,
    is_answer: bool,
}

/// The answer under construction.
pub(super) struct Answer {
    pub(super) position: usize,
    index: usize,
    /// The id of its first assistant message, or of its first piece of reasoning if there is none.
    id: Option<(Text, Kind)>,
    /// The answer and the step of the previous message, according to its id.
    before: Option<(Text, Option<u32>)>,
    /// `true` if the previous message is an assistant message other than reasoning.
    after_assistant: bool,
    /// `true` if one of the answer's calls has a result.
    pub(super) after_result: bool,
}

/// The kinds of an answer's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Text and tool calls.
    Assistant,
    Reasoning,
}

/// Data of a call that its part does not contain.
pub(super) struct Call {
    pub(super) position: usize,
    pub(super) part: usize,
    /// The arguments received so far.
    pub(super) arguments: JsonText,
    /// The id of the interrupt for the call.
    pub(super) interrupt: Option<Text>,
    /// The id of the message with its result.
    pub(super) result: Option<Text>,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(body: Body<'a>, limits: &'a Limits) -> Self {
        Self {
            body,
            limits,
            messages: Vec::new(),
            ids: HashMap::new(),
            calls: HashMap::new(),
            answer: None,
            past: None,
            names: Vec::new(),
            origins: Vec::new(),
            index: 0,
            skipped: Vec::new(),
            last_index: 0,
        }
    }

    /// Adds the message at `index`.
    pub(super) fn add(&mut self, index: usize, fields: MessageFields<'a>) -> Result<()> {
        self.index = index;
        // Clients of version 1.0 post what a sub-agent said. The answer of the main agent has its result.
        if self.body.optional_text(fields.subagent_run_id, "subagentRunId")?.is_some() {
            return Ok(());
        }
        let role = self.body.text(fields.role, "role")?;
        let id = self.body.optional_text(fields.id, "id")?.filter(|id| !id.is_empty());
        if let Some(id) = &id {
            ids::check(id, "id", self.limits)?;
            if let Some(other) = self.ids.get(id) {
                if fields.says_the_same(other) {
                    return Ok(());
                }
                return Err(Error::invalid_field("id", "a unique id", "the id of another message"));
            }
        }
        match role.as_str() {
            "user" => self.other(index, id.as_ref(), Role::User, &fields)?,
            "system" | "developer" => self.other(index, id.as_ref(), Role::System, &fields)?,
            "assistant" => self.assistant(index, id.as_ref(), &fields)?,
            "reasoning" => self.reasoning(index, id.as_ref(), &fields)?,
            "tool" => self.tool(id.as_ref(), &fields)?,
            // Activities are displayed by the client only.
            "activity" => {}
            // Newer clients may use further roles. Rejecting them would end the chat.
            _ => {
                self.skipped.push(index);
                return Ok(());
            }
        }
        if let Some(id) = id {
            self.ids.insert(id, fields);
        }
        Ok(())
    }

    /// Adds a message that is not from the assistant.
    fn other(
        &mut self,
        index: usize,
        id: Option<&Text>,
        role: Role,
        fields: &MessageFields<'_>,
    ) -> Result<()> {
        self.end_answer();
        let parts = content::parts(self.body, self.limits, fields.content)?;
        let metadata = self.body.optional_object(fields.metadata, "metadata")?.map(Into::into);
        self.last_index = index;
        self.names.push(Name { position: self.messages.len(), index, id: id.cloned(), is_answer: false });
        self.origins.push(vec![index; parts.len()]);
        self.messages.push(Message { id: Text::new(), role, parts, metadata });
        Ok(())
    }

    fn assistant(&mut self, index: usize, id: Option<&Text>, fields: &MessageFields<'_>) -> Result<()> {
        let text = self.body.optional_text(fields.content, "content")?.unwrap_or_default();
        let metadata = self.state(fields.encrypted_value)?;
        let limit = ("max_parts", self.limits.max_parts);
        let calls: Vec<CallFields<'_>> = posted::objects(
            fields.tool_calls,
            "toolCalls",
            "an array of tool calls",
            limit,
            |_, _, call| self.body.count_part().map(|()| call),
        )?;
        let has_text = !text.is_empty() || metadata.is_some();
        if calls.is_empty() && !has_text {
            return Ok(());
        }
        let position = self.begin(index, id, Kind::Assistant);
        if has_text {
            self.push(position, Part::Text(TextPart { text, metadata }))?;
        }
        for (number, call) in calls.iter().enumerate() {
            self.call(position, call).map_err(|error| error.under(&format!("toolCalls[{number}]")))?;
        }
        Ok(())
    }

    fn reasoning(&mut self, index: usize, id: Option<&Text>, fields: &MessageFields<'_>) -> Result<()> {
        let text = self.body.optional_text(fields.content, "content")?.unwrap_or_default();
        let metadata = self.state(fields.encrypted_value)?;
        let position = self.begin(index, id, Kind::Reasoning);
        self.push(position, Part::Reasoning(ReasoningPart { text, metadata }))
    }

    /// Opens an answer or continues the open one, and marks the start of each step.
    fn begin(&mut self, index: usize, id: Option<&Text>, kind: Kind) -> usize {
        if self.answer.is_none() {
            self.reopen(id);
        }
        if self.answer.is_none() {
            let (id, role, parts) = (Text::new(), Role::Assistant, Vec::new());
            self.messages.push(Message { id, role, parts, metadata: None });
            self.origins.push(Vec::new());
        }
        let answer = self.answer.get_or_insert_with(|| Answer {
            position: self.messages.len().saturating_sub(1),
            index,
            id: None,
            before: None,
            after_assistant: false,
            after_result: false,
        });
        let now = id.map(|id| match ids::parse(id) {
            Some((answer, step, _)) => (Text::from(answer), Some(step)),
            // The answer's own id belongs to an assistant message in its first step.
            None => (id.clone(), (kind == Kind::Assistant).then_some(1)),
        });
        let is_new_step = match (&answer.before, &now) {
            (Some((before, Some(step))), Some((now, Some(next)))) if before == now => step != next,
            _ => answer.after_result || answer.after_assistant,
        };
        let named_by = answer.id.as_ref().map(|(_, kind)| *kind);
        if named_by.is_none() || (named_by == Some(Kind::Reasoning) && kind == Kind::Assistant) {
            answer.id = id.map(|id| (id.clone(), kind)).or(answer.id.take());
        }
        answer.before = now;
        answer.after_assistant = kind == Kind::Assistant;
        answer.after_result = false;
        let position = answer.position;
        if let Some(message) = self.messages.get_mut(position)
            && (is_new_step || message.parts.is_empty())
        {
            self.append(position, Part::StepStart);
        }
        position
    }

    fn end_answer(&mut self) {
        if let Some(answer) = self.answer.take() {
            let id = answer.id.as_ref().map(|(id, _)| id.clone());
            self.names.push(Name { position: answer.position, index: answer.index, id, is_answer: true });
            self.past = Some(answer);
        }
    }

    /// Reopens the last answer for a further message of it, and moves later user messages before the answer.
    fn reopen(&mut self, id: Option<&Text>) {
        let Some((further, ..)) = id.and_then(|id| ids::parse(id)) else { return };
        let is_called = |past: &mut Answer| past.id.as_ref().is_some_and(|(id, _)| id == further);
        let Some(mut answer) = self.past.take_if(is_called) else { return };
        let (from, to) = (answer.position, self.messages.len().saturating_sub(1));
        self.names.retain(|name| name.position != from);
        for name in &mut self.names {
            if name.position > from {
                name.position -= 1;
            }
        }
        if let Some(message) = self.messages.get(from) {
            for part in message.tools() {
                if let Some(call) = self.calls.get_mut(&part.call_id) {
                    call.position = to;
                }
            }
        }
        put_last(&mut self.messages, from);
        put_last(&mut self.origins, from);
        answer.position = to;
        self.answer = Some(answer);
    }

    pub(super) fn push(&mut self, position: usize, part: Part) -> Result<()> {
        if self.messages.get(position).is_some_and(|message| message.parts.len() >= self.limits.max_parts) {
            return Err(Error::limit_exceeded("max_parts", self.limits.max_parts, None));
        }
        self.append(position, part);
        Ok(())
    }

    fn append(&mut self, position: usize, part: Part) {
        if let Some(message) = self.messages.get_mut(position) {
            message.parts.push(part);
        }
        if let Some(origins) = self.origins.get_mut(position) {
            origins.push(self.index);
        }
    }

    pub(super) fn state(&self, raw: Option<Raw<'_>>) -> Result<Option<ProviderMetadata>> {
        let text = self.body.optional_text(raw, "encryptedValue")?;
        text.map_or(Ok(None), |text| client_state::state(self.body, &text, self.limits))
    }

    /// Gives every message the id it was posted with, and every answer its id without suffix. Messages that another
    /// server named `a.1.1` and `a.1.2` are not one answer, so the second keeps its id.
    fn name(&mut self) {
        let mut taken = HashSet::new();
        let (whole, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.names)
            .into_iter()
            .partition(|name| name.id.as_ref().is_some_and(|id| !name.is_answer || ids::parse(id).is_none()));
        let (further, nameless): (Vec<_>, Vec<_>) = rest.into_iter().partition(|name| name.id.is_some());
        for Name { position, index, id, is_answer } in whole.into_iter().chain(further).chain(nameless) {
            let short = id.as_ref().filter(|_| is_answer).and_then(|id| ids::parse(id));
            let short = short.map(|(answer, ..)| Text::from(answer));
            let numbered = std::iter::successors(Some(Text::from(format!("msg-{index}"))), |id| {
                Some(Text::from(format!("{id}-{index}")))
            });
            let free = |id: &Text| !taken.contains(id);
            let id = short.into_iter().chain(id).find(free).or_else(|| numbered.into_iter().find(free));
            if let (Some(id), Some(message)) = (id, self.messages.get_mut(position)) {
                taken.insert(id.clone());
                message.id = id;
            }
        }
    }

    /// Ends the last answer and gives ids to all messages.
    pub(super) fn finish(&mut self) {
        self.end_answer();
        self.name();
    }

    /// Moves the last answer to the end, for a run that continues it.
    pub(super) fn end_in_answer(&mut self) {
        let last = self.messages.iter().rposition(|message| message.role == Role::Assistant);
        if let Some(position) = last {
            put_last(&mut self.messages, position);
            put_last(&mut self.origins, position);
        }
    }
}

/// Moves the item at a position to the end.
fn put_last<T>(items: &mut [T], position: usize) {
    if let Some(tail) = items.get_mut(position..)
        && !tail.is_empty()
    {
        tail.rotate_left(1);
    }
}
