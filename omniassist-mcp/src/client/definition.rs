use std::fmt;
use std::sync::OnceLock;

use jsonschema::Validator;
use omniassist_core::{JsonText, Text, canonical};
use rmcp::model::Tool;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::cleaned;

/// A tool as a server defines it.
pub(super) struct Definition {
    pub(super) name: Text,
    /// Without hidden characters, and cut off.
    pub(super) description: String,
    /// The same.
    pub(super) schema: Value,
    pub(super) title: Option<String>,
    pub(super) is_read_only: bool,
    pub(super) is_idempotent: bool,
    /// All that is pinned, as the server sent it, in its canonical form.
    pub(super) canonical: JsonText,
    pub(super) digest: PinDigest,
    output_schema: Option<Value>,
    output_check: OnceLock<Option<Validator>>,
}

/// The SHA-256 digest of a definition.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PinDigest([u8; 32]);

/// An output that its schema does not describe, or that has a schema which cannot be used.
pub(super) struct Misfit;

impl Definition {
    /// Takes a tool of a list. Returns `None` if it has too many levels.
    ///
    /// Icons and `_meta` are neither pinned nor used.
    pub(super) fn new(tool: &Tool) -> Option<Self> {
        let pinned = json!({
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "annotations": tool.annotations,
        });
        let canonical = canonical::of(&JsonText::from_value(&pinned))?.json().clone();
        // What is used is what is pinned: the canonical form omits some keys.
        let mut pinned = canonical.to_value();
        let mut schema = pinned.get_mut("inputSchema").map(Value::take).unwrap_or_default();
        cleaned::schema(&mut schema);
        let output_schema = pinned.get_mut("outputSchema").map(Value::take).filter(Value::is_object);
        let hint = |given: fn(&rmcp::model::ToolAnnotations) -> Option<bool>| {
            tool.annotations.as_ref().and_then(given).unwrap_or(false)
        };
        let title = tool.title.as_ref().or(tool.annotations.as_ref().and_then(|given| given.title.as_ref()));
        Some(Self {
            name: tool.name.as_ref().into(),
            description: cleaned::description(tool.description.as_deref().unwrap_or_default()),
            schema,
            title: title.map(|title| cleaned::description(title)),
            is_read_only: hint(|given| given.read_only_hint),
            is_idempotent: hint(|given| given.idempotent_hint),
            digest: PinDigest::of(&canonical),
            canonical,
            output_schema,
            output_check: OnceLock::new(),
        })
    }

    /// Checks the structured output of a call.
    pub(super) fn check_output(&self, output: Option<&Value>) -> Result<(), Misfit> {
        let Some(schema) = &self.output_schema else { return Ok(()) };
        let check = self.output_check.get_or_init(|| jsonschema::validator_for(schema).ok());
        match (check, output) {
            (Some(check), Some(output)) if check.is_valid(output) => Ok(()),
            _ => Err(Misfit),
        }
    }
}

impl PinDigest {
    pub(super) fn of(canonical: &JsonText) -> Self {
        Self(Sha256::digest(canonical.as_str().as_bytes()).into())
    }
}

impl fmt::Display for PinDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
