//! Path parameters stay in their place.

use omniassist_openapi::OpenApi;
use omniassist_server::core::run::{Gate, ToolCatalog};
use omniassist_server::core::{JsonText, Limits};
use omniassist_server::tool::{StateMap, Tools};
use serde_json::{Value, json};

use crate::server::{Server, call, document, failed, tool};

fn operation(path: &str, style: &str, names: &[&str]) -> Value {
    let parameters: Vec<Value> = names
        .iter()
        .map(|name| json!({ "name": name, "in": "path", "required": true, "style": style, "schema": {} }))
        .collect();
    document("3.0.3", &json!({ path: { "get": { "operationId": "one", "parameters": parameters } } }))
}

#[tokio::test]
async fn steps_to_other_paths_are_refused_before_a_request() {
    let server = Server::start().await;
    let one = tool(&server.open(&operation("/a/{p}/z", "simple", &["p"])).tools().unwrap(), "t_one");
    for value in ["..", ".", "../admin", "x/../../admin", "..\\admin", "x/.", "./x"] {
        let text = failed(&one, &json!({ "p": value })).await;
        assert_eq!(text, "An argument in the path of the URL must not be `.` or `..`.", "{value}");
    }
    for value in [json!(""), json!(null), json!([]), json!({}), json!([""])] {
        assert_eq!(failed(&one, &json!({ "p": value })).await, "The argument for `p` is empty.", "{value}");
    }
    // Two values, or a style's own dot, can make a step together.
    let two = tool(&server.open(&operation("/a/{p}{q}", "simple", &["p", "q"])).tools().unwrap(), "t_one");
    let label = tool(&server.open(&operation("/a/{p}", "label", &["p"])).tools().unwrap(), "t_one");
    for (tool, arguments) in
        [(&two, json!({ "p": ".", "q": "." })), (&label, json!({ "p": "." })), (&label, json!({ "p": "" }))]
    {
        assert!(failed(tool, &arguments).await.contains("must not be `.`"), "{arguments}");
    }
    assert!(server.received().is_empty());
}

#[test]
fn a_question_of_an_approval_names_the_path_that_is_called() {
    let parameters = json!([{ "name": "article", "in": "path", "required": true, "schema": {} }]);
    let reserve = json!({ "operationId": "one", "summary": "Reserve an article", "parameters": parameters });
    let document = document("3.0.3", &json!({ "/articles/{article}/reserve": { "post": reserve } }));
    let one = tool(
        &OpenApi::from_json("t", &document.to_string()).unwrap().server("https://erp.test").tools().unwrap(),
        "t_one",
    );
    let tools = Tools::new(StateMap::new(), Limits::default());
    tools.register(one).unwrap();
    let long = "x".repeat(300);
    for (article, path) in [
        (json!(17), "/articles/17/reserve"),
        (json!("A 1/\u{202e}\n7"), "/articles/A%201%2F%E2%80%AE%0A7/reserve"),
        (json!(".."), "/articles/{article}/reserve"),
        (json!(long), "/articles/{article}/reserve"),
    ] {
        let arguments = JsonText::from_value(&json!({ "article": article }));
        let gate = tools.snapshot().gate("t_one", &arguments);
        let Gate::Approval { message, .. } = gate else { panic!("{gate:?}") };
        assert_eq!(message.unwrap().as_str(), format!("Reserve an article: POST {path}"));
    }
}

#[tokio::test]
async fn a_value_cannot_change_the_number_of_segments() {
    let server = Server::start().await;
    let one = tool(&server.open(&operation("/a/{p}/z", "simple", &["p"])).tools().unwrap(), "t_one");
    for value in [
        "a/b",
        "//evil.test",
        "@evil.test",
        "a?b",
        "a#b",
        "a;b",
        "%2e%2e",
        "%2F",
        "...",
        "..x",
        "a\\b",
        "a\tb",
        "http://x/",
    ] {
        call(&one, &json!({ "p": value })).await.unwrap();
        let target = server.last().target;
        assert_eq!(target.matches('/').count(), 3, "{value} {target}");
        assert!(
            target.starts_with("/a/") && target.ends_with("/z") && !target.contains(['?', '@', ';']),
            "{target}"
        );
    }
}

#[tokio::test]
async fn the_server_is_that_of_the_code_and_its_path_is_kept() {
    let server = Server::start().await;
    let mut evil = operation("/a b/{p}", "simple", &["p"]);
    evil["servers"] = json!([{ "url": "http://127.0.0.2:1/{x}", "variables": { "x": { "default": "y" } } }]);
    let open = server.open(&evil).server(format!("{}/v2/", server.url()));
    call(&tool(&open.tools().unwrap(), "t_one"), &json!({ "p": 1 })).await.unwrap();
    assert_eq!(server.last().target, "/v2/a%20b/1");
}
