use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::content;
use crate::dialect::posted;
use crate::message::body::Body;
use crate::message::raw::{self, Found, Raw, present, raw_record};
use crate::message::read::check_id;
use crate::message::{Message, Part, Role, ToolPart, ToolState};
use crate::{Error, JsonText, Limits, Result, Text, check_tool_name};

raw_record! {
    /// The fields of a message.
    MessageFields {
        role: "role",
        content: "content",
        refusal: "refusal",
        tool_calls: "tool_calls",
        tool_call_id: "tool_call_id",
        function_call: "function_call",
    }
}

raw_record! {
    /// The fields of an element of `tool_calls`.
    CallFields {
        id: "id",
        kind: "type",
        function: "function",
    }
}

raw_record! {
    /// The function that a call names.
    FunctionFields {
        name: "name",
        arguments: "arguments",
    }
}

const ROLES: &str = "\"system\", \"developer\", \"user\", \"assistant\" or \"tool\"";

/// The posted conversation as messages.
pub(super) struct PostedConversation {
    pub(super) messages: Vec<Message>,
    /// Names of the tools that the conversation's calls use.
    pub(super) tools: BTreeSet<Text>,
}

/// Returns the error for a missing or empty conversation.
pub(super) fn none(found: &'static str) -> Error {
    Error::invalid_field("messages", "an array with at least one message", found)
}

pub(super) fn read<'a>(
    body: Body<'a>,
    limits: &Limits,
    records: Found<Vec<Found<MessageFields<'a>>>>,
) -> Result<PostedConversation> {
    let records = records.at(
        "messages",
        "an array of messages",
        ("max_conversation_parts", limits.max_conversation_parts),
    )?;
    if records.is_empty() {
        return Err(none("an empty array"));
    }
    let mut conversation = Conversation {
        body,
        limits,
        messages: Vec::new(),
        calls: BTreeMap::new(),
        taken: HashMap::new(),
        tools: BTreeSet::new(),
        last_index: 0,
    };
    for (index, record) in records.into_iter().enumerate() {
        let path = format!("messages[{index}]");
        let fields = record.object_at(&path, "an object")?;
        conversation.add(index, &fields).map_err(|error| error.under(&path))?;
    }
    conversation.finish()
}

struct Conversation<'a> {
    body: Body<'a>,
    limits: &'a Limits,
    messages: Vec<Message>,
    /// The latest call with each posted id.
    calls: BTreeMap<Text, PostedCall>,
    /// The ids in use, each with the number for the next copy of it.
    taken: HashMap<Text, u32>,
    tools: BTreeSet<Text>,
    /// The index of the last message that is not from the assistant.
    last_index: usize,
}

struct PostedCall {
    message: usize,
    part: usize,
    path: String,
}

impl Conversation<'_> {
    fn add(&mut self, index: usize, fields: &MessageFields<'_>) -> Result<()> {
        let (body, limits) = (self.body, self.limits);
        match body.text(fields.role, "role")?.as_str() {
            "system" | "developer" => {
                let parts = content::of_text(body, limits, fields.content, false)?;
                self.push(index, Role::System, parts);
            }
            "user" => {
                let parts = content::of_user(body, limits, fields.content)?;
                self.push(index, Role::User, parts);
            }
            "assistant" => self.assistant(index, fields)?,
            "tool" => self.result(fields)?,
            _ => return Err(Error::invalid_field("role", ROLES, "another string")),
        }
        Ok(())
    }

    fn push(&mut self, index: usize, role: Role, parts: Vec<Part>) {
        self.last_index = index;
        let id = format!("msg-{index}").into();
        self.messages.push(Message { id, role, parts, metadata: None });
    }

    /// Adds one turn of the model as a step of the assistant's message.
    fn assistant(&mut self, index: usize, fields: &MessageFields<'_>) -> Result<()> {
        if let Some(raw) = present(fields.function_call) {
            let expected = "nothing: use `tool_calls`";
            return Err(Error::invalid_field("function_call", expected, raw::kind(raw)));
        }
        let mut parts = match present(fields.content) {
            Some(content) => content::of_text(self.body, self.limits, Some(content), true)?,
            None => Vec::new(),
        };
        parts.extend(self.body.optional_text(fields.refusal, "refusal")?.map(Part::text));
        parts.retain(|part| !matches!(part, Part::Text(text) if text.text.is_empty()));
        let calls = self.calls_of(fields.tool_calls)?;
        if parts.is_empty() && calls.is_empty() {
            return Ok(());
        }
        if self.messages.last().is_none_or(|message| message.role != Role::Assistant) {
            self.push(index, Role::Assistant, Vec::new());
        }
        let position = self.messages.len() - 1;
        let Some(message) = self.messages.last_mut() else { return Ok(()) };
        message.parts.push(Part::StepStart);
        message.parts.append(&mut parts);
        for (number, (posted, call)) in calls.into_iter().enumerate() {
            let path = format!("messages[{index}].tool_calls[{number}].id");
            self.calls.insert(posted, PostedCall { message: position, part: message.parts.len(), path });
            message.parts.push(Part::Tool(call));
        }
        Ok(())
    }

    /// Reads the calls of a turn, each with the id it was posted under.
    fn calls_of(&mut self, raw: Option<Raw<'_>>) -> Result<Vec<(Text, ToolPart)>> {
        let limit = ("max_parts", self.limits.max_parts);
        let mut posted_ids = BTreeSet::new();
        posted::objects(raw, "tool_calls", "an array of tool calls", limit, |_, _, fields| {
            self.body.count_part()?;
            let call = self.call(&fields)?;
            if !posted_ids.insert(call.0.clone()) {
                return Err(Error::invalid_field("id", "a unique id", "the id of another tool call"));
            }
            Ok(call)
        })
    }

    fn call(&mut self, fields: &CallFields<'_>) -> Result<(Text, ToolPart)> {
        let body = self.body;
        if let Some(kind) = body.optional_text(fields.kind, "type")?
            && kind != "function"
        {
            return Err(Error::invalid_field("type", "\"function\"", "another string"));
        }
        let posted = body.text(fields.id, "id")?;
        check_id(&posted, "id", self.limits)?;
        let (name, input) = posted::object(fields.function, "function", |fields| called(body, &fields))?;
        self.tools.insert(name.clone());
        let call = ToolPart {
            call_id: self.unused_id(&posted),
            name,
            dynamic: false,
            provider_executed: false,
            state: ToolState::InputAvailable { input },
            metadata: None,
        };
        Ok((posted, call))
    }

    /// Returns a unique id: some servers number the calls of each turn anew, and a conversation needs one id per call.
    fn unused_id(&mut self, posted: &Text) -> Text {
        let Some(next) = self.taken.get(posted).copied() else {
            self.taken.insert(posted.clone(), 2);
            return posted.clone();
        };
        // Numbers before `next` are taken. The search skips only ids that clients chose themselves.
        let mut numbers = (next..).map(|n| (n, Text::from(format!("{posted}-{n}"))));
        let free = numbers.find(|(_, id)| !self.taken.contains_key(id));
        let (number, id) = free.unwrap_or_default();
        self.taken.insert(posted.clone(), number.saturating_add(1));
        self.taken.insert(id.clone(), 2);
        id
    }

    fn result(&mut self, fields: &MessageFields<'_>) -> Result<()> {
        let call_id = self.body.text(fields.tool_call_id, "tool_call_id")?;
        let output = self.output(fields.content)?;
        let error = |found: &'static str| {
            Error::invalid_field("tool_call_id", "the id of an earlier call without an output", found)
        };
        let Some(posted) = self.calls.get(&call_id) else { return Err(error("an unknown id")) };
        let part =
            self.messages.get_mut(posted.message).and_then(|message| message.parts.get_mut(posted.part));
        let Some(Part::Tool(call)) = part else { return Ok(()) };
        match &call.state {
            ToolState::OutputAvailable { output: known, .. } if *known == output => {}
            ToolState::InputAvailable { input } => {
                let input = input.clone();
                call.state = ToolState::OutputAvailable { input, output, preliminary: false };
            }
            _ => return Err(error("the id of an answered call")),
        }
        Ok(())
    }

    fn output(&self, content: Option<Raw<'_>>) -> Result<JsonText> {
        if let Some(raw) = content
            && raw::kind(raw) == "a string"
        {
            // Reject half a surrogate pair: no provider accepts it.
            self.body.text(content, "content")?;
            return Ok(self.body.json(raw));
        }
        let parts = content::of_text(self.body, self.limits, content, false)?;
        let message = Message { id: Text::new(), role: Role::User, parts, metadata: None };
        Ok(JsonText::from_str_value(&message.text()))
    }

    fn finish(self) -> Result<PostedConversation> {
        let last = self.messages.len().wrapping_sub(1);
        if let Some(message) = self.messages.last().filter(|message| message.role == Role::Assistant) {
            let is_open = |call: &&PostedCall| {
                let part = message.parts.get(call.part).filter(|_| call.message == last);
                matches!(part, Some(Part::Tool(call)) if !call.state.is_answered())
            };
            if let Some(call) = self.calls.values().filter(is_open).min_by_key(|call| call.part) {
                let expected = "a call with a `tool` message after it";
                return Err(Error::invalid_field(call.path.as_str(), expected, "a call without one"));
            }
        }
        if self.messages.is_empty() {
            return Err(none("empty messages only"));
        }
        posted::check_question(&self.messages, self.last_index)?;
        Ok(PostedConversation { messages: self.messages, tools: self.tools })
    }
}

fn called(body: Body<'_>, function: &FunctionFields<'_>) -> Result<(Text, JsonText)> {
    let name = body.text(function.name, "name")?;
    if check_tool_name(&name).is_err() {
        let expected = "the name of a tool: 1 to 64 letters, digits, '_' or '-'";
        return Err(Error::invalid_field("name", expected, "another string"));
    }
    // Arguments that do not parse stay text: the call was incomplete, and the model receives them as they are.
    Ok((name, posted::arguments(&body.text(function.arguments, "arguments")?)))
}
