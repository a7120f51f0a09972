use std::collections::HashSet;

use bytes::{BufMut, BytesMut};

use super::encode::{Field, finish_reason, tool_fields};
use super::{AnswerHead, ErrorObject, usage};
use crate::dialect::json_write;
use crate::dialect::text_flow::TextFlow;
use crate::event::{FinishReason, RunErrorCode};
use crate::{JsonText, RunEvent, Text, Usage};

/// Collects a run into one `chat.completion`.
///
/// Its content is that of the [`Encoder`](super::Encoder), except that only calls that are to be
/// run are in it, and that the text of a refusal is the message's `refusal`, with the content null.
#[derive(Debug, Clone, Default)]
pub struct Completion {
    caller_tools: HashSet<Text>,
    reasoning: Option<String>,
    server_tools: Option<Vec<ServerTool>>,
    flow: TextFlow,
    content: String,
    calls: Vec<(Text, Text, JsonText)>,
    has_run_tools: bool,
    end: End,
}

#[derive(Debug, Clone, Default)]
enum End {
    /// The terminal event has not come.
    #[default]
    Open,
    Finish(FinishReason, Usage),
    Failed(ErrorObject),
}

#[derive(Debug, Clone)]
struct ServerTool {
    id: Text,
    name: Text,
    input: Option<JsonText>,
    result: Option<Result<JsonText, Text>>,
}

impl Completion {
    /// Begins an answer. `caller_tools` names the tools that the caller runs.
    pub fn new(caller_tools: impl IntoIterator<Item = Text>) -> Self {
        Self { caller_tools: caller_tools.into_iter().collect(), ..Self::default() }
    }

    /// Sets whether the message has the model's reasoning, as `reasoning_content`. Default: no.
    #[must_use]
    pub fn reasoning(mut self, reasoning: bool) -> Self {
        self.reasoning = reasoning.then(String::new);
        self
    }

    /// Sets whether calls of server tools are reported, in a field `omniassist` of
    /// `{"tools": [{"id", "name", "input", "output" or "error"}]}`. Default: no.
    #[must_use]
    pub fn server_tools(mut self, server_tools: bool) -> Self {
        self.server_tools = server_tools.then(Vec::new);
        self
    }

    /// Takes the next event.
    pub fn apply(&mut self, event: &RunEvent) {
        match event {
            RunEvent::StepStart => self.flow.step(),
            RunEvent::TextDelta { delta, .. } => {
                self.content.push_str(self.flow.separator(delta));
                self.content.push_str(delta);
            }
            RunEvent::ReasoningDelta { delta, .. } => {
                if let Some(reasoning) = &mut self.reasoning {
                    reasoning.push_str(delta);
                }
            }
            RunEvent::ToolInputAvailable { call_id, name, input, provider_executed: false, .. }
                if self.caller_tools.contains(name) =>
            {
                self.calls.push((call_id.clone(), name.clone(), input.clone()));
            }
            RunEvent::ToolInputAvailable { call_id, name, input, .. } => {
                self.server_tool(call_id, name, Some(input.clone()), None);
            }
            RunEvent::ToolInputError { call_id, name, error_text, .. }
                if !self.caller_tools.contains(name) =>
            {
                self.server_tool(call_id, name, None, Some(Err(error_text.clone())));
            }
            RunEvent::ToolOutput { call_id, output, preliminary: false, .. } => {
                self.has_run_tools = true;
                self.result(call_id, Ok(output.clone()));
            }
            RunEvent::ToolError { call_id, error_text, .. } => {
                self.has_run_tools = true;
                self.result(call_id, Err(error_text.clone()));
            }
            RunEvent::ToolRefused { call_id, reason } => self.result(call_id, Err(reason.clone())),
            RunEvent::Finish { reason: FinishReason::Error, .. } => {
                self.end = End::Failed(ErrorObject::of(RunErrorCode::ProviderError));
            }
            RunEvent::Finish { reason, usage } => self.end = End::Finish(reason.clone(), *usage),
            RunEvent::Error { code, .. } => self.end = End::Failed(ErrorObject::of(*code)),
            RunEvent::Abort { .. } => self.end = End::Failed(ErrorObject::stopped()),
            _ => {}
        }
    }

    fn server_tool(
        &mut self,
        id: &Text,
        name: &Text,
        input: Option<JsonText>,
        result: Option<Result<JsonText, Text>>,
    ) {
        if let Some(tools) = &mut self.server_tools {
            tools.push(ServerTool { id: id.clone(), name: name.clone(), input, result });
        }
    }

    fn result(&mut self, id: &Text, result: Result<JsonText, Text>) {
        let tools = self.server_tools.iter_mut().flatten();
        if let Some(tool) = tools.rev().find(|tool| tool.id == *id) {
            tool.result = Some(result);
        }
    }

    /// Returns the reason why there is no answer: the run failed, was stopped, or has not ended.
    #[must_use]
    pub fn failure(&self) -> Option<ErrorObject> {
        match &self.end {
            End::Finish(..) => None,
            End::Failed(error) => Some(*error),
            End::Open => Some(ErrorObject::of(RunErrorCode::Internal)),
        }
    }

    /// Returns `true` if a server tool has run: then sending the same request again may run it again.
    #[must_use]
    pub fn has_run_tools(&self) -> bool {
        self.has_run_tools
    }

    /// Appends the answer as a JSON document; nothing where there is a [`failure`](Self::failure).
    pub fn write(&self, head: &AnswerHead, out: &mut BytesMut) {
        let End::Finish(reason, used) = &self.end else { return };
        let refused = *reason == FinishReason::Refusal;
        let content = Some(self.content.as_str());
        // Beside calls, no text is null and not empty.
        let said = content.filter(|content| !refused && (self.calls.is_empty() || !content.is_empty()));
        head.open("chat.completion", out);
        out.put_slice(b"\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":");
        string_or_null(said, out);
        out.put_slice(b",\"refusal\":");
        string_or_null(content.filter(|_| refused), out);
        if let Some(reasoning) = self.reasoning.as_ref().filter(|reasoning| !reasoning.is_empty()) {
            out.put_slice(b",\"reasoning_content\":");
            json_write::string(out, reasoning);
        }
        self.write_calls(out);
        out.put_slice(b"},\"logprobs\":null,\"finish_reason\":\"");
        // A refusal is an answer that this API ends like any other.
        let word = if refused { "stop" } else { finish_reason(reason, !self.calls.is_empty()) };
        out.put_slice(word.as_bytes());
        out.put_slice(b"\"}]");
        let before = out.len();
        out.put_slice(b",\"usage\":");
        if !usage::write(used, out) {
            out.truncate(before);
        }
        self.write_server_tools(out);
        out.put_u8(b'}');
    }

    fn write_calls(&self, out: &mut BytesMut) {
        for (index, (id, name, input)) in self.calls.iter().enumerate() {
            out.put_slice(if index == 0 { b",\"tool_calls\":[{\"id\":" } else { b",{\"id\":" });
            json_write::string(out, id);
            out.put_slice(b",\"type\":\"function\",\"function\":{\"name\":");
            json_write::string(out, name);
            out.put_slice(b",\"arguments\":");
            json_write::string(out, input.as_str());
            out.put_slice(b"}}");
        }
        if !self.calls.is_empty() {
            out.put_u8(b']');
        }
    }

    fn write_server_tools(&self, out: &mut BytesMut) {
        let Some(tools) = self.server_tools.as_ref().filter(|tools| !tools.is_empty()) else { return };
        out.put_slice(b",\"omniassist\":{\"tools\":[");
        for (index, tool) in tools.iter().enumerate() {
            if index > 0 {
                out.put_u8(b',');
            }
            let mut fields = vec![("name", Field::Text(&tool.name))];
            fields.extend(tool.input.as_ref().map(|input| ("input", Field::Json(input))));
            match &tool.result {
                Some(Ok(output)) => fields.push(("output", Field::Json(output))),
                Some(Err(text)) => fields.push(("error", Field::Text(text))),
                None => {}
            }
            tool_fields(&tool.id, &fields, out);
        }
        out.put_slice(b"]}");
    }
}

fn string_or_null(text: Option<&str>, out: &mut BytesMut) {
    match text {
        Some(text) => json_write::string(out, text),
        None => out.put_slice(b"null"),
    }
}
