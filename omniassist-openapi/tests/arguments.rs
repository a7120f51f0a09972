//! Bodies, and parameters that are not for models.

use omniassist_openapi::OpenApi;
use serde_json::{Value, json};

use crate::server::{Server, call, document, failed, schema, tool, written};

fn with_body(content: &Value, required: bool) -> Value {
    let body = json!({ "required": required, "content": content });
    document("3.0.3", &json!({ "/a": { "post": { "operationId": "one", "requestBody": body } } }))
}

fn object() -> Value {
    json!({
        "type": "object", "required": ["a"],
        "properties": { "a": { "type": "string" }, "b": { "type": "array", "items": { "type": "integer" } }, "c": { "type": "object" } },
    })
}

#[tokio::test]
async fn bodies_are_json_forms_and_text() {
    let server = Server::start().await;
    let arguments = json!({ "a": "x y&+", "b": [1, 2], "c": { "k": [true] } });
    let form = "a=x%20y%26%2B&b=1&b=2&c=%7B%22k%22%3A%5Btrue%5D%7D";
    let json_text = r#"{"a":"x y&+","b":[1,2],"c":{"k":[true]}}"#;
    for (media_type, sent_type, body) in [
        ("application/json", "application/json", json_text),
        ("application/json; charset=utf-8", "application/json; charset=utf-8", json_text),
        ("application/merge-patch+json", "application/merge-patch+json", json_text),
        ("*/*", "application/json", json_text),
        ("application/x-www-form-urlencoded", "application/x-www-form-urlencoded", form),
    ] {
        let tools =
            server.open(&with_body(&json!({ media_type: { "schema": object() } }), true)).tools().unwrap();
        call(&tool(&tools, "t_one"), &arguments).await.unwrap();
        let received = server.last();
        assert_eq!((received.header("content-type"), received.body.as_str()), (sent_type, body));
    }
    let tools = server
        .open(&with_body(&json!({ "text/csv": { "schema": { "type": "string" } } }), true))
        .tools()
        .unwrap();
    call(&tool(&tools, "t_one"), &json!({ "body": "a;b\n" })).await.unwrap();
    assert_eq!((server.last().header("content-type"), server.last().body.as_str()), ("text/csv", "a;b\n"));
}

#[tokio::test]
async fn a_form_in_parts_has_a_part_for_each_field() {
    let server = Server::start().await;
    let mut schema = object();
    schema["properties"]["picture"] = json!({ "type": "string", "format": "binary" });
    schema["properties"]["more"] =
        json!({ "type": "array", "items": { "type": "string", "contentMediaType": "image/png" } });
    let encoding = json!({ "a": { "contentType": "text/csv, text/plain" }, "b": { "contentType": "*/*" } });
    let form = json!({ "multipart/form-data": { "schema": schema, "encoding": encoding } });
    let one = tool(&server.open(&with_body(&form, true)).tools().unwrap(), "t_one");
    // A model cannot write bytes.
    let offered = self::schema(&one)["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(offered, ["a", "b", "c"]);
    call(&one, &json!({ "a": "x\r\n--y", "b": [1, 2], "c": { "k": [true] } })).await.unwrap();
    let received = server.last();
    let boundary = received.header("content-type").strip_prefix("multipart/form-data; boundary=").unwrap();
    let part = |name: &str, media_type: &str, text: &str| {
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n{media_type}\r\n{text}\r\n"
        )
    };
    let expected = [
        part("a", "Content-Type: text/csv\r\n", "x\r\n--y"),
        part("b", "", "1"),
        part("b", "", "2"),
        part("c", "Content-Type: application/json\r\n", r#"{"k":[true]}"#),
        format!("--{boundary}--\r\n"),
    ];
    assert_eq!(received.body, expected.concat());
    assert_eq!(boundary.len(), 32);
}

#[tokio::test]
async fn an_optional_form_that_is_one_argument_offers_no_files() {
    let server = Server::start().await;
    let mut schema = object();
    schema["properties"]["picture"] = json!({ "type": "string", "format": "binary" });
    schema["required"] = json!(["a"]);
    let form = json!({ "multipart/form-data": { "schema": schema } });
    let one = tool(&server.open(&with_body(&form, false)).tools().unwrap(), "t_one");
    let body = &self::schema(&one)["properties"]["body"];
    let offered = body["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!((offered, &body["required"]), (["a", "b", "c"].map(str::to_owned).to_vec(), &json!(["a"])));
    call(&one, &json!({ "body": { "a": "x" } })).await.unwrap();
    assert!(server.last().body.contains("name=\"a\"\r\n\r\nx"), "{}", server.last().body);
}

#[tokio::test]
async fn files_of_a_form_are_found_behind_references_and_by_media_types() {
    let server = Server::start().await;
    let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let text = || json!({ "type": "string" });
    let own = json!({ "type": "object", "properties": {
        "by_reference": reference("File"), "in_all_of": { "allOf": [reference("File")] },
        "in_list": { "type": "array", "items": reference("File") }, "image": text(), "pdf": {},
        "note": text(), "both": text(), "meta": { "type": "object" }, "code": { "type": "string", "contentMediaType": "text/csv" },
    } });
    let encoding = json!({
        "image": { "contentType": "image/*" }, "pdf": { "contentType": "application/pdf" },
        "both": { "contentType": "application/pdf, text/plain" }, "meta": { "contentType": "application/json" },
    });
    let form = |schema: &Value| {
        let content = json!({ "multipart/form-data": { "schema": schema, "encoding": encoding } });
        let mut document = with_body(&content, true);
        document["openapi"] = "3.1.0".into();
        document["components"] = json!({ "schemas": {
            "File": { "type": "string", "format": "binary" }, "Own": own,
            "Base": { "type": "object", "required": ["note"], "properties": { "base": text() } },
        } });
        server.open(&document).tools().unwrap()
    };
    let whole = json!({ "allOf": [reference("Base"), reference("Own")] });
    for (schema, base) in [(&own, None), (&reference("Own"), None), (&whole, Some("base"))] {
        let one = tool(&form(schema), "t_one");
        let offered: Vec<String> =
            self::schema(&one)["properties"].as_object().unwrap().keys().cloned().collect();
        let expected: Vec<&str> = base.into_iter().chain(["both", "code", "meta", "note"]).collect();
        assert_eq!(offered, expected, "{schema}");
        call(&one, &json!({ "note": "x", "both": "y" })).await.unwrap();
        assert!(server.last().body.contains("name=\"both\"\r\nContent-Type: text/plain\r\n\r\ny"));
    }
    for file in ["by_reference", "in_all_of", "in_list", "image", "pdf"] {
        let needed = json!({ "required": [file] });
        for schema in [
            json!({ "allOf": [whole, needed] }),
            json!({ "allOf": [needed, reference("Own")], "minProperties": 1 }),
        ] {
            let tools = form(&schema);
            assert_eq!(tools.skipped()[0].reason(), format!("its body needs the file {file:?}"), "{schema}");
        }
    }
}

#[tokio::test]
async fn fields_beside_the_reference_of_a_body_are_sent_in_3_1_only() {
    let server = Server::start().await;
    let beside = json!({ "$ref": "#/components/schemas/Own", "required": ["b"], "properties": { "b": { "type": "string" } } });
    let open = |version: &str, schema: &Value| {
        let mut document = with_body(&json!({ "application/json": { "schema": schema } }), true);
        document["openapi"] = version.into();
        document["components"] = json!({ "schemas": { "Own": { "type": "object", "properties": { "a": { "type": "integer" } } } } });
        tool(&server.open(&document).tools().unwrap(), "t_one")
    };
    let one = open("3.1.0", &beside);
    call(&one, &json!({ "body": { "a": 1, "b": "x" } })).await.unwrap();
    assert_eq!(server.last().body, r#"{"a":1,"b":"x"}"#);
    let described = json!({ "$ref": "#/components/schemas/Own", "type": "object", "description": "own" });
    for one in [open("3.0.3", &beside), open("3.1.0", &described)] {
        assert!(schema(&one)["properties"].get("a").is_some(), "{}", schema(&one));
    }
}

#[tokio::test]
async fn json_is_preferred_and_a_form_can_have_styles() {
    let server = Server::start().await;
    let all = json!({
        "multipart/form-data": { "schema": object() }, "text/plain": { "schema": {} },
        "application/x-www-form-urlencoded": { "schema": object() }, "application/json": { "schema": object() },
    });
    let tools = server.open(&with_body(&all, true)).tools().unwrap();
    call(&tool(&tools, "t_one"), &json!({ "a": "1" })).await.unwrap();
    assert_eq!(
        (server.last().header("content-type"), server.last().body.as_str()),
        ("application/json", r#"{"a":"1"}"#)
    );
    let encoding = json!({ "b": { "style": "form", "explode": false }, "c": { "style": "deepObject" } });
    let form = json!({ "application/x-www-form-urlencoded": { "schema": object(), "encoding": encoding } });
    let tools = server.open(&with_body(&form, true)).tools().unwrap();
    call(&tool(&tools, "t_one"), &json!({ "a": "1", "b": [1, 2], "c": { "k": "v" } })).await.unwrap();
    assert_eq!(server.last().body, "a=1&b=1,2&c%5Bk%5D=v");
}

#[tokio::test]
async fn an_integer_whose_digits_would_be_lost_is_refused() {
    let server = Server::start().await;
    let schema = json!({ "type": "object", "properties": { "a": { "type": "array", "items": { "type": "object" } } } });
    let one = server.open(&with_body(&json!({ "application/json": { "schema": schema } }), true));
    let one = tool(&one.tools().unwrap(), "t_one");
    let exact = r#"{"a":[{"id":18446744073709551615},{"id":-9223372036854775808,"price":1.5}]}"#;
    written("ann", &one, exact).await.unwrap();
    assert_eq!(server.last().body, exact);
    let long = r#"{"a":[{"id":1},{"id":123456789012345678901234567890}]}"#;
    let error = written("ann", &one, long).await.unwrap_err();
    assert!(error.text().contains("`a[1].id` has more than 64 bits"), "{}", error.text());
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_method_that_expects_a_body_has_a_length_without_one() {
    let server = Server::start().await;
    for (method, length) in [("post", "0"), ("put", "0"), ("patch", "0"), ("delete", ""), ("get", "")] {
        let paths = json!({ "/a": { method: { "operationId": "one" } } });
        let tools = server.open(&document("3.0.3", &paths)).tools().unwrap();
        call(&tool(&tools, "t_one"), &json!({})).await.unwrap();
        let received = server.last();
        assert_eq!((received.header("content-length"), received.body.as_str()), (length, ""), "{method}");
    }
}

#[tokio::test]
async fn an_optional_body_is_sent_only_if_the_model_gives_it() {
    let server = Server::start().await;
    // A field that the body needs is needed only with the body.
    let tools = server
        .open(&with_body(&json!({ "application/json": { "schema": object() } }), false))
        .tools()
        .unwrap();
    let one = tool(&tools, "t_one");
    assert_eq!(schema(&one)["properties"]["body"]["required"], json!(["a"]));
    call(&one, &json!({})).await.unwrap();
    assert_eq!((server.last().body.as_str(), server.last().header("content-type")), ("", ""));
    call(&one, &json!({ "body": { "a": "1" } })).await.unwrap();
    assert_eq!(server.last().body, r#"{"a":"1"}"#);
    let mut free = object();
    free.as_object_mut().unwrap().remove("required");
    for (required, expected) in [(false, ""), (true, "{}")] {
        let tools = server
            .open(&with_body(&json!({ "application/json": { "schema": free } }), required))
            .tools()
            .unwrap();
        call(&tool(&tools, "t_one"), &json!({})).await.unwrap();
        assert_eq!(server.last().body, expected);
    }
}

#[tokio::test]
async fn a_body_that_is_no_plain_object_is_one_argument() {
    let server = Server::start().await;
    let variant = json!({ "oneOf": [{ "type": "object" }, { "type": "array", "items": {} }] });
    let map =
        json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": { "type": "integer" } });
    for (schema, value) in [
        (json!({ "type": "array", "items": { "type": "integer" } }), json!([1])),
        (json!({ "type": "string" }), json!("x")),
        (variant, json!([1])),
        (map, json!({ "z": 1 })),
        (json!({}), json!(null)),
    ] {
        let tools = server
            .open(&with_body(&json!({ "application/json": { "schema": schema } }), true))
            .tools()
            .unwrap();
        call(&tool(&tools, "t_one"), &json!({ "body": value })).await.unwrap();
        assert_eq!(server.last().body, value.to_string());
    }
    // A text is sent as it is, whatever its schema says.
    for told in [object(), json!({ "type": "integer" })] {
        let text = json!({ "text/plain": { "schema": told } });
        let one = tool(&server.open(&with_body(&text, true)).tools().unwrap(), "t_one");
        assert_eq!(schema(&one)["properties"], json!({ "body": { "type": "string" } }));
        call(&one, &json!({ "body": "x" })).await.unwrap();
        assert_eq!(server.last().body, "x");
    }
    let form = json!({ "application/x-www-form-urlencoded": { "schema": {} } });
    let tools = server.open(&with_body(&form, true)).tools().unwrap();
    let text = failed(&tool(&tools, "t_one"), &json!({ "body": [1] })).await;
    assert_eq!(text, "The argument for the body must be an object.");
}

#[test]
fn fields_that_only_the_server_sets_are_not_offered() {
    let body = json!({
        "type": "object",
        "properties": { "id": { "type": "string", "readOnly": true }, "name": { "type": "string" } },
    });
    let document = with_body(&json!({ "application/json": { "schema": body } }), true);
    let open = OpenApi::from_json("t", &document.to_string()).unwrap().server("https://erp.test");
    let schema = schema(&tool(&open.tools().unwrap(), "t_one"));
    assert_eq!(schema["properties"], json!({ "name": { "type": "string" } }));
}

#[tokio::test]
async fn headers_of_the_connection_and_secrets_are_not_offered() {
    let server = Server::start().await;
    let parameters: Vec<Value> = [
        ("Accept", "header"),
        ("content-type", "header"),
        ("Authorization", "header"),
        ("Host", "header"),
        ("X-Api-Key", "header"),
        ("Content-Length", "header"),
        ("x-forwarded-for", "header"),
        ("Cookie", "header"),
        ("access_token", "query"),
        ("api_key", "query"),
        ("session_token", "cookie"),
        ("page", "query"),
        ("X-Trace", "header"),
    ]
    .iter()
    .map(|(name, location)| json!({ "name": name, "in": location, "schema": { "type": "string" } }))
    .collect();
    let paths = json!({ "/a": { "get": { "operationId": "one", "parameters": parameters } } });
    let one = tool(&server.open(&document("3.0.3", &paths)).tools().unwrap(), "t_one");
    let schema = schema(&one);
    let offered: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(offered, ["X-Trace", "page"]);
    call(&one, &json!({ "page": "2", "X-Trace": "7" })).await.unwrap();
    assert_eq!((server.last().target.as_str(), server.last().header("x-trace")), ("/a?page=2", "7"));
}

#[test]
fn only_reads_run_without_approval_and_again() {
    use omniassist_server::core::run::{Gate, ToolCatalog};
    use omniassist_server::core::{JsonText, Limits};
    use omniassist_server::tool::{StateMap, Tools};

    let operation = |id: &str| json!({ "operationId": id });
    let paths = json!({ "/a": {
        "get": operation("get"), "head": operation("head"), "post": operation("post"), "put": operation("put"),
        "patch": operation("patch"), "delete": operation("delete"), "options": operation("options"),
    } });
    for needed in [true, false] {
        let open =
            omniassist_openapi::OpenApi::from_json("t", &document("3.0.3", &paths).to_string()).unwrap();
        let tools = open.server("https://erp.test").approval_for_writes(needed).tools().unwrap();
        assert_eq!(tools.tools().len(), 7);
        let registry = Tools::new(StateMap::new(), Limits::default());
        for tool in tools {
            let name = tool.name().to_owned();
            registry.register(tool).unwrap();
            let snapshot = registry.snapshot();
            let is_read = ["t_get", "t_head"].contains(&name.as_str());
            assert_eq!(snapshot.get(&name).unwrap().may_run_again(), is_read, "{name}");
            let gate = snapshot.gate(&name, &JsonText::EMPTY_OBJECT);
            assert_eq!(matches!(gate, Gate::Approval { .. }), needed && !is_read, "{name}");
            assert_eq!(matches!(gate, Gate::Open), !needed || is_read, "{name}");
        }
    }
}

#[tokio::test]
async fn parameters_of_the_path_hold_unless_the_operation_has_its_own() {
    let server = Server::start().await;
    let parameter = |name: &str, location: &str, kind: &str| json!({ "name": name, "in": location, "required": location == "path", "schema": { "type": kind } });
    let operation = json!({
        "operationId": "one", "summary": "Reads one",
        "parameters": [parameter("q", "query", "string"), parameter("X-A", "header", "string")],
    });
    let shared = json!([
        parameter("id", "path", "integer"), parameter("q", "query", "integer"), parameter("x-a", "header", "integer"),
        { "$ref": "#/components/parameters/page%20size" },
    ]);
    let mut document = document("3.0.3", &json!({ "/a/{id}": { "$ref": "#/components/pathItems/a" } }));
    document["components"] = json!({
        "parameters": { "page size": parameter("page", "query", "integer") },
        "pathItems": { "a": { "get": operation, "parameters": shared } },
    });
    let one = tool(&server.open(&document).tools().unwrap(), "t_one");
    let schema = schema(&one);
    let kinds = ["id", "q", "X-A", "page"]
        .map(|name| schema["properties"][name]["type"].as_str().unwrap().to_owned());
    assert_eq!(kinds, ["integer", "string", "string", "integer"]);
    assert_eq!(schema["properties"].as_object().unwrap().len(), 4);
    call(&one, &json!({ "id": 1, "q": "x", "X-A": "y", "page": 2 })).await.unwrap();
    assert_eq!((server.last().target.as_str(), server.last().header("x-a")), ("/a/1?q=x&page=2", "y"));
    assert!(format!("{one:?}").contains("title: Some(\"Reads one\")"), "{one:?}");
}
