use super::{AgentEvent, AgentRun, FlowStatus, SkipReason, Skipped, ToolReport};
use crate::message::body::Body;
use crate::message::raw::{self, Found, Raw, present, raw_record};
use crate::message::tree::TreeBudget;
use crate::{ErrorCode, JsonText, Text, Usage};

raw_record! {
    /// The fields of all events.
    EventFields {
        event_type: "type",
        run_id: "runId",
        node_id: "nodeId",
        content: "content",
        tool_name: "toolName",
        tool_call_id: "toolCallId",
        tool_input: "toolInput",
        tool_output: "toolOutput",
        error: "error",
        message: "message",
        error_type: "errorType",
        usage: "usage",
        reason: "reason",
        output: "output",
        session_id: "sessionId",
        status: "status",
        flow_name: "flowName",
    }
}

impl AgentEvent {
    /// Parses one event from a JSON object. Its strings share the buffer of `json`.
    ///
    /// # Errors
    ///
    /// Returns an error if the type is unknown, or a required field is missing or not valid.
    pub fn parse(json: impl Into<Text>) -> Result<Self, Skipped> {
        parse(&json.into())
    }
}

fn parse(json: &Text) -> Result<AgentEvent, Skipped> {
    let fields = match raw::read(json, usize::MAX, |event| event.object(EventFields::default())) {
        Ok(Found::Value(fields)) => fields,
        Err(error) if error.code() == ErrorCode::InvalidRequest => {
            return Err(Skipped::new(SkipReason::InvalidField));
        }
        _ => return Err(Skipped::new(SkipReason::NotAnEvent)),
    };
    let budget = TreeBudget::unlimited();
    let mut event = Event { body: Body::new(json, &budget), fields, event_type: None };
    let event_type = event.required("type", event.fields.event_type)?;
    event.event_type = Some(event_type.clone());
    event.read(&event_type)
}

struct Event<'a> {
    body: Body<'a>,
    fields: EventFields<'a>,
    event_type: Option<Text>,
}

impl Event<'_> {
    fn read(&self, event_type: &str) -> Result<AgentEvent, Skipped> {
        let fields = &self.fields;
        Ok(match event_type {
            "agent:text:delta" => AgentEvent::TextDelta { agent: self.agent()?, content: self.content()? },
            "agent:text" => AgentEvent::Text {
                agent: self.agent()?,
                content: self.optional("content", fields.content)?.unwrap_or_default(),
            },
            "agent:thinking:delta" => {
                AgentEvent::ThinkingDelta { agent: self.agent()?, content: self.content()? }
            }
            "agent:thinking" => AgentEvent::Thinking {
                agent: self.agent()?,
                content: self.optional("content", fields.content)?.unwrap_or_default(),
            },
            "agent:tool" => AgentEvent::Tool { agent: self.agent()?, report: self.report()? },
            "agent:error" => AgentEvent::Error {
                agent: self.agent()?,
                message: self.optional("message", fields.message)?,
                error_type: self.optional("errorType", fields.error_type)?,
            },
            "agent:complete" => AgentEvent::Complete { agent: self.agent()?, usage: self.usage() },
            "agent:paused" => AgentEvent::Paused {
                agent: self.agent()?,
                session_id: self.optional("sessionId", fields.session_id)?.filter(|id| !id.is_empty()),
            },
            "agent:aborted" => {
                AgentEvent::Aborted { agent: self.agent()?, reason: self.optional("reason", fields.reason)? }
            }
            "node:start" => AgentEvent::NodeStart {
                node_id: self.required("nodeId", fields.node_id)?,
                run_id: self.optional("runId", fields.run_id)?,
            },
            "node:complete" => AgentEvent::NodeComplete {
                node_id: self.required("nodeId", fields.node_id)?,
                run_id: self.optional("runId", fields.run_id)?,
                output: self.json(fields.output).unwrap_or_default(),
            },
            "flow:start" => AgentEvent::FlowStart { flow_name: self.required("flowName", fields.flow_name)? },
            "flow:paused" => {
                AgentEvent::FlowPaused { flow_name: self.optional("flowName", fields.flow_name)? }
            }
            "flow:complete" => AgentEvent::FlowComplete {
                flow_name: self.optional("flowName", fields.flow_name)?,
                status: self
                    .optional("status", fields.status)?
                    .map_or(FlowStatus::Complete, |status| FlowStatus::at_the_end(&status)),
            },
            _ => return Err(self.skipped(SkipReason::UnknownType)),
        })
    }

    fn agent(&self) -> Result<AgentRun, Skipped> {
        Ok(AgentRun {
            run_id: self.required("runId", self.fields.run_id)?,
            node_id: self.required("nodeId", self.fields.node_id)?,
        })
    }

    /// Returns the content of a delta, which may be empty.
    fn content(&self) -> Result<Text, Skipped> {
        match self.optional("content", self.fields.content)? {
            Some(content) => Ok(content),
            None => Err(self.skipped(SkipReason::MissingField).at("content")),
        }
    }

    fn report(&self) -> Result<ToolReport, Skipped> {
        let fields = &self.fields;
        Ok(ToolReport {
            name: self.required("toolName", fields.tool_name)?,
            call_id: self.optional("toolCallId", fields.tool_call_id)?.filter(|call_id| !call_id.is_empty()),
            // A tool's input is an object, so null means none. An output can be null.
            input: self.json(present(fields.tool_input)),
            output: self.json(fields.tool_output),
            error: present(fields.error).map(|raw| self.error_text(raw)),
        })
    }

    /// Returns the text of an error. A value that is not a string is shown as its JSON.
    fn error_text(&self, raw: Raw<'_>) -> Text {
        self.body.text(Some(raw), "error").unwrap_or_else(|_| self.body.json(raw).text().clone())
    }

    /// Returns the tokens that were used. A value that cannot be read counts as none, so that the answer still ends.
    fn usage(&self) -> Usage {
        let usage = present(self.fields.usage).and_then(|raw| serde_json::from_str(raw.get()).ok());
        usage.unwrap_or_default()
    }

    fn json(&self, raw: Option<Raw<'_>>) -> Option<JsonText> {
        raw.map(|raw| self.body.json(raw))
    }

    fn required(&self, field: &'static str, raw: Option<Raw<'_>>) -> Result<Text, Skipped> {
        match self.optional(field, raw)? {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(self.skipped(SkipReason::MissingField).at(field)),
        }
    }

    fn optional(&self, field: &'static str, raw: Option<Raw<'_>>) -> Result<Option<Text>, Skipped> {
        let read = self.body.optional_text(raw, field);
        read.map_err(|_| self.skipped(SkipReason::InvalidField).at(field))
    }

    fn skipped(&self, reason: SkipReason) -> Skipped {
        let skipped = Skipped::new(reason);
        match &self.event_type {
            Some(event_type) => skipped.of(event_type.clone()),
            None => skipped,
        }
    }
}
