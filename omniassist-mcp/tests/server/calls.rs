use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_mcp::Expose;
use omniassist_server::audit::{AuditEvent, AuditFuture, AuditSink};
use omniassist_server::component::Component;
use omniassist_server::core::{Limits, TranscriptItem};
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::throttle::Attempt;
use omniassist_server::tool::{Tool, ToolContext, ToolDecision, ToolError};
use omniassist_server::{Agent, RunContext, RunPlan};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::host::{Ran, body, builder, echo_tool, json_text, refund_tool, result, serve, serve_as};

#[tokio::test]
async fn a_call_runs_once_with_its_arguments() {
    let ran = Ran::default();
    let client = serve(builder(&ran).tool(refund_tool())).await;
    let answer = client.call("refund", json!({ "cents": 5 })).await;
    assert_eq!(result(&answer), ("Refunded.".to_owned(), false));
    assert_eq!(ran.take(), [r#"refund ann {"cents":5}"#]);
    let legacy = json!({ "name": "refund", "arguments": { "cents": 6 } });
    assert_eq!(result(&client.of("bob").send_legacy("tools/call", legacy).await).0, "Refunded.");
    assert_eq!(ran.take(), [r#"refund bob {"cents":6}"#]);
}

#[tokio::test]
async fn arguments_that_do_not_fit_run_nothing() {
    let ran = Ran::default();
    let client = serve(builder(&ran).tool(refund_tool())).await;
    for arguments in [json!({}), json!({ "cents": "5" }), json!({ "cents": -1 })] {
        let (text, is_error) = result(&client.call("refund", arguments).await);
        assert!(is_error && text.contains("cents"), "{text}");
    }
    assert_eq!(ran.take(), [""; 0]);
}

#[tokio::test]
async fn a_hidden_tool_is_answered_like_an_unknown_one() {
    let ran = Ran::default();
    let hidden = refund_tool().visible_to(|caller: &RunContext| caller.principal().id() == "ann");
    let client = serve(builder(&ran).tool(hidden)).await.of("bob");
    let mut answers = Vec::new();
    for name in ["refund", "absent"] {
        let response = client.request("tools/call", json!({ "name": name, "arguments": { "cents": 5 } }));
        let response = response.send().await.unwrap();
        let mut headers = response.headers().clone();
        headers.remove("date");
        answers.push((response.status(), headers, response.bytes().await.unwrap()));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(ran.take(), [""; 0]);
}

#[tokio::test]
async fn a_tool_that_the_plan_of_a_run_hides_does_not_run() {
    async fn prepare(plan: &mut RunPlan) -> Result<(), omniassist_server::Refusal> {
        plan.deny_tools(["refund"]);
        Ok(())
    }
    let ran = Ran::default();
    let client = serve(builder(&ran).tool(refund_tool()).prepare(prepare)).await;
    assert!(result(&client.call("refund", json!({ "cents": 5 })).await).1);
    assert_eq!(ran.take(), [""; 0]);
}

#[tokio::test]
async fn hooks_decide_about_the_call() {
    let ran = Ran::default();
    let builder = builder(&ran).tool(refund_tool()).before_tool(|call: ToolContext| async move {
        Ok::<_, ToolError>(match call.arguments().as_str() {
            r#"{"cents":1}"# => ToolDecision::Refuse("Too little.".into()),
            r#"{"cents":2}"# => ToolDecision::Change(json_text(&json!({ "cents": 20 }))),
            r#"{"cents":3}"# => ToolDecision::Answer(json_text(&json!("Done before."))),
            _ => ToolDecision::Allow,
        })
    });
    let client = serve(builder).await;
    assert_eq!(result(&client.call("refund", json!({ "cents": 1 })).await), ("Too little.".to_owned(), true));
    assert_eq!(
        result(&client.call("refund", json!({ "cents": 3 })).await),
        ("Done before.".to_owned(), false)
    );
    assert_eq!(ran.take(), [""; 0]);
    client.call("refund", json!({ "cents": 2 })).await;
    assert_eq!(ran.take(), [r#"refund ann {"cents":20}"#]);
}

#[tokio::test]
async fn errors_of_tools_are_results() {
    let refuses = Tool::new("refuses", "Fails", async || Err::<(), _>(ToolError::new("No such order.")));
    let breaks = Tool::new("breaks", "Fails", async || Err::<(), _>(ToolError::internal("a secret")));
    let panics = Tool::new("panics", "Fails", async || -> Result<(), ToolError> { panic!("a secret") });
    let client = serve(builder(&Ran::default()).tool(refuses).tool(breaks).tool(panics)).await;
    for (tool, text) in
        [("refuses", "No such order."), ("breaks", "The tool failed."), ("panics", "The tool failed.")]
    {
        assert_eq!(result(&client.call(tool, json!({})).await), (text.to_owned(), true));
    }
}

#[tokio::test]
async fn a_slow_tool_ends_at_its_timeout() {
    let slow = Tool::new("slow", "Waits", async || {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok::<_, ToolError>("late")
    });
    let client = serve(builder(&Ran::default()).tool(slow.timeout(Duration::from_millis(100)))).await;
    let (text, is_error) = result(&client.call("slow", json!({})).await);
    assert!(is_error && text.contains("timed out"), "{text}");
}

#[tokio::test]
async fn an_output_is_cut_at_its_limit() {
    let long = |bytes: usize| {
        Tool::new(format!("of_{bytes}"), "Returns text", move || async move {
            Ok::<_, ToolError>("x".repeat(bytes))
        })
    };
    let mut limits = Limits::default();
    limits.max_tool_output_bytes = 1_002;
    let client = serve(builder(&Ran::default()).tool(long(1_000)).tool(long(1_001)).limits(limits)).await;
    assert_eq!(result(&client.call("of_1000", json!({})).await).0, "x".repeat(1_000));
    let (cut, _) = result(&client.call("of_1001", json!({})).await);
    assert!(cut.len() <= 1_002 && cut.contains("cut off"), "{cut}");
}

#[tokio::test]
async fn an_object_is_structured_content_and_digits_are_kept() {
    let ran = Ran::default();
    let client = serve(builder(&ran).tool(echo_tool())).await;
    let answer = client.call("echo", json!({ "a": [1, "x"] })).await;
    assert_eq!(answer["result"]["structuredContent"], json!({ "a": [1, "x"] }));
    assert_eq!(result(&answer).0, r#"{"a":[1,"x"]}"#);
    ran.take();
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"id":123456789012345678901234567890}}}"#;
    let posted = client.post(&json!({})).body(request);
    body(posted.send().await.unwrap()).await;
    assert_eq!(ran.take(), [r#"echo ann {"id":123456789012345678901234567890}"#]);
}

#[tokio::test]
async fn limits_of_a_tool_count_its_calls() {
    let ran = Ran::default();
    let left = Arc::new(Mutex::new(2));
    let tool = refund_tool().rate_limit(move |_: &Attempt<'_>| {
        let mut left = left.lock().unwrap();
        *left = i32::max(*left - 1, -1);
        if *left < 0 { Err(Duration::from_secs(3)) } else { Ok(()) }
    });
    let client = serve(builder(&ran).tool(tool)).await;
    for _ in 0..2 {
        assert!(!result(&client.call("refund", json!({ "cents": 1 })).await).1);
    }
    let (text, is_error) = result(&client.call("refund", json!({ "cents": 1 })).await);
    assert!(is_error && text.contains("too often"), "{text}");
    assert_eq!(ran.take().len(), 2);
}

#[derive(Clone, Default)]
struct Records(Arc<Mutex<Vec<serde_json::Value>>>);

impl AuditSink for Records {
    fn record<'a>(&'a self, events: &'a [AuditEvent]) -> AuditFuture<'a> {
        let events: Vec<_> = events.iter().map(|event| json!(event)).collect();
        self.0.lock().unwrap().extend(events);
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn calls_are_audited_like_those_of_a_model() {
    let records = Records::default();
    let client = serve(builder(&Ran::default()).tool(refund_tool()).audit(records.clone())).await;
    client.call("refund", json!({ "cents": 5 })).await;
    client.call("refund", json!({ "cents": "x" })).await;
    let expected = ["run_started", "call_started", "call_ended", "run_ended", "run_started", "call_refused"];
    for _ in 0..100 {
        if records.0.lock().unwrap().len() > expected.len() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let records = records.0.lock().unwrap();
    let actions: Vec<_> = records.iter().map(|record| record["action"].as_str().unwrap()).collect();
    assert_eq!(actions[..6], expected, "{records:#?}");
    assert_eq!(records[1]["principal"], "ann");
    assert_eq!(records[1]["tool"], "refund");
}

#[derive(JsonSchema, Deserialize)]
struct Cart {
    articles: Vec<String>,
}

#[tokio::test]
async fn a_client_gets_the_text_of_a_component() {
    let cart = |name| Component::new::<Cart>(name, "Shows a cart");
    let written = || cart("cart").cli(|cart: &Cart, _| format!("Cart: {}", cart.articles.join(", ")));
    let shows = json!({ "articles": ["tea", "milk"] });
    let props = shows.clone();
    let model = ScriptedProvider::new().otherwise(move |payload| match payload.transcript.last() {
        Some(TranscriptItem::Result(_)) => text("There."),
        _ => call("ui_cart", props.clone()),
    });
    let clerk = Agent::new("clerk", "Shows carts.").provider(model).tool(written().into_tool());
    let builder = builder(&Ran::default()).component(written()).component(cart("picture")).agent(clerk);
    let client = serve_as(builder, Expose::tools().and_agent("clerk")).await;
    let listed = client.send("tools/list", json!({})).await;
    let names: Vec<_> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["ask_clerk", "ui_cart"], "one without text cannot be shown");
    let of = |answer: Value| {
        let content = answer["result"]["content"].as_array().unwrap().clone();
        content.into_iter().map(|block| block["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let shown = of(client.call("ui_cart", shows).await);
    assert_eq!((shown.len(), shown[1].as_str()), (2, "Cart: tea, milk"));
    let answered = of(client.call("ask_clerk", json!({ "message": "My cart?" })).await);
    assert_eq!(answered, ["Cart: tea, milk", "There."]);
}
