//! Tests of the tools in runs of OpenAI clients.

use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Assistant, Extension, Principal, Tool, ToolError};
use serde_json::json;

use super::{answer, ask, asking, post, show};

#[derive(schemars::JsonSchema)]
struct Navigate {
    #[expect(dead_code, reason = "only the schema counts")]
    path: String,
}

async fn refund() -> Result<&'static str, ToolError> {
    Ok("refunded")
}

#[tokio::test]
async fn registered_front_end_tools_and_forms_are_not_offered() {
    let model = ScriptedProvider::new().turn(call("navigate", json!({"path": "/"}))).turn(text("I cannot."));
    let assistant = Assistant::builder(model.clone())
        .allow_anonymous()
        .tool(Tool::front_end::<Navigate>("navigate", "Opens a page"))
        .tool(Tool::request_input())
        .build()
        .unwrap();
    let whole =
        answer(ask(&AssistantService::new(assistant), &asking(json!({"tools": [show()]}))).await).await;
    let offered: Vec<String> = model.payloads()[0].tools.iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(offered, ["show"]);
    assert_eq!(whole["choices"][0]["message"]["content"], "I cannot.");
    assert!(whole["choices"][0]["message"].get("tool_calls").is_none());
}

#[tokio::test]
async fn a_call_that_needs_approval_is_denied() {
    let model = ScriptedProvider::new().turn(call("refund", json!({}))).turn(text("I may not."));
    let tool =
        Tool::new("refund", "Refunds", refund).requires_approval(omniassist_server::tool::Approval::always());
    let assistant = Assistant::builder(model.clone()).allow_anonymous().tool(tool).build().unwrap();
    let whole = answer(ask(&AssistantService::new(assistant), &asking(json!({}))).await).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "I may not.");
    let told = format!("{:?}", model.payloads()[1].transcript);
    assert!(told.contains("approval") && !told.contains("refunded"), "{told}");
}

#[tokio::test]
async fn extensions_of_the_host_reach_the_tools() {
    #[derive(Clone)]
    struct Shop(&'static str);
    async fn who(Extension(shop): Extension<Shop>, principal: Principal) -> Result<String, ToolError> {
        Ok(format!("{} {principal}", shop.0))
    }
    let model = ScriptedProvider::new().turn(call("who", json!({}))).turn(text("Done"));
    let assistant = Assistant::builder(model.clone())
        .allow_anonymous()
        .tool(Tool::new("who", "Who", who))
        .build()
        .unwrap();
    let mut request = post(asking(json!({})).to_string());
    request.extensions_mut().insert(Shop("books"));
    request.extensions_mut().insert(Principal::new("user-7"));
    answer(AssistantService::new(assistant).handle(request).await).await;
    assert!(format!("{:?}", model.payloads()[1].transcript).contains("books user-7"));
}
