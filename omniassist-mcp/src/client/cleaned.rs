use omniassist_core::characters::{is_hidden, is_joiner, is_selector, prefix};
use serde_json::Value;

/// The bytes of a description that models receive.
const MAX_DESCRIPTION: usize = 2048;

/// The characters of a name within a sentence.
const MAX_NAME: usize = 128;

/// Removes what people do not see from a text of a server, and cuts it off.
pub(super) fn description(text: &str) -> String {
    let mut cleaned = self::text(text);
    if cleaned.len() > MAX_DESCRIPTION {
        cleaned.truncate(prefix(&cleaned, MAX_DESCRIPTION - '…'.len_utf8()).len());
        cleaned.push('…');
    }
    cleaned
}

/// Returns a name as it can stand in a sentence, between backticks.
pub(super) fn name(name: &str) -> String {
    name.chars().filter(|letter| (' '..='~').contains(letter) && *letter != '`').take(MAX_NAME).collect()
}

/// Removes what people do not see from a text of a server.
pub(super) fn text(text: &str) -> String {
    text.chars().filter(|letter| !is_unseen(*letter)).collect()
}

/// Cleans the descriptions and titles of a JSON Schema. Names and values stay as they are.
pub(super) fn schema(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("description" | "title" | "$comment", Value::String(text)) => *text = description(text),
                    ("const" | "default" | "enum" | "examples", _) => {}
                    (
                        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                        Value::Object(schemas),
                    ) => schemas.values_mut().for_each(named_schema),
                    (_, member) => self::schema(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(self::schema),
        _ => {}
    }
}

/// Cleans a schema under a name that its author chose, which is no keyword. A text in its place is cleaned too.
fn named_schema(schema: &mut Value) {
    match schema {
        Value::String(text) => *text = description(text),
        schema => self::schema(schema),
    }
}

/// Returns `true` if a name or a value of a cleaned schema has characters that hide or reorder text. Removing them would change
/// what the server accepts. Control characters, joiners and selectors are part of real values.
pub(super) fn schema_hides(schema: &Value) -> bool {
    let hides = |text: &str| text.chars().any(|letter| is_hidden(letter) && !letter.is_control());
    match schema {
        Value::String(text) => hides(text),
        Value::Array(items) => items.iter().any(schema_hides),
        Value::Object(members) => members.iter().any(|(name, member)| {
            !matches!(name.as_str(), "pattern" | "patternProperties") && (hides(name) || schema_hides(member))
        }),
        _ => false,
    }
}

/// Returns `true` if a name or a text within a value has hidden characters.
pub(super) fn has_hidden(value: &Value) -> bool {
    match value {
        Value::String(text) => text.chars().any(is_unseen),
        Value::Array(items) => items.iter().any(has_hidden),
        Value::Object(members) => {
            members.iter().any(|(name, member)| name.chars().any(is_unseen) || has_hidden(member))
        }
        _ => false,
    }
}

/// Returns `true` for characters that a person does not see, besides line feeds and tabs.
fn is_unseen(letter: char) -> bool {
    !matches!(letter, '\n' | '\t') && (is_hidden(letter) || is_joiner(letter) || is_selector(letter))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_characters_are_removed_and_long_texts_cut() {
        assert_eq!(
            description("a\u{202e}b\u{200b}\u{200d}\u{fe0f}c\u{e0041}\u{ffa0}\u{1b}[1m\nd"),
            "abc[1m\nd"
        );
        let long = description(&"ü".repeat(2000));
        assert!(long.len() <= MAX_DESCRIPTION && long.ends_with('…'));
    }

    #[test]
    fn only_the_texts_of_a_schema_are_cleaned() {
        let mut given = json!({"properties": {"title": {"description": "a\u{202e}", "enum": ["\u{202e}"]}}});
        schema(&mut given);
        assert_eq!(given, json!({"properties": {"title": {"description": "a", "enum": ["\u{202e}"]}}}));
        for names in ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"] {
            for name in ["default", "const", "enum", "examples", "properties", "description"] {
                let mut given = json!({names: {name: {"title": "a\u{202e}", "default": "\u{202e}"}}});
                schema(&mut given);
                assert_eq!(given, json!({names: {name: {"title": "a", "default": "\u{202e}"}}}));
                let mut given = json!({names: {name: "a\u{202e}"}});
                schema(&mut given);
                assert_eq!(given, json!({names: {name: "a"}}));
            }
        }
        let mut given = json!({"anyOf": [{"title": "b\u{200b}"}, {"items": {"$comment": "c\u{202e}"}}]});
        schema(&mut given);
        assert_eq!(given, json!({"anyOf": [{"title": "b"}, {"items": {"$comment": "c"}}]}));
    }
}
