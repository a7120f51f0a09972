//! Tests of the registration of tool schemas and of the check of arguments.

use omniassist_server::core::{JsonText, Limits, ToolSpec};
use omniassist_server::tool::{Args, StateMap, Tool, ToolError, Tools};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::log::logged;
use super::no_tools;

/// Returns the registered form of a tool's schema, or the error of its registration.
fn register(tool: Tool) -> Result<Value, String> {
    let tools = no_tools();
    tools.register(tool).map_err(|error| {
        assert!(error.is_invalid_tool());
        error.to_string()
    })?;
    Ok(tools.snapshot().specs()[0].input_schema.clone())
}

fn refusal(schema: Value) -> String {
    register(Tool::front_end_with_schema("t", "d", schema)).map_or_else(|error| error, |_| "ok".to_owned())
}

fn with_property(schema: &Value) -> Value {
    json!({"type": "object", "properties": {"p": schema}})
}

#[test]
fn schemas_that_providers_refuse_are_refused() {
    let at_p = |text: &str| format!("at `properties.p`: {text}");
    let nested =
        |levels: usize| (0..levels).fold(json!({"type": "string"}), |inner, _| with_property(&inner));
    let table: Vec<(Value, String)> = vec![
        (json!({}), "ok".into()),
        (json!({"type": "object"}), "ok".into()),
        (json!({"properties": {"a": {"type": "string"}}}), "ok".into()),
        (with_property(&json!(true)), "ok".into()),
        (with_property(&json!({"type": "array", "items": true})), "ok".into()),
        (with_property(&json!({"type": "object", "additionalProperties": true})), "ok".into()),
        (with_property(&json!({"anyOf": [{"type": "string"}, {"type": "null"}]})), "ok".into()),
        (with_property(&json!({"type": ["string", "null"], "enum": ["a", null]})), "ok".into()),
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
        (with_property(&json!(false)), at_p("`false` accepts nothing")),
        (with_property(&json!(3)), at_p("a number is no schema")),
        (with_property(&json!({"type": "text"})), at_p("\"text\" is no JSON Schema type")),
        (with_property(&json!({"type": []})), at_p("[] is no JSON Schema type")),
        (with_property(&json!({"type": "array"})), at_p("an array without `items`")),
        (with_property(&json!({"type": "array", "prefixItems": [{}, {}]})), at_p("an array without `items`")),
        (with_property(&json!({"type": "array", "items": [{}]})), at_p("`items` is a list")),
        (with_property(&json!({"enum": []})), at_p("`enum` must be a list")),
        (with_property(&json!({"type": "object", "required": "a"})), at_p("`required` must be a list")),
        (with_property(&json!({"$ref": "#/$defs/Gone"})), at_p("`$ref` \"#/$defs/Gone\" leads nowhere")),
        (with_property(&json!({"$ref": 7})), at_p("`$ref` 7 leads nowhere")),
        (with_property(&json!({"$ref": "https://example.com/a.json"})), "leads out of the schema".into()),
        (with_property(&json!({"$dynamicRef": "#a"})), at_p("dynamic references")),
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

#[tokio::test]
async fn references_are_resolved_and_recursion_is_logged() {
    let of = |property: Value, defs: Value| json!({"type": "object", "properties": {"a": property}, "$defs": defs});
    let to = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
    let object = |property: Value| json!({"type": "object", "properties": {"b": property}});
    let own = json!({"type": "object", "properties": {"child": {"$ref": "#"}}});
    for (schema, is_recursive) in [
        (of(to("A"), json!({"A": {"type": "string"}})), false),
        (own, true),
        (of(to("A"), json!({"A": object(to("B")), "B": object(to("A"))})), true),
    ] {
        let log = logged(async { assert_eq!(refusal(schema.clone()), "ok") }).await;
        assert_eq!(log.contains("its schema refers to itself"), is_recursive, "{schema} {log}");
    }
    let broken = of(to("A"), json!({"A": {"type": "array"}}));
    assert!(refusal(broken).contains("an array without `items`"));
}

#[test]
fn a_normalised_schema_suits_all_providers() {
    let schema = json!({
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
    assert_eq!(
        register(Tool::front_end_with_schema("t", "d", schema)).unwrap(),
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
fn types_that_providers_refuse_fail_with_the_reason() {
    let error = register(Tool::new("draw", "d", takes::<Shape>)).unwrap_err();
    assert!(error.starts_with("tool `draw`: its schema has `oneOf` at the root"), "{error}");
    let error = register(Tool::new("locate", "d", takes::<Place>)).unwrap_err();
    assert!(error.contains("at `properties.at`: an array without `items`"), "{error}");
    let error = register(Tool::new("one", "d", takes::<String>)).unwrap_err();
    assert!(error.contains("is of type \"string\""), "{error}");
    let error = register(Tool::new("none", "d", takes::<()>)).unwrap_err();
    assert!(error.contains("is of type \"null\""), "{error}");
    // A recursive type is accepted, and its calls are checked.
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
        let schema = with_property(&json!({ keyword: value }));
        let error = register(Tool::front_end_with_schema("t", "d", schema)).unwrap_err();
        assert!(error.contains(&format!("at `properties.p`: `{keyword}`")), "{error}");
    }
}

/// Returns a schema in which each level refers to the next level this many times.
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
fn repeated_references_are_refused_without_expanding_them() {
    assert_eq!(refusal(diamond(5, 2)), "ok");
    // A reference from the last level to the first level makes each level part of a cycle.
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

/// Returns a snapshot with these limits and one tool with this schema that a client declares.
fn declare(limits: Limits, schema: Value) -> Result<omniassist_server::tool::ToolSnapshot, String> {
    let tools = Tools::new(StateMap::new(), limits).snapshot();
    tools.with_declared(&[ToolSpec::new("t", "d", schema).into()]).map_err(|error| error.to_string())
}

#[test]
fn the_levels_of_a_schema_are_limited() {
    let schema = (0..5).fold(json!({"type": "string"}), |inner, _| with_property(&inner));
    let refusal = |most| {
        let mut limits = Limits::default();
        limits.max_schema_depth = most;
        let registered = Tools::new(StateMap::new(), limits.clone())
            .register(Tool::front_end_with_schema("t", "d", schema.clone()))
            .map_err(|error| error.to_string());
        assert_eq!(registered.is_ok(), declare(limits.clone(), schema.clone()).is_ok());
        registered.err()
    };
    assert_eq!(refusal(5), None);
    assert!(refusal(4).unwrap().contains("more than 4 levels"));
}

#[test]
fn the_bytes_of_a_schema_with_its_resolved_references_are_limited() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "$ref": "#/$defs/A" }, "b": { "$ref": "#/$defs/A" } },
        "$defs": { "A": { "description": "x".repeat(1_000) } },
    });
    let refusal = |most| {
        let mut limits = Limits::default();
        limits.max_schema_bytes = most;
        declare(limits, schema.clone()).err()
    };
    let least = (2_000..2_200).find(|most| refusal(*most).is_none()).unwrap();
    let text = refusal(least - 1).unwrap();
    assert!(text.contains(&format!("it takes more than {} bytes", least - 1)), "{text}");
}

/// Checks a value as the property `v` of a declared tool's arguments.
fn check(schema: &Value, value: &Value) -> Result<(), String> {
    check_within(Limits::default(), schema, value)
}

fn check_within(limits: Limits, schema: &Value, value: &Value) -> Result<(), String> {
    let tools = declare(limits, json!({ "type": "object", "properties": { "v": schema } }))?;
    tools.check("t", &JsonText::from_value(&json!({ "v": value }))).map_err(|text| text.to_string())
}

const TOO_COMPLEX: &str =
    "The arguments are too complex to check against the tool's schema. Send smaller or simpler ones.";

#[test]
fn the_steps_of_a_check_are_limited() {
    let schema = json!({ "enum": (0..1_000).collect::<Vec<_>>() });
    let check = |most| {
        let mut limits = Limits::default();
        limits.max_schema_check_steps = most;
        check_within(limits, &schema, &json!(999))
    };
    let least = (900..1_100).find(|most| check(*most).is_ok()).unwrap();
    assert_eq!(check(least - 1), Err(TOO_COMPLEX.to_owned()));
}

/// Checks a value against a recursive type of lists. The number of possible errors doubles with each level.
fn doubling(value: &Value) -> Result<(), String> {
    let list = json!({ "type": "array", "items": { "$ref": "#/$defs/T" } });
    let schema = json!({
        "type": "object",
        "properties": { "a": { "$ref": "#/$defs/T" } },
        "$defs": { "T": { "anyOf": [{ "allOf": [list], "minItems": 1 }, list, { "type": "string" }] } },
    });
    let tools = declare(Limits::default(), schema)?;
    tools.check("t", &JsonText::from_value(&json!({ "a": value }))).map_err(|text| text.to_string())
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

#[test]
fn alternatives_that_double_with_each_level_are_checked_in_linear_time() {
    for levels in [10, 40, 60] {
        let text = doubling(&nested(levels)).unwrap_err();
        assert!(text.starts_with("The arguments do not fit the tool's schema: at "), "{text}");
    }
    assert_eq!(doubling(&json!([["x"], "y"])), Ok(()));
    // This value has too many levels for a recursive check.
    assert_eq!(doubling(&nested(120)), Err(TOO_COMPLEX.to_owned()));
}

#[test]
fn arguments_that_take_too_many_steps_are_refused() {
    // The check compares each item with each value.
    let choices =
        |count: usize| json!({ "type": "array", "items": { "enum": (0..count).collect::<Vec<_>>() } });
    let last = |count: usize| Value::from(vec![count - 1; 500]);
    assert_eq!(check(&choices(30_000), &vec![0; 500].into()), Ok(()));
    assert_eq!(check(&choices(500), &last(500)), Ok(()));
    assert_eq!(check(&choices(1_000), &last(1_000)), Err(TOO_COMPLEX.to_owned()));
    // The check measures a long text many times.
    let lengths = |count: usize| json!({ "allOf": vec![json!({ "maxLength": 200_000 }); count] });
    let long = Value::from("a".repeat(100_000));
    assert_eq!(check(&lengths(100), &long), Ok(()));
    assert_eq!(check(&lengths(2_000), &long), Err(TOO_COMPLEX.to_owned()));
    // A pattern with many states matches a long text.
    let pattern = json!({ "pattern": "(a?b?c?d?e?f?g?h?){20}z" });
    assert_eq!(check(&pattern, &long), Err(TOO_COMPLEX.to_owned()));
}

#[test]
fn numbers_are_checked_at_their_bounds() {
    for (schema, below, at, above) in [
        (json!({ "minimum": 2 }), false, true, true),
        (json!({ "maximum": 2 }), true, true, false),
        (json!({ "exclusiveMinimum": 2 }), false, false, true),
        (json!({ "exclusiveMaximum": 2 }), true, false, false),
    ] {
        for (value, fits) in [(1, below), (2, at), (3, above)] {
            assert_eq!(check(&schema, &value.into()).is_ok(), fits, "{value} by {schema}");
        }
    }
}

#[test]
fn the_number_of_steps_grows_with_the_size_of_the_value() {
    let schema = json!({ "type": "array", "items": { "type": "integer" } });
    assert_eq!(check(&schema, &vec![1; 500_000].into()), Ok(()));
}

#[test]
fn references_to_themselves_are_resolved_once() {
    let check = |defs: Value| {
        let schema =
            json!({ "type": "object", "properties": { "v": { "$ref": "#/$defs/A" } }, "$defs": defs });
        declare(Limits::default(), schema)?
            .check("t", &JsonText::from_value(&json!({ "v": 1 })))
            .map_err(|text| text.to_string())
    };
    assert_eq!(check(json!({ "A": { "$ref": "#/$defs/A" } })), Ok(()));
    let mutual = json!({
        "A": { "allOf": [{ "$ref": "#/$defs/B" }] }, "B": { "$ref": "#/$defs/A", "type": "string" },
    });
    assert!(check(mutual).unwrap_err().contains("1 is not of type \"string\""));
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
