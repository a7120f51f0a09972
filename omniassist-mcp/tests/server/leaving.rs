//! Clients that leave while their call runs.

use std::time::Duration;

use omniassist_mcp::Expose;
use omniassist_server::Agent;
use omniassist_server::testing::{ScriptedProvider, Turn};
use omniassist_server::tool::{Tool, ToolContext, ToolError};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::host::{Client, Ran, builder, serve, serve_as};

/// A tool that tells when it begins, and when its token is cancelled.
fn waiting(report: mpsc::UnboundedSender<&'static str>) -> Tool {
    Tool::from_fn_with_schema(
        "wait",
        "Waits",
        json!({ "type": "object" }),
        move |_: serde_json::Value, call: ToolContext| {
            let report = report.clone();
            async move {
                report.send("began").unwrap();
                call.cancelled().await;
                report.send("cancelled").unwrap();
                Ok::<_, ToolError>("cancelled")
            }
        },
    )
}

async fn leave(
    client: Client,
    params: serde_json::Value,
    reports: &mut mpsc::UnboundedReceiver<&'static str>,
) {
    let request = tokio::spawn(client.request("tools/call", params).send());
    assert_eq!(timeout(Duration::from_secs(5), reports.recv()).await.unwrap(), Some("began"));
    request.abort();
    assert_eq!(timeout(Duration::from_secs(5), reports.recv()).await.unwrap(), Some("cancelled"));
}

#[tokio::test]
async fn a_client_that_leaves_cancels_its_call() {
    let (sender, mut reports) = mpsc::unbounded_channel();
    let client = serve(builder(&Ran::default()).tool(waiting(sender))).await;
    leave(client, json!({ "name": "wait", "arguments": {} }), &mut reports).await;
}

#[tokio::test]
async fn a_client_that_leaves_the_stream_of_progress_cancels_its_call() {
    let (sender, mut reports) = mpsc::unbounded_channel();
    let told = Tool::from_fn_with_schema(
        "wait",
        "Waits",
        json!({ "type": "object" }),
        move |_: serde_json::Value, call: ToolContext| {
            let report = sender.clone();
            async move {
                call.progress("begun");
                call.cancelled().await;
                report.send("cancelled").unwrap();
                Ok::<_, ToolError>("cancelled")
            }
        },
    );
    let client = serve(builder(&Ran::default()).tool(told)).await;
    let params = json!({ "name": "wait", "arguments": {}, "_meta": { "progressToken": 1 } });
    let mut response = client.request("tools/call", params).send().await.unwrap();
    let first = response.chunk().await.unwrap().unwrap();
    assert!(!first.is_empty());
    drop(response);
    assert_eq!(timeout(Duration::from_secs(5), reports.recv()).await.unwrap(), Some("cancelled"));
}

#[tokio::test]
async fn a_client_that_leaves_stops_the_agent() {
    let model = ScriptedProvider::new().otherwise(|_| Turn::pending());
    let builder = builder(&Ran::default()).agent(Agent::new("sales", "Sells.").provider(model.clone()));
    let client = serve_as(builder, Expose::tools().and_agent("sales")).await;
    let params = json!({ "name": "ask_sales", "arguments": { "message": "Hello" } });
    let request = tokio::spawn(client.request("tools/call", params).send());
    while model.payloads().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    request.abort();
    timeout(Duration::from_secs(5), model.dropped()).await.unwrap();
}
