//! The schemas that apply to one value together.

use std::collections::{BTreeSet, VecDeque};
use std::ptr;

use serde_json::Value;

use super::definitions::Definitions;
use super::keywords::SAME_VALUE;
use crate::document::target;

/// The maximum number of schemas that apply to one value. Further ones are not looked at.
const MAX_APPLIED: usize = 256;

impl<'a> Definitions<'a> {
    /// Returns a schema, and those that it refers to or holds in these keywords, each once.
    pub(super) fn applied<'s>(&self, schema: &'s Value, keywords: &[&str]) -> Vec<&'s Value>
    where
        'a: 's,
    {
        let mut seen = BTreeSet::new();
        let mut waiting = VecDeque::from([schema]);
        let mut applied = Vec::new();
        while let Some(schema) = waiting.pop_front() {
            if applied.len() == MAX_APPLIED || !seen.insert(ptr::from_ref(schema).addr()) {
                continue;
            }
            applied.push(schema);
            let reference = schema.get("$ref").and_then(Value::as_str);
            waiting
                .extend(reference.and_then(|reference| target(self.root, reference)).map(|(_, next)| next));
            for value in keywords.iter().filter_map(|key| schema.get(*key)) {
                match value {
                    Value::Array(schemas) => waiting.extend(schemas),
                    schema => waiting.push_back(schema),
                }
            }
        }
        applied
    }

    /// Returns the schemas that every value of a schema fits: itself, and those of its references and `allOf`.
    pub(crate) fn all_of<'s>(&self, schema: &'s Value) -> Vec<&'s Value>
    where
        'a: 's,
    {
        self.applied(schema, &["allOf"])
    }

    /// Returns `true` for the schema of a field that requests do not have.
    pub(crate) fn is_read_only(&self, schema: &Value) -> bool {
        self.all_of(schema).into_iter().any(|schema| schema.get("readOnly") == Some(&Value::Bool(true)))
    }

    /// Returns the names of the read-only fields of a schema.
    pub(super) fn read_only(&self, schema: &Value) -> BTreeSet<String> {
        let fields =
            self.all_of(schema).into_iter().filter_map(|schema| schema.get("properties")?.as_object());
        let read_only = fields.flatten().filter(|(_, schema)| self.is_read_only(schema));
        read_only.map(|(name, _)| name.clone()).collect()
    }

    /// Returns those of these names that a schema requires.
    pub(super) fn required(&self, schema: &Value, names: &BTreeSet<String>) -> BTreeSet<String> {
        if names.is_empty() {
            return BTreeSet::new();
        }
        let applied = self.applied(schema, &SAME_VALUE).into_iter();
        let required = applied.filter_map(|schema| schema.get("required")?.as_array()).flatten();
        let required = required.filter_map(Value::as_str).filter(|name| names.contains(*name));
        required.map(str::to_owned).collect()
    }
}
