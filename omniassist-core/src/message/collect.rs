use serde_json::{Map, Value};

use super::{
    Approval, DataPart, FilePart, Message, OWN_KEY, Part, ProviderMetadata, ReasoningPart, Role, SourcePart,
    TextPart, ToolPart, ToolState,
};
use crate::event::{ApprovalRequest, BlockId, ComponentData, Usage};
use crate::{JsonText, RunEvent, Text};

/// Builds the assistant's message from a run's events, in the same way as the AI SDK's client.
///
/// It accepts events in any order. Events without a counterpart (text for a block that is not open, an output for an
/// unknown call) are ignored.
///
/// ```
/// use omniassist_core::event::BlockId;
/// use omniassist_core::message::MessageCollector;
/// use omniassist_core::RunEvent;
///
/// let mut collector = MessageCollector::new();
/// collector.apply(&RunEvent::TextStart { id: BlockId(0) });
/// collector.apply(&RunEvent::TextDelta { id: BlockId(0), delta: "On its way.".into() });
/// assert_eq!(collector.into_message().text(), "On its way.");
/// ```
#[derive(Debug, Clone)]
pub struct MessageCollector {
    message: Message,
    /// The index of the first part of the current step.
    step: usize,
    open: Vec<OpenBlock>,
}

#[derive(Debug, Clone)]
struct OpenBlock {
    id: BlockId,
    part: usize,
    text: String,
}

impl Default for MessageCollector {
    /// Creates a collector for a new message.
    fn default() -> Self {
        Self::new()
    }
}

impl MessageCollector {
    /// Creates a collector for a new message.
    #[must_use]
    pub fn new() -> Self {
        Self::continuing(Message {
            id: Text::new(),
            role: Role::Assistant,
            parts: Vec::new(),
            metadata: None,
        })
    }

    /// Creates a collector that continues a message whose run waited for the client.
    #[must_use]
    pub fn continuing(message: Message) -> Self {
        Self { step: message.parts.len(), message, open: Vec::new() }
    }

    /// Returns the message, including text that is still open. Without any event, the message has no id and no parts.
    #[must_use]
    pub fn into_message(mut self) -> Message {
        for block in std::mem::take(&mut self.open) {
            self.close(block, None);
        }
        self.message
    }

    /// Applies the next event.
    pub fn apply(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Start { message_id, metadata } => {
                self.message.id = message_id.clone();
                if let Some(metadata) = metadata {
                    self.merge(metadata.clone());
                }
            }
            RunEvent::StepStart => {
                self.step = self.message.parts.len();
                self.message.parts.push(Part::StepStart);
            }
            RunEvent::StepReset => {
                self.open.clear();
                self.message.parts.truncate(self.step.saturating_add(1));
            }
            RunEvent::StepFinish { .. } | RunEvent::Abort { .. } => {}
            RunEvent::TextStart { id } => {
                self.open(*id, Part::Text(TextPart { text: Text::new(), metadata: None }));
            }
            RunEvent::ReasoningStart { id } => {
                self.open(*id, Part::Reasoning(ReasoningPart { text: Text::new(), metadata: None }));
            }
            RunEvent::TextDelta { id, delta } | RunEvent::ReasoningDelta { id, delta } => {
                if let Some(block) = self.open.iter_mut().find(|block| block.id == *id) {
                    block.text.push_str(delta);
                }
            }
            RunEvent::TextEnd { id, metadata } | RunEvent::ReasoningEnd { id, metadata } => {
                if let Some(index) = self.open.iter().position(|block| block.id == *id) {
                    let block = self.open.remove(index);
                    self.close(block, metadata.as_ref());
                }
            }
            RunEvent::ToolInputStart { .. }
            | RunEvent::ToolInputDelta { .. }
            | RunEvent::ToolInputAvailable { .. }
            | RunEvent::ToolInputError { .. }
            | RunEvent::ToolOutput { .. }
            | RunEvent::ToolError { .. }
            | RunEvent::ToolApprovalRequest(_)
            | RunEvent::ToolDenied { .. }
            | RunEvent::ToolRefused { .. } => self.apply_tool(event),
            RunEvent::OutputSeal { call_id, seal } => self.merge(output_seal(call_id, seal)),
            // Clients keep these outside the message.
            RunEvent::InputRequest(_)
            | RunEvent::StateSnapshot(_)
            | RunEvent::StateDelta(_)
            | RunEvent::ActivitySnapshot { .. } => {}
            RunEvent::Source(source) => {
                self.message.parts.push(Part::Source(SourcePart { source: source.clone(), metadata: None }));
            }
            RunEvent::File { media_type, url } => self.message.parts.push(Part::File(FilePart {
                media_type: media_type.clone(),
                url: url.clone(),
                filename: None,
                metadata: None,
            })),
            RunEvent::Data { name, id, data, transient } => {
                if !transient {
                    self.data(name, id.as_ref(), data);
                }
            }
            RunEvent::Component(event) => {
                if let Some(ComponentData { name, id: Some(id), data }) = event.data()
                    && let Ok(data) = JsonText::from_serialize(&data)
                {
                    self.data(&Text::from_static(name), Some(id), &data);
                }
            }
            RunEvent::AgentState(state) => {
                if let Ok(data) = JsonText::from_serialize(state) {
                    self.data(&Text::from_static("agent"), Some(&state.agent_id), &data);
                }
            }
            RunEvent::AgentDelta { .. } => {}
            RunEvent::Metadata(metadata) => self.merge(metadata.clone()),
            RunEvent::Finish { usage, .. } => {
                if *usage != Usage::default() {
                    let usage = serde_json::to_value(usage).unwrap_or_default();
                    self.merge(Map::from_iter([("usage".to_owned(), usage)]));
                }
            }
            RunEvent::Error { code, .. } => {
                let error = Map::from_iter([("code".to_owned(), code.as_str().into())]);
                self.merge(Map::from_iter([("error".to_owned(), Value::Object(error))]));
            }
        }
    }

    fn open(&mut self, id: BlockId, part: Part) {
        if let Some(index) = self.open.iter().position(|block| block.id == id) {
            let block = self.open.remove(index);
            self.close(block, None);
        }
        self.open.push(OpenBlock { id, part: self.message.parts.len(), text: String::new() });
        self.message.parts.push(part);
    }

    fn close(&mut self, block: OpenBlock, state: Option<&ProviderMetadata>) {
        let (text, metadata) = match self.message.parts.get_mut(block.part) {
            Some(Part::Text(part)) => (&mut part.text, &mut part.metadata),
            Some(Part::Reasoning(part)) => (&mut part.text, &mut part.metadata),
            _ => return,
        };
        *text = block.text.into();
        *metadata = state.cloned();
    }

    fn apply_tool(&mut self, event: &RunEvent) {
        match event {
            RunEvent::ToolInputStart { call_id, name, .. } => {
                self.call_begins(call_id, name, ToolState::InputStreaming, false, None);
            }
            RunEvent::ToolInputAvailable { call_id, name, input, provider_executed, metadata } => {
                let state = ToolState::InputAvailable { input: input.clone() };
                self.call_begins(call_id, name, state, *provider_executed, metadata.as_ref());
            }
            RunEvent::ToolInputError { call_id, name, input, error_text, metadata } => {
                let (input, error_text) = (Some(input.clone()), error_text.clone());
                let state = ToolState::OutputError { input, error_text };
                self.call_begins(call_id, name, state, false, metadata.as_ref());
            }
            RunEvent::ToolOutput { call_id, output, preliminary, provider_executed } => {
                if let Some(part) = self.call(call_id) {
                    part.provider_executed |= provider_executed;
                    part.state = ToolState::OutputAvailable {
                        input: part.state.input().cloned().unwrap_or(JsonText::EMPTY_OBJECT),
                        output: output.clone(),
                        preliminary: *preliminary,
                    };
                }
            }
            RunEvent::ToolError { call_id, error_text, provider_executed } => {
                self.fail_call(call_id, error_text, *provider_executed);
            }
            RunEvent::ToolRefused { call_id, reason } => self.fail_call(call_id, reason, false),
            RunEvent::ToolApprovalRequest(request) => {
                if let Some(question) = approval_question(request) {
                    self.merge(question);
                }
                if let Some(part) = self.call(&request.call_id) {
                    let mut approval = Approval::new(request.id.clone());
                    approval.signature = request.signature.clone();
                    part.state = ToolState::ApprovalRequested { input: request.input.clone(), approval };
                }
            }
            RunEvent::ToolDenied { call_id, .. } => {
                if let Some(part) = self.call(call_id)
                    && let ToolState::ApprovalResponded { input, approval } = &part.state
                {
                    part.state = ToolState::OutputDenied { input: input.clone(), approval: approval.clone() };
                }
            }
            _ => {}
        }
    }

    fn fail_call(&mut self, call_id: &Text, error_text: &Text, provider_executed: bool) {
        if let Some(part) = self.call(call_id) {
            part.provider_executed |= provider_executed;
            let (input, error_text) = (part.state.input().cloned(), error_text.clone());
            part.state = ToolState::OutputError { input, error_text };
        }
    }

    fn call_begins(
        &mut self,
        call_id: &Text,
        name: &Text,
        state: ToolState,
        provider_executed: bool,
        metadata: Option<&ProviderMetadata>,
    ) {
        if let Some(part) = self.call(call_id) {
            part.state = state;
            part.provider_executed |= provider_executed;
            if metadata.is_some() {
                part.metadata = metadata.cloned();
            }
            return;
        }
        self.message.parts.push(Part::Tool(ToolPart {
            call_id: call_id.clone(),
            name: name.clone(),
            dynamic: false,
            provider_executed,
            state,
            metadata: metadata.cloned(),
        }));
    }

    /// Finds a call in the current step first and then in the whole message, as the client does.
    fn call(&mut self, call_id: &Text) -> Option<&mut ToolPart> {
        let is_it = |part: &Part| matches!(part, Part::Tool(tool) if tool.call_id == *call_id);
        let parts = &mut self.message.parts;
        let in_step = parts.iter().skip(self.step).position(is_it).map(|at| self.step.saturating_add(at));
        let position = in_step.or_else(|| parts.iter().position(is_it))?;
        match parts.get_mut(position)? {
            Part::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    fn data(&mut self, name: &Text, id: Option<&Text>, data: &JsonText) {
        let old = self.message.parts.iter_mut().find_map(|part| match part {
            Part::Data(part) if id.is_some() && part.id.as_ref() == id && part.name == *name => Some(part),
            _ => None,
        });
        match old {
            Some(part) => part.data = data.clone(),
            None => self.message.parts.push(Part::Data(DataPart {
                name: name.clone(),
                id: id.cloned(),
                data: data.clone(),
            })),
        }
    }

    fn merge(&mut self, metadata: Map<String, Value>) {
        merge_metadata(&mut self.message, metadata);
    }
}

/// Merges metadata into that of a message, as the client does.
pub(crate) fn merge_metadata(message: &mut Message, metadata: Map<String, Value>) {
    deep_merge(message.metadata.get_or_insert(Value::Null), Value::Object(metadata));
}

/// Returns the metadata with the seal of a call's output.
pub(crate) fn output_seal(call_id: &str, seal: &str) -> Map<String, Value> {
    of_call("seals", call_id, seal.into())
}

/// Returns the metadata with the question of a call's approval, and `editable` if the user may edit the arguments.
/// `None` if the request has neither.
pub(crate) fn approval_question(request: &ApprovalRequest) -> Option<Map<String, Value>> {
    let message = request.message.as_ref().map(|message| ("message".to_owned(), message.as_str().into()));
    let editable = request.editable.then(|| ("editable".to_owned(), true.into()));
    let question: Map<_, _> = message.into_iter().chain(editable).collect();
    (!question.is_empty()).then(|| of_call("approvals", &request.call_id, Value::Object(question)))
}

/// Returns the question of a call's approval and whether the user may edit the arguments, from the message's metadata.
pub(crate) fn known_question(message: &Message, call_id: &str) -> (Option<Text>, bool) {
    let question = || message.metadata.as_ref()?.get(OWN_KEY)?.get("approvals")?.get(call_id);
    let field = |name| question()?.get(name);
    (field("message").and_then(Value::as_str).map(Text::from), field("editable") == Some(&Value::Bool(true)))
}

/// Returns the metadata with a call's title and summary.
pub(crate) fn call_label(call_id: &str, label: Map<String, Value>) -> Map<String, Value> {
    of_call("tools", call_id, Value::Object(label))
}

fn of_call(what: &str, call_id: &str, value: Value) -> Map<String, Value> {
    let calls = Map::from_iter([(call_id.to_owned(), value)]);
    let own = Map::from_iter([(what.to_owned(), Value::Object(calls))]);
    Map::from_iter([(OWN_KEY.to_owned(), Value::Object(own))])
}

fn deep_merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                deep_merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}
