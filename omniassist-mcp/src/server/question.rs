use omniassist_server::core::event::{ApprovalRequest, InputRequest as FormRequest};
use omniassist_server::core::{JsonText, RunEvent, Text};
use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputResponses, ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

/// The field of an approval in the answer of a user.
const APPROVED: &str = "approve";

/// A question to the user of the client.
pub(super) struct Question {
    /// The id of the call that waits for the answer, or another key.
    pub(super) call_id: Text,
    message: String,
    schema: Value,
}

/// The answer of the user.
pub(super) enum Answer {
    Given(Value),
    Declined,
}

impl Question {
    /// Reads the question in an event, if there is one.
    pub(super) fn of(event: &RunEvent) -> Option<Self> {
        match event {
            RunEvent::ToolApprovalRequest(request) => Some(Self::approval(request)),
            RunEvent::InputRequest(request) => Some(Self::form(request)),
            _ => None,
        }
    }

    pub(super) fn new(call_id: Text, message: String, schema: Value) -> Self {
        Self { call_id, message, schema }
    }

    fn approval(request: &ApprovalRequest) -> Self {
        let call = format!("{} {}", request.name, request.input.as_str());
        let message = match &request.message {
            Some(message) => format!("{message}\n\n{call}"),
            None => format!("Approve this call?\n\n{call}"),
        };
        let schema = json!({
            "type": "object",
            "properties": { APPROVED: { "type": "boolean", "title": "Approve" } },
            "required": [APPROVED]
        });
        Self { call_id: request.call_id.clone(), message, schema }
    }

    fn form(request: &FormRequest) -> Self {
        let message = request.message.as_deref().unwrap_or("Please fill in this form.").to_owned();
        Self { call_id: request.call_id.clone(), message, schema: request.schema.to_value() }
    }

    /// Returns the request to the client. `None` for a form that its users cannot be shown: the protocol takes flat ones.
    pub(super) fn to_request(&self) -> Option<InputRequest> {
        let requested_schema: ElicitationSchema = serde_json::from_value(self.schema.clone()).ok()?;
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: self.message.clone(),
            requested_schema,
        };
        Some(InputRequest::Elicitation(ElicitRequest::new(params)))
    }
}

impl Answer {
    /// Reads the answer to the question of a call.
    pub(super) fn read(responses: &InputResponses, call_id: &str) -> Option<Self> {
        let result: ElicitResult = serde_json::from_value(responses.get(call_id)?.clone()).ok()?;
        Some(match (result.action, result.content) {
            (ElicitationAction::Accept, Some(content)) => Self::Given(content),
            _ => Self::Declined,
        })
    }

    /// Returns `true` if the user approved a call.
    pub(super) fn is_approval(&self) -> bool {
        matches!(self, Self::Given(content) if content.get(APPROVED) == Some(&Value::Bool(true)))
    }

    /// Returns the content of a form.
    pub(super) fn into_form(self) -> Option<JsonText> {
        match self {
            Self::Given(content) => Some(JsonText::from_value(&content)),
            Self::Declined => None,
        }
    }
}

/// Returns `true` for a request of version 2026-07-28 or a later one.
pub(super) fn is_without_sessions(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Returns `true` for a client that asks its user on behalf of the server, by forms in the answer to a request.
pub(super) fn asks_with_forms(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    // A client that names no kind of elicitation takes forms.
    is_without_sessions(context)
        && elicitation.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none())
}
