//! Tests of agents in tables.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::time::Duration;

use agent_tables::TableAgents;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt as _;
use omniassist_axum::http::AssistantService;
use omniassist_axum::testing::{ScriptedProvider, text};
use omniassist_axum::{AgentCatalog, Assistant, Principal, Tool, ToolError};
use serde_json::{Value, json};

const AGENTS: &str = r#"
    insert into agent (owner, id, description) values ('ann', 'sales', 'Sells lamps.'), ('bob', 'letters', 'Writes.');
    insert into node (owner, agent, id, type, data) values
        ('ann', 'sales', 'a', 'agent', '{"prompt": "You sell for {{shop}}."}'),
        ('ann', 'sales', 't', 'tool', '{"name": "discount"}'),
        ('ann', 'sales', 'b', 'agent', '{"name": "writer", "description": "Writes a letter."}'),
        ('bob', 'letters', 'a', 'agent', '{"prompt": "You write."}');
    insert into edge (owner, agent, source, target) values ('ann', 'sales', 'a', 't'), ('ann', 'sales', 'a', 'b');"#;

async fn send(assistant: &Assistant, customer: &str, path: &str) -> (StatusCode, String) {
    let (method, body) = match path {
        "/agents" => ("GET", Value::Null),
        _ => (
            "POST",
            json!({ "messages": [{ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Hi" }] }] }),
        ),
    };
    let mut request =
        Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new(customer));
    let request = request.body(body.to_string()).unwrap();
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    let (status, body) = (response.status(), response.into_body().collect().await.unwrap().to_bytes());
    (status, String::from_utf8(body.into()).unwrap())
}

#[tokio::test]
async fn rows_become_the_agents_of_their_owner() {
    let tables = TableAgents::open(":memory:").unwrap();
    tables.execute(AGENTS).unwrap();
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let discount = Tool::new("discount", "Returns the discount", async || Ok::<_, ToolError>("10 %"));
    let catalog = AgentCatalog::new(tables.clone()).tool(discount).placeholder("shop", "Lamps Ltd.");
    let catalog = catalog.ttl(Duration::ZERO);
    let assistant = Assistant::builder(model.clone()).agents(catalog).build().unwrap();
    let last = || {
        let payload = model.payloads().pop().unwrap();
        let tools: Vec<_> = payload.tools.iter().map(|tool| tool.name.to_string()).collect();
        (payload.system.map(|system| system.to_string()), tools)
    };

    let (status, answer) = send(&assistant, "ann", "/api/run/sales").await;
    assert!(status == StatusCode::OK && answer.contains("Hello"), "{answer}");
    assert_eq!(
        last(),
        (Some("You sell for Lamps Ltd..".to_owned()), vec!["discount".to_owned(), "writer".to_owned()])
    );
    assert_eq!(
        send(&assistant, "ann", "/agents").await.1,
        r#"{"agents":[{"description":"Sells lamps.","id":"sales"}]}"#
    );
    let unknown = send(&assistant, "bob", "/api/run/nobody").await;
    assert_eq!(unknown.0, StatusCode::NOT_FOUND);
    assert_eq!(send(&assistant, "bob", "/api/run/sales").await, unknown);
    assert_eq!(send(&assistant, "bob", "/api/run/letters").await.0, StatusCode::OK);

    // A change is used; one with an error is not.
    tables.execute(r#"update node set data = '{"prompt": "You advise."}' where id = 'a'"#).unwrap();
    send(&assistant, "ann", "/api/run/sales").await;
    assert_eq!(last().0.as_deref(), Some("You advise."));
    tables.execute(r#"update node set data = '{"name": "discont"}' where id = 't'"#).unwrap();
    assert_eq!(send(&assistant, "ann", "/api/run/sales").await.0, StatusCode::OK);
    assert_eq!(last().1, ["discount", "writer"]);
}
