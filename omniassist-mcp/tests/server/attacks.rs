use omniassist_mcp::{Expose, Prompt, PromptMessage, Resource, ResourceContent};
use reqwest::Response;
use serde_json::{Value, json};

use super::host::{Client, Ran, body, builder, echo_tool, serve_as};

async fn served(ran: &Ran) -> Client {
    let resource = Resource::new("x://a", "a", async |_| Ok(ResourceContent::text("a")));
    let prompt = Prompt::new("p", "Asks", async |request| {
        Ok(vec![PromptMessage::user(request.argument("a").unwrap_or_default())])
    });
    let prompt = prompt.complete("a", async |_| Ok(Vec::new()));
    serve_as(builder(ran).tool(echo_tool()), Expose::tools().resource(resource).prompt(prompt)).await
}

/// Returns the status and the code of an error of the protocol.
async fn refused(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    assert_eq!(response.headers()["content-type"], "application/json");
    let error = body(response).await;
    assert_eq!(error["jsonrpc"], "2.0", "{error}");
    assert!(error["error"]["message"].is_string(), "{error}");
    (status, error["error"]["code"].clone())
}

#[tokio::test]
async fn a_body_that_is_no_message_is_refused_in_the_form_of_the_protocol() {
    let ran = Ran::default();
    let client = served(&ran).await;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}"#;
    let bodies = [
        "null".to_owned(),
        "5".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        format!("[{call}]"),
        format!("[{call},{call}]"),
        call.replace("\"id\":1", "\"id\":{}"),
        call.replace("\"id\":1", "\"id\":1.5"),
        call.replace("\"id\":1", "\"id\":null"),
        call.replace("2.0", "1.0"),
        call.replace("\"arguments\"", "\"_meta\":\"x\",\"arguments\""),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
        call.replace("echo", "\\ud800"),
    ];
    for sent in bodies {
        let response = client.post(&Value::Null).body(sent.clone()).send().await.unwrap();
        assert_eq!(refused(response).await, (400, json!(-32600)), "{sent}");
    }
    let repeated = client.post(&Value::Null).body(call.replace("\"id\":1", "\"id\":1,\"id\":2"));
    assert_eq!(repeated.send().await.unwrap().status(), 400);
    assert_eq!(ran.take(), [""; 0]);
}

#[tokio::test]
async fn a_refusal_says_what_is_wrong_with_a_body() {
    let client = served(&Ran::default()).await;
    let broken = client.post(&Value::Null).body("{\"jsonrpc\":").send().await.unwrap();
    assert_eq!(refused(broken).await, (400, json!(-32700)));
    let listed = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": [1] });
    let listed = body(client.post(&listed).send().await.unwrap()).await;
    assert_eq!((&listed["id"], &listed["error"]["code"]), (&json!(2), &json!(-32600)));
    let call = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list" });
    let unknown = client.post(&call).header("mcp-protocol-version", "2019-01-01").send().await.unwrap();
    let unknown = body(unknown).await;
    assert_eq!(unknown["id"], "a");
    assert!(unknown["error"]["message"].as_str().unwrap().contains("mcp-protocol-version"), "{unknown}");
    // A client of a later version learns which versions there are.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2030-01-01",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let later = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    let later = client.post(&later).header("mcp-protocol-version", "2030-01-01");
    let later = body(later.header("mcp-method", "tools/list").send().await.unwrap()).await;
    assert_eq!(later["error"]["code"], -32022, "{later}");
}

#[tokio::test]
async fn parameters_that_do_not_fit_are_no_unknown_method() {
    let ran = Ran::default();
    let client = served(&ran).await;
    for (method, params) in [
        ("tools/call", json!({ "name": "echo", "arguments": [1] })),
        ("tools/call", json!({ "name": "echo", "arguments": "x" })),
        ("tools/call", json!({ "name": "echo", "requestState": 7 })),
        ("resources/read", json!({ "uri": 7 })),
        ("resources/read", json!({})),
        ("prompts/get", json!({ "name": "p", "arguments": [] })),
        ("completion/complete", json!({ "ref": { "type": "x" }, "argument": { "name": "a", "value": "" } })),
    ] {
        let answer = client.send_legacy(method, params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{method} {params}: {answer}");
    }
    for method in
        ["admin/reload", "sampling/createMessage", "resources/subscribe", "subscriptions/listen", ""]
    {
        let answer = client.send_legacy(method, json!({ "uri": "x://a" })).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    // The version of the client has no sessions.
    let answer = client.send("initialize", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let answer = client.send_legacy("initialize", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(ran.take(), [""; 0]);
}

#[tokio::test]
async fn headers_that_differ_from_the_body_are_refused() {
    let ran = Ran::default();
    let client = served(&ran).await;
    let call = || client.request("tools/call", json!({ "name": "echo", "arguments": {} }));
    let with = |name: &'static str, values: &[&str]| {
        let mut request = call().build().unwrap();
        request.headers_mut().remove(name);
        for value in values {
            request.headers_mut().append(name, value.parse().unwrap());
        }
        reqwest::Client::new().execute(request)
    };
    for (name, values) in [
        ("mcp-method", &["tools/list"] as &[_]),
        ("mcp-method", &[]),
        ("mcp-method", &["tools/call", "tools/list"]),
        ("mcp-name", &["refund"]),
        ("mcp-name", &[]),
        ("mcp-name", &["echo", "refund"]),
        ("mcp-protocol-version", &["2025-11-25"]),
        ("mcp-protocol-version", &["2099-01-01"]),
        ("mcp-protocol-version", &["2026-07-28", "2025-11-25"]),
        ("mcp-protocol-version", &["2026-07-28", "2026-07-28"]),
    ] {
        assert_eq!(refused(with(name, values).await.unwrap()).await.0, 400, "{name}: {values:?}");
    }
    assert_eq!(ran.take(), [""; 0]);
    let read = client.request("resources/read", json!({ "uri": "x://a" }));
    assert_eq!(refused(read.header("mcp-name", "x://b").send().await.unwrap()).await.0, 400);
    // A session that the server never gave means nothing.
    assert_eq!(call().header("mcp-session-id", "x").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_client_must_take_both_kinds_of_answers() {
    let client = served(&Ran::default()).await;
    for accept in ["application/json", "text/event-stream", "text/html", ""] {
        let mut request = client.request("tools/list", json!({})).build().unwrap();
        request.headers_mut().insert("accept", accept.parse().unwrap());
        let response = reqwest::Client::new().execute(request).await.unwrap();
        assert_eq!(refused(response).await, (406, json!(-32600)), "{accept}");
    }
}

#[tokio::test]
async fn three_hundred_clients_at_once_get_their_own_answers() {
    let ran = Ran::default();
    let client = served(&ran).await;
    let calls = (0..300).map(|number| {
        let client = client.of(&format!("user-{number}"));
        async move { (number, client.call("echo", json!({ "n": number })).await) }
    });
    for (number, answer) in futures_util::future::join_all(calls).await {
        assert_eq!(answer["result"]["structuredContent"], json!({ "n": number }), "{answer}");
    }
    assert_eq!(ran.take().len(), 300);
}
