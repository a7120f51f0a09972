//! Limits, at the limit and one beyond.

use omniassist_openapi::OpenApi;
use serde_json::{Value, json};

use crate::server::{Server, call, document, failed, reply, schema, tool};

fn read() -> Value {
    document("3.0.3", &json!({ "/a": { "get": { "operationId": "read" } } }))
}

#[tokio::test]
async fn a_response_has_at_most_the_allowed_bytes() {
    let server = Server::start().await;
    let small = tool(&server.open(&read()).max_response_bytes(40).tools().unwrap(), "t_read");
    let default = tool(&server.open(&read()).tools().unwrap(), "t_read");
    for (tool, most) in [(&small, 40), (&default, 256 << 10)] {
        let quoted = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
        server.reply(reply(200, "application/json", quoted(most)));
        let value = call(tool, &json!({})).await.unwrap();
        assert_eq!(value.as_str().map(str::len), Some(most - 2));
        server.reply(reply(200, "application/json", quoted(most + 1)));
        let expected =
            format!("The server's answer is longer than {most} bytes. Ask for less, such as a smaller page.");
        assert_eq!(failed(tool, &json!({})).await, expected);
    }
    let text = tool(&server.open(&read()).max_response_bytes(200).tools().unwrap(), "t_read");
    server.reply(reply(200, "text/plain", "x".repeat(200)));
    assert_eq!(call(&text, &json!({})).await.unwrap(), json!("x".repeat(200)));
    server.reply(reply(200, "text/plain", "x".repeat(201)));
    let cut = call(&text, &json!({})).await.unwrap();
    assert!(cut.as_str().unwrap().contains("[cut off: the answer is longer than 200 bytes]"), "{cut}");
}

#[tokio::test]
async fn the_body_of_an_error_is_cut_off() {
    let server = Server::start().await;
    let one = tool(&server.open(&read()).tools().unwrap(), "t_read");
    let start = "The server answered 400 Bad Request: ";
    server.reply(reply(400, "text/plain", "x".repeat(4096)));
    assert_eq!(failed(&one, &json!({})).await, format!("{start}{}", "x".repeat(4096)));
    server.reply(reply(400, "text/plain", "x".repeat(4097)));
    let note = "… [cut off: the answer is longer than 4096 bytes]";
    assert_eq!(failed(&one, &json!({})).await, format!("{start}{}{note}", "x".repeat(4096)));
    // A body that is larger than a response may be is still an error with its beginning.
    server.reply(reply(400, "text/plain", "x".repeat(300 << 10)));
    assert!(failed(&one, &json!({})).await.ends_with(note));
}

#[test]
fn the_name_of_a_document_has_at_most_16_characters() {
    let text = read().to_string();
    assert!(OpenApi::from_json("a".repeat(16), &text).is_ok());
    for name in [&"a".repeat(17), "", "A", "a_b", "ä", "3d", "-a"] {
        assert!(OpenApi::from_json(name, &text).unwrap_err().is_configuration(), "{name}");
    }
}

#[test]
fn an_argument_has_at_most_64_characters() {
    for (length, is_kept) in [(64, true), (65, false)] {
        let name = "a".repeat(length);
        let parameters = json!([{ "name": name, "in": "query", "schema": {} }]);
        let paths = json!({ "/a": { "get": { "operationId": "one", "parameters": parameters } } });
        let open = OpenApi::from_json("t", &document("3.0.3", &paths).to_string()).unwrap();
        let schema = schema(&tool(&open.server("https://erp.test").tools().unwrap(), "t_one"));
        let argument = schema["properties"].as_object().unwrap().keys().next().unwrap();
        assert_eq!((argument.len(), *argument == name), (64, is_kept));
    }
}

#[tokio::test]
async fn a_url_that_is_too_long_is_an_error_for_the_model() {
    let server = Server::start().await;
    let parameters = json!([{ "name": "q", "in": "query", "schema": { "type": "string" } }]);
    let paths = json!({ "/a": { "get": { "operationId": "one", "parameters": parameters } } });
    let one = tool(&server.open(&document("3.0.3", &paths)).tools().unwrap(), "t_one");
    let text = failed(&one, &json!({ "q": "x".repeat(70_000) })).await;
    assert_eq!(text, "The arguments do not fit into a URL. Use shorter ones.");
    assert!(server.received().is_empty());
}
