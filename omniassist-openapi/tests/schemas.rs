//! The schemas of documents, as models get them.

use omniassist_openapi::{OpenApi, OpenApiTools};
use serde_json::{Value, json};

use crate::server::{Server, call, document, schema, tool};

fn tools(version: &str, body: &Value, schemas: &Value) -> OpenApiTools {
    let body = json!({ "required": true, "content": { "application/json": { "schema": body } } });
    let mut document =
        document(version, &json!({ "/a": { "post": { "operationId": "one", "requestBody": body } } }));
    document["components"] = json!({ "schemas": schemas });
    OpenApi::from_json("t", &document.to_string()).unwrap().server("https://erp.test").tools().unwrap()
}

/// Returns the schema that a field of the body gets.
fn field(version: &str, field: &Value) -> Value {
    let body = json!({ "type": "object", "properties": { "f": field } });
    schema(&tool(&tools(version, &body, &json!({})), "t_one"))["properties"]["f"].clone()
}

#[test]
fn schemas_of_openapi_3_0_become_json_schemas() {
    for (given, expected) in [
        (json!({ "type": "string", "nullable": true }), json!({ "type": ["string", "null"] })),
        (json!({ "type": "string", "nullable": false }), json!({ "type": "string" })),
        (
            json!({ "type": "string", "nullable": true, "enum": ["a"] }),
            json!({ "type": ["string", "null"], "enum": ["a", null] }),
        ),
        (
            json!({ "nullable": true, "allOf": [{ "type": "object" }], "description": "d" }),
            json!({ "anyOf": [{ "allOf": [{ "type": "object" }] }, { "type": "null" }], "description": "d" }),
        ),
        (
            json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false }),
            json!({ "type": "integer", "exclusiveMinimum": 1, "maximum": 9 }),
        ),
        (
            json!({ "type": "number", "maximum": 9, "exclusiveMaximum": true, "multipleOf": 0.5 }),
            json!({ "type": "number", "exclusiveMaximum": 9, "multipleOf": 0.5 }),
        ),
        (
            json!({ "type": "integer", "format": "int64", "example": 3, "x-y": 1 }),
            json!({ "type": "integer" }),
        ),
        (
            json!({ "type": "string", "format": "date-time", "deprecated": true }),
            json!({ "type": "string", "format": "date-time" }),
        ),
        (json!({ "type": "array" }), json!({ "type": "array", "items": {} })),
        (json!({ "type": "string", "enum": [] }), json!({ "type": "string" })),
        (
            json!({ "oneOf": [{ "type": "string", "nullable": true }], "discriminator": { "propertyName": "x" } }),
            json!({ "anyOf": [{ "type": ["string", "null"] }] }),
        ),
        (
            json!({ "type": "object", "required": ["id", "a"], "properties": {
                "id": { "type": "string", "readOnly": true }, "a": {}, "+1": {}, "example": { "type": "string" },
            } }),
            json!({ "type": "object", "required": ["a"], "properties": { "a": {}, "_1_c59dc4": {}, "example": { "type": "string" } } }),
        ),
    ] {
        assert_eq!(field("3.0.3", &given), expected, "{given}");
    }
}

#[test]
fn schemas_of_openapi_3_1_are_kept() {
    for (given, expected) in [
        (
            json!({ "type": ["string", "null"], "const": "a" }),
            json!({ "type": ["string", "null"], "const": "a" }),
        ),
        (
            json!({ "type": "integer", "exclusiveMinimum": 1 }),
            json!({ "type": "integer", "exclusiveMinimum": 1 }),
        ),
        (json!({ "type": "string", "nullable": true }), json!({ "type": "string" })),
        (
            json!({ "if": { "type": "string" }, "then": { "minLength": 1 } }),
            json!({ "if": { "type": "string" }, "then": { "minLength": 1 } }),
        ),
        (
            json!({ "type": "array", "prefixItems": [{ "type": "string" }], "items": false }),
            json!({ "type": "array", "prefixItems": [{ "type": "string" }], "items": {} }),
        ),
        (json!({ "$comment": "x", "examples": [1], "type": "number" }), json!({ "type": "number" })),
        (json!(true), json!({})),
    ] {
        assert_eq!(field("3.1.0", &given), expected, "{given}");
    }
}

#[test]
fn references_are_definitions_and_circles_are_kept() {
    let schemas = json!({
        "Order": { "type": "object", "required": ["lines"], "properties": {
            "lines": { "type": "array", "items": { "$ref": "#/components/schemas/Line" } },
            "parent": { "$ref": "#/components/schemas/Order" },
        } },
        "Line": { "type": "object", "properties": {
            "order": { "$ref": "#/components/schemas/Order" }, "article": { "$ref": "#/components/schemas/a~1b" },
            "first": { "$ref": "#/components/schemas/Order/properties/parent" },
        } },
        "a/b": { "type": "string" },
        "Unused": { "type": "string" },
    });
    // The reference of the body itself is followed, so that its fields are arguments.
    let made = tools("3.0.3", &json!({ "$ref": "#/components/schemas/Order" }), &schemas);
    assert!(made.loosened().is_empty(), "{:?}", made.loosened());
    let schema = schema(&tool(&made, "t_one"));
    assert_eq!(schema["required"], json!(["lines"]));
    assert_eq!(schema["properties"]["parent"], json!({ "$ref": "#/$defs/Order" }));
    let definitions = schema["$defs"].as_object().unwrap();
    let names: Vec<&str> = definitions.keys().map(String::as_str).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!(definitions["Order"]["properties"]["parent"], json!({ "$ref": "#/$defs/Order" }));
    let line = &definitions["Line"]["properties"];
    let target =
        |field: &str| line[field]["$ref"].as_str().unwrap().strip_prefix("#/$defs/").unwrap().to_owned();
    assert_eq!(target("order"), "Order");
    assert!(target("article").starts_with("a_b_") && target("first").starts_with("parent_"), "{line}");
    assert_eq!(definitions[&target("article")], json!({ "type": "string" }));
    assert_eq!(definitions[&target("first")], json!({ "$ref": "#/$defs/Order" }));
}

#[test]
fn keywords_beside_a_reference_count_in_3_1_only() {
    let given = json!({ "$ref": "#/components/schemas/S", "description": "own", "maxLength": 3 });
    let body = json!({ "type": "object", "properties": { "f": given } });
    let schemas = json!({ "S": { "type": "string" } });
    for (version, expected) in [
        ("3.0.3", json!({ "$ref": "#/$defs/S", "description": "own" })),
        ("3.1.0", json!({ "$ref": "#/$defs/S", "description": "own", "maxLength": 3 })),
    ] {
        assert_eq!(schema(&tool(&tools(version, &body, &schemas), "t_one"))["properties"]["f"], expected);
    }
}

#[test]
fn a_schema_that_would_be_refused_loses_details_first() {
    // Look-ahead is a pattern that cannot be checked in linear time.
    let given = json!({ "type": "object", "properties": { "f": { "type": "string", "pattern": "^(?!x)", "minLength": 2 } } });
    let made = tools("3.0.3", &given, &json!({}));
    assert!(made.loosened()[0].reason().contains("pattern"), "{:?}", made.loosened());
    assert_eq!(schema(&tool(&made, "t_one"))["properties"]["f"], json!({ "type": "string", "minLength": 2 }));
    // Twenty levels, each with two references to the next, are a million copies.
    let mut schemas = json!({ "L20": { "type": "string" } });
    for level in 0..20 {
        let next = json!({ "$ref": format!("#/components/schemas/L{}", level + 1) });
        schemas[format!("L{level}")] = json!({ "type": "object", "properties": { "a": next, "b": next } });
    }
    let made = tools("3.0.3", &json!({ "$ref": "#/components/schemas/L0" }), &schemas);
    assert!(made.loosened()[0].reason().contains("bytes"), "{:?}", made.loosened());
    assert_eq!(made.loosened()[0].pointer(), "/paths/~1a/post");
    let schema = schema(&tool(&made, "t_one"));
    let definitions = schema["$defs"].as_object().unwrap();
    assert_eq!(definitions.keys().collect::<Vec<_>>(), ["L1", "L2", "L3"]);
    assert_eq!(definitions["L3"]["properties"]["a"], json!({}));
}

#[test]
fn descriptions_are_bounded_and_without_invisible_characters() {
    let operation = json!({
        "operationId": "one", "summary": "Reads\u{202e} an article", "description": "x".repeat(5000),
        "parameters": [{ "name": "p", "in": "query", "description": "own", "schema": { "description": "other", "type": "string" } }],
    });
    let open =
        OpenApi::from_json("t", &document("3.0.3", &json!({ "/a": { "get": operation } })).to_string())
            .unwrap();
    let tools = open.server("https://erp.test").tools().unwrap();
    let one = tool(&tools, "t_one");
    assert_eq!(schema(&one)["properties"]["p"], json!({ "description": "own", "type": "string" }));
    let shown = format!("{one:?}");
    assert!(shown.contains("Reads an article") && !shown.contains(&"x".repeat(1020)), "{shown}");
}

#[test]
fn a_keyword_is_left_out_with_the_one_that_it_depends_on() {
    let item = json!({ "type": "string" });
    for (given, expected) in [
        (
            json!({ "type": "object", "patternProperties": { "^x-": item }, "additionalProperties": false }),
            json!({ "type": "object" }),
        ),
        (
            json!({ "type": "object", "additionalProperties": item }),
            json!({ "type": "object", "additionalProperties": item }),
        ),
        (
            json!({ "type": "array", "items": {}, "contains": item, "minContains": 0, "maxContains": 2 }),
            json!({ "type": "array", "items": {} }),
        ),
        (
            json!({ "type": "array", "items": {}, "contains": item, "minContains": 2 }),
            json!({ "type": "array", "items": {}, "contains": item }),
        ),
    ] {
        assert_eq!(field("3.1.0", &given), expected, "{given}");
    }
}

/// Calls an operation with a body of this schema, and returns what the server receives.
async fn sent(schema: &Value, schemas: &Value, body: &Value) -> Value {
    let server = Server::start().await;
    let content = json!({ "required": true, "content": { "application/json": { "schema": {
        "type": "object", "required": ["f"], "properties": { "f": schema } } } } });
    let mut document =
        document("3.0.3", &json!({ "/a": { "post": { "operationId": "one", "requestBody": content } } }));
    document["components"] = json!({ "schemas": schemas });
    let one = tool(&server.open(&document).tools().unwrap(), "t_one");
    call(&one, &json!({ "f": body })).await.unwrap();
    let body: Value = serde_json::from_str(&server.last().body).unwrap();
    body["f"].clone()
}

#[tokio::test]
async fn a_discriminator_chooses_between_schemas_that_overlap() {
    let animal = |own: &str| {
        json!({ "type": "object", "required": ["kind"], "properties": {
            "kind": { "type": "string" }, own: { "type": "string" } } })
    };
    let schemas = json!({ "Cat": animal("a"), "Dog": animal("b") });
    let either = json!({
        "oneOf": [{ "$ref": "#/components/schemas/Cat" }, { "$ref": "#/components/schemas/Dog" }],
        "discriminator": { "propertyName": "kind" },
    });
    let cat = json!({ "kind": "Cat", "a": "x" });
    assert_eq!(sent(&either, &schemas, &cat).await, cat);
}

#[tokio::test]
async fn a_field_that_any_part_of_a_schema_makes_read_only_is_not_needed() {
    let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let schemas = json!({
        "Id": { "type": "string", "readOnly": true },
        "Needed": { "type": "object", "required": ["id", "name"], "properties": { "name": { "type": "string" } } },
        "Fields": { "type": "object", "properties": { "id": { "type": "string", "readOnly": true } } },
        "Both": { "allOf": [reference("Needed"), reference("Fields")] },
        "Circle": { "allOf": [reference("Circle"), reference("Both")] },
    });
    let needed = json!({ "required": ["id"] });
    let id = json!({ "type": "object", "properties": { "id": reference("Id") } });
    let typed = json!({ "type": "object", "properties": { "id": { "allOf": [reference("Id")] } }, "required": ["id"] });
    for schema in [
        json!({ "allOf": [needed, { "properties": { "id": { "readOnly": true } } }] }),
        json!({ "allOf": [needed, id] }),
        json!({ "allOf": [{ "allOf": [needed] }, { "allOf": [id] }] }),
        json!({ "properties": { "id": reference("Id") }, "oneOf": [needed, { "required": ["id", "name"] }] }),
        typed,
        reference("Both"),
        reference("Circle"),
    ] {
        let body = json!({ "name": "x" });
        assert_eq!(sent(&schema, &schemas, &body).await, body, "{schema}");
    }
    // The definition that another schema uses alone still needs the field.
    let body =
        json!({ "type": "object", "properties": { "a": reference("Both"), "b": reference("Needed") } });
    let schema = schema(&tool(&tools("3.0.3", &body, &schemas), "t_one"));
    assert_eq!(schema["$defs"]["Needed"]["required"], json!(["id", "name"]));
    let needed = schema["$defs"]["Both"]["allOf"][0]["$ref"].as_str().unwrap().trim_start_matches('#');
    assert_eq!(schema.pointer(needed).unwrap()["required"], json!(["name"]));
}

#[test]
fn a_field_of_a_body_whose_schema_is_read_only_is_not_an_argument() {
    let schemas = json!({ "Id": { "type": "string", "readOnly": true } });
    let id = json!({ "$ref": "#/components/schemas/Id" });
    let body = json!({ "type": "object", "required": ["id"], "properties": { "id": id, "name": {} } });
    let schema = schema(&tool(&tools("3.0.3", &body, &schemas), "t_one"));
    assert_eq!(schema["properties"], json!({ "name": {} }));
    assert_eq!(schema.get("required"), None);
}
