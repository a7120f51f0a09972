//! Tests that compare the check of arguments with the crate `jsonschema`.

use omniassist_server::core::{JsonText, ToolSpec};
use omniassist_server::tool::ToolSnapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::no_tools;
use omniassist_server::Tool;

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3_i64..4).prop_map(Value::from),
        Just(json!(1.0)),
        Just(json!(0.5)),
        Just(json!(u64::MAX)),
        Just(json!(9007199254740993_i64)),
        "[ab]{0,3}".prop_map(Value::from),
        Just(json!("é")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let number = || {
        prop_oneof![
            (-2_i64..4).prop_map(Value::from),
            Just(json!(0.5)),
            Just(json!(1.0)),
            Just(json!(9007199254740993_i64)),
            Just(json!(u64::MAX))
        ]
    };
    let types =
        || prop::sample::select(vec!["object", "array", "string", "number", "integer", "boolean", "null"]);
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        types().prop_map(|t| json!({"type": t})),
        prop::collection::hash_set(types(), 1..3)
            .prop_map(|t| json!({"type": t.into_iter().collect::<Vec<_>>()})),
        value().prop_map(|v| json!({"const": v})),
        prop::collection::vec(value(), 1..4).prop_map(|v| json!({"enum": v})),
        (prop::sample::select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), number())
            .prop_map(|(k, n)| json!({k: n})),
        prop::sample::select(vec![json!(1), json!(2), json!(0.5), json!(0.25)])
            .prop_map(|n| json!({"multipleOf": n})),
        (
            prop::sample::select(vec![
                "minLength",
                "maxLength",
                "minItems",
                "maxItems",
                "minProperties",
                "maxProperties"
            ]),
            0_u64..3
        )
            .prop_map(|(k, n)| json!({k: n})),
        Just(json!({"uniqueItems": true})),
        prop::sample::select(vec!["^a", "b$", "^[ab]{2}$", "a|b", "^(a+)+$"])
            .prop_map(|p| json!({"pattern": p})),
        prop::collection::vec("[abc]", 0..3).prop_map(|r| {
            let mut r = r;
            r.sort();
            r.dedup();
            json!({"required": r})
        }),
        prop::sample::select(vec!["#/$defs/A", "#/$defs/B", "#"]).prop_map(|r| json!({"$ref": r})),
        ("[abc]", "[abc]").prop_map(|(a, b)| json!({"dependentRequired": {a: [b]}})),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..4);
        let part = prop_oneof![
            prop::collection::btree_map("[abc]", inner.clone(), 0..3).prop_map(|m| json!({"properties": m})),
            prop::collection::btree_map("[ab]", inner.clone(), 0..3)
                .prop_map(|m| json!({"patternProperties": m})),
            inner.clone().prop_map(|s| json!({"additionalProperties": s})),
            Just(json!({"additionalProperties": false})),
            Just(json!({"unevaluatedProperties": false})),
            inner.clone().prop_map(|s| json!({"unevaluatedProperties": s})),
            inner.clone().prop_map(|s| json!({"items": s})),
            list.clone().prop_map(|l| json!({"prefixItems": l})),
            inner.clone().prop_map(|s| json!({"contains": s})),
            (inner.clone(), 0_u64..3)
                .prop_map(|(s, n)| json!({"contains": s, "minContains": n, "maxContains": n + 1})),
            inner.clone().prop_map(|s| json!({"propertyNames": s})),
            ("[abc]", inner.clone()).prop_map(|(k, s)| json!({"dependentSchemas": {k: s}})),
            (prop::sample::select(vec!["anyOf", "oneOf", "allOf"]), list).prop_map(|(k, l)| json!({k: l})),
            inner.clone().prop_map(|s| json!({"not": s})),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
            inner.clone(),
        ];
        prop::collection::vec(part, 1..4).prop_map(|parts| {
            let mut all = serde_json::Map::new();
            for part in parts {
                if let Value::Object(part) = part {
                    all.extend(part);
                }
            }
            Value::Object(all)
        })
    })
}

/// Returns `true` if a reference leads back to itself for the same value. Such a schema has no meaning.
fn has_loop(root: &Value) -> bool {
    fn direct<'a>(root: &'a Value, s: &'a Value, seen: &mut Vec<*const Value>) -> bool {
        if seen.contains(&std::ptr::from_ref(s)) {
            return true;
        }
        seen.push(s);
        let Value::Object(k) = s else {
            seen.pop();
            return false;
        };
        let mut found = false;
        if let Some(Value::String(r)) = k.get("$ref") {
            found |= root.pointer(r.trim_start_matches('#')).is_some_and(|t| direct(root, t, seen));
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            for s in k.get(key).and_then(Value::as_array).into_iter().flatten() {
                found |= direct(root, s, seen);
            }
        }
        for key in ["not", "if", "then", "else"] {
            if let Some(s) = k.get(key) {
                found |= direct(root, s, seen);
            }
        }
        for s in k.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(|m| m.values()) {
            found |= direct(root, s, seen);
        }
        seen.pop();
        found
    }
    fn all(root: &Value, s: &Value) -> bool {
        direct(root, s, &mut Vec::new())
            || match s {
                Value::Array(a) => a.iter().any(|s| all(root, s)),
                Value::Object(m) => m.values().any(|s| all(root, s)),
                _ => false,
            }
    }
    all(root, root)
}

/// Adds `items` to each array without them, because providers require them.
fn complete(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            let is_array = |kind: &Value| {
                kind == "array" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("array")))
            };
            if keywords.get("type").is_some_and(is_array)
                && !keywords.get("items").is_some_and(Value::is_object)
            {
                keywords.insert("items".to_owned(), json!({}));
            }
            keywords
                .iter_mut()
                .filter(|(key, _)| !["const", "enum"].contains(&key.as_str()))
                .for_each(|(_, value)| complete(value));
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(complete),
        _ => {}
    }
}

/// Adds keywords with invalid values to the schema. Existing keywords stay.
fn with_unreadable_keywords(schema: &Value, keywords: &[(&str, Value)]) -> Value {
    let mut schema = schema.clone();
    for place in ["/properties/v", "/$defs/A", "/$defs/B"] {
        let Some(Value::Object(part)) = schema.pointer_mut(place) else { continue };
        for (key, value) in keywords {
            part.entry(*key).or_insert_with(|| value.clone());
        }
    }
    schema
}

/// Returns a tool that a client declares with this schema, or `None` if the schema is refused.
fn declared(schema: Value) -> Option<ToolSnapshot> {
    no_tools().snapshot().with_declared(&[ToolSpec::new("check", "Checks", schema).into()]).ok()
}

fn unreadable() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let all = [
        ("minimum", json!("1")),
        ("maxLength", json!("0")),
        ("minItems", json!({})),
        ("maxProperties", json!(null)),
        ("pattern", json!("(")),
        ("enum", json!("a")),
        ("required", json!("a")),
        ("uniqueItems", json!("yes")),
        ("propertyNames", json!("a")),
        ("$ref", json!("https://example.org/elsewhere")),
    ];
    prop::sample::subsequence(all.to_vec(), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn arguments_are_accepted_exactly_if_jsonschema_accepts_them(
        (value_schema, a, b) in (schema(), schema(), schema()),
        values in prop::collection::vec(value(), 1..6),
        unreadable in unreadable(),
    ) {
        let mut root = json!({"type": "object", "properties": {"v": value_schema}, "$defs": {"A": a, "B": b}});
        complete(&mut root);
        prop_assume!(!has_loop(&root));
        let tools = no_tools();
        let registered = tools.register(Tool::front_end_with_schema("check", "Checks", root.clone()));
        prop_assume!(registered.is_ok());
        // A client can declare each schema that a host can register.
        let as_declared = declared(root.clone());
        prop_assert!(as_declared.is_some(), "{}", root);
        let tools = [Some(tools.snapshot()), as_declared, declared(with_unreadable_keywords(&root, &unreadable))];
        let theirs = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex()).build(&root);
        let Ok(theirs) = theirs else { return Ok(()) };
        for value in values {
            let arguments = json!({"v": value});
            let errors = theirs.iter_errors(&arguments).map(|error| format!("at {}: {error}", error.instance_path()));
            let errors: Vec<String> = errors.collect();
            for (index, tools) in tools.iter().enumerate() {
                let Some(tools) = tools else { continue };
                let ours = tools.check("check", &JsonText::from_value(&arguments));
                prop_assert_eq!(
                    ours.is_ok(), errors.is_empty(),
                    "{} {} ours {} {:?} {:?} theirs {:?}", root, arguments, index, unreadable, ours, errors
                );
            }
        }
    }
}
