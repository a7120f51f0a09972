use omniassist_mcp::Expose;
use omniassist_server::Agent;
use omniassist_server::core::{LlmPayload, TranscriptItem};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::tool::{Approval, Tool, ToolError};
use serde_json::{Value, json};

use super::host::{Client, Ran, builder, question, refund_tool, result, serve_as};

fn last_result(payload: &LlmPayload) -> Option<String> {
    match payload.transcript.last() {
        Some(TranscriptItem::Result(result)) => Some(result.output_text().to_string()),
        _ => None,
    }
}

async fn ask(client: &Client, tool: &str, more: Value) -> Value {
    let mut params = json!({ "name": tool, "arguments": { "message": "Hello" } });
    params.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    client.send("tools/call", params).await
}

#[tokio::test]
async fn an_agent_answers_with_its_text() {
    let model = ScriptedProvider::new().otherwise(|_| text("Ten percent."));
    let builder = builder(&Ran::default()).agent(Agent::new("sales", "Sells.").provider(model.clone()));
    let client = serve_as(builder, Expose::tools().and_agent("sales")).await;
    let answer = ask(&client, "ask_sales", json!({})).await;
    assert_eq!(result(&answer), ("Ten percent.".to_owned(), false));
    assert_eq!(*model.payloads()[0].transcript, [TranscriptItem::user("Hello")]);
    for arguments in [json!({}), json!({ "message": 7 }), json!({ "text": "Hello" })] {
        assert!(result(&client.call("ask_sales", arguments).await).1);
    }
    assert_eq!(model.payloads().len(), 1);
}

#[tokio::test]
async fn a_failed_agent_is_an_error() {
    let model = ScriptedProvider::new().otherwise(|_| {
        Turn::error(omniassist_server::Error::provider(omniassist_server::ProviderErrorKind::Unavailable))
    });
    let builder = builder(&Ran::default()).agent(Agent::new("sales", "Sells.").provider(model));
    let client = serve_as(builder, Expose::tools().and_agent("sales")).await;
    assert!(result(&ask(&client, "ask_sales", json!({})).await).1);
}

#[tokio::test]
async fn an_agent_shows_a_form() {
    let form = json!({
        "message": "Your name?",
        "schema": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] }
    });
    let model = ScriptedProvider::new().otherwise(move |payload| match last_result(payload) {
        None => call("request_input", form.clone()),
        Some(output) => text(format!("Got {output}")),
    });
    let greeter = Agent::new("greeter", "Greets.").provider(model).tool(Tool::request_input());
    let client =
        serve_as(builder(&Ran::default()).agent(greeter), Expose::tools().and_agent("greeter")).await;
    let asked = ask(&client, "ask_greeter", json!({})).await;
    let (key, state) = question(&asked);
    let request = &asked["result"]["inputRequests"][&key]["params"];
    assert_eq!(request["message"], "Your name?");
    assert_eq!(request["requestedSchema"]["properties"]["name"]["type"], "string");
    let responded =
        |response: Value| json!({ "inputResponses": { (&key): response }, "requestState": &state });
    let given = responded(json!({ "action": "accept", "content": { "name": "Ann" } }));
    assert_eq!(result(&ask(&client, "ask_greeter", given).await).0, r#"Got {"name":"Ann"}"#);
    let declined = responded(json!({ "action": "decline" }));
    assert_eq!(result(&ask(&client, "ask_greeter", declined).await).0, "Got The user declined to answer.");
}

/// Returns an agent whose one call needs an approval.
fn desk() -> Agent {
    let model = ScriptedProvider::new().otherwise(|payload| match last_result(payload) {
        None => call("refund", json!({ "cents": 5 })),
        Some(output) => text(output),
    });
    Agent::new("desk", "Pays.").provider(model).tool(refund_tool().requires_approval(Approval::always()))
}

#[tokio::test]
async fn an_agents_call_waits_for_the_user() {
    let ran = Ran::default();
    let client = serve_as(builder(&ran).agent(desk()), Expose::tools().and_agent("desk")).await;
    let (key, state) = question(&ask(&client, "ask_desk", json!({})).await);
    assert_eq!(ran.take(), [""; 0]);
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    let answered = json!({ "inputResponses": { (&key): yes }, "requestState": state });
    assert_eq!(result(&ask(&client, "ask_desk", answered.clone()).await).0, "Refunded.");
    assert_eq!(ran.take(), [r#"refund ann {"cents":5}"#]);
    ask(&client, "ask_desk", answered).await;
    assert_eq!(ran.take(), [""; 0]);
}

#[tokio::test]
async fn an_agent_that_a_tool_asks_waits_for_the_user() {
    let ran = Ran::default();
    let client = serve_as(builder(&ran).agent(desk()).delegates(["desk"]), Expose::tools()).await;
    let task = json!({ "name": "desk", "arguments": { "task": "Pay." } });
    let (key, state) = question(&client.send("tools/call", task.clone()).await);
    assert_eq!(ran.take(), [""; 0]);
    let mut answered = task;
    answered["requestState"] = json!(state);
    answered["inputResponses"][&key] = json!({ "action": "accept", "content": { "approve": true } });
    let report = client.send("tools/call", answered.clone()).await;
    assert_eq!(report["result"]["structuredContent"]["result"], "Refunded.", "{report}");
    assert_eq!(ran.take(), [r#"refund ann {"cents":5}"#]);
    client.send("tools/call", answered).await;
    assert_eq!(ran.take(), [""; 0]);
}

#[tokio::test]
async fn progress_is_notified_if_the_client_asks() {
    let steps = Tool::new("steps", "Reports", async |call: omniassist_server::ToolContext| {
        for step in ["one", "two"] {
            call.progress(step);
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        Ok::<_, ToolError>("done")
    });
    let client = serve_as(builder(&Ran::default()).tool(steps), Expose::tools()).await;
    let params = json!({ "name": "steps", "arguments": {}, "_meta": { "progressToken": "p1" } });
    let response = client.request("tools/call", params).send().await.unwrap();
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/event-stream"));
    let stream = response.text().await.unwrap();
    let messages: Vec<Value> = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter_map(|data| serde_json::from_str(data).ok())
        .collect();
    let progress: Vec<_> =
        messages.iter().filter(|message| message["method"] == "notifications/progress").collect();
    assert_eq!(progress.len(), 2, "{stream}");
    assert_eq!(progress[1]["params"], json!({ "progressToken": "p1", "progress": 2.0, "message": "two" }));
    assert_eq!(messages.last().unwrap()["result"]["content"][0]["text"], "done");
}
