//! A document in the style of the largest public ones.

use std::collections::BTreeSet;
use std::time::Instant;

use omniassist_openapi::OpenApi;
use omniassist_server::core::Limits;
use omniassist_server::tool::{StateMap, Tools};
use serde_json::{Map, Value, json};

use crate::server::{document, schema};

const OPERATIONS: usize = 1_200;
const SCHEMAS: usize = 600;
const RESOURCES: [&str; 8] =
    ["repos", "issues", "pulls", "actions", "code-scanning", "teams", "orgs", "packages"];

fn reference(index: usize) -> Value {
    json!({ "$ref": format!("#/components/schemas/model-{}", index % SCHEMAS) })
}

/// Returns schemas that refer to earlier and later ones, so that there are many circles.
fn schemas() -> Value {
    let model = |index: usize| {
        let mut fields = Map::new();
        fields.insert(
            "id".to_owned(),
            json!({ "type": "integer", "format": "int64", "readOnly": true, "example": index }),
        );
        for field in 0..12 {
            let value = match (index + field) % 6 {
                0 => {
                    json!({ "type": "string", "nullable": true, "description": "A field. ".repeat(8), "example": "x" })
                }
                1 => json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true }),
                2 => json!({ "type": "array", "items": { "type": "string", "format": "uri" } }),
                3 => json!({ "type": "string", "enum": ["open", "closed", "all"], "default": "open" }),
                4 => json!({ "type": "string", "pattern": "^[a-z0-9-]+$", "maxLength": 100 }),
                _ => json!({ "type": "object", "additionalProperties": { "type": "boolean" } }),
            };
            fields.insert(format!("field_{field}"), value);
        }
        if index.is_multiple_of(4) {
            fields.insert("next".to_owned(), reference(index * 7 + 1));
        }
        // Every tenth belongs to a circle; most have few references, as in public documents.
        if index.is_multiple_of(10) {
            fields.insert("parent".to_owned(), json!({ "nullable": true, "allOf": [reference(index / 2)] }));
            fields.insert("self".to_owned(), reference(index));
        }
        json!({ "type": "object", "required": ["id", "field_0"], "properties": fields })
    };
    Value::Object((0..SCHEMAS).map(|index| (format!("model-{index}"), model(index))).collect())
}

fn operation(index: usize) -> Value {
    let resource = RESOURCES[index % RESOURCES.len()];
    let verb = ["list", "get", "create", "update-the-settings-of-all-members-and-outside-collaborators-of"]
        [index % 4];
    let parameter = |name: &str, location: &str, schema: Value| json!({ "name": name, "in": location, "required": location == "path", "schema": schema, "description": "A parameter. ".repeat(10) });
    let mut operation = json!({
        "operationId": format!("{resource}/{verb}-{index}"),
        "summary": format!("{verb} {resource} {index}"),
        "description": "Lists what there is, and says at length how, as documents of this size do. ".repeat(20),
        "tags": [resource],
        "externalDocs": { "url": "https://docs.test/".repeat(8) },
        "parameters": [
            { "$ref": "#/components/parameters/owner" },
            parameter("id", "path", json!({ "type": "integer" })),
            parameter("per_page", "query", json!({ "type": "integer", "default": 30, "maximum": 100 })),
            parameter("labels[]", "query", json!({ "type": "array", "items": { "type": "string" } })),
            parameter("X-Trace", "header", json!({ "type": "string", "nullable": true })),
        ],
        "responses": { "200": { "description": "OK", "content": { "application/json": {
            "schema": { "type": "array", "items": reference(index) },
            "examples": { "default": { "value": vec![json!({ "id": 1, "url": "https://api.test/".repeat(12), "name": "x".repeat(90) }); 18] } },
        } } } },
    });
    if index % 4 >= 2 {
        let schema = match index % 3 {
            0 => reference(index),
            1 => {
                json!({ "type": "object", "required": ["id"], "properties": { "id": { "type": "string" }, "model": reference(index * 3) } })
            }
            _ => json!({ "oneOf": [reference(index), { "type": "array", "items": reference(index + 5) }] }),
        };
        operation["requestBody"] =
            json!({ "required": index % 8 != 3, "content": { "application/json": { "schema": schema } } });
    }
    operation
}

fn text() -> String {
    let mut paths = Map::new();
    for index in 0..OPERATIONS {
        let method = ["get", "get", "post", "patch"][index % 4];
        let path = format!("/{}/{{owner}}/{index}/{{id}}", RESOURCES[index % RESOURCES.len()]);
        paths.insert(path, json!({ method: operation(index) }));
    }
    let mut document = document("3.0.3", &Value::Object(paths));
    let owner = json!({ "name": "owner", "in": "path", "required": true, "schema": { "type": "string" } });
    document["components"] = json!({ "schemas": schemas(), "parameters": { "owner": owner } });
    document.to_string()
}

#[test]
fn twelve_hundred_operations_become_tools() {
    let text = text();
    assert!((11_000_000..14_000_000).contains(&text.len()), "{} bytes", text.len());
    let start = Instant::now();
    let open = OpenApi::from_json("hub", &text).unwrap().server("https://api.test");
    let read = start.elapsed();
    let tools = open.tools().unwrap();
    println!(
        "{} bytes: read in {read:?}, {} tools in {:?}, {} loosened",
        text.len(),
        tools.tools().len(),
        start.elapsed() - read,
        tools.loosened().len(),
    );
    assert!(tools.skipped().is_empty(), "{:?}", tools.skipped());
    // Every schema is accepted as a whole.
    assert!(tools.loosened().is_empty(), "{:?}", tools.loosened().first());
    let names: BTreeSet<&str> = tools.tools().iter().map(omniassist_server::Tool::name).collect();
    assert_eq!(names.len(), OPERATIONS);
    assert!(names.iter().all(|name| name.len() <= 64 && name.starts_with("hub_")));
    assert_eq!(names.iter().filter(|name| name.len() == 64).count(), OPERATIONS / 4);
    // A registry takes each of them.
    let schemas: Vec<String> = tools.tools().iter().map(|tool| schema(tool).to_string()).collect();
    assert!(schemas.iter().all(|schema| !schema.contains("#/components")));
    println!("{} bytes of schemas", schemas.iter().map(String::len).sum::<usize>());

    // As a source, the tools have the same names.
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let registry = Tools::new(StateMap::new(), Limits::default());
    let start = Instant::now();
    registry.attach(tools).unwrap();
    println!("attached in {:?}", start.elapsed());
    assert_eq!(registry.names(), names.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(registry.sources()[0].withheld.is_empty());
}
