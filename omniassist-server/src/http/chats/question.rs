use serde_json::{Map, Value};

use crate::store::Obligation;

/// Returns a question for which a run waits, as clients read it.
pub(in crate::http) fn question(asked: &Obligation) -> Map<String, Value> {
    let mut question: Map<String, Value> = serde_json::from_slice(&asked.data).unwrap_or_default();
    question.insert("callId".to_owned(), asked.call.as_str().into());
    question.insert("expiresAt".to_owned(), asked.expires_ms.into());
    question.insert("isAnswered".to_owned(), asked.answer.is_some().into());
    question
}

/// Returns `true` for a call that somebody has to allow and that the server runs then.
pub(super) fn is_approval(asked: &Obligation) -> bool {
    question(asked).get("kind").and_then(Value::as_str) == Some("approval")
}
