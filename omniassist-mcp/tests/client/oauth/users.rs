//! Two users with accounts: calls never cross, and a tool of another user does not exist.

use std::sync::Arc;

use axum::Router;
use http::Extensions;
use omniassist_mcp::Expose;
use omniassist_server::core::message::{Message, Part, Role, ToolPart, ToolState};
use omniassist_server::core::{JsonText, RunRequest, TranscriptItem};
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Assistant, AuthRequest, Principal};
use serde_json::{Value, json};

use super::Office;
use crate::server::host::{Client, Ran, echo_tool};

#[tokio::test]
async fn ten_thousand_calls_of_two_users_never_cross() {
    const CALLS: usize = 10_000;
    let office = Office::open_with(["for_ann", "for_bob"], |oauth| oauth).await;
    for user in ["ann", "bob"] {
        office.authorize(user).await;
    }
    let call = async |user: &str| {
        let result = office.call(user, &format!("docs_for_{user}")).await;
        assert!(result.contains(&format!("for_{user} ran")), "{result}");
    };
    for _ in 0..CALLS / 8 {
        tokio::join!(
            call("ann"),
            call("bob"),
            call("bob"),
            call("ann"),
            call("bob"),
            call("ann"),
            call("ann"),
            call("bob"),
        );
    }
    let authorizations = office.server.authorizations();
    assert_eq!(authorizations.len(), CALLS);
    let crossed = authorizations.iter().filter(|(authorization, tool)| {
        office.accounts.user(authorization).as_deref() != tool.strip_prefix("for_")
    });
    assert_eq!(crossed.count(), 0);
    assert_eq!(office.server.protocol.count("initialize"), 2);
}

/// An assistant with the server of the office and a tool of its own, which counts the tools and searches for the rest.
async fn serve(office: &Office, model: &ScriptedProvider, defers: bool) -> (Assistant, Client) {
    let builder = Assistant::builder(model.clone())
        .state(Ran::default())
        .tool(echo_tool())
        .tool_source(Arc::clone(&office.docs))
        .defer_tools_above(if defers { 0 } else { 1000 })
        .authenticate(|request: AuthRequest| async move {
            let user = request.headers().get("x-user").and_then(|user| user.to_str().ok());
            Ok(user.map(Principal::new))
        });
    let assistant = builder.mcp_server(Expose::tools()).build().unwrap();
    let app = Router::new().nest_service("/assistant", omniassist_axum::router(assistant.clone()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/assistant/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let http = reqwest::Client::new();
    (assistant, Client { url, user: "ann".to_owned(), capabilities: json!({}), http })
}

async fn run(assistant: &Assistant, user: &str, messages: Vec<Message>) -> String {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new(user));
    assistant.try_run(RunRequest::new(messages), extensions).await.unwrap().text().await.unwrap()
}

/// Returns all that the model was sent in a run of a user with a past call of a tool.
async fn seen_after(assistant: &Assistant, model: &ScriptedProvider, user: &str, tool: &str) -> String {
    let past = ToolPart {
        call_id: "call-1".into(),
        name: tool.into(),
        dynamic: true,
        provider_executed: false,
        state: ToolState::OutputAvailable {
            input: JsonText::parse("{}").unwrap(),
            output: JsonText::parse(r#""seen""#).unwrap(),
            preliminary: false,
        },
        metadata: None,
    };
    let mut answer = Message::user("m2", "");
    (answer.role, answer.parts) = (Role::Assistant, vec![Part::Tool(past)]);
    let before = model.payloads().len();
    run(assistant, user, vec![Message::user("m1", "look"), answer, Message::user("m3", tool.to_owned())])
        .await;
    let sent: Vec<_> = model.payloads().split_off(before);
    let sent: Vec<Value> = sent
        .iter()
        .map(|payload| {
            let tools: Vec<_> = payload.tools.iter().map(|tool| tool.name.to_string()).collect();
            json!({ "tools": tools, "transcript": serde_json::to_value(&payload.transcript).unwrap() })
        })
        .collect();
    json!(sent).to_string()
}

/// A model that calls the tool that the user names last.
fn model() -> ScriptedProvider {
    ScriptedProvider::new().otherwise(|payload| match payload.transcript.last().unwrap() {
        TranscriptItem::User { content } => {
            let said = serde_json::to_value(content).unwrap();
            let said = said[0]["text"].as_str().unwrap().to_owned();
            let (tool, arguments) = said.split_once(' ').unwrap_or((&said, "{}"));
            call(tool.to_owned(), serde_json::from_str::<Value>(arguments).unwrap())
        }
        TranscriptItem::Result(result) => text(serde_json::to_string(result).unwrap()),
        item => panic!("{item:?}"),
    })
}

/// Replaces the name of a tool, and the ids of calls, which differ each time.
fn without_name(text: &str, tool: &str) -> String {
    let text = text.replace(tool, "x");
    let mut parts = text.split("call_");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| {
        text + "call_" + part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_')
    })
}

#[tokio::test]
async fn a_tool_of_another_user_is_byte_equal_to_an_unknown_tool() {
    let office = Office::open().await;
    office.authorize("ann").await;
    let model = model();
    let (assistant, client) = serve(&office, &model, false).await;
    // Ann has the tool everywhere.
    let seen = seen_after(&assistant, &model, "ann", "docs_look").await;
    assert!(seen.contains("look ran"), "{seen}");
    assert_eq!(client.tools().await, ["docs_look", "echo"]);

    // In the list, and in past calls and in new ones.
    let known = seen_after(&assistant, &model, "bob", "docs_look").await;
    let unknown = seen_after(&assistant, &model, "bob", "docs_none").await;
    assert_eq!(without_name(&known, "docs_look"), without_name(&unknown, "docs_none"));
    assert!(known.contains(r#"["echo"]"#), "{known}");

    // Over `/mcp`.
    let bob = client.of("bob");
    assert_eq!(bob.tools().await, ["echo"]);
    let (known, unknown) = (bob.call("docs_look", json!({})).await, bob.call("docs_none", json!({})).await);
    assert_eq!(known.to_string().replace("docs_look", "x"), unknown.to_string().replace("docs_none", "x"));
    assert_eq!(office.server.protocol.calls("look"), 1);
}

#[tokio::test]
async fn a_search_does_not_find_a_tool_of_another_user() {
    let office = Office::open().await;
    office.authorize("ann").await;
    let model = model();
    let (assistant, _) = serve(&office, &model, true).await;
    let asked = r#"tool_search {"query":"look"}"#;
    let found = async |user: &str| run(&assistant, user, vec![Message::user("m1", asked)]).await;
    assert!(found("ann").await.contains("docs_look"));
    let of_bob = found("bob").await;
    let alone = Assistant::builder(model.clone())
        .state(Ran::default())
        .tool(echo_tool())
        .defer_tools_above(0)
        .build();
    let without = run(&alone.unwrap(), "bob", vec![Message::user("m1", asked)]).await;
    assert_eq!(without_name(&of_bob, "-"), without_name(&without, "-"));
}
