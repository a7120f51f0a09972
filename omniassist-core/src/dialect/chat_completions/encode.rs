use std::collections::HashSet;

use bytes::{BufMut, Bytes, BytesMut};

use super::calls::Calls;
use super::{AnswerHead, ErrorObject, usage};
use crate::dialect::text_flow::TextFlow;
use crate::dialect::{DialectEncoder, json_write};
use crate::event::{FinishReason, RunErrorCode, Usage};
use crate::{JsonText, RunEvent, Text};

/// Response headers of a streamed answer.
pub const HEADERS: &[(&str, &str)] = &[
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-cache, no-transform"),
    ("x-accel-buffering", "no"),
];

/// Streams a run as `chat.completion.chunk`s over server-sent events.
///
/// - The text of all steps is one content; a blank line stands between the text of two steps.
/// - A call of the caller's tools is streamed as it is written, but for the end of its arguments, which follows when
///   the run hands the call over. One that is not handed over (its arguments do not fit, the answer was cut) keeps
///   arguments that do not parse. Calls that the model makes beside it follow whole: clients take a call for complete
///   when the next one begins.
/// - A run that fails ends with `{"error": …}` and without `[DONE]`.
/// - Sources, files, data, metadata and state have no place in this API and are left out.
#[derive(Debug, Clone)]
pub struct Encoder {
    /// `{"id":…,"object":…,"created":…,"model":…,`
    head: Bytes,
    caller_tools: HashSet<Text>,
    usage: bool,
    reasoning: bool,
    server_tools: bool,
    flow: TextFlow,
    calls: Calls,
    begun: bool,
    ended_well: bool,
}

impl Encoder {
    /// An encoder at the start of a response. `caller_tools` names the tools that the caller runs.
    pub fn new(head: &AnswerHead, caller_tools: impl IntoIterator<Item = Text>) -> Self {
        let mut opened = BytesMut::new();
        head.open("chat.completion.chunk", &mut opened);
        Self {
            head: opened.freeze(),
            caller_tools: caller_tools.into_iter().collect(),
            usage: false,
            reasoning: false,
            server_tools: false,
            flow: TextFlow::default(),
            calls: Calls::default(),
            begun: false,
            ended_well: false,
        }
    }

    /// Sets whether a last chunk without choices carries the tokens used (`stream_options.include_usage`). Default: no. A
    /// run whose tokens the provider did not report has no such chunk.
    #[must_use]
    pub fn usage(mut self, usage: bool) -> Self {
        self.usage = usage;
        self
    }

    /// Sets whether reasoning is streamed, as `reasoning_content`: a field of other servers' that OpenAI's own clients read
    /// over. Default: no.
    #[must_use]
    pub fn reasoning(mut self, reasoning: bool) -> Self {
        self.reasoning = reasoning;
        self
    }

    /// Sets whether calls of server tools are reported, in chunks with an empty delta and a field `omniassist` of
    /// `{"tool": {"id", "name", "input"}}`, and later `{"tool": {"id", "output"}}` or `{"tool": {"id", "error"}}`.
    /// Default: no.
    #[must_use]
    pub fn server_tools(mut self, server_tools: bool) -> Self {
        self.server_tools = server_tools;
        self
    }

    /// Appends an event. Allocates nothing for a delta but room in `out`.
    pub fn encode(&mut self, event: &RunEvent, out: &mut BytesMut) {
        match event {
            RunEvent::StepStart => self.flow.step(),
            RunEvent::TextDelta { delta, .. } => {
                self.begin(b"\"\"", out);
                let between = self.flow.separator(delta);
                if !between.is_empty() {
                    self.text(b"content", between, out);
                }
                self.text(b"content", delta, out);
            }
            RunEvent::ReasoningDelta { delta, .. } if self.reasoning => {
                self.begin(b"\"\"", out);
                self.text(b"reasoning_content", delta, out);
            }
            RunEvent::ToolInputStart { call_id, name, .. } if self.caller_tools.contains(name) => {
                if let Some(index) = self.calls.begin(call_id) {
                    self.call_begins(index, call_id, name, out);
                }
            }
            RunEvent::ToolInputDelta { call_id, delta } => {
                let (head, usage) = (&self.head, self.usage);
                self.calls.piece(call_id, delta, |index, part| arguments(head, usage, index, part, out));
            }
            RunEvent::ToolInputAvailable { call_id, name, input, provider_executed: false, .. }
                if self.caller_tools.contains(name) =>
            {
                self.call_available(call_id, name, input, out);
            }
            RunEvent::ToolInputAvailable { call_id, name, input, .. } => {
                self.server_tool(call_id, &[("name", Field::Text(name)), ("input", Field::Json(input))], out);
            }
            RunEvent::ToolInputError { call_id, name, .. } if self.caller_tools.contains(name) => {
                self.calls.give_up(call_id);
            }
            RunEvent::ToolInputError { call_id, name, error_text, .. } => {
                let fields = [("name", Field::Text(name)), ("error", Field::Text(error_text))];
                self.server_tool(call_id, &fields, out);
            }
            RunEvent::ToolOutput { call_id, output, preliminary, .. } => {
                let fields = [("output", Field::Json(output)), ("preliminary", Field::True)];
                let shown =
                    if *preliminary { fields.as_slice() } else { fields.get(..1).unwrap_or_default() };
                self.server_tool(call_id, shown, out);
            }
            RunEvent::ToolError { call_id, error_text, .. }
            | RunEvent::ToolRefused { call_id, reason: error_text } => {
                self.server_tool(call_id, &[("error", Field::Text(error_text))], out);
            }
            RunEvent::Finish { reason: FinishReason::Error, .. } => {
                failed(&ErrorObject::of(RunErrorCode::ProviderError), out);
            }
            RunEvent::Finish { reason, usage } => self.end(reason, usage, out),
            RunEvent::Error { code, .. } => failed(&ErrorObject::of(*code), out),
            RunEvent::Abort { .. } => failed(&ErrorObject::stopped(), out),
            _ => {}
        }
    }

    /// Appends the end of the response: `[DONE]`, unless the run failed.
    pub fn finish(&mut self, out: &mut BytesMut) {
        if self.ended_well {
            out.put_slice(b"data: [DONE]\n\n");
        }
    }

    /// The first chunk names the role; where a call comes first, the content is null.
    fn begin(&mut self, content: &'static [u8], out: &mut BytesMut) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        open(&self.head, self.usage, out);
        out.put_slice(b"{\"role\":\"assistant\",\"content\":");
        out.put_slice(content);
        out.put_slice(b",\"refusal\":null}");
        close(None, out);
    }

    fn text(&self, field: &'static [u8], text: &str, out: &mut BytesMut) {
        open(&self.head, self.usage, out);
        out.put_slice(b"{\"");
        out.put_slice(field);
        out.put_slice(b"\":");
        json_write::string(out, text);
        out.put_u8(b'}');
        close(None, out);
    }

    fn call_begins(&mut self, index: usize, id: &Text, name: &str, out: &mut BytesMut) {
        self.begin(b"null", out);
        open(&self.head, self.usage, out);
        out.put_slice(b"{\"tool_calls\":[{\"index\":");
        json_write::number(out, index as u64);
        out.put_slice(b",\"id\":");
        json_write::string(out, id);
        out.put_slice(b",\"type\":\"function\",\"function\":{\"name\":");
        json_write::string(out, name);
        out.put_slice(b",\"arguments\":\"\"}}]}");
        close(None, out);
    }

    fn call_available(&mut self, id: &Text, name: &str, input: &JsonText, out: &mut BytesMut) {
        if !self.call_ends(id, input, out)
            && let Some(index) = self.calls.begin_whole(id)
        {
            self.call_begins(index, id, name, out);
            self.call_ends(id, input, out);
        }
    }

    fn call_ends(&mut self, id: &str, input: &JsonText, out: &mut BytesMut) -> bool {
        let (head, usage) = (&self.head, self.usage);
        self.calls.approve(id, input, |index, part| arguments(head, usage, index, part, out))
    }

    fn server_tool(&mut self, id: &str, fields: &[(&'static str, Field<'_>)], out: &mut BytesMut) {
        if !self.server_tools {
            return;
        }
        self.begin(b"\"\"", out);
        open(&self.head, self.usage, out);
        out.put_slice(b"{},\"logprobs\":null,\"finish_reason\":null}],\"omniassist\":{\"tool\":");
        tool_fields(id, fields, out);
        out.put_slice(b"}}\n\n");
    }

    fn end(&mut self, reason: &FinishReason, used: &Usage, out: &mut BytesMut) {
        self.begin(b"\"\"", out);
        open(&self.head, self.usage, out);
        out.put_slice(b"{}");
        close(Some(finish_reason(reason, self.calls.any_approved())), out);
        if self.usage {
            let before = out.len();
            out.put_slice(b"data: ");
            out.put_slice(&self.head);
            out.put_slice(b"\"choices\":[],\"usage\":");
            if usage::write(used, out) {
                out.put_slice(b"}\n\n");
            } else {
                out.truncate(before);
            }
        }
        self.ended_well = true;
    }
}

fn failed(error: &ErrorObject, out: &mut BytesMut) {
    out.put_slice(b"data: ");
    error.write(out);
    out.put_slice(b"\n\n");
}

impl DialectEncoder for Encoder {
    fn encode(&mut self, event: &RunEvent, out: &mut BytesMut) {
        Self::encode(self, event, out);
    }

    fn finish(&mut self, out: &mut BytesMut) {
        Self::finish(self, out);
    }
}

/// The value of a field that this server adds.
#[derive(Clone, Copy)]
pub(super) enum Field<'a> {
    Text(&'a str),
    Json(&'a JsonText),
    True,
}

/// Writes `{"id": …}` with more fields.
pub(super) fn tool_fields(id: &str, fields: &[(&'static str, Field<'_>)], out: &mut BytesMut) {
    out.put_slice(b"{\"id\":");
    json_write::string(out, id);
    for (key, value) in fields {
        out.put_slice(b",\"");
        out.put_slice(key.as_bytes());
        out.put_slice(b"\":");
        match value {
            Field::Text(text) => json_write::string(out, text),
            Field::Json(json) => out.put_slice(json.as_str().as_bytes()),
            Field::True => out.put_slice(b"true"),
        }
    }
    out.put_u8(b'}');
}

/// Opens a chunk up to its delta.
fn open(head: &[u8], usage: bool, out: &mut BytesMut) {
    // Room for the chunk and its fixed parts, so that the buffer grows once.
    out.reserve(head.len() + 160);
    out.put_slice(b"data: ");
    out.put_slice(head);
    if usage {
        out.put_slice(b"\"usage\":null,");
    }
    out.put_slice(b"\"choices\":[{\"index\":0,\"delta\":");
}

/// Closes a chunk behind its delta.
fn close(finish_reason: Option<&'static str>, out: &mut BytesMut) {
    match finish_reason {
        None => out.put_slice(b",\"logprobs\":null,\"finish_reason\":null}]}\n\n"),
        Some(word) => {
            out.put_slice(b",\"logprobs\":null,\"finish_reason\":\"");
            out.put_slice(word.as_bytes());
            out.put_slice(b"\"}]}\n\n");
        }
    }
}

fn arguments(head: &[u8], usage: bool, index: usize, part: &str, out: &mut BytesMut) {
    open(head, usage, out);
    out.put_slice(b"{\"tool_calls\":[{\"index\":");
    json_write::number(out, index as u64);
    out.put_slice(b",\"function\":{\"arguments\":");
    json_write::string(out, part);
    out.put_slice(b"}}]}");
    close(None, out);
}

/// The words that this API has. Calls that the server made are none of the caller's.
pub(super) fn finish_reason(reason: &FinishReason, calls: bool) -> &'static str {
    match reason {
        FinishReason::Length => "length",
        FinishReason::ContentFilter | FinishReason::Refusal => "content_filter",
        _ if calls => "tool_calls",
        _ => "stop",
    }
}
