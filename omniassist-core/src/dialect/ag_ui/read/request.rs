use bytes::Bytes;
use serde_json::Value;

use super::conversation::{Conversation, MessageFields};
use super::resume;
use crate::dialect::ag_ui::interrupt::Settled;
use crate::dialect::ag_ui::write::{Continuation, Encoder};
use crate::dialect::ag_ui::{Version, ids};
use crate::dialect::declared_tools::{self, ToolForm};
use crate::dialect::posted;
use crate::message::body::Body;
use crate::message::raw::{self, Raw, Reader, present, raw_record};
use crate::message::read::check_chat_id;
use crate::message::tree::TreeBudget;
use crate::message::{Message, Part, Role};
use crate::{ContextMessage, Error, ErrorCode, Limits, Result, RunRequest, Text};

raw_record! {
    /// The fields of a request except `messages`.
    InputFields {
        thread_id: "threadId",
        run_id: "runId",
        parent_run_id: "parentRunId",
        protocol_version: "protocolVersion",
        state: "state",
        tools: "tools",
        context: "context",
        forwarded_props: "forwardedProps",
        resume: "resume",
    }
}

raw_record! {
    /// The fields of a context entry.
    ContextFields {
        description: "description",
        value: "value",
    }
}

/// A posted request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Posted {
    /// The request. Its chat id is the thread id.
    pub request: RunRequest,
    /// The thread id. It is repeated in the answer.
    pub thread_id: Text,
    /// The run id, chosen by the client. It is repeated in the answer.
    pub run_id: Text,
    /// The run from which this one branches, if the client states one.
    pub parent_run_id: Option<Text>,
    /// The version of the client's protocol.
    pub version: Version,
    continuation: Continuation,
    origins: Vec<Vec<usize>>,
}

impl Posted {
    /// Returns the encoder for the answer. It repeats the ids, writes events of the client's version, and continues the
    /// message ids of the answer that the run continues.
    #[must_use]
    pub fn encoder(&self) -> Encoder {
        let encoder = Encoder::new(self.thread_id.clone(), self.run_id.clone(), self.version);
        encoder.continuing(self.parent_run_id.clone(), self.continuation.clone())
    }

    /// Converts the path of an error about the history of [`request`](Self::request) into the path in the posted body,
    /// where one answer consists of several messages.
    #[must_use]
    pub fn locate(&self, error: Error) -> Error {
        let posted = (error.code() == ErrorCode::SealInvalid).then(|| self.posted_index(error.path()?));
        match posted.flatten() {
            Some(index) => Error::seal_invalid(format!("messages[{index}]")),
            None => error,
        }
    }

    /// Returns the index of the posted message from which the part with this path was read.
    fn posted_index(&self, path: &str) -> Option<usize> {
        let (message, part) = path.strip_prefix("messages[")?.split_once("].parts[")?;
        let (message, part): (usize, usize) = (message.parse().ok()?, part.strip_suffix(']')?.parse().ok()?);
        self.origins.get(message)?.get(part).copied()
    }
}

/// Reads the body of a request, a `RunAgentInput`. Only `threadId`, `runId` and `messages` are required. Unknown keys
/// are ignored.
///
/// - `messages`: any number, in all roles. Messages of unknown roles are dropped. The messages of one run (assistant
///   messages, reasoning and tool results) become one [`Message`]. Activities are dropped. `system` and `developer`
///   messages become notes of the client.
/// - `context`: each entry becomes a [`ContextMessage`] whose kind is the description. Its value is parsed as JSON if
///   possible.
/// - `tools`: the front-end tools of this run.
/// - `state` and `forwardedProps` are passed on unchanged.
/// - `resume`: answers to all interrupts that the last run ended with. The answer to an approval request is `true`,
///   `false`, or `{approved, reason?, editedArgs?}`; `arguments` is another name of `editedArgs`. The answer to a form
///   is the user's input. A cancelled interrupt counts as a denial. The run continues the interrupted answer; user
///   messages that follow it are moved before it.
///
/// If `resume` omits an open interrupt or names one that is not open, this function returns an error before a run
/// begins. The protocol reports the same fault as `RUN_ERROR`.
///
/// # Errors
///
/// Returns an error for input that [no reader accepts](crate::dialect#errors-of-readers), and if:
///
/// - no provider accepts the name or the schema of a tool;
/// - two different items have the same id, or a result belongs to no call.
pub fn read_request(body: Bytes, limits: &Limits) -> Result<Posted> {
    let text = Text::from_utf8(body).map_err(Error::invalid_json)?;
    let budget = TreeBudget::new(limits);
    let body = Body::new(&text, &budget);
    let (fields, messages) =
        posted::head(&text, limits, InputFields::default(), posted::messages::<MessageFields<'_>>(limits))?;
    let thread_id = id(body, limits, fields.thread_id, "threadId")?;
    let run_id = id(body, limits, fields.run_id, "runId")?;
    let parent_run_id = match present(fields.parent_run_id) {
        Some(raw) => Some(id(body, limits, Some(raw), "parentRunId")?),
        None => None,
    };
    let expected = "an array of messages";
    let Some(messages) = messages else {
        return Err(Error::invalid_field("messages", expected, "nothing"));
    };
    let messages =
        messages.at("messages", expected, ("max_conversation_parts", limits.max_conversation_parts))?;
    let mut read = Conversation::new(body, limits);
    for (index, message) in messages.into_iter().enumerate() {
        let path = format!("messages[{index}]");
        let message = message.object_at(&path, "an object")?;
        read.add(index, message).map_err(|error| error.under(&path))?;
    }
    read.finish();
    let settled = resume::apply(body, limits, fields.resume, &mut read)?;
    if !settled.is_empty() {
        read.end_in_answer();
    }
    posted::check_question(&read.messages, read.last_index)?;
    let continuation = continuation(&read, settled);
    let request = RunRequest {
        chat_id: Some(thread_id.clone()),
        messages: read.messages,
        context: context(body, limits, fields.context)?,
        tools: declared_tools::read(body, limits, fields.tools, ToolForm::Plain)?,
        state: present(fields.state).map(|raw| body.json(raw)),
        skipped_messages: read.skipped,
        forwarded: present(fields.forwarded_props).map(|raw| body.json(raw)),
        ..RunRequest::default()
    };
    let version = version(body, fields.protocol_version)?;
    Ok(Posted { request, thread_id, run_id, parent_run_id, version, continuation, origins: read.origins })
}

/// Reads the body of a request to connect to a thread, a `RunAgentInput` of which only `threadId`, `runId` and
/// `protocolVersion` are used: the server has the messages. The request of the result has no messages.
///
/// # Errors
///
/// Returns an error for input that [no reader accepts](crate::dialect#errors-of-readers).
pub fn read_connect(body: Bytes, limits: &Limits) -> Result<Posted> {
    let text = Text::from_utf8(body).map_err(Error::invalid_json)?;
    let budget = TreeBudget::new(limits);
    let body = Body::new(&text, &budget);
    let fields = posted::body(&text, limits, InputFields::default())?;
    let thread_id = id(body, limits, fields.thread_id, "threadId")?;
    let run_id = id(body, limits, fields.run_id, "runId")?;
    let version = version(body, fields.protocol_version)?;
    let request = RunRequest { chat_id: Some(thread_id.clone()), ..RunRequest::default() };
    let continuation = Continuation::default();
    Ok(Posted { request, thread_id, run_id, parent_run_id: None, version, continuation, origins: Vec::new() })
}

fn id(body: Body<'_>, limits: &Limits, raw: Option<Raw<'_>>, key: &str) -> Result<Text> {
    let id = body.text(raw, key)?;
    check_chat_id(&id, key, limits)?;
    Ok(id)
}

fn version(body: Body<'_>, raw: Option<Raw<'_>>) -> Result<Version> {
    let Some(version) = body.optional_text(raw, "protocolVersion")? else { return Ok(Version::V0) };
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    Ok(if major.is_some_and(|major| major > 0) { Version::V1 } else { Version::V0 })
}

fn context(body: Body<'_>, limits: &Limits, raw: Option<Raw<'_>>) -> Result<Vec<ContextMessage>> {
    let limit = ("max_context_messages", limits.max_context_messages);
    posted::objects(raw, "context", "an array of context entries", limit, |index, _, fields| {
        context_entry(body, limits, index, &fields)
    })
}

fn context_entry(
    body: Body<'_>,
    limits: &Limits,
    index: usize,
    fields: &ContextFields<'_>,
) -> Result<ContextMessage> {
    let kind = body.optional_text(fields.description, "description")?.filter(|kind| !kind.trim().is_empty());
    let data = match fields.value {
        Some(raw) if raw::kind(raw) == "a string" => {
            let text = body.text(Some(raw), "value")?;
            json_in(body, &text, limits)?.unwrap_or_else(|| text.as_str().into())
        }
        Some(raw) => body.tree(raw, "value")?,
        None => return Err(Error::invalid_field("value", "a string", "nothing")),
    };
    Ok(ContextMessage {
        id: format!("context-{index}").into(),
        kind: kind.unwrap_or(Text::from_static("context")),
        data,
    })
}

/// Parses `text` as JSON. Returns `None` if it is not JSON.
fn json_in(body: Body<'_>, text: &str, limits: &Limits) -> Result<Option<Value>> {
    match raw::read(text, limits.max_json_depth, Reader::raw) {
        Ok(raw) => body.tree(raw, "value").map(Some),
        Err(_) => Ok(None),
    }
}

/// Returns the data of the continued answer that the encoder needs.
fn continuation(read: &Conversation<'_>, settled: Vec<Settled>) -> Continuation {
    let Some(last) = read.messages.iter().rfind(|message| message.role == Role::Assistant) else {
        return Continuation::default();
    };
    let mut continuation = Continuation {
        answer: last.id.clone(),
        named: read.ids.contains_key(&last.id),
        step: steps(last),
        next: 1,
        settled,
        ..Continuation::default()
    };
    for id in read.ids.keys() {
        if let Some((answer, step, number)) = ids::parse(id)
            && answer == last.id.as_str()
        {
            continuation.step = continuation.step.max(step);
            continuation.next = continuation.next.max(number.saturating_add(1));
        }
    }
    for part in last.tools() {
        if let Some(result) = read.calls.get(&part.call_id).and_then(|call| call.result.clone()) {
            continuation.results.push((part.call_id.clone(), result));
        } else if let Some(metadata) = &part.metadata {
            continuation.states.push((part.call_id.clone(), metadata.clone()));
        }
    }
    continuation
}

fn steps(message: &Message) -> u32 {
    let steps = message.parts.iter().filter(|part| matches!(part, Part::StepStart)).count();
    u32::try_from(steps).unwrap_or(u32::MAX)
}
