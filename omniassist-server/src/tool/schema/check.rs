use omniassist_core::{JsonText, Text};
use serde_json::Value;

use super::SchemaLimits;
use super::pattern::Patterns;
use super::validate::complaints;
use super::verify;
use crate::tool::output::cut_off;

/// Bytes of the text about one call, which takes a part of the model's context.
const MAX_TEXT_BYTES: usize = 500;

/// Checks arguments against a schema.
#[derive(Debug)]
pub(crate) struct ArgumentCheck {
    patterns: Patterns,
    max_steps: u64,
}

impl ArgumentCheck {
    /// Returns a check for a schema that a client declared. Keywords that cannot be read are not checked: the client,
    /// which runs the tool, checks its own arguments.
    pub(crate) fn lenient(limits: SchemaLimits) -> Self {
        Self { patterns: Patterns::default(), max_steps: limits.max_steps }
    }

    /// Returns a check for a schema whose keywords must all be readable, with its patterns compiled.
    pub(crate) fn new(schema: &Value, limits: SchemaLimits) -> Result<Self, String> {
        Ok(Self { patterns: verify::verify(schema, limits)?, max_steps: limits.max_steps })
    }

    /// Checks the arguments of a call. The error is for the model: it names the place (a JSON pointer) and the rule.
    pub(crate) fn check(&self, schema: &Value, arguments: &JsonText) -> Result<(), Text> {
        let arguments: Value = arguments
            .to()
            .map_err(|error| Text::from(format!("The arguments are not valid JSON: {error}.")))?;
        self.check_value(schema, &arguments)
    }

    pub(crate) fn check_value(&self, schema: &Value, arguments: &Value) -> Result<(), Text> {
        let Ok(complaints) = complaints(schema, &self.patterns, arguments, self.max_steps) else {
            return Err(Text::from_static(
                "The arguments are too complex to check against the tool's schema. Send smaller or simpler ones.",
            ));
        };
        if complaints.is_empty() {
            return Ok(());
        }
        let text = format!("The arguments do not fit the tool's schema: {}", complaints.join("; "));
        Err(cut_off(text, MAX_TEXT_BYTES).into())
    }
    /// Returns the faults of an answer, for the model.
    pub(crate) fn faults(&self, schema: &Value, answer: &Value) -> Option<String> {
        match complaints(schema, &self.patterns, answer, self.max_steps) {
            Ok(complaints) if complaints.is_empty() => None,
            Ok(complaints) => Some(cut_off(complaints.join("; "), MAX_TEXT_BYTES)),
            Err(_) => Some("it is too complex to check".to_owned()),
        }
    }
}
