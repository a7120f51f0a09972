//! Names of tools and arguments.

use serde_json::{Value, json};

use crate::server::{Server, call, document, schema, tool};

fn names(document: &Value) -> Vec<String> {
    let open = omniassist_openapi::OpenApi::from_json("erp", &document.to_string()).unwrap();
    let tools = open.server("https://erp.test").tools().unwrap();
    assert!(tools.skipped().is_empty(), "{:?}", tools.skipped());
    tools.tools().iter().map(|tool| tool.name().to_owned()).collect()
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
    let tools = open.server("https://erp.test").tags(["x"]).tools().unwrap().into_tools();
    assert_eq!(tools.iter().map(|tool| tool.name()).collect::<Vec<_>>(), [all[1].as_str()]);
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
