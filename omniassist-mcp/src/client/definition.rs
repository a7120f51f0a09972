use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, Weak};

use omniassist_core::{JsonText, Text, canonical};
use omniassist_server::tool::source::OutputSchema;
use rmcp::model::Tool;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::app_meta::AppMeta;
use super::cleaned;
use crate::sync::lock;

/// The definitions that this process uses. Each user of a server can have a list of its own, and the lists of most are equal.
static IN_USE: LazyLock<Mutex<HashMap<PinDigest, Weak<Definition>>>> = LazyLock::new(Mutex::default);

/// A tool as a server defines it. Equal definitions are one value.
pub(super) struct Definition {
    pub(super) name: Text,
    /// Without hidden characters, and cut off.
    pub(super) description: String,
    /// The same.
    pub(super) schema: Value,
    pub(super) title: Option<String>,
    pub(super) is_read_only: bool,
    pub(super) is_idempotent: bool,
    /// The app that shows its calls, and who may call it.
    pub(super) app: AppMeta,
    /// All that is pinned, as the server sent it, in its canonical form.
    pub(super) canonical: JsonText,
    pub(super) digest: PinDigest,
    output_schema: Option<Value>,
    output_check: OnceLock<OutputSchema>,
}

/// The SHA-256 digest of a definition.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PinDigest([u8; 32]);

/// An output that its schema does not describe.
pub(super) struct Misfit;

impl Definition {
    /// Takes a tool of a list. Returns `None` if it has too many levels.
    ///
    /// Icons, and all of `_meta` but what concerns apps, are neither pinned nor used.
    pub(super) fn new(tool: &Tool) -> Option<Arc<Self>> {
        let mut pinned = json!({
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "annotations": tool.annotations,
        });
        // A tool without a title has the definition that earlier versions pinned.
        if let (Some(title), Some(pinned)) = (&tool.title, pinned.as_object_mut()) {
            pinned.insert("title".to_owned(), title.as_str().into());
        }
        // The same holds for one without an app.
        let app = AppMeta::of(tool);
        if let (Some(app), Some(pinned)) = (app.pinned(), pinned.as_object_mut()) {
            pinned.insert("ui".to_owned(), app);
        }
        let canonical = canonical::of(&JsonText::from_value(&pinned))?.json().clone();
        let digest = PinDigest::of(&canonical);
        let mut in_use = lock(&IN_USE);
        if let Some(known) = in_use.get(&digest).and_then(Weak::upgrade) {
            return Some(known);
        }
        if in_use.len() == in_use.capacity() {
            in_use.retain(|_, definition| definition.strong_count() > 0);
        }
        let new = Arc::new(Self::read(tool, app, canonical, digest));
        in_use.insert(digest, Arc::downgrade(&new));
        Some(new)
    }

    fn read(tool: &Tool, app: AppMeta, canonical: JsonText, digest: PinDigest) -> Self {
        // What is used is what is pinned: the canonical form omits some keys.
        let mut pinned = canonical.to_value();
        let mut schema = pinned.get_mut("inputSchema").map(Value::take).unwrap_or_default();
        cleaned::schema(&mut schema);
        let output_schema = pinned.get_mut("outputSchema").map(Value::take).filter(Value::is_object);
        let hint = |given: fn(&rmcp::model::ToolAnnotations) -> Option<bool>| {
            tool.annotations.as_ref().and_then(given).unwrap_or(false)
        };
        let title = tool.title.as_ref().or(tool.annotations.as_ref().and_then(|given| given.title.as_ref()));
        Self {
            name: tool.name.as_ref().into(),
            description: cleaned::description(tool.description.as_deref().unwrap_or_default()),
            schema,
            title: title.map(|title| cleaned::description(title)),
            is_read_only: hint(|given| given.read_only_hint),
            is_idempotent: hint(|given| given.idempotent_hint),
            app,
            digest,
            canonical,
            output_schema,
            output_check: OnceLock::new(),
        }
    }

    /// Checks the structured output of a call.
    pub(super) fn check_output(&self, output: Option<&Value>) -> Result<(), Misfit> {
        let Some(schema) = &self.output_schema else { return Ok(()) };
        // The server wrote both, so the check must not take as long as it likes.
        let check = self.output_check.get_or_init(|| OutputSchema::new(schema.clone()));
        match output {
            Some(output) if check.accepts(output) => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(description: String) -> Tool {
        let schema = json!({"type": "object"}).as_object().cloned().unwrap_or_default();
        Tool::new("look", description, Arc::new(schema))
    }

    #[test]
    fn equal_definitions_are_one_value_while_it_is_in_use() {
        let define = |text: &str| Definition::new(&tool(text.to_owned())).unwrap();
        let (one, other) = (define("shared"), define("not shared"));
        assert!(Arc::ptr_eq(&one, &define("shared")) && !Arc::ptr_eq(&one, &other));
        let mut titled = tool("shared".to_owned());
        titled.title = Some("Look".to_owned());
        assert!(!Arc::ptr_eq(&one, &Definition::new(&titled).unwrap()));
        drop(one);
        assert_eq!(define("shared").description, "shared");
        // What is not in use any more makes way.
        for number in 0..10_000 {
            define(&number.to_string());
        }
        assert!(IN_USE.lock().unwrap().len() < 1000);
    }
}
