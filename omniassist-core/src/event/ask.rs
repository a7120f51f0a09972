use serde::{Deserialize, Serialize};

use crate::{JsonText, Text};

/// A request for the approval of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The id of the request, one per call.
    pub id: Text,
    /// The call.
    pub call_id: Text,
    /// The tool.
    pub name: Text,
    /// The arguments of the call.
    pub input: JsonText,
    /// The question for the user, if the host set one.
    pub message: Option<Text>,
    /// `true` if the user may edit the arguments.
    pub editable: bool,
    /// The time at which the request expires, in milliseconds since 1970. `None`: never.
    pub expires_at_ms: Option<u64>,
    /// Proof that this server made the request. The client returns it with the answer.
    pub signature: Option<Text>,
}

impl ApprovalRequest {
    /// Creates a request without a signature that never expires.
    #[must_use]
    pub fn new(call_id: Text, name: Text, input: JsonText) -> Self {
        Self {
            id: Self::id_of(&call_id),
            call_id,
            name,
            input,
            message: None,
            editable: false,
            expires_at_ms: None,
            signature: None,
        }
    }

    /// Returns the id of the approval request of a call.
    #[must_use]
    pub fn id_of(call_id: &str) -> Text {
        format!("approval-{call_id}").into()
    }
}

/// A request for user input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InputRequest {
    /// The call that requests the input. Its output is the answer.
    pub call_id: Text,
    /// The question for the user.
    pub message: Option<Text>,
    /// The JSON Schema of the answer, of type `object`.
    pub schema: JsonText,
    /// The time at which the request expires, in milliseconds since 1970. `None`: never.
    pub expires_at_ms: Option<u64>,
}

impl InputRequest {
    /// Creates a request for the output of a call that never expires.
    #[must_use]
    pub fn new(call_id: Text, message: Option<Text>, schema: JsonText) -> Self {
        Self { call_id, message, schema, expires_at_ms: None }
    }
}
