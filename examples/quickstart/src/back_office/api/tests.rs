use serde_json::Value;
use tokio::net::TcpListener;

use super::*;

async fn serve() -> String {
    let app =
        router(Store::temporary(), "<b>\"m\" & co</b>", "a note").layer(axum::middleware::from_fn(guard));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

#[tokio::test]
async fn the_page_has_the_elements_of_its_scripts_and_tests() {
    let url = serve().await;
    let response = reqwest::get(&url).await.unwrap();
    assert_eq!(response.headers()[header::CONTENT_SECURITY_POLICY], CONTENT_SECURITY_POLICY);
    let page = response.text().await.unwrap();
    for id in ["model-name", "model-note", "view", "nav"] {
        assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
    assert!(page.contains("<script type=\"module\" src=\"/assistant/widget.js\"></script>"));
    assert!(page.contains("<omniassist-chat") && !page.contains("{{"));
    assert!(page.contains("<strong id=\"model-name\">&lt;b&gt;&quot;m&quot; &amp; co&lt;/b&gt;</strong>"));
    // The policy forbids everything except files of this server.
    assert!(!page.contains("<style") && !page.contains("style=") && !page.contains("://"));
    for (path, kind, text) in FILES {
        assert!(page.contains(path), "{path}");
        let response = reqwest::get(format!("{url}{path}")).await.unwrap();
        assert_eq!(response.headers()[header::CONTENT_TYPE], kind);
        assert_eq!(response.text().await.unwrap(), text);
        assert!(!text.contains("innerHTML"), "{path}");
    }
}

#[tokio::test]
async fn the_api_returns_data_and_errors_as_json() {
    let url = serve().await;
    let get = async |path: &str| {
        let response = reqwest::get(format!("{url}{path}")).await.unwrap();
        (response.status().as_u16(), response.json::<Value>().await.unwrap())
    };
    assert_eq!(get("/api/orders").await.1.as_array().unwrap().len(), 40);
    assert_eq!(get("/api/orders/1001").await.1["total"], "39.90 EUR");
    assert_eq!(get("/api/orders/7").await, (404, json!({"error": "There is no order 7."})));
    assert_eq!(get("/api/customers").await.1[0]["name"], "Ada Lovelace");
    let client = reqwest::Client::new();
    let post = |body: Value| client.post(format!("{url}/api/tickets")).json(&body).send();
    let made = post(json!({"subject": "Torn box", "order_id": null})).await.unwrap();
    assert_eq!(made.status(), 201);
    let made: Value = made.json().await.unwrap();
    assert_eq!(get("/api/tickets").await.1[0], made);
    assert_eq!(post(json!({"subject": " "})).await.unwrap().status(), 422);
    let report = reqwest::get(format!("{url}/api/report.csv")).await.unwrap().text().await.unwrap();
    assert!(report.starts_with("month,orders,sales\n2026-08,"), "{report}");
}

#[tokio::test]
async fn only_requests_to_this_machine_are_answered() {
    let url = serve().await;
    let ask = async |host: &str| {
        let request = reqwest::Client::new().get(&url).header("host", host);
        request.send().await.unwrap().status().as_u16()
    };
    for host in ["127.0.0.1:3000", "localhost", "LOCALHOST:1", "[::1]:80"] {
        assert_eq!(ask(host).await, 200, "{host}");
    }
    for host in ["evil.example", "127.0.0.1.evil.example:80", "localhost:80@evil.example", "[::1"] {
        assert_eq!(ask(host).await, 421, "{host}");
    }
}
