use serde::{Deserialize, Serialize};

use crate::{JsonText, Text};

/// An open question of an agent about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenQuery {
    /// The id, with which the answer names the question.
    pub query_id: Text,
    /// The question.
    pub prompt: Text,
    /// The call.
    pub call: CallQuery,
}

impl OpenQuery {
    /// Creates a question.
    #[must_use]
    pub fn new(query_id: Text, prompt: Text, call: CallQuery) -> Self {
        Self { query_id, prompt, call }
    }

    /// Returns about the number of bytes of the question on the wire.
    #[must_use]
    pub fn size(&self) -> usize {
        self.prompt.len() + self.call.size()
    }
}

/// A call that waits for its user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallQuery {
    /// The call.
    pub tool_call_id: Text,
    /// The tool.
    pub tool_name: Text,
    /// The arguments of a call that runs if the user approves it. `None` for a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<JsonText>,
    /// The JSON Schema of the values of a form, of type `object`. `None` for a call to approve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<JsonText>,
    /// `true` if the user may edit the arguments of a call to approve.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub editable: bool,
    /// The time at which the question is closed without an answer, in milliseconds since 1970.
    pub expires_at: u64,
}

impl CallQuery {
    /// Creates a call that needs an approval.
    #[must_use]
    pub fn approval(tool_call_id: Text, tool_name: Text, input: JsonText, editable: bool) -> Self {
        Self { tool_call_id, tool_name, input: Some(input), schema: None, editable, expires_at: 0 }
    }

    /// Creates a form.
    #[must_use]
    pub fn form(tool_call_id: Text, tool_name: Text, schema: JsonText) -> Self {
        Self { tool_call_id, tool_name, input: None, schema: Some(schema), editable: false, expires_at: 0 }
    }

    /// Returns about the number of bytes of the call on the wire.
    #[must_use]
    pub fn size(&self) -> usize {
        let json = [&self.input, &self.schema].into_iter().flatten().map(|json| json.as_str().len());
        self.tool_call_id.len() + self.tool_name.len() + json.sum::<usize>()
    }
}
