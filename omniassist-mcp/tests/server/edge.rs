use omniassist_mcp::Expose;
use omniassist_server::ProtectedResource;
use omniassist_server::core::Limits;
use reqwest::Method;
use serde_json::{Value, json};

use super::host::{Ran, body, builder, echo_tool, serve, serve_as};

#[tokio::test]
async fn there_are_no_sessions_to_open_or_close() {
    let client = serve(builder(&Ran::default())).await;
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::HEAD] {
        let request = reqwest::Client::new().request(method.clone(), &client.url).header("x-user", "ann");
        let response = request.header("accept", "text/event-stream").send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["allow"]),
            (405, &"POST".parse().unwrap())
        );
    }
    let response = client.request("tools/list", json!({})).send().await.unwrap();
    assert!(response.headers().get("mcp-session-id").is_none());
}

#[tokio::test]
async fn a_client_finds_the_authorization_server() {
    let resource = ProtectedResource::new("https://api.example.com/assistant/mcp/").unwrap();
    let resource = resource.authorization_server("https://id.example.com").scope("tools");
    let client = serve_as(builder(&Ran::default()), Expose::tools().authorization(resource)).await;
    let anonymous = client.request("tools/list", json!({})).header("x-user", "");
    let mut request = anonymous.build().unwrap();
    request.headers_mut().remove("x-user");
    let response = reqwest::Client::new().execute(request).await.unwrap();
    assert_eq!(response.status(), 401);
    let metadata = "https://api.example.com/assistant/mcp/.well-known/oauth-protected-resource";
    assert_eq!(response.headers()["www-authenticate"], format!("Bearer resource_metadata=\"{metadata}\""));
    let error = body(response).await;
    assert_eq!(
        (&error["jsonrpc"], &error["error"]["data"]["code"]),
        (&json!("2.0"), &json!("unauthenticated"))
    );

    let document =
        reqwest::get(format!("{}/.well-known/oauth-protected-resource", client.url)).await.unwrap();
    assert_eq!(document.status(), 200);
    assert_eq!(
        body(document).await,
        json!({
            "resource": "https://api.example.com/assistant/mcp",
            "authorization_servers": ["https://id.example.com"],
            "scopes_supported": ["tools"],
            "bearer_methods_supported": ["header"]
        })
    );
    assert!(ProtectedResource::new("/assistant/mcp").is_none());
}

#[tokio::test]
async fn without_an_authorization_server_nothing_is_stated() {
    let client = serve(builder(&Ran::default())).await;
    let mut request = client.request("tools/list", json!({})).build().unwrap();
    request.headers_mut().remove("x-user");
    let response = reqwest::Client::new().execute(request).await.unwrap();
    assert_eq!(response.headers()["www-authenticate"], "Bearer");
    let document =
        reqwest::get(format!("{}/.well-known/oauth-protected-resource", client.url)).await.unwrap();
    assert_eq!(document.status(), 404);
}

#[tokio::test]
async fn a_body_has_the_limits_of_other_routes() {
    let ran = Ran::default();
    let mut limits = Limits::default();
    limits.max_body_bytes = 2_000;
    let client = serve(builder(&ran).tool(echo_tool()).limits(limits)).await;
    let sized = |bytes: usize| {
        let body =
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"x":""}}}"#;
        let filled = body.replace(r#""x":"""#, &format!(r#""x":"{}""#, "x".repeat(bytes - body.len())));
        assert_eq!(filled.len(), bytes);
        client.post(&Value::Null).body(filled)
    };
    assert_eq!(sized(2_000).send().await.unwrap().status(), 200);
    assert_eq!(ran.take().len(), 1);
    let refused = sized(2_001).send().await.unwrap();
    assert_eq!(refused.status(), 413);
    assert_eq!(body(refused).await["error"]["data"]["code"], "body_too_large");

    let deep = |levels: usize| {
        let value = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"x":{value}}}}}}}"#
        );
        client.post(&Value::Null).body(text)
    };
    let most = Limits::default().max_json_depth - 3;
    assert_eq!(deep(most).send().await.unwrap().status(), 200);
    assert_eq!(deep(most + 1).send().await.unwrap().status(), 400);
    assert!(ran.take().len() <= 1);
}

#[tokio::test]
async fn other_bodies_and_pages_are_refused() {
    let ran = Ran::default();
    let client = serve(builder(&ran).tool(echo_tool())).await;
    let call = json!({ "name": "echo", "arguments": {} });
    let form = client.request("tools/call", call.clone()).header("content-type", "text/plain");
    let mut form = form.build().unwrap();
    form.headers_mut().insert("content-type", "text/plain".parse().unwrap());
    assert_eq!(reqwest::Client::new().execute(form).await.unwrap().status(), 415);
    let foreign = client.request("tools/call", call).header("origin", "https://evil.example");
    assert_eq!(foreign.send().await.unwrap().status(), 403);
    assert_eq!(ran.take(), [""; 0]);
}

#[tokio::test]
async fn without_an_endpoint_there_is_no_route() {
    let assistant = builder(&Ran::default()).build().unwrap();
    let service = omniassist_server::http::AssistantService::new(assistant);
    for path in ["/mcp", "/mcp/.well-known/oauth-protected-resource"] {
        let request = http::Request::post(path).header("x-user", "ann");
        let request = request.body(http_body_util::Full::<bytes::Bytes>::from("{}")).unwrap();
        assert_eq!(service.handle(request).await.status(), 404);
    }
}

#[tokio::test]
async fn agents_have_no_route_of_their_own() {
    let builder = builder(&Ran::default()).agent(omniassist_server::Agent::new("sales", "Sells."));
    let client = serve(builder).await;
    let url = client.url.replace("/mcp", "/agents/sales/mcp");
    let response =
        super::host::Client { url, ..client }.request("tools/list", json!({})).send().await.unwrap();
    assert_eq!(response.status(), 404);
}
