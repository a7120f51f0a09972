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
    /// The fields of a request, but for `messages`.
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
    /// The request; its chat is the thread.
    pub request: RunRequest,
    /// The thread. Answers repeat it.
    pub thread_id: Text,
    /// The run, named by the client. Answers repeat it.
    pub run_id: Text,
    /// The run that this one branched off, if the client says so.
    pub parent_run_id: Option<Text>,
    /// The version that the client understands.
    pub version: Version,
    continuation: Continuation,
    origins: Vec<Vec<usize>>,
}

impl Posted {
    /// The encoder for the answer: it repeats the ids, writes what the client understands, and names messages so that
    /// they go on with the answer that the run continues.
    #[must_use]
    pub fn encoder(&self) -> Encoder {
        let encoder = Encoder::new(self.thread_id.clone(), self.run_id.clone(), self.version);
        encoder.continuing(self.parent_run_id.clone(), self.continuation.clone())
    }

    /// An error about the history of [`request`](Self::request), with the path that the client knows the part by: an
    /// answer is one message there, and several in what it posted.
    #[must_use]
    pub fn locate(&self, error: Error) -> Error {
        let posted = (error.code() == ErrorCode::SealInvalid).then(|| self.posted_index(error.path()?));
        match posted.flatten() {
            Some(index) => Error::seal_invalid(format!("messages[{index}]")),
            None => error,
        }
    }

    /// The index of the posted message that a part was read from, by the part's path.
    fn posted_index(&self, path: &str) -> Option<usize> {
        let (message, part) = path.strip_prefix("messages[")?.split_once("].parts[")?;
        let (message, part): (usize, usize) = (message.parse().ok()?, part.strip_suffix(']')?.parse().ok()?);
        self.origins.get(message)?.get(part).copied()
    }
}

/// Reads the body of a request, a `RunAgentInput`. Only `threadId`, `runId` and `messages` must be there; keys that are
/// not known are skipped.
///
/// - `messages`: any number, in all roles. Messages of unknown roles are dropped. What one run wrote (assistant messages, reasoning and tool results) becomes
///   one [`Message`] again. Activities are left out. `system` and `developer` messages become notes of the client's.
/// - `context`: each entry is a [`ContextMessage`] whose kind is the description; its value is read as JSON where it
///   is JSON.
/// - `tools`: the front-end tools of this run.
/// - `state` and `forwardedProps` are handed on as they are.
/// - `resume`: answers to the interrupts that the last run ended with, for all of them. An approval is answered by
///   `true` or `false`, or by `{approved, reason?, editedArgs?}`; `arguments` is another name of `editedArgs`. A form is
///   answered by what was entered. What was cancelled is denied. The run goes on with the interrupted answer, also where
///   somebody said something since: that then stands before the answer.
///
/// The protocol answers a `resume` that leaves an interrupt open, or names one that is not, by `RUN_ERROR`; here it is
/// an error of the request, before a run begins.
///
/// # Errors
///
/// Returns an error for what [no reader accepts](crate::dialect#errors-of-readers), and if:
///
/// - no provider accepts the name or the schema of a tool;
/// - two different things have the same id, or a result answers no call.
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
    let messages = messages.at("messages", expected, ("max_messages", limits.max_messages))?;
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

/// Parses `text` as JSON; returns `None` where it is not.
fn json_in(body: Body<'_>, text: &str, limits: &Limits) -> Result<Option<Value>> {
    match raw::read(text, limits.max_json_depth, Reader::raw) {
        Ok(raw) => body.tree(raw, "value").map(Some),
        Err(_) => Ok(None),
    }
}

/// Returns the facts of the continued answer that the encoder needs.
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
