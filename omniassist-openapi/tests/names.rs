//! Names of tools and arguments.

use serde_json::{Value, json};

use crate::server::{Server, call, document, failed, schema, tool};

fn names(document: &Value) -> Vec<String> {
    let open = omniassist_openapi::OpenApi::from_json("erp", &document.to_string()).unwrap();
    let tools = open.server("https://erp.test").tools().unwrap();
    assert!(tools.skipped().is_empty(), "{:?}", tools.skipped());
    tools.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

fn encoded(name: &str) -> String {
    let encoded = name.bytes().map(|byte| match byte {
        byte if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    encoded.collect()
}

fn sorted(query: &str) -> Vec<&str> {
    let mut pairs: Vec<&str> = query.split('&').collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn names_have_the_prefix_and_at_most_64_characters() {
    let operation = |id: &str| json!({ "get": { "operationId": id } });
    let fits = "a".repeat(60);
    let long = "a".repeat(61);
    let paths = json!({
        "/1": operation("getOrder"), "/2": operation("repos/list-branches"), "/3": operation("repos.list-branches"),
        "/4": operation(&fits), "/5": operation(&long), "/6": { "get": {} }, "/7": operation("same"),
        "/8": operation("same"),
    });
    let names = names(&document("3.0.3", &paths));
    assert_eq!(names[0], "erp_getOrder");
    assert!(names[1].starts_with("erp_repos_list-branches_") && names[1].len() == 30, "{names:?}");
    assert!(names[2].starts_with("erp_repos_list-branches_") && names[1] != names[2], "{names:?}");
    assert_eq!(names[3], format!("erp_{fits}"));
    assert!(names[4].len() == 64 && names[4].starts_with("erp_aaaa") && names[4] != names[3], "{names:?}");
    assert!(names[5].starts_with("erp_GET_6_"), "{names:?}");
    // Neither of two operations with the same id keeps the name, whatever their order.
    assert!(names[6].starts_with("erp_same_") && names[7].starts_with("erp_same_") && names[6] != names[7]);
}

#[test]
fn a_name_does_not_depend_on_the_selection() {
    let paths = json!({
        "/a": { "get": { "operationId": "same" } }, "/b": { "get": { "operationId": "same", "tags": ["x"] } },
    });
    let all = names(&document("3.0.3", &paths));
    let open = omniassist_openapi::OpenApi::from_json("erp", &document("3.0.3", &paths).to_string()).unwrap();
    let tools = open.server("https://erp.test").tags(["x"]).tools().unwrap();
    assert_eq!(tools.tools().iter().map(|tool| tool.name()).collect::<Vec<_>>(), [all[1].as_str()]);
}

#[tokio::test]
async fn a_name_that_models_cannot_write_arrives_as_it_is() {
    let server = Server::start().await;
    let hard = ["a.b", "X-Request-Id", "größe", "a b", "@odata.type", "+1", &"l".repeat(100), "filter[name]"];
    for version in ["3.0.3", "3.1.0"] {
        let fields = |schema: Value| -> Value {
            Value::Object(hard.iter().map(|name| ((*name).to_owned(), schema.clone())).collect())
        };
        let inner =
            json!({ "type": "object", "required": hard, "properties": fields(json!({ "type": "string" })) });
        let body = json!({ "type": "object", "required": hard, "properties": fields(json!({ "$ref": "#/components/schemas/Inner" })) });
        let parameters: Vec<Value> = hard
            .iter()
            .map(|name| json!({ "name": name, "in": "query", "schema": { "type": "string" } }))
            .collect();
        let deep = json!({ "name": "deep", "in": "query", "style": "deepObject", "schema": { "type": "object", "properties": inner["properties"] } });
        let body = json!({ "required": true, "content": { "application/json": { "schema": body } } });
        let mut document = document(
            version,
            &json!({
                "/query": { "get": { "operationId": "query", "parameters": parameters } },
                "/deep": { "get": { "operationId": "deep", "parameters": [deep] } },
                "/body": { "post": { "operationId": "body", "requestBody": body } },
            }),
        );
        document["components"] = json!({ "schemas": { "Inner": inner } });
        let tools = server.open(&document).tools().unwrap();
        assert!(tools.loosened().is_empty(), "{:?}", tools.loosened());
        let keys = |schema: &Value| -> Vec<String> {
            schema["properties"].as_object().unwrap().keys().cloned().collect()
        };
        // Each argument has the value that its name has in the document.
        let filled = |schema: &Value, value: &Value| -> Value {
            Value::Object(keys(schema).into_iter().map(|name| (name, value.clone())).collect())
        };

        let query = tool(&tools, "t_query");
        call(&query, &filled(&schema(&query), &json!("v"))).await.unwrap();
        let pairs: Vec<String> = hard.iter().map(|name| format!("{}=v", encoded(name))).collect();
        assert_eq!(sorted(server.last().target.strip_prefix("/query?").unwrap()), sorted(&pairs.join("&")));

        let deep = tool(&tools, "t_deep");
        let mut arguments = filled(&schema(&deep)["properties"]["deep"], &json!("v"));
        // Brackets in a name would be ambiguous there.
        assert!(failed(&deep, &json!({ "deep": arguments })).await.contains("has a bracket"));
        arguments.as_object_mut().unwrap().retain(|name, _| !name.starts_with("filter"));
        call(&deep, &json!({ "deep": arguments })).await.unwrap();
        let pairs: Vec<String> = hard
            .iter()
            .filter(|name| !name.contains('['))
            .map(|name| encoded(&format!("deep[{name}]")) + "=v")
            .collect();
        assert_eq!(sorted(server.last().target.strip_prefix("/deep?").unwrap()), sorted(&pairs.join("&")));

        let body = tool(&tools, "t_body");
        let inner = filled(&schema(&body)["$defs"]["Inner"], &json!("v"));
        call(&body, &filled(&schema(&body), &inner)).await.unwrap();
        let inner = Value::Object(hard.iter().map(|name| ((*name).to_owned(), json!("v"))).collect());
        let expected = Value::Object(hard.iter().map(|name| ((*name).to_owned(), inner.clone())).collect());
        assert_eq!(serde_json::from_str::<Value>(&server.last().body).unwrap(), expected);
    }
}

#[tokio::test]
async fn arguments_of_the_same_name_begin_with_their_part() {
    let server = Server::start().await;
    let parameter = |name: &str, location: &str| json!({ "name": name, "in": location, "required": true, "schema": { "type": "string" } });
    let body = json!({ "required": true, "content": { "application/json": { "schema": {
        "type": "object", "properties": { "id": { "type": "string" }, "own": { "type": "string" } }, "required": ["id"],
    } } } });
    let paths = json!({ "/a/{id}": { "post": {
        "operationId": "one", "requestBody": body,
        "parameters": [
            parameter("id", "path"), parameter("id", "query"), parameter("id", "header"), parameter("id", "cookie"),
            parameter("filter[id]", "query"), parameter(&"x".repeat(65), "query"), parameter("$top", "query"),
            parameter("path_id", "query"),
        ],
    } } });
    let one = tool(&server.open(&document("3.0.3", &paths)).tools().unwrap(), "t_one");
    let schema = schema(&one);
    let arguments: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    let find = |start: &str| {
        arguments.iter().find(|name| name.starts_with(start) && name.len() > start.len()).unwrap().to_string()
    };
    let (filter, long, top, path) = (find("filter_id_"), find("xxx"), find("_top"), find("path_id_"));
    assert_eq!((arguments.len(), long.len()), (10, 64), "{arguments:?}");
    let arguments = json!({
        "path_id": "1", "query_id": "2", "header_id": "3", "cookie_id": "4", "body_id": "5", "own": "6",
        filter: "7", long: "8", top: "9", path: "10",
    });
    call(&one, &arguments).await.unwrap();
    let received = server.last();
    let long = "x".repeat(65);
    assert_eq!(received.target, format!("/a/1?id=2&filter%5Bid%5D=7&{long}=8&%24top=9&path_id=10"));
    assert_eq!((received.header("id"), received.header("cookie")), ("3", "id=4"));
    assert_eq!(received.body, r#"{"id":"5","own":"6"}"#);
}
