use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::{JsonText, Text};

/// The request for approval of a call, with the answer if there is one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Approval {
    /// The id of the request.
    pub id: Text,
    /// The answer. `None` while the request is open.
    #[serde(flatten)]
    pub decision: Option<Decision>,
    /// Proof that this server made the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Text>,
    /// Arguments edited by the user. They apply if the tool allows edits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<JsonText>,
    /// Other fields that the client stores with the request.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The answer to a request for approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// `true` if the call may run.
    pub approved: bool,
    /// The reason given by the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
}

impl Decision {
    /// Returns an approval without a reason.
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

    /// Reads a client's `approval` object. Fields of unexpected types are kept in [`extra`](Self::extra). Returns
    /// `None` if there is no `id`.
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

    /// Returns `true` if the user approved the call.
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
