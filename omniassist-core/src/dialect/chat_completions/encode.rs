use std::collections::HashSet;

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;

use super::answer::{CallObject, Choice, Said, ServerTool, finish_reason};
use super::calls::Calls;
use super::{AnswerHead, ErrorObject, usage};
use crate::dialect::DialectEncoder;
use crate::dialect::json_write::{self, ObjectWriter};
use crate::dialect::text_flow::TextFlow;
use crate::event::{ComponentEvent, FinishReason, RunErrorCode, Usage};
use crate::{JsonText, RunEvent, Text};

/// Response headers of a streamed answer.
pub const HEADERS: &[(&str, &str)] = &[
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-cache, no-store, no-transform"),
    ("x-accel-buffering", "no"),
];

/// Streams a run as `chat.completion.chunk`s over server-sent events.
///
/// - The texts of all steps form one content, with a blank line between the texts of two steps.
/// - A call of the caller's tools is streamed as the model writes it, except for the end of its arguments, which is
///   sent when the run completes the call. The arguments of a call that is not completed (invalid arguments, incomplete
///   answer) do not parse. Parallel calls follow in one piece, because clients consider a call complete when the next
///   one begins.
/// - The answer is cut off at a [`StepReset`](RunEvent::StepReset), because text cannot be withdrawn.
/// - A run that fails ends with `{"error": …}` and without `[DONE]`.
/// - Sources, files, data, metadata and state have no equivalent in this API and are omitted.
#[derive(Debug, Clone)]
pub struct Encoder {
    chunks: Chunks,
    caller_tools: HashSet<Text>,
    reasoning: bool,
    server_tools: bool,
    flow: TextFlow,
    calls: Calls,
    begun: bool,
    ended_well: bool,
    /// `true` after text was withdrawn, which this format cannot express.
    is_cut: bool,
}

impl Encoder {
    /// Returns an encoder at the start of a response. `caller_tools` names the tools that the caller runs.
    pub fn new(head: &AnswerHead, caller_tools: impl IntoIterator<Item = Text>) -> Self {
        let mut opened = BytesMut::from("data: ");
        head.open("chat.completion.chunk", &mut opened);
        Self {
            chunks: Chunks { head: opened.freeze(), usage: false },
            caller_tools: caller_tools.into_iter().collect(),
            reasoning: false,
            server_tools: false,
            flow: TextFlow::default(),
            calls: Calls::default(),
            begun: false,
            ended_well: false,
            is_cut: false,
        }
    }

    /// Sets whether a last chunk without choices contains the token usage (`stream_options.include_usage`). Default:
    /// `false`. The chunk is omitted if the provider reported no usage.
    #[must_use]
    pub fn usage(mut self, usage: bool) -> Self {
        self.chunks.usage = usage;
        self
    }

    /// Sets whether reasoning is streamed as `reasoning_content`, a field of other servers that OpenAI's own clients
    /// ignore. Default: `false`.
    #[must_use]
    pub fn reasoning(mut self, reasoning: bool) -> Self {
        self.reasoning = reasoning;
        self
    }

    /// Sets whether calls of server tools are reported, in chunks with an empty delta and a field `omniassist`. Its
    /// value is `{"tool": {"id", "name", "input"}}` and later `{"tool": {"id", "output"}}` or `{"tool": {"id",
    /// "error"}}`. Default: `false`.
    #[must_use]
    pub fn server_tools(mut self, server_tools: bool) -> Self {
        self.server_tools = server_tools;
        self
    }

    /// Writes the first chunk, which contains the role. If a call comes first, the content is null.
    fn begin(&mut self, content: Option<&str>, out: &mut BytesMut) {
        if !std::mem::replace(&mut self.begun, true) {
            let said = Said { content: Some(content), refusal: Some(None), ..Said::assistant() };
            self.chunks.write(said, None, out);
        }
    }

    fn text(&mut self, text: &str, out: &mut BytesMut) {
        self.begin(Some(""), out);
        let between = self.flow.separator(text);
        if !between.is_empty() {
            self.chunks.text("content", between, out);
        }
        self.chunks.text("content", text, out);
    }

    fn call_begins(&mut self, index: usize, id: &Text, name: &str, out: &mut BytesMut) {
        self.begin(None, out);
        self.chunks.call(CallObject::start(index, id, name), out);
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
        self.calls.approve(id, input, |index, part| self.chunks.call(CallObject::piece(index, part), out))
    }

    fn server_tool(&mut self, tool: ServerTool, out: &mut BytesMut) {
        if self.server_tools {
            self.begin(Some(""), out);
            let choice = Choice::delta(Said::default(), None);
            self.chunks.open(out).field("choices", &[choice]).field("omniassist", &OwnField { tool }).end();
            out.put_slice(b"\n\n");
        }
    }

    fn end(&mut self, reason: &FinishReason, used: &Usage, out: &mut BytesMut) {
        self.begin(Some(""), out);
        self.chunks.write(Said::default(), Some(finish_reason(reason, self.calls.any_approved())), out);
        if let Some(used) = usage::of(used).filter(|_| self.chunks.usage) {
            let none: [Choice<'_>; 0] = [];
            ObjectWriter::after(out, &self.chunks.head).field("choices", &none).field("usage", &used).end();
            out.put_slice(b"\n\n");
        }
        self.ended_well = true;
    }
}

/// The field that this server adds for a call of a server tool.
#[derive(Serialize)]
struct OwnField {
    tool: ServerTool,
}

/// Writes the chunks of one answer.
#[derive(Debug, Clone)]
struct Chunks {
    /// `data: {"id":…,"object":…,"created":…,"model":…`
    head: Bytes,
    usage: bool,
}

impl Chunks {
    /// Opens a chunk up to its choices.
    fn open<'a>(&self, out: &'a mut BytesMut) -> ObjectWriter<'a> {
        // Reserves space for the chunk and its fixed parts, so that the buffer grows once.
        out.reserve(self.head.len() + 160);
        ObjectWriter::after(out, &self.head).some("usage", self.usage.then_some(&()))
    }

    fn write(&self, said: Said<'_>, finish_reason: Option<&'static str>, out: &mut BytesMut) {
        self.open(out).field("choices", &[Choice::delta(said, finish_reason)]).end();
        out.put_slice(b"\n\n");
    }

    fn call(&self, call: CallObject<'_>, out: &mut BytesMut) {
        self.write(Said { tool_calls: &[call], ..Said::default() }, None, out);
    }

    /// Writes a text delta with few operations, because most events of a run are text deltas.
    fn text(&self, field: &'static str, text: &str, out: &mut BytesMut) {
        let out = self.open(out).leave_open();
        out.put_slice(b",\"choices\":[{\"index\":0,\"delta\":{\"");
        out.put_slice(field.as_bytes());
        out.put_slice(b"\":");
        json_write::value(out, text);
        out.put_slice(b"},\"logprobs\":null,\"finish_reason\":null}]}\n\n");
    }
}

fn failed(error: &ErrorObject, out: &mut BytesMut) {
    out.put_slice(b"data: ");
    error.write(out);
    out.put_slice(b"\n\n");
}

impl DialectEncoder for Encoder {
    fn encode(&mut self, event: &RunEvent, out: &mut BytesMut) {
        if self.is_cut {
            return;
        }
        match event {
            RunEvent::StepReset => self.is_cut = true,
            RunEvent::StepStart => self.flow.step(),
            RunEvent::TextDelta { delta, .. } => self.text(delta, out),
            RunEvent::Component(event) => {
                if let ComponentEvent::Text { text, .. } = &**event {
                    self.flow.step();
                    self.text(text, out);
                    self.flow.step();
                }
            }
            RunEvent::ReasoningDelta { delta, .. } if self.reasoning => {
                self.begin(Some(""), out);
                self.chunks.text("reasoning_content", delta, out);
            }
            RunEvent::ToolInputStart { call_id, name, .. } if self.caller_tools.contains(name) => {
                if let Some(index) = self.calls.begin(call_id) {
                    self.call_begins(index, call_id, name, out);
                }
            }
            RunEvent::ToolInputDelta { call_id, delta } => {
                let chunks = &self.chunks;
                self.calls
                    .piece(call_id, delta, |index, part| chunks.call(CallObject::piece(index, part), out));
            }
            RunEvent::ToolInputAvailable { call_id, name, input, provider_executed: false, .. }
                if self.caller_tools.contains(name) =>
            {
                self.call_available(call_id, name, input, out);
            }
            RunEvent::ToolInputError { call_id, name, .. } if self.caller_tools.contains(name) => {
                self.calls.give_up(call_id);
            }
            RunEvent::Finish { reason: FinishReason::Error | FinishReason::Interrupted, .. } => {
                failed(&ErrorObject::of(RunErrorCode::ProviderError), out);
            }
            RunEvent::Finish { reason, usage } => self.end(reason, usage, out),
            RunEvent::Error { code, message } => failed(&ErrorObject::of_event(*code, message), out),
            RunEvent::Abort { .. } => failed(&ErrorObject::stopped(), out),
            event => {
                if let Some(tool) = ServerTool::of(event) {
                    self.server_tool(tool, out);
                }
            }
        }
    }

    fn finish(&mut self, out: &mut BytesMut) {
        if self.ended_well {
            out.put_slice(b"data: [DONE]\n\n");
        }
    }

    fn is_cut(&self) -> bool {
        self.is_cut
    }
}
