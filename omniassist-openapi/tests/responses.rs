//! Responses, as the model reads them.

use std::time::Duration;

use http::Response;
use omniassist_server::outbound::OutboundPolicy;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use crate::server::{Server, call, document, failed, json_reply, output, reply, tool};

fn read() -> Value {
    let operation = |id: &str| json!({ "operationId": id });
    document("3.0.3", &json!({ "/a": { "get": operation("read"), "post": operation("write") } }))
}

#[tokio::test]
async fn json_is_json_and_all_else_is_text() {
    let server = Server::start().await;
    let one = tool(&server.open(&read()).tools().unwrap(), "t_read");
    let value = json!({ "id": 7, "list": [null] });
    for (reply, expected) in [
        (json_reply(&value), value.clone()),
        (reply(201, "application/hal+json; charset=utf-8", value.to_string()), value.clone()),
        (reply(200, "application/json", format!("\u{feff}{value}")), value.clone()),
        (reply(200, "text/plain", "plain"), json!("plain")),
        (reply(200, "application/xml", "<a/>"), json!("<a/>")),
        (reply(200, "text/plain", "{\"a\":1}"), json!("{\"a\":1}")),
        (reply(204, "text/plain", ""), json!("The server answered 204 No Content without content.")),
    ] {
        server.reply(reply);
        assert_eq!(call(&one, &json!({})).await.unwrap(), expected);
    }
    server.reply(reply(200, "application/json", "{"));
    assert_eq!(failed(&one, &json!({})).await, "The server's answer is not valid JSON.");
    assert_eq!(server.last().header("accept"), "application/json, */*;q=0.5");
}

#[tokio::test]
async fn the_digits_of_long_numbers_are_kept() {
    let server = Server::start().await;
    let open = server.open(&read()).secret_header("x-key", "123456789012345678901234567890");
    let one = tool(&open.tools().unwrap(), "t_read");
    let long = r#"{"z":98765432109876543210987,"a":[0.10000000000000000000001]}"#;
    for (body, seen) in [
        (long, long),
        ("{\n  \"id\": 98765432109876543210987\n}", r#"{"id":98765432109876543210987}"#),
        // A text that repeats a secret is written anew.
        (
            r#"{"a":"123456789012345678901234567890","a":98765432109876543210987}"#,
            r#"{"a":9.876543210987654e+22}"#,
        ),
        (
            r#"{"a":"\u003123456789012345678901234567890","a":98765432109876543210987}"#,
            r#"{"a":9.876543210987654e+22}"#,
        ),
        (r#"{"a":123456789012345678901234567890}"#, r#"{"a":1.2345678901234568e+29}"#),
    ] {
        server.reply(reply(200, "application/json", body));
        assert_eq!(output(&one, &json!({})).await, seen, "{body}");
    }
}

#[tokio::test]
async fn a_selector_leaves_out_the_rest() {
    let server = Server::start().await;
    let open = server.open(&read()).select("rea*", "/items/*/{id,name}").select("*", "/id");
    let tools = open.tools().unwrap();
    let items = json!({ "items": [{ "id": 1, "name": "a", "secret": "x" }, { "id": 2 }], "id": 9 });
    server.reply(json_reply(&items));
    server.reply(json_reply(&items));
    server.reply(json_reply(&json!({ "other": 1 })));
    let one = tool(&tools, "t_read");
    assert_eq!(call(&one, &json!({})).await.unwrap(), json!([{ "id": 1, "name": "a" }, { "id": 2 }]));
    assert_eq!(call(&tool(&tools, "t_write"), &json!({})).await.unwrap(), json!(9));
    assert_eq!(
        failed(&one, &json!({})).await,
        "The server's answer does not have the part that this tool reads."
    );
    let digits = r#"{"items":[{"id":98765432109876543210987,"name":1.10}],"id":0}"#;
    server.reply(reply(200, "application/json", digits));
    assert_eq!(output(&one, &json!({})).await, r#"[{"id":98765432109876543210987,"name":1.10}]"#);
    // The type of the response does not let the rest pass.
    for media_type in ["text/plain", "text/json", "application/octet-stream"] {
        server.reply(reply(200, media_type, items.to_string()));
        assert_eq!(call(&one, &json!({})).await.unwrap(), json!([{ "id": 1, "name": "a" }, { "id": 2 }]));
    }
    server.reply(reply(200, "text/html", "<p>secret</p>"));
    assert_eq!(failed(&one, &json!({})).await, "The server's answer is not valid JSON.");
    for (pattern, selector, reason) in [("gone*", "/a", "no operation"), ("read", "a", "does not begin")] {
        let error = server.open(&read()).select(pattern, selector).tools().unwrap_err();
        assert!(error.is_configuration() && error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test]
async fn a_status_that_is_no_success_is_an_error_with_the_body() {
    let server = Server::start().await;
    let one = tool(&server.open(&read()).tools().unwrap(), "t_read");
    for (status, body, expected) in [
        (404, "{\"message\":\"no order\"}", "The server answered 404 Not Found: {\"message\":\"no order\"}"),
        (500, "", "The server answered 500 Internal Server Error"),
        (429, " slow down \n", "The server answered 429 Too Many Requests: slow down"),
    ] {
        server.reply(reply(status, "application/json", body));
        assert_eq!(failed(&one, &json!({})).await, expected);
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_ends_the_call() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        for index in 0.. {
            let (mut socket, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut bytes = [0; 1024];
                let read = socket.read(&mut bytes).await;
                // The first two requests are never answered, and the others lose their connection.
                if index < 2 {
                    std::future::pending::<()>().await;
                }
                drop(read);
            });
        }
    });
    let open = |url: &str| {
        let open = omniassist_openapi::OpenApi::from_json("t", &read().to_string()).unwrap().server(url);
        let policy = OutboundPolicy::new().timeout(Duration::from_millis(300));
        open.allow_hosts(["127.0.0.1"]).outbound(policy).tools().unwrap()
    };
    let tools = open(&url);
    let (read, write) = (tool(&tools, "t_read"), tool(&tools, "t_write"));
    assert_eq!(failed(&read, &json!({})).await, "The server did not answer in time.");
    let unknown = "The request may have taken effect.";
    assert_eq!(failed(&write, &json!({})).await, format!("The server did not answer in time. {unknown}"));
    assert_eq!(failed(&read, &json!({})).await, "The connection to the server was lost.");
    assert_eq!(failed(&write, &json!({})).await, format!("The connection to the server was lost. {unknown}"));
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let tools = open(&format!("http://{closed}"));
    for name in ["t_read", "t_write"] {
        let text = failed(&tool(&tools, name), &json!({})).await;
        assert_eq!(text, "The server could not be reached. Nothing was sent.");
    }
}

#[tokio::test]
async fn a_binary_body_is_described() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serve = axum::Router::new().fallback(async || {
        Response::builder()
            .header("content-type", "image/png")
            .body(axum::body::Body::from(vec![0xff; 9]))
            .unwrap()
    });
    tokio::spawn(async move { axum::serve(listener, serve).await });
    let open = omniassist_openapi::OpenApi::from_json("t", &read().to_string()).unwrap().server(url);
    let one = tool(&open.allow_hosts(["127.0.0.1"]).tools().unwrap(), "t_read");
    let seen = call(&one, &json!({})).await.unwrap();
    assert_eq!(seen, json!("The server answered with 9 bytes of the type image/png."));
}
