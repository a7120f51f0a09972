use std::fmt;

use serde_json::Value;

use crate::tool::schema::{ArgumentCheck, SchemaLimits};

/// The JSON Schema of a tool's outputs, as another party wrote it.
///
/// A check takes a bounded number of steps, whatever the schema and the output are. Keywords that cannot be read are not
/// checked.
pub struct OutputSchema {
    schema: Value,
    check: ArgumentCheck,
}

impl OutputSchema {
    /// Creates the check for a schema.
    #[must_use]
    pub fn new(schema: Value) -> Self {
        let limits = SchemaLimits::default();
        let check = ArgumentCheck::new(&schema, limits).unwrap_or_else(|_| ArgumentCheck::lenient(limits));
        Self { schema, check }
    }

    /// Returns `true` if an output fits the schema. One whose check takes too many steps does not.
    #[must_use]
    pub fn accepts(&self, output: &Value) -> bool {
        self.check.faults(&self.schema, output).is_none()
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputSchema").field("schema", &self.schema).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn an_output_that_takes_too_many_steps_does_not_fit() {
        // Each level holds the next one twice, and the value is as deep as the schema goes.
        let level = json!({"type": "object", "properties": {"x": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}});
        let schema = OutputSchema::new(json!({"$defs": {"a": level}, "$ref": "#/$defs/a"}));
        let nested = |levels| (0..levels).fold(json!({}), |inner, _| json!({ "x": inner }));
        assert!(schema.accepts(&nested(50)));
        assert!(!schema.accepts(&json!({"x": {"x": 5}})));
        assert!(!schema.accepts(&nested(500)));
    }

    #[test]
    fn what_cannot_be_read_of_a_schema_is_not_checked() {
        let schema = OutputSchema::new(json!({
            "type": "object",
            "properties": {"a": {"type": "string", "pattern": "(?=x)"}, "b": {"$ref": "https://a.example/b"}},
        }));
        assert!(schema.accepts(&json!({"a": "y", "b": 1})));
        assert!(!schema.accepts(&json!({"a": 1})));
        assert!(OutputSchema::new(Value::Object(Map::new())).accepts(&json!(1)));
    }
}
