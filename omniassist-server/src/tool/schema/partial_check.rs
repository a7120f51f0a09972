use omniassist_core::Limits;
use serde_json::{Map, Value};

use super::{ArgumentCheck, SchemaLimits};

/// The check of an object that may not have all of its members yet.
pub(crate) struct PartialCheck {
    schema: Value,
    check: ArgumentCheck,
}

impl PartialCheck {
    /// Creates the check for a schema.
    ///
    /// # Errors
    ///
    /// Returns an error for a schema that cannot be checked.
    pub(crate) fn new(mut schema: Value, limits: &Limits) -> Result<Self, String> {
        if let Some(root) = schema.as_object_mut() {
            root.remove("required");
        }
        let check = ArgumentCheck::new(&schema, SchemaLimits::from(limits))?;
        Ok(Self { schema, check })
    }

    /// Returns the faults of an object.
    pub(crate) fn faults(&self, members: &Map<String, Value>) -> Option<String> {
        self.check.faults(&self.schema, &Value::Object(members.clone()))
    }
}
