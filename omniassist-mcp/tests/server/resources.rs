use std::time::Duration;

use http_body_util::{BodyExt, Full};
use omniassist_mcp::{Expose, Resource, ResourceContent};
use omniassist_server::tool::ToolError;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::host::{Client, Ran, builder, serve_as};

fn text(uri: &str) -> Resource {
    Resource::new(uri, "text", async |_| Ok(ResourceContent::text("content")))
}

fn for_ann(resource: Resource) -> Resource {
    resource.visible_to(|caller| caller.principal().id() == "ann")
}

async fn read(client: &Client, uri: &str) -> Value {
    client.send("resources/read", json!({ "uri": uri })).await
}

#[tokio::test]
async fn a_resource_is_listed_and_read() {
    let prices = text("shop://prices").title("Prices").description("All prices").media_type("text/csv");
    let client = serve_as(builder(&Ran::default()), Expose::tools().resource(prices)).await;
    for list in [
        client.send("resources/list", json!({})).await,
        client.send_legacy("resources/list", json!({})).await,
    ] {
        let result = &list["result"];
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(60_000), &json!("private")));
        let listed = json!([{
            "uri": "shop://prices", "name": "text", "title": "Prices", "description": "All prices",
            "mimeType": "text/csv"
        }]);
        assert_eq!(result["resources"], listed);
    }
    let answer = read(&client, "shop://prices").await;
    let content = json!([{ "uri": "shop://prices", "mimeType": "text/csv", "text": "content" }]);
    assert_eq!(answer["result"]["contents"], content);
    assert_eq!((&answer["result"]["ttlMs"], &answer["result"]["cacheScope"]), (&json!(0), &json!("private")));
}

#[tokio::test]
async fn bytes_and_parameters_reach_the_client() {
    let order = Resource::template("shop://{shop}/orders/{id}", "order", async |request| {
        let (shop, id) = (request.parameter("shop").unwrap(), request.parameter("id").unwrap());
        let text = format!("{} {shop} {id} {}", request.caller().principal().id(), request.uri());
        Ok((id != "absent").then(|| ResourceContent::text(text)))
    });
    let logo = Resource::new("shop://logo", "logo", async |_| {
        Ok(ResourceContent::bytes(vec![0_u8, 255]).media_type("image/png"))
    });
    let client = serve_as(builder(&Ran::default()), Expose::tools().resource(order).resource(logo)).await;
    let templates = client.send("resources/templates/list", json!({})).await;
    let listed = json!([{ "uriTemplate": "shop://{shop}/orders/{id}", "name": "order" }]);
    assert_eq!(templates["result"]["resourceTemplates"], listed);
    assert_eq!(
        read(&client, "shop://tea/orders/a%2F1").await["result"]["contents"][0]["text"],
        "ann tea a/1 shop://tea/orders/a%2F1"
    );
    let logo = read(&client, "shop://logo").await;
    let content = json!([{ "uri": "shop://logo", "mimeType": "image/png", "blob": "AP8=" }]);
    assert_eq!(logo["result"]["contents"], content);
    for absent in ["shop://tea/orders/absent", "shop://tea/orders/1/2", "shop://{shop}/orders/", "x"] {
        let answer = read(&client, absent).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert_eq!(answer["error"]["data"]["uri"], absent);
    }
    let legacy = client.send_legacy("resources/read", json!({ "uri": "x" })).await;
    assert_eq!(legacy["error"]["code"], -32002);
}

#[tokio::test]
async fn a_hidden_resource_is_answered_like_an_unknown_one() {
    let expose = Expose::tools()
        .resource(for_ann(text("shop://secret")))
        .resource(for_ann(Resource::template("shop://secrets/{id}", "secrets", async |_| {
            Ok(Some(ResourceContent::text("content")))
        })))
        .resource(text("shop://open"));
    let client = serve_as(builder(&Ran::default()), expose).await;
    let bob = client.of("bob");
    for (uri, unknown) in [("shop://secret", "shop://absent"), ("shop://secrets/1", "shop://absents/1")] {
        assert_eq!(read(&client, uri).await["result"]["contents"][0]["text"], "content");
        let answer = read(&bob, uri).await.to_string().replace(uri, unknown);
        assert_eq!(answer, read(&bob, unknown).await.to_string());
    }
    let list = bob.send("resources/list", json!({})).await;
    assert_eq!(list["result"]["resources"].as_array().unwrap().len(), 1);
    let templates = bob.send("resources/templates/list", json!({})).await;
    assert_eq!(templates["result"]["resourceTemplates"], json!([]));
}

#[tokio::test]
async fn a_failure_and_a_panic_end_their_request_only() {
    let expose = Expose::tools()
        .resource(Resource::new("x://fails", "fails", async |_| Err(ToolError::new("The disk is gone."))))
        .resource(Resource::new("x://secret", "secret", async |_| Err(ToolError::internal("password 123"))))
        .resource(Resource::new("x://panics", "panics", async |_| panic!("password 123")))
        .resource(text("x://hides").visible_to(|_| panic!("password 123")))
        .resource(text("x://works"));
    let client = serve_as(builder(&Ran::default()), expose).await;
    assert_eq!(read(&client, "x://fails").await["error"]["message"], "The disk is gone.");
    for uri in ["x://secret", "x://panics", "x://hides"] {
        let answer = read(&client, uri).await;
        assert_eq!(answer["error"]["code"], -32603, "{uri}: {answer}");
        assert!(!answer.to_string().contains("password"), "{answer}");
    }
    assert_eq!(read(&client, "x://works").await["result"]["contents"][0]["text"], "content");
}

#[tokio::test]
async fn without_resources_there_are_no_methods_for_them() {
    let client = serve_as(builder(&Ran::default()), Expose::tools()).await;
    for method in ["resources/list", "resources/read", "prompts/list", "prompts/get", "completion/complete"] {
        assert_eq!(client.send(method, json!({})).await["error"]["code"], -32601, "{method}");
    }
    let expose = Expose::tools().resource(text("x://a"));
    let discovered =
        serve_as(builder(&Ran::default()), expose).await.send("server/discover", json!({})).await;
    assert_eq!(discovered["result"]["capabilities"], json!({ "tools": {}, "resources": {} }));
}

#[tokio::test]
async fn pages_hold_as_many_resources_as_set() {
    let expose = (0..4).fold(Expose::tools().page_size(3), |all, n| all.resource(text(&format!("x://{n}"))));
    let client = serve_as(builder(&Ran::default()), expose).await;
    let first = client.send("resources/list", json!({})).await;
    assert_eq!(first["result"]["resources"].as_array().unwrap().len(), 3);
    let rest = client.send("resources/list", json!({ "cursor": first["result"]["nextCursor"] })).await;
    assert_eq!(rest["result"]["resources"][0]["uri"], "x://3");
    assert_eq!(rest["result"]["nextCursor"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_function_that_never_ends_is_given_up() {
    let hangs = Resource::new("x://hangs", "hangs", async |_| std::future::pending().await);
    let assistant = builder(&Ran::default()).mcp_server(Expose::tools().resource(hangs)).build().unwrap();
    let service = omniassist_server::http::AssistantService::new(assistant);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://hangs"}}"#;
    let request = http::Request::post("/mcp")
        .header("x-user", "ann")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(Full::<bytes::Bytes>::from(body))
        .unwrap();
    let began = Instant::now();
    let answer = service.handle(request).await.into_body().collect().await.unwrap().to_bytes();
    assert!((60..62).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_function() {
    let (begun, begins) = oneshot::channel();
    let (alive, dropped) = oneshot::channel::<()>();
    let slots = std::sync::Arc::new(std::sync::Mutex::new(Some((begun, alive))));
    let waits = Resource::new("x://waits", "waits", move |_| {
        let slot = slots.lock().unwrap().take();
        async move {
            let (begun, _alive) = slot.unwrap();
            begun.send(()).unwrap();
            std::future::pending().await
        }
    });
    let client = serve_as(builder(&Ran::default()), Expose::tools().resource(waits)).await;
    let request = tokio::spawn(client.request("resources/read", json!({ "uri": "x://waits" })).send());
    begins.await.unwrap();
    request.abort();
    assert!(timeout(Duration::from_secs(5), dropped).await.unwrap().is_err(), "it was dropped");
}
