//! The selection of operations, and the report of those that are no tools.

use http::Method;
use omniassist_openapi::{HttpTool, OpenApi};
use serde_json::{Value, json};

use crate::server::document;

fn open(paths: &Value) -> OpenApi {
    OpenApi::from_json("t", &document("3.0.3", paths).to_string()).unwrap().server("https://erp.test")
}

#[test]
fn operations_are_selected_by_id_tag_and_method() {
    let operation = |id: &str, tag: &str| json!({ "operationId": id, "tags": [tag] });
    let paths = json!({
        "/a": { "get": operation("getA", "x"), "post": operation("createA", "x") },
        "/b": { "get": operation("getB", "y"), "delete": operation("deleteB", "y"), "put": {} },
    });
    let names = |open: OpenApi| -> Vec<String> {
        open.tools().unwrap().tools().iter().map(|tool| tool.name().to_owned()).collect()
    };
    let open = || open(&paths);
    assert_eq!(names(open()).len(), 5);
    assert_eq!(names(open().only(["get*"])), ["t_getA", "t_getB"]);
    assert_eq!(names(open().only(["get*", "createA"]).except(["*B"])), ["t_getA", "t_createA"]);
    assert_eq!(names(open().tags(["y"]).methods([Method::GET])), ["t_getB"]);
    assert_eq!(names(open().methods([Method::GET, Method::DELETE])), ["t_getA", "t_getB", "t_deleteB"]);
    assert_eq!(names(open().only(["PUT /b"])).len(), 1);
    for (open, setting) in [
        (open().only(["gt*"]), "`only`"),
        (open().except(["gt*"]), "`except`"),
        (open().tags(["z"]), "`tags`"),
    ] {
        let error = open.tools().unwrap_err();
        assert!(error.is_configuration() && error.to_string().contains(setting), "{error}");
    }
}

#[test]
fn each_skipped_operation_has_a_reason() {
    let parameter = |name: &str, location: &str| json!([{ "name": name, "in": location, "required": true, "schema": {} }]);
    let body = |media_type: &str, required: bool| json!({ "required": required, "content": { media_type: { "schema": {} } } });
    let file = |required: bool| {
        json!({ "required": required, "content": { "multipart/form-data": { "schema": {
        "type": "object", "required": ["f"], "properties": { "f": { "type": "string", "format": "binary" } } } } } })
    };
    let schema = |schema: Value| json!([{ "name": "p", "in": "query", "schema": schema }]);
    let rows = [
        (json!({ "trace": {} }), "TRACE"),
        (json!({ "get": { "servers": [{ "url": "https://upload.test" }] } }), "servers of its own"),
        (json!({ "get": {}, "servers": [] }), "servers of its own"),
        (json!({ "post": { "requestBody": file(true) } }), "its body needs the file \"f\""),
        (
            json!({ "post": { "requestBody": body("application/octet-stream", true) } }),
            "neither JSON nor a form nor text",
        ),
        (json!({ "get": { "parameters": parameter("Host", "header") } }), "belongs to the connection"),
        (json!({ "get": { "parameters": parameter("X-Api-Key", "header") } }), "holds a secret"),
        (json!({ "get": { "parameters": parameter("api_key", "query") } }), "holds a secret"),
        (
            json!({ "get": { "parameters": schema(json!({ "$ref": "other.json#/A" })) } }),
            "outside of the document",
        ),
        (
            json!({ "get": { "parameters": schema(json!({ "$ref": "https://x.test/a" })) } }),
            "outside of the document",
        ),
        (json!({ "get": { "parameters": schema(json!({ "type": "file" })) } }), "no JSON Schema type"),
        (
            json!({ "get": { "parameters": schema(json!({ "required": true })) } }),
            "`required` must be a list",
        ),
        (json!({ "get": { "parameters": schema(json!({ "minLength": -1 })) } }), "`minLength`"),
    ];
    for (item, reason) in &rows {
        let tools = open(&json!({ "/a": item, "/b": { "get": {} } })).tools().unwrap();
        assert_eq!((tools.skipped().len(), tools.tools().len()), (1, 1), "{item} {:?}", tools.skipped());
        let skipped = &tools.skipped()[0];
        assert!(skipped.reason().contains(reason), "{item} {skipped:?}");
        assert!(
            skipped.pointer().starts_with("/paths/~1a/") && skipped.operation().ends_with(" /a"),
            "{skipped:?}"
        );
    }
    let tools = open(&json!({ "/a?x=y": { "get": {} } })).tools().unwrap();
    assert_eq!(tools.skipped()[0].reason(), "its path has a query or a fragment");
    // An optional body of another form is left out, and so is a body that the method does not have.
    let optional = json!({ "/a": { "post": { "requestBody": body("application/octet-stream", false) }, "get": { "requestBody": body("application/json", true) } } });
    let tools = open(&optional).tools().unwrap();
    assert!(tools.skipped().is_empty(), "{:?}", tools.skipped());
    let left_out: Vec<&str> = tools.loosened().iter().map(|finding| finding.operation()).collect();
    assert_eq!(left_out, ["GET /a"]);
    assert!(tools.loosened()[0].reason().starts_with("its required body is left out"));
}

#[test]
fn a_part_in_another_document_skips_the_operation() {
    let other = || json!({ "$ref": "other.json#/a" });
    for (item, operation, pointer) in [
        (other(), "/{a}", "/paths/~1{a}"),
        (json!({ "get": { "parameters": [other()] } }), "GET /{a}", "/paths/~1{a}/get"),
        (json!({ "get": {}, "parameters": [other()] }), "GET /{a}", "/paths/~1{a}/get"),
        (json!({ "post": { "requestBody": other() } }), "POST /{a}", "/paths/~1{a}/post"),
    ] {
        let tools = open(&json!({ "/{a}": item, "/b": { "get": {} } })).tools().unwrap();
        assert_eq!(tools.tools().len(), 1, "{item}");
        let skipped = &tools.skipped()[0];
        assert_eq!((skipped.operation(), skipped.pointer()), (operation, pointer));
        assert_eq!(skipped.reason(), "it refers to \"other.json#/a\", outside of the document");
    }
}

#[test]
fn the_password_of_a_server_is_not_shown() {
    let document = document("3.0.3", &json!({ "/a": { "get": {} } })).to_string();
    for url in [
        "https://ann:pw123@erp.test",
        "https://ann:pw123@erp test",
        "ann:pw123@erp.test",
        "https://ann:pw/pw123@erp.test",
    ] {
        let open = OpenApi::from_json("t", &document).unwrap().server(url);
        let tool = HttpTool::get("one", "One", url);
        let settings = format!("{open:?} {tool:?}");
        let errors = (open.tools().unwrap_err(), tool.build().unwrap_err());
        let shown = format!("{settings} {errors:?} {} {}", errors.0, errors.1);
        assert!(!shown.contains("pw123") && shown.contains("[redacted]"), "{shown}");
    }
}

#[test]
fn a_server_is_needed_and_must_be_usable() {
    let document = document("3.0.3", &json!({ "/a": { "get": {} } })).to_string();
    let open = || OpenApi::from_json("t", &document).unwrap();
    let error = open().tools().unwrap_err();
    assert!(error.is_configuration() && error.to_string().contains("there is no server"), "{error}");
    for url in [
        "",
        "erp.test",
        "/v2",
        "ftp://erp.test",
        "https://",
        "https://user:pw@erp.test",
        "https://erp.test/?a=b",
        "https://erp.test/#a",
        "http://erp.test",
        "https://erp test",
        "https://{host}/",
    ] {
        let error = open().server(url).tools().unwrap_err();
        assert!(error.is_configuration() && error.to_string().contains("server"), "{url}: {error}");
    }
    for url in ["https://erp.test", "https://erp.test/", "https://erp.test:8443/v2", "https://ERP.test/v2/"] {
        assert!(open().server(url).tools().is_ok(), "{url}");
    }
}

#[test]
fn an_operation_cannot_take_the_name_of_another() {
    // `printf %s t_a/b | sha256sum` begins with these digits, so the first id becomes the second one.
    let paths = json!({ "/a": { "get": { "operationId": "a/b" } }, "/b": { "get": { "operationId": "a_b_e305dc" } } });
    let tools = open(&paths).tools().unwrap();
    assert_eq!(tools.tools().iter().map(|tool| tool.name()).collect::<Vec<_>>(), ["t_a_b_e305dc"]);
    assert_eq!(tools.skipped()[0].pointer(), "/paths/~1b/get");
    assert_eq!(tools.skipped()[0].reason(), "another operation has the name \"t_a_b_e305dc\"");
}
