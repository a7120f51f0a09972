use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Bench;
use crate::tool::schema::{lint, normalise};
use crate::tool::{Args, StateMap, Tool, ToolError, Tools};

fn refusal(schema: Value) -> String {
    let mut schema = schema;
    normalise(&mut schema);
    match lint(&schema) {
        Ok(findings) => format!("ok, recursive: {}", findings.recursive),
        Err(reason) => reason,
    }
}

fn with_property(schema: Value) -> Value {
    json!({"type": "object", "properties": {"p": schema}})
}

#[test]
fn what_providers_refuse_is_refused() {
    let at_p = |text: &str| format!("at `properties.p`: {text}");
    let nested = |levels: usize| (0..levels).fold(json!({"type": "string"}), |inner, _| with_property(inner));
    let table: Vec<(Value, String)> = vec![
        (json!({}), "ok".into()),
        (json!({"type": "object"}), "ok".into()),
        (json!({"properties": {"a": {"type": "string"}}}), "ok".into()),
        (with_property(json!(true)), "ok".into()),
        (with_property(json!({"type": "array", "items": true})), "ok".into()),
        (with_property(json!({"type": "object", "additionalProperties": true})), "ok".into()),
        (with_property(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})), "ok".into()),
        (with_property(json!({"type": ["string", "null"], "enum": ["a", null]})), "ok".into()),
        (nested(32), "ok".into()),
        (nested(33), "more than 32 levels".into()),
        (json!(true), "is a boolean, and must be an object".into()),
        (json!("x"), "is a string, and must be an object".into()),
        (json!({"type": "string"}), "is of type \"string\", and providers refuse all but \"object\"".into()),
        (json!({"type": ["object", "null"]}), "providers refuse all but \"object\"".into()),
        (json!({"oneOf": [{"type": "object"}]}), "has `oneOf` at the root".into()),
        (json!({"type": "object", "oneOf": []}), "has `oneOf` at the root".into()),
        (json!({"type": "object", "anyOf": []}), "has `anyOf` at the root".into()),
        (json!({"type": "object", "allOf": []}), "has `allOf` at the root".into()),
        (json!({"type": "object", "not": {}}), "has `not` at the root".into()),
        (json!({"type": "object", "enum": [{}]}), "has `enum` at the root".into()),
        (json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}}), "`$ref`".into()),
        (with_property(json!(false)), at_p("`false` accepts nothing")),
        (with_property(json!(3)), at_p("a number is no schema")),
        (with_property(json!({"type": "text"})), at_p("\"text\" is no JSON Schema type")),
        (with_property(json!({"type": []})), at_p("[] is no JSON Schema type")),
        (with_property(json!({"type": "array"})), at_p("an array without `items`")),
        (with_property(json!({"type": "array", "prefixItems": [{}, {}]})), at_p("an array without `items`")),
        (with_property(json!({"type": "array", "items": [{}]})), at_p("`items` is a list")),
        (with_property(json!({"enum": []})), at_p("`enum` must be a list")),
        (with_property(json!({"type": "object", "required": "a"})), at_p("`required` must be a list")),
        (with_property(json!({"$ref": "#/$defs/Gone"})), at_p("`$ref` \"#/$defs/Gone\" leads nowhere")),
        (with_property(json!({"$ref": 7})), at_p("`$ref` 7 leads nowhere")),
        (with_property(json!({"$ref": "https://example.com/a.json"})), "leads out of the schema".into()),
        (with_property(json!({"$dynamicRef": "#a"})), at_p("dynamic references")),
        (
            json!({"type": "object", "properties": {"a b": {}}}),
            "providers refuse the property name \"a b\"".into(),
        ),
        (json!({"type": "object", "properties": {"": {}}}), "refuse the property name \"\"".into()),
        (json!({"type": "object", "properties": {"größe": {}}}), "refuse the property name \"größe\"".into()),
        (json!({"type": "object", "properties": {"n".repeat(64): {}}}), "ok".into()),
        (json!({"type": "object", "properties": {"n".repeat(65): {}}}), "refuse the property name".into()),
        (json!({"type": "object", "properties": []}), "at `properties`: an array is no schema".into()),
    ];
    for (schema, expected) in table {
        let found = refusal(schema.clone());
        assert!(found.contains(&expected), "{schema}\nexpected: {expected}\nfound: {found}");
    }
}

#[test]
fn references_are_followed_and_recursion_is_reported() {
    let plain = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}});
    assert_eq!(refusal(plain), "ok, recursive: false");

    let own = json!({"type": "object", "properties": {"child": {"$ref": "#"}}});
    assert_eq!(refusal(own), "ok, recursive: true");

    let mutual = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {
            "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
            "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}},
        },
    });
    assert_eq!(refusal(mutual), "ok, recursive: true");

    let broken = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"type": "array"}},
    });
    assert!(refusal(broken).contains("an array without `items`"));
}

#[test]
fn normalising_writes_what_all_providers_read() {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Query",
        "properties": {
            "any": true,
            "list": {"type": "array", "items": true},
            "size": {"type": "integer", "format": "uint32", "minimum": 0},
            "when": {"type": "string", "format": "date-time"},
            "map": {"type": "object", "additionalProperties": true},
        },
    });
    normalise(&mut schema);
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "any": {},
                "list": {"type": "array", "items": {}},
                "size": {"type": "integer", "minimum": 0},
                "when": {"type": "string", "format": "date-time"},
                "map": {"type": "object", "additionalProperties": true},
            },
        })
    );
}

#[derive(Deserialize, JsonSchema)]
struct Nested {
    #[expect(dead_code, reason = "only the schema counts")]
    inner: Option<Inner>,
    #[expect(dead_code, reason = "only the schema counts")]
    more: Vec<Inner>,
}

#[derive(Deserialize, JsonSchema)]
struct Inner {
    #[expect(dead_code, reason = "only the schema counts")]
    value: Value,
}

#[derive(Deserialize, JsonSchema)]
struct Tree {
    #[expect(dead_code, reason = "only the schema counts")]
    children: Vec<Tree>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Shape {
    Circle {
        #[expect(dead_code, reason = "only the schema counts")]
        radius: f64,
    },
    Point {},
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    #[expect(dead_code, reason = "only the schema counts")]
    at: (f64, f64),
}

fn register(tool: Tool) -> Result<Value, String> {
    let tools = Tools::new(StateMap::new(), Bench::new().limits);
    tools.register(tool).map_err(|error| {
        assert!(error.is_invalid_tool());
        error.to_string()
    })?;
    Ok(tools.snapshot().specs()[0].input_schema.clone())
}

async fn takes<T>(_: Args<T>) -> Result<(), ToolError> {
    Ok(())
}

#[test]
fn schemas_of_types_have_no_references() {
    let schema = register(Tool::new("t", "d", takes::<Nested>)).unwrap();
    assert!(!schema.to_string().contains("$ref"), "{schema}");
    assert_eq!(schema["properties"]["more"]["items"]["properties"]["value"], json!({}));
}

#[test]
fn types_that_providers_refuse_fail_and_say_why() {
    let error = register(Tool::new("draw", "d", takes::<Shape>)).unwrap_err();
    assert!(error.starts_with("tool `draw`: its schema has `oneOf` at the root"), "{error}");
    let error = register(Tool::new("locate", "d", takes::<Place>)).unwrap_err();
    assert!(error.contains("at `properties.at`: an array without `items`"), "{error}");
    let error = register(Tool::new("one", "d", takes::<String>)).unwrap_err();
    assert!(error.contains("is of type \"string\""), "{error}");
    let error = register(Tool::new("none", "d", takes::<()>)).unwrap_err();
    assert!(error.contains("is of type \"null\""), "{error}");
    // A type that contains itself is acceptable, and its calls can be checked.
    register(Tool::new("tree", "d", takes::<Tree>)).unwrap();
}

#[test]
fn a_schema_that_does_not_compile_is_refused() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}});
    let error = register(Tool::front_end_with_schema("t", "d", schema)).unwrap_err();
    assert!(error.contains("at `properties.a`: the pattern \"(\" cannot be used"), "{error}");
    for (keyword, value) in [
        ("minLength", json!("1")),
        ("maxItems", json!(-1)),
        ("minimum", json!("1")),
        ("multipleOf", json!(0)),
        ("uniqueItems", json!(1)),
        ("pattern", json!(1)),
        ("unevaluatedItems", json!(false)),
    ] {
        let schema = with_property(json!({ keyword: value }));
        let error = register(Tool::front_end_with_schema("t", "d", schema)).unwrap_err();
        assert!(error.contains(&format!("at `properties.p`: `{keyword}`")), "{error}");
    }
}

/// A schema in which each of these levels refers to the next one this many times.
fn diamond(levels: usize, times: usize) -> Value {
    let next = |level: usize| {
        let names = (0..times).map(|n| (format!("p{n}"), json!({ "$ref": format!("#/$defs/L{level}") })));
        json!({ "type": "object", "properties": names.collect::<serde_json::Map<_, _>>() })
    };
    let mut schema = next(0);
    let last = (format!("L{levels}"), json!({ "type": "string" }));
    let levels = (0..levels).map(|level| (format!("L{level}"), next(level + 1))).chain([last]);
    schema["$defs"] = levels.collect::<serde_json::Map<_, _>>().into();
    schema
}

#[test]
fn a_diamond_of_references_is_refused_and_not_walked() {
    assert_eq!(refusal(diamond(5, 2)), "ok, recursive: false");
    // The last level of many that refers back makes cycles of them all.
    let mut cyclic = diamond(20, 2);
    cyclic["$defs"]["L20"] = json!({ "$ref": "#/$defs/L0" });
    for (schema, reason) in [
        (diamond(16, 2), "it takes more than 262144 bytes"),
        (cyclic, "it takes more than 262144 bytes"),
        (diamond(28, 4), "more than 32 levels"),
    ] {
        let text = refusal(schema);
        assert!(text.contains("at `properties.p0.$ref.properties.p0.$ref"), "{text}");
        assert!(text.contains(reason), "{text}");
    }
}

#[test]
fn a_schema_may_take_256_kib_with_its_references_followed() {
    let schema = |bytes: usize| {
        let text = "x".repeat(bytes);
        json!({
            "type": "object",
            "properties": { "a": { "$ref": "#/$defs/A" }, "b": { "$ref": "#/$defs/A" } },
            "$defs": { "A": { "description": text } },
        })
    };
    let most = (130_000..131_500).rev().find(|bytes| refusal(schema(*bytes)).starts_with("ok"));
    let most = most.unwrap_or_else(|| panic!("{}", refusal(schema(130_000))));
    assert!((131_000..=131_072).contains(&most), "{most}");
}

#[test]
fn a_long_chain_of_references_is_refused() {
    let names: serde_json::Map<_, _> = (0..20_000)
        .map(|n| (format!("A{n}"), json!({ "$ref": format!("#/$defs/A{}", n + 1) })))
        .chain([("A20000".to_owned(), json!({ "type": "string" }))])
        .collect();
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/A0" } }, "$defs": names });
    assert!(refusal(schema).contains("more than 32 levels"));
}
