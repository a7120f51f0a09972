use serde::{Deserialize, Serialize};

use crate::{JsonText, Text};

/// A request for the approval of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// Id of the request; one per call.
    pub id: Text,
    /// The call.
    pub call_id: Text,
    /// The tool.
    pub name: Text,
    /// The arguments that will be run.
    pub input: JsonText,
    /// A question for the user, where the host wrote one.
    pub message: Option<Text>,
    /// `true` if the user may change the arguments.
    pub editable: bool,
    /// The time at which the request expires, in milliseconds since 1970. `None`: never.
    pub expires_at_ms: Option<u64>,
    /// Proof that this server asked, which must come back with the answer.
    pub signature: Option<Text>,
}

impl ApprovalRequest {
    /// A request for a call's approval that anybody could have made and that never lapses.
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

    /// Id of the request for a call's approval.
    #[must_use]
    pub fn id_of(call_id: &str) -> Text {
        format!("approval-{call_id}").into()
    }
}

/// A request for input of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InputRequest {
    /// The call that asks; its output is the answer.
    pub call_id: Text,
    /// The question for the user.
    pub message: Option<Text>,
    /// JSON Schema of the answer, of type `object`.
    pub schema: JsonText,
    /// The time at which the request expires, in milliseconds since 1970. `None`: never.
    pub expires_at_ms: Option<u64>,
}

impl InputRequest {
    /// A form for the output of a call, which never lapses.
    #[must_use]
    pub fn new(call_id: Text, message: Option<Text>, schema: JsonText) -> Self {
        Self { call_id, message, schema, expires_at_ms: None }
    }
}
