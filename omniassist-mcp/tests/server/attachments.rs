use omniassist_mcp::{Attachments, Content, ResourceContent};
use omniassist_server::core::{RunRequest, TranscriptItem};
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::tool::{Approval, Tool, ToolError};
use omniassist_server::{Assistant, Principal};
use serde_json::json;

use super::host::{Ran, builder, question, serve};

async fn chart(attachments: Attachments) -> Result<&'static str, ToolError> {
    attachments.add(Content::image("image/png", [1]))?;
    attachments.add(Content::audio("audio/wav", [2]))?;
    attachments.add(Content::resource("x://data", ResourceContent::bytes(vec![3_u8])))?;
    Ok("Sales rise.")
}

async fn photo(attachments: Attachments) -> Result<(), ToolError> {
    attachments.add(Content::image("image/png", [1]))
}

async fn broken(attachments: Attachments) -> Result<(), ToolError> {
    attachments.add(Content::image("image/png", [1]))?;
    Err(ToolError::new("It broke."))
}

async fn sketch(attachments: Attachments) -> Result<&'static str, ToolError> {
    Ok(if attachments.are_sent() { "A sketch follows." } else { "A sketch is not sent." })
}

fn chart_tool() -> Tool {
    Tool::new("chart", "Draws", chart)
}

#[tokio::test]
async fn a_client_receives_media_after_the_output() {
    let builder = builder(&Ran::default())
        .tool(chart_tool())
        .tool(Tool::new("photo", "Takes a photo", photo))
        .tool(Tool::new("broken", "Breaks", broken))
        .tool(Tool::new("sketch", "Draws a sketch", sketch));
    let client = serve(builder).await;
    let image = json!({ "type": "image", "data": "AQ==", "mimeType": "image/png" });
    assert_eq!(
        client.call("chart", json!({})).await["result"]["content"],
        json!([
            { "type": "text", "text": "Sales rise." },
            image,
            { "type": "audio", "data": "Ag==", "mimeType": "audio/wav" },
            { "type": "resource", "resource": { "uri": "x://data", "blob": "Aw==" } }
        ])
    );
    assert_eq!(client.call("photo", json!({})).await["result"]["content"], json!([image]));
    let sketch = client.call("sketch", json!({})).await;
    assert_eq!(sketch["result"]["content"], json!([{ "type": "text", "text": "A sketch follows." }]));
    let broken = client.call("broken", json!({})).await;
    assert_eq!(broken["result"]["content"], json!([{ "type": "text", "text": "It broke." }]));
}

#[tokio::test]
async fn an_approved_call_sends_its_media() {
    let guarded = chart_tool().requires_approval(Approval::always());
    let client = serve(builder(&Ran::default()).tool(guarded)).await;
    let (key, state) = question(&client.call("chart", json!({})).await);
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    let answered = json!({
        "name": "chart", "arguments": {}, "inputResponses": { (&key): yes }, "requestState": state
    });
    let result = client.send("tools/call", answered).await;
    assert_eq!(result["result"]["content"].as_array().unwrap().len(), 4, "{result}");
}

#[tokio::test]
async fn the_assistants_model_reads_the_output_alone() {
    for (tool, output) in [("chart", "Sales rise."), ("sketch", "A sketch is not sent.")] {
        let model = ScriptedProvider::new().otherwise(move |payload| match payload.transcript.last() {
            Some(TranscriptItem::Result(result)) => text(result.output_text().to_string()),
            _ => call(tool, json!({})),
        });
        let builder = Assistant::builder(model).tool(chart_tool());
        let builder = builder.tool(Tool::new("sketch", "Draws a sketch", sketch)).allow_anonymous();
        let assistant = builder.build().unwrap();
        let mut extensions = http::Extensions::new();
        extensions.insert(Principal::new("ann"));
        let run = assistant.try_run(RunRequest::prompt("Draw."), extensions).await.unwrap();
        assert_eq!(run.text().await.unwrap(), output);
    }
}
