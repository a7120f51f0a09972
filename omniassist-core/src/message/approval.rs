use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::{JsonText, Text};

/// The request for a call's approval, with the answer once there is one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Approval {
    /// Id of the request.
    pub id: Text,
    /// The answer. `None`: the request is open.
    #[serde(flatten)]
    pub decision: Option<Decision>,
    /// Proof that this server asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Text>,
    /// Arguments that the user put in place of the model's. They count where the tool lets users change them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<JsonText>,
    /// Other members that the client keeps with the request.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The answer to a request for approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// `true` where the call may run.
    pub approved: bool,
    /// The reason that the user gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
}

impl Decision {
    /// Returns a consent without a reason.
    #[must_use]
    pub fn approved() -> Self {
        Self { approved: true, reason: None }
    }

    /// Returns a denial.
    #[must_use]
    pub fn denied(reason: Option<Text>) -> Self {
        Self { approved: false, reason }
    }
}

impl Approval {
    /// Returns an open request without a signature.
    #[must_use]
    pub fn new(id: impl Into<Text>) -> Self {
        Self { id: id.into(), decision: None, signature: None, arguments: None, extra: Map::new() }
    }

    /// Adds an answer.
    #[must_use]
    pub fn decided(mut self, decision: Decision) -> Self {
        self.decision = Some(decision);
        self
    }

    /// Reads the members of a client's `approval` object. A member of another type than this one's stays in
    /// [`extra`](Self::extra). `None` where there is no `id`.
    pub(crate) fn from_object(mut object: Map<String, Value>) -> Option<Self> {
        let mut approval = Self::new(take_text(&mut object, "id")?);
        if let Some(approved) = object.get("approved").and_then(Value::as_bool) {
            object.remove("approved");
            approval.decision = Some(Decision { approved, reason: take_text(&mut object, "reason") });
        }
        approval.signature = take_text(&mut object, "signature");
        approval.arguments = object.remove("arguments").map(|arguments| JsonText::from_value(&arguments));
        approval.extra = object;
        Some(approval)
    }

    /// Returns `true` where the user approved the call.
    #[must_use]
    pub fn is_approved(&self) -> bool {
        self.decision.as_ref().is_some_and(|decision| decision.approved)
    }

    /// Returns the reason of the answer, unless it is blank.
    #[must_use]
    pub fn reason(&self) -> Option<&Text> {
        self.decision.as_ref()?.reason.as_ref().filter(|reason| !reason.trim().is_empty())
    }
}

impl<'de> Deserialize<'de> for Approval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Map::deserialize(deserializer)?;
        Self::from_object(object).ok_or_else(|| serde::de::Error::missing_field("id"))
    }
}

fn take_text(object: &mut Map<String, Value>, key: &str) -> Option<Text> {
    let text = object.get(key)?.as_str().map(Text::from)?;
    object.remove(key);
    Some(text)
}
