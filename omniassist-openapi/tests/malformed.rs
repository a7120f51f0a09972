//! Documents with faults: each is refused before anything is called, and the error names the place.

use omniassist_openapi::OpenApi;
use serde_json::{Value, json};

use crate::server::document;

fn operation(operation: &Value) -> String {
    document("3.0.3", &json!({ "/a/{id}": { "get": operation } })).to_string()
}

fn parameter(parameter: &Value) -> String {
    let id = json!({ "name": "id", "in": "path", "required": true, "schema": {} });
    operation(&json!({ "parameters": [id, parameter] }))
}

fn path(path: &str, item: &Value) -> String {
    document("3.1.0", &json!({ path: item })).to_string()
}

fn body(body: &Value) -> String {
    path("/a", &json!({ "post": { "requestBody": body } }))
}

#[test]
fn a_fault_is_reported_with_its_place() {
    let own = "/paths/~1a~1{id}/get";
    let second = "@/parameters/1";
    let id = json!({ "name": "id", "in": "path", "required": true, "schema": {} });
    let rows: Vec<(String, &str, &str)> = vec![
        ("{".to_owned(), "", "not valid JSON"),
        ("[]".to_owned(), "", "must be an object"),
        (json!({ "swagger": "2.0", "paths": {} }).to_string(), "", "Swagger 2.0"),
        (json!({ "paths": {} }).to_string(), "", "no `openapi`"),
        (json!({ "openapi": 3, "paths": {} }).to_string(), "/openapi", "must be a string"),
        (json!({ "openapi": "3.2.0", "paths": {} }).to_string(), "/openapi", "must be 3.0.x or 3.1.x"),
        (json!({ "openapi": "3.0.0" }).to_string(), "", "no `paths`"),
        (json!({ "openapi": "3.0.0", "paths": [] }).to_string(), "/paths", "must be an object"),
        (path("a", &json!({})), "/paths/a", "begins with `/`"),
        (path("/{a", &json!({})), "/paths/~1{a", "open brace"),
        (path("/a}", &json!({})), "/paths/~1a}", "brace without a name"),
        (path("/{a}/{a}", &json!({})), "/paths/~1{a}~1{a}", "twice"),
        (path("/a", &json!([])), "/paths/~1a", "must be an object"),
        (path("/a", &json!({ "get": 1 })), "/paths/~1a/get", "must be an object"),
        (path("/a", &json!({ "$ref": "#/gone" })), "/paths/~1a", "leads nowhere"),
        (operation(&json!({})), own, "\"id\" is not declared"),
        (operation(&json!({ "parameters": {} })), "@/parameters", "must be a list"),
        (operation(&json!({ "operationId": 1, "parameters": [id] })), "@/operationId", "must be a string"),
        (operation(&json!({ "tags": [1], "parameters": [id] })), "@/tags/0", "tag"),
        (
            operation(&json!({ "security": [{ "gone": [] }], "parameters": [id] })),
            "@/security/0/gone",
            "no security scheme",
        ),
        (parameter(&json!({ "in": "query", "schema": {} })), second, "no `name`"),
        (parameter(&json!({ "name": "p", "schema": {} })), second, "no `in`"),
        (parameter(&json!({ "name": "p", "in": "body", "schema": {} })), second, "`in` is \"body\""),
        (parameter(&json!({ "name": "p", "in": "query" })), second, "either a `schema` or a `content`"),
        (
            parameter(&json!({ "name": "p", "in": "query", "schema": 1 })),
            "@/parameters/1/schema",
            "must be an object",
        ),
        (
            parameter(&json!({ "name": "p", "in": "query", "schema": {}, "style": "deep" })),
            second,
            "\"deep\" is not known",
        ),
        (
            parameter(&json!({ "name": "p", "in": "query", "schema": {}, "style": "matrix" })),
            second,
            "does not fit a query",
        ),
        (
            parameter(&json!({ "name": "p", "in": "query", "schema": {}, "required": "no" })),
            "@/parameters/1/required",
            "`true` or `false`",
        ),
        (parameter(&json!({ "name": "q", "in": "path", "schema": {} })), second, "must be `required`"),
        (
            parameter(&json!({ "name": "q", "in": "path", "required": true, "schema": {} })),
            own,
            "no placeholder \"q\"",
        ),
        (parameter(&id), second, "is there twice"),
        (parameter(&json!({ "$ref": "#/components/parameters/Gone" })), second, "leads nowhere"),
        (
            parameter(&json!({ "name": "p", "in": "query", "content": { "a/b": {}, "c/d": {} } })),
            "@/parameters/1/content",
            "one media type",
        ),
        (body(&json!({})), "/paths/~1a/post/requestBody", "no `content`"),
        (body(&json!({ "content": [] })), "/paths/~1a/post/requestBody/content", "must be an object"),
        (
            body(&json!({ "content": { "application/json": { "schema": [] } } })),
            "/paths/~1a/post/requestBody/content/application~1json/schema",
            "must be an object",
        ),
    ];
    assert!(rows.len() >= 12);
    for (text, pointer, reason) in rows {
        // `@` is the operation.
        let pointer = pointer.replace('@', own);
        let error = OpenApi::from_json("t", &text).unwrap_err();
        assert!(error.is_document() && !error.is_configuration(), "{text}: {error}");
        assert_eq!(error.pointer(), Some(pointer.as_str()), "{text}: {error}");
        assert!(error.to_string().contains(reason), "{text}: {error}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_document() {
    let text = format!("\u{feff}{}", document("3.0.3", &json!({ "/a": { "get": {} } })));
    let open = OpenApi::from_json("t", &text).unwrap().server("https://erp.test");
    assert_eq!(open.tools().unwrap().tools().len(), 1);
}

#[test]
fn faults_of_components_are_reported_with_their_place() {
    for (components, pointer, reason) in [
        (json!({ "securitySchemes": { "s": {} } }), "/components/securitySchemes/s", "no `type`"),
        (
            json!({ "securitySchemes": { "s": { "type": "x" } } }),
            "/components/securitySchemes/s",
            "not known",
        ),
        (
            json!({ "securitySchemes": { "s": { "type": "apiKey", "in": "body", "name": "k" } } }),
            "/components/securitySchemes/s",
            "`in`",
        ),
        (
            json!({ "securitySchemes": { "s": { "$ref": "#/components/securitySchemes/s" } } }),
            "/components/securitySchemes/s",
            "circle",
        ),
    ] {
        let mut document = document("3.0.3", &json!({}));
        document["components"] = components;
        let error = OpenApi::from_json("t", &document.to_string()).unwrap_err();
        assert_eq!(error.pointer(), Some(pointer), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn a_reference_of_a_schema_that_leads_nowhere_is_found_before_a_call() {
    let parameters = json!([{ "name": "p", "in": "query", "schema": { "$ref": "#/components/schemas/A" } }]);
    let mut document = document(
        "3.0.3",
        &json!({ "/a": { "get": { "operationId": "a", "parameters": parameters } }, "/b": { "get": { "operationId": "b" } } }),
    );
    for (schemas, pointer, reason) in [
        (json!({}), "/paths/~1a/get", "\"#/components/schemas/A\" leads nowhere"),
        (
            json!({ "A": { "items": { "$ref": "#/gone" } } }),
            "/components/schemas/A",
            "\"#/gone\" leads nowhere",
        ),
        (json!({ "A": { "items": { "$ref": "#/openapi" } } }), "/components/schemas/A", "no schema"),
    ] {
        document["components"] = json!({ "schemas": schemas });
        let open = || OpenApi::from_json("t", &document.to_string()).unwrap().server("https://erp.test");
        let error = open().tools().unwrap_err();
        assert_eq!(error.pointer(), Some(pointer), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
        // The other operations can still be used.
        assert_eq!(open().except(["a"]).tools().unwrap().tools().len(), 1);
    }
}
