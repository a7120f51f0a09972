//! Tool schemas in the form that a server accepts. What is left out here is still checked when a call is run: the
//! schema that arguments are validated against is the tool's own.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// What a server does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    /// `$ref` is not followed.
    inline: bool,
    /// The schema becomes a grammar, which most patterns cannot.
    grammar: bool,
    /// No combination of schemas at the top.
    flat_top: bool,
}

impl Rules {
    pub(super) const NONE: Self = Self { inline: false, grammar: false, flat_top: false };
    pub(super) const INLINE: Self = Self { inline: true, ..Self::NONE };
    pub(super) const GRAMMAR: Self = Self { grammar: true, ..Self::NONE };
    pub(super) const FLAT_TOP: Self = Self { flat_top: true, ..Self::NONE };
    /// For a schema that becomes part of another, where its references lead nowhere.
    pub(super) const EMBEDDED: Self = Self { inline: true, grammar: true, flat_top: false };
}

/// Schemas inlined into one; what is beyond it may be anything. References can double a schema at every step.
const MAX_NODES: usize = 5_000;

/// Keywords that combine schemas.
const COMBINING: &[&str] = &["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const"];

/// The schema of a tool's arguments, changed as little as the rules demand.
pub(super) fn normalise(schema: &Value, rules: Rules) -> Cow<'_, Value> {
    let has_properties = schema.get("properties").is_some_and(Value::is_object);
    if rules == Rules::NONE && has_properties {
        return Cow::Borrowed(schema);
    }
    let mut walk = Walk { root: schema, rules, open: Vec::new(), nodes: 0 };
    let mut schema = walk.schema(schema);
    if let Value::Object(fields) = &mut schema {
        if rules.flat_top {
            fields.retain(|keyword, _| !COMBINING.contains(&keyword.as_str()));
        }
        // An object without properties is refused by OpenAI and by those who check as it does.
        fields.entry("properties").or_insert_with(|| json!({}));
        fields.entry("type").or_insert_with(|| json!("object"));
    }
    Cow::Owned(schema)
}

struct Walk<'a> {
    root: &'a Value,
    rules: Rules,
    /// The references that are being followed.
    open: Vec<&'a str>,
    nodes: usize,
}

impl<'a> Walk<'a> {
    fn schema(&mut self, schema: &'a Value) -> Value {
        let Value::Object(fields) = schema else { return schema.clone() };
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return json!({});
        }
        if let (true, Some(Value::String(reference))) = (self.rules.inline, fields.get("$ref")) {
            return self.referenced(reference, fields);
        }
        Value::Object(self.fields(fields))
    }

    fn fields(&mut self, fields: &'a Map<String, Value>) -> Map<String, Value> {
        let mut kept = Map::new();
        for (keyword, value) in fields {
            let value = match (keyword.as_str(), value) {
                ("$ref", _) if self.rules.inline => continue,
                ("$defs" | "definitions", _) if self.rules.inline => continue,
                ("pattern", Value::String(pattern)) if self.rules.grammar && !is_simple(pattern) => continue,
                ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(named)) => {
                    named.iter().map(|(name, schema)| (name.clone(), self.schema(schema))).collect()
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                    schemas.iter().map(|schema| self.schema(schema)).collect()
                }
                ("items" | "additionalProperties" | "contains" | "not" | "if" | "then" | "else", schema) => {
                    self.schema(schema)
                }
                (_, value) => value.clone(),
            };
            kept.insert(keyword.clone(), value);
        }
        kept
    }

    /// What a reference leads to, with what stands beside the reference. One that leads back to itself may be
    /// anything.
    fn referenced(&mut self, reference: &'a str, beside: &'a Map<String, Value>) -> Value {
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let mut schema = match target {
            Some(target) if !self.open.contains(&reference) => {
                self.open.push(reference);
                let schema = self.schema(target);
                self.open.pop();
                schema
            }
            _ => json!({}),
        };
        if let Value::Object(fields) = &mut schema {
            fields.extend(self.fields(beside));
        }
        schema
    }
}

/// Whether a pattern can become a grammar: anchored, with no classes by letter and no look-around.
fn is_simple(pattern: &str) -> bool {
    let anchored = pattern.len() > 1 && pattern.starts_with('^') && pattern.ends_with('$');
    let escapes = pattern.as_bytes().windows(2);
    let plain = !escapes.into_iter().any(|pair| matches!(pair, [b'\\', b'a'..=b'z' | b'A'..=b'Z']));
    anchored && plain && !pattern.contains("(?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_that_fits_is_left_alone() {
        let schema = json!({"type": "object", "properties": {}, "anyOf": [{}], "$defs": {}});
        assert!(matches!(normalise(&schema, Rules::NONE), Cow::Borrowed(_)));
        assert_eq!(*normalise(&json!({}), Rules::NONE), json!({"type": "object", "properties": {}}));
    }

    #[test]
    fn references_are_replaced_by_what_they_lead_to() {
        let schema = json!({
            "type": "object",
            "properties": {
                "from": {"$ref": "#/$defs/Place", "description": "Start"},
                "via": {"type": "array", "items": {"$ref": "#/$defs/Place"}},
                "$ref": {"type": "string"},
                "tree": {"$ref": "#/$defs/Tree"},
            },
            "$defs": {
                "Place": {"type": "object", "properties": {"city": {"type": "string"}}},
                "Tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Tree"}}},
            },
        });
        let place = json!({"type": "object", "properties": {"city": {"type": "string"}}});
        let mut from = place.clone();
        from["description"] = json!("Start");
        assert_eq!(
            *normalise(&schema, Rules::INLINE),
            json!({"type": "object", "properties": {
                "from": from,
                "via": {"type": "array", "items": place},
                "$ref": {"type": "string"},
                "tree": {"type": "object", "properties": {"next": {}}},
            }})
        );
    }

    #[test]
    fn references_that_double_are_bounded() {
        let mut defs = Map::new();
        for depth in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", depth + 1)});
            defs.insert(format!("d{depth}"), json!({"properties": {"a": next, "b": next}}));
        }
        let schema = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs});
        assert!(normalise(&schema, Rules::INLINE).to_string().len() < 1_000_000);
    }

    #[test]
    fn patterns_that_are_no_grammar_go_and_names_of_properties_stay() {
        let with = |pattern: &str| json!({"type": "object", "properties": {"pattern": {"type": "string", "pattern": pattern}}});
        for kept in ["^[a-z]+$", "^a{2,4}$"] {
            assert_eq!(*normalise(&with(kept), Rules::GRAMMAR), with(kept));
        }
        for gone in ["[a-z]+", r"^\S+$", "^(?=x).*$", "^"] {
            let bare = json!({"type": "object", "properties": {"pattern": {"type": "string"}}});
            assert_eq!(*normalise(&with(gone), Rules::GRAMMAR), bare, "{gone}");
        }
    }

    #[test]
    fn combinations_at_the_top_go_and_below_it_stay() {
        let schema =
            json!({"anyOf": [{"required": ["a"]}], "properties": {"a": {"anyOf": [{"type": "null"}]}}});
        assert_eq!(
            *normalise(&schema, Rules::FLAT_TOP),
            json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}]}}})
        );
    }
}
