use std::time::Duration;

use futures_util::StreamExt;
use omniassist_axum::LlmProvider;
use omniassist_axum::core::{JsonText, Limits, LlmEvent, LlmPayload, TranscriptItem};
use omniassist_axum::tool::{StateMap, ToolSnapshot, Tools};
use serde_json::{Value, json};

use super::*;
use crate::assistant::{Demo, components};

/// Registers tools, which checks their names, their schemas and their examples.
fn registered(more: impl IntoIterator<Item = Tool>) -> ToolSnapshot {
    let mut state = StateMap::new();
    let store = Store::temporary();
    state.insert(store.clone());
    let tools = Tools::new(state, Limits::default());
    for tool in all(&store).into_iter().chain(more) {
        tools.register(tool).unwrap();
    }
    tools.snapshot()
}

async fn demo_calls(question: &str, tools: &ToolSnapshot) -> Vec<(String, Value)> {
    let mut payload = LlmPayload::new(vec![TranscriptItem::user(question)]);
    payload.tools = tools.specs();
    let events: Vec<_> = Demo { pace: Duration::ZERO }.stream(payload).map(Result::unwrap).collect().await;
    let mut names = Vec::new();
    let mut calls = Vec::new();
    for event in events {
        match event {
            LlmEvent::ToolCallStart { name, .. } => names.push(name.to_string()),
            LlmEvent::ToolCallEnd { call, arguments, .. } => {
                let name = names[call as usize].clone();
                let arguments = JsonText::parse(arguments).unwrap();
                tools.check(&name, &arguments).unwrap();
                calls.push((name, arguments.to_value()));
            }
            _ => {}
        }
    }
    calls
}

#[tokio::test]
async fn the_demo_finds_the_tool_and_its_arguments() {
    let tools = registered(components::all());
    for (question, name, arguments) in [
        ("Where is order 1001?", "order_status", json!({"order_id": 1001})),
        ("what's the status of order 1017", "order_status", json!({"order_id": 1017})),
        ("Which orders are pending?", "search_orders", json!({"status": "pending"})),
        (
            "Show me the delivered orders of Grace Hopper",
            "search_orders",
            json!({"status": "delivered", "customer": "Grace Hopper"}),
        ),
        ("List all orders over 200 euros", "search_orders", json!({"min_total": 200})),
        ("show the last 3 cancelled orders", "search_orders", json!({"status": "cancelled", "limit": 3})),
        ("Which customers live in Vienna?", "list_customers", json!({"city": "Vienna"})),
        ("List the customers", "list_customers", json!({})),
        (
            "Create a high priority ticket: The desk wobbles",
            "create_ticket",
            json!({"subject": "The desk wobbles", "priority": "high"}),
        ),
        (
            "Create a ticket \"Missing screws\" for order 1009",
            "create_ticket",
            json!({"subject": "Missing screws", "order_id": 1009}),
        ),
        ("Refund order 1007", "refund_order", json!({"order_id": 1007})),
        (
            "Please refund 15.50 euros of order 1002",
            "refund_order",
            json!({"order_id": 1002, "amount": 15.5}),
        ),
        ("Export the sales report", "export_report", json!({})),
        ("Open the customers page", "navigate", json!({"page": "customers"})),
        ("Go to the tickets page", "navigate", json!({"page": "tickets"})),
        ("open the new ticket page", "navigate", json!({"page": "new-ticket"})),
        ("Open the page of order 1004", "navigate", json!({"page": "orders", "order_id": 1004})),
        (
            "Fill in the form with high priority: Late delivery",
            "fill_form",
            json!({"subject": "Late delivery", "priority": "high"}),
        ),
        ("Show sales by region", "sales_by_region", json!({})),
        ("Book a delivery", "ui_form", components::delivery()),
        ("Ask me for my address", "request_input", address_form()),
        ("Open a complaint form", "request_input", complaint_form()),
        ("Please give me a form for a complaint", "request_input", complaint_form()),
    ] {
        assert_eq!(demo_calls(question, &tools).await, [(name.to_owned(), arguments)], "{question}");
    }
}

#[tokio::test]
async fn the_demo_makes_several_calls_and_refuses_small_talk() {
    let tools = registered(components::all());
    let calls = demo_calls("Where is order 1003 and open the customers page", &tools).await;
    assert_eq!(
        calls,
        [
            ("order_status".to_owned(), json!({"order_id": 1003})),
            ("navigate".to_owned(), json!({"page": "customers"})),
        ]
    );
    for talk in ["Hello", "Thank you", "What is the meaning of life?", "Where is my order?"] {
        assert_eq!(demo_calls(talk, &tools).await, [], "{talk}");
    }
}

#[test]
fn a_refund_is_summarised_by_its_amount_and_its_customer() {
    let store = Store::temporary();
    let summary = |order_id, amount| refund_summary(&store, &RefundRequest { order_id, amount });
    assert_eq!(summary(1001, None), "39.90 EUR to Ada Lovelace for order 1001 (1 × Desk lamp)");
    assert_eq!(summary(1001, Some(10.0)), "10.00 EUR to Ada Lovelace for order 1001 (1 × Desk lamp)");
    assert_eq!(summary(7, None), "Order 7");
}

#[test]
fn schemas_are_plain_enough_for_weak_models() {
    for spec in registered([]).specs().iter() {
        let properties = spec.input_schema["properties"].as_object().cloned().unwrap_or_default();
        assert!(properties.len() <= 4, "{}", spec.name);
        assert!(!spec.examples.is_empty(), "{}", spec.name);
        let is_built_in = spec.name == "request_input";
        assert!(is_built_in || spec.description.len() <= 80, "{}", spec.name);
        for (name, schema) in properties {
            assert!(schema["type"].is_string(), "{} {name}: {schema}", spec.name);
            assert!(!schema.to_string().contains("null"), "{} {name}: {schema}", spec.name);
        }
    }
}

#[tokio::test]
async fn only_refusals_reach_the_model() {
    let refused = Store::temporary().refund(1008, None).await.unwrap_err();
    let text = refused.to_string();
    assert_eq!(explain(refused).text(), text);
    assert_eq!(explain(StoreError::Stopped).text(), "The tool failed.");
}
