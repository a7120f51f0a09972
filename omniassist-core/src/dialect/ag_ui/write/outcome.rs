//! The end of a run, as `RUN_FINISHED` reports it.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Value, json};

use crate::dialect::ag_ui::Version;
use crate::dialect::ag_ui::interrupt::Interrupt;
use crate::event::{ApprovalRequest, InputRequest, Usage};
use crate::{Day, Text};

/// The largest integer that a client's number represents exactly. Clients end the run with an error at larger ones.
const MAX_COUNT: u64 = (1 << 53) - 1;

/// A request that the client must answer before the run can continue.
#[derive(Debug, Clone)]
pub(super) enum Ask {
    Approval(ApprovalRequest),
    Form(InputRequest),
}

impl Ask {
    pub(super) fn call_id(&self) -> &Text {
        match self {
            Self::Approval(request) => &request.call_id,
            Self::Form(request) => &request.call_id,
        }
    }

    pub(super) fn id(&self) -> Text {
        match self {
            Self::Approval(request) => Interrupt::of_approval(request),
            Self::Form(request) => Interrupt::of_form(&request.call_id),
        }
    }
}

/// An interrupt in the form for a client of this version.
#[derive(Debug)]
pub(super) struct Interrupted<'a> {
    pub(super) ask: &'a Ask,
    pub(super) version: Version,
}

impl Serialize for Interrupted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.ask.id())?;
        let (reason, message, expires_at_ms) = match self.ask {
            // For reason `tool_call`, CopilotKit writes the user's decision as the result of the call and then keeps no
            // other result.
            Ask::Approval(request) if self.version < Version::V1 => {
                ("confirmation", &request.message, request.expires_at_ms)
            }
            Ask::Approval(request) => ("tool_call", &request.message, request.expires_at_ms),
            Ask::Form(request) => ("input_required", &request.message, request.expires_at_ms),
        };
        map.serialize_entry("reason", reason)?;
        if let Some(message) = message {
            map.serialize_entry("message", message)?;
        }
        map.serialize_entry("toolCallId", self.ask.call_id())?;
        match self.ask {
            Ask::Approval(request) => map.serialize_entry("responseSchema", &decision(request.editable))?,
            Ask::Form(request) if request.schema.is_object() => {
                map.serialize_entry("responseSchema", &request.schema)?;
            }
            Ask::Form(_) => {}
        }
        // Clients before 1.0 send no request after an interrupt has expired, not even to cancel it. The server checks
        // the time and asks again.
        if let Some(time) = expires_at_ms.filter(|_| self.version >= Version::V1) {
            map.serialize_entry("expiresAt", &timestamp(time))?;
        }
        map.end()
    }
}

/// Returns the schema of an answer to an approval request. A property `editedArgs` tells the client that the arguments
/// may be edited.
fn decision(editable: bool) -> Value {
    let mut properties = json!({"approved": {"type": "boolean"}, "reason": {"type": "string"}});
    if let Some(properties) = properties.as_object_mut().filter(|_| editable) {
        properties.insert("editedArgs".to_owned(), json!({"type": "object"}));
    }
    json!({"type": "object", "properties": properties, "required": ["approved"]})
}

/// The field `outcome`. An absent outcome means success.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum Outcome<'a> {
    /// The run is complete except for front-end tools. Only clients of 1.0 accept the list.
    #[serde(rename_all = "camelCase")]
    Success {
        pending_tool_call_ids: Vec<&'a Text>,
    },
    Interrupt {
        interrupts: Vec<Interrupted<'a>>,
    },
    /// The run was stopped. Only 1.0 defines this outcome.
    Cancelled,
}

/// Returns the field `usage`: one entry with the known token counts. Clients before 1.0 do not support cache writes.
pub(super) fn usage(usage: &Usage, version: Version) -> Option<[Usage; 1]> {
    let count = |tokens: Option<u64>| tokens.map(|tokens| tokens.min(MAX_COUNT));
    let written = usage.cache_write_input_tokens.filter(|_| version >= Version::V1);
    (*usage != Usage::default()).then(|| {
        [Usage {
            input_tokens: count(usage.input_tokens),
            output_tokens: count(usage.output_tokens),
            total_tokens: count(usage.total_tokens),
            reasoning_tokens: count(usage.reasoning_tokens),
            cached_input_tokens: count(usage.cached_input_tokens),
            cache_write_input_tokens: count(written),
        }]
    })
}

/// Formats a time, in milliseconds since 1970, as clients read it: ISO 8601 in UTC. Years beyond 9999 become the last
/// millisecond of 9999.
#[must_use]
pub fn timestamp(time_ms: u64) -> String {
    let time_ms = time_ms.min(253_402_300_799_999);
    let (day, in_day) = (Day::of_ms(time_ms), time_ms % 86_400_000);
    let (hour, minute) = (in_day / 3_600_000, in_day / 60_000 % 60);
    let (second, milli) = (in_day / 1000 % 60, in_day % 1000);
    format!("{day}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}
