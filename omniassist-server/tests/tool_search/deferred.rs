use std::sync::Arc;

use futures_util::StreamExt;
use http::Extensions;
use omniassist_server::core::message::{Message, MessageCollector, Part, ToolState};
use omniassist_server::core::run::ClientAbilities;
use omniassist_server::core::{LlmPayload, RunEvent, RunRequest, ToolChoice, ToolSpec};
use omniassist_server::seal::SealKeys;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{
    Args, Assistant, AssistantBuilder, Principal, Refusal, RunContext, RunPlan, StepPlan, Tool, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::catalogue::{Calls, tools};

pub(super) fn tool(name: &str) -> Tool {
    Tool::new(name.to_owned(), format!("Handles {name}"), async || Ok::<_, ToolError>("pong"))
}

/// Builds an assistant with this many tools.
pub(super) fn numbered(model: &ScriptedProvider, count: usize) -> AssistantBuilder {
    (0..count).fold(Assistant::builder(model.clone()), |builder, index| {
        builder.tool(tool(&format!("tool_{index:03}")))
    })
}

pub(super) fn shop(model: &ScriptedProvider, calls: &Calls) -> AssistantBuilder {
    let keys = SealKeys::new("k1", [7; 32]).unwrap();
    tools(calls).into_iter().fold(Assistant::builder(model.clone()).seal_keys(keys), AssistantBuilder::tool)
}

pub(super) fn search(query: &str) -> omniassist_server::testing::Turn {
    call("tool_search", json!({ "query": query }))
}

fn names(payload: &LlmPayload) -> Vec<&str> {
    payload.tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// Returns the names of the offered tools of each model call.
pub(super) fn offered(model: &ScriptedProvider) -> Vec<Vec<String>> {
    let owned = |payload: &LlmPayload| names(payload).into_iter().map(str::to_owned).collect();
    model.payloads().iter().map(owned).collect()
}

pub(super) fn last(model: &ScriptedProvider) -> Vec<String> {
    offered(model).pop().unwrap()
}

/// Posts a conversation with a further question. Returns the conversation that the client then holds, and the events.
pub(super) async fn ask(
    assistant: &Assistant,
    mut messages: Vec<Message>,
    question: &str,
) -> (Vec<Message>, Vec<RunEvent>) {
    messages.push(Message::user(format!("q{}", messages.len()), question));
    let mut request = RunRequest::new(messages.clone());
    request.chat_id = Some("c".into());
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    let events: Vec<_> = assistant.try_run(request, extensions).await.unwrap().collect().await;
    let mut answer = MessageCollector::new();
    events.iter().for_each(|event| answer.apply(event));
    messages.push(answer.into_message());
    (messages, events)
}

/// Returns the outputs and the errors of the calls of a message.
pub(super) fn outputs(message: &Message) -> Vec<Value> {
    let output = |part: &Part| match part {
        Part::Tool(tool) => match &tool.state {
            ToolState::OutputAvailable { output, .. } => Some(output.to_value()),
            state => Some(format!("{state:?}").into()),
        },
        _ => None,
    };
    message.parts.iter().filter_map(output).collect()
}

fn bytes(payload: &LlmPayload) -> usize {
    payload.tools.iter().map(|spec| serde_json::to_string(&**spec).unwrap().len()).sum()
}

#[tokio::test]
async fn a_search_loads_tools_for_the_rest_of_the_conversation() {
    let calls = Calls::default();
    let model = ScriptedProvider::new()
        .turn(search("refund order"))
        .turn(call("refund_order", json!({ "id": 17 })))
        .turn(text("Done."))
        .turn(search("restart a machine"))
        .turn(call("restart_server", json!({ "id": 1 })))
        .otherwise(|_| text("Done."));
    let assistant = shop(&model, &calls).build().unwrap();
    let (messages, _) = ask(&assistant, Vec::new(), "Give the customer of order 17 her money back").await;
    assert_eq!(*calls.lock().unwrap(), ["refund_order"]);
    let steps = offered(&model);
    assert_eq!(steps[0], ["tool_search"]);
    assert_eq!(steps[1][..2], ["tool_search", "refund_order"]);
    assert_eq!(steps[1].len(), 6, "{:?}", steps[1]);
    assert_eq!(steps[2], steps[1]);
    let found = &outputs(&messages[1])[0]["tools"][0];
    assert_eq!(
        *found,
        json!({"name": "refund_order", "description": "Pays the money of an order back, whole or in part."})
    );
    // The definitions are complete.
    let refund = &model.payloads()[1].tools[1];
    assert!(refund.input_schema["properties"]["customer"].is_object(), "{refund:?}");

    // Another instance reads the loaded tools from the conversation. New tools follow the earlier tools.
    let restarted = shop(&model, &calls).build().unwrap();
    ask(&restarted, messages, "And restart the server").await;
    assert_eq!(*calls.lock().unwrap(), ["refund_order", "restart_server"]);
    let steps = offered(&model);
    assert_eq!(steps[3], steps[1]);
    assert_eq!(steps[4][..6], steps[1][..]);
    assert!(steps[4][6..].contains(&"restart_server".to_owned()), "{:?}", steps[4]);
}

#[tokio::test]
async fn deferring_300_tools_reduces_the_size_of_a_request() {
    let ask_with = async |above: Option<usize>| {
        let model = ScriptedProvider::new().turn(search("refund order")).otherwise(|_| text("Done."));
        let assistant = shop(&model, &Calls::default()).defer_tools_above(above).build().unwrap();
        ask(&assistant, Vec::new(), "Give the customer of order 17 her money back").await;
        model.payloads().iter().map(bytes).collect::<Vec<_>>()
    };
    let (all, deferred) = (ask_with(None).await, ask_with(Some(40)).await);
    println!("bytes of the tools in the model calls: {all:?} and, deferred, {deferred:?}");
    assert!(deferred[0] * 50 < all[0], "{deferred:?} {all:?}");
    assert!(deferred[1] * 20 < all[1], "{deferred:?} {all:?}");
}

#[tokio::test]
async fn the_search_comes_first_and_loaded_tools_come_last() {
    let model = ScriptedProvider::new().turn(search("tool 003")).otherwise(|_| text("Hi"));
    let page =
        Tool::front_end_with_schema("zoom", "Zooms the page", json!({"type": "object", "properties": {}}));
    let assistant =
        numbered(&model, 5).tool(tool("a_pinned").always_loaded()).tool(page).defer_tools_above(5);
    let assistant = assistant.build().unwrap();
    let mut request = RunRequest::prompt("Hi");
    request.abilities = ClientAbilities::default();
    let schema = json!({"type": "object", "properties": {}});
    request.tools = vec![Arc::new(ToolSpec::new("declared", "Of the page", schema).front_end())];
    assistant.run(request).text().await.unwrap();
    let steps = offered(&model);
    assert_eq!(steps[0], ["tool_search", "a_pinned", "zoom", "declared"]);
    assert_eq!(steps[1][..5], ["tool_search", "a_pinned", "zoom", "declared", "tool_003"]);
}

#[tokio::test]
async fn titles_tags_and_examples_are_searched_too() {
    let tools = [
        tool("a").title("Refund order"),
        tool("b").tag("accounting"),
        tool("c").example("Where is my parcel?", json!({})),
    ];
    for (query, name) in [("refund", "a"), ("accounting", "b"), ("parcel", "c")] {
        let model = ScriptedProvider::new().turn(search(query)).otherwise(|_| text("Hi"));
        let builder = tools.clone().into_iter().fold(numbered(&model, 9), AssistantBuilder::tool);
        ask(&builder.defer_tools_above(5).build().unwrap(), Vec::new(), "Hi").await;
        assert_eq!(last(&model), ["tool_search", name]);
    }
}

#[tokio::test]
async fn the_host_can_search_for_the_model() {
    async fn prepare(plan: &mut RunPlan, run: RunContext) -> Result<(), Refusal> {
        let best = plan.tools().search(&run.messages()[0].text()).into_iter().take(2);
        let names: Vec<_> = best.map(|tool| tool.spec().name.clone()).collect();
        plan.allow_tools(names);
        Ok(())
    }
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let assistant = shop(&model, &Calls::default()).prepare(prepare).build().unwrap();
    ask(&assistant, Vec::new(), "Where is the parcel of order 1001?").await;
    assert_eq!(last(&model), ["get_order", "track_order"]);
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    id: u64,
}

#[tokio::test]
async fn a_call_of_a_tool_that_was_not_loaded_runs_and_loads_it() {
    let track =
        Tool::new("track", "Follows a parcel", async |Args(order): Args<Order>| Ok::<_, ToolError>(order.id));
    let model = ScriptedProvider::new()
        .turn(call("track", json!({ "order": 7 })))
        .turn(call("track", json!({ "id": 7 })))
        .otherwise(|_| text("There."));
    let assistant = numbered(&model, 9).tool(track).defer_tools_above(5).build().unwrap();
    let (messages, _) = ask(&assistant, Vec::new(), "Where is it?").await;
    let outputs = outputs(&messages[1]);
    assert!(outputs[0].to_string().contains("is a required property"), "{outputs:?}");
    assert_eq!(outputs[1], json!(7));
    assert_eq!(offered(&model)[1], ["tool_search", "track"]);
}

#[tokio::test]
async fn a_search_without_a_result_names_the_tools() {
    let model = ScriptedProvider::new()
        .turn([search("weather"), call("no_such", json!({}))])
        .otherwise(|_| text("Hi"));
    let assistant = numbered(&model, 300).build().unwrap();
    let (messages, _) = ask(&assistant, Vec::new(), "Will it rain?").await;
    let outputs = outputs(&messages[1]);
    assert_eq!(outputs[0]["tools"], json!([]));
    let note = outputs[0]["note"].as_str().unwrap();
    assert!(note.contains("tool_search, tool_000, tool_001") && note.ends_with("more."), "{note}");
    assert!(note.len() < 1_200, "{}", note.len());
    assert!(outputs[1].to_string().contains("The tools are: tool_search, tool_000"), "{outputs:?}");
}

#[tokio::test]
async fn the_output_of_a_search_is_bounded() {
    let model = ScriptedProvider::new().turn(search("report")).otherwise(|_| text("Hi"));
    let long = |index: usize| {
        Tool::new(format!("report_{index}"), "long ".repeat(2_000), async || Ok::<_, ToolError>("ok"))
    };
    let builder = (0..41).fold(Assistant::builder(model.clone()), |builder, index| builder.tool(long(index)));
    let (messages, _) = ask(&builder.build().unwrap(), Vec::new(), "Hi").await;
    let output = outputs(&messages[1]).remove(0).to_string();
    assert!(output.len() < 1_500, "{}", output.len());
    assert_eq!(last(&model).len(), 6);
    assert!(model.payloads()[1].tools[1].description.len() >= 10_000 - 1);
}

#[tokio::test]
async fn registration_during_a_conversation_applies_to_its_next_run() {
    let model = ScriptedProvider::new()
        .turn(call("tool_001", json!({})))
        .turn(text("Hi"))
        .turn(search("brand new"))
        .otherwise(|_| text("Hi"));
    let assistant = numbered(&model, 40).build().unwrap();
    let (messages, _) = ask(&assistant, Vec::new(), "Hi").await;
    assert_eq!(last(&model).len(), 40);
    assistant.tools().register(tool("brand_new")).unwrap();
    let (messages, _) = ask(&assistant, messages, "Hi").await;
    let steps = offered(&model);
    assert_eq!(steps[2], ["tool_search", "tool_001"], "a called tool must be loaded");
    assert_eq!(steps[3], ["tool_search", "tool_001", "brand_new"]);

    // The conversation continues without the search and keeps the outputs of the search.
    assert!(assistant.tools().unregister("tool_000"));
    let (messages, _) = ask(&assistant, messages, "Hi").await;
    assert_eq!(last(&model).len(), 40);
    assert!(!last(&model).contains(&"tool_search".to_owned()));
    let transcript = format!("{:?}", model.payloads().last().unwrap().transcript);
    assert!(transcript.contains("Handles brand_new"), "{transcript}");
    assert_eq!(messages.len(), 6);
}

#[tokio::test]
async fn hidden_tools_are_neither_counted_nor_found() {
    let prepare = |plan: &mut RunPlan| {
        plan.deny_tools(["tool_000"]);
        std::future::ready(Ok::<_, Refusal>(()))
    };
    for (count, defers) in [(42, false), (43, true)] {
        let model = ScriptedProvider::new().turn(search("tool 000 handles")).otherwise(|_| text("Hi"));
        let secret = tool("secret").visible_to(|_: &RunContext| false);
        let assistant = numbered(&model, count - 1).tool(secret).prepare(prepare).build().unwrap();
        let (messages, _) = ask(&assistant, Vec::new(), "Hi").await;
        let steps = offered(&model);
        assert_eq!(steps[0].len(), if defers { 1 } else { 40 });
        let shown = format!("{:?}", (&steps, outputs(&messages[1])));
        assert!(!shown.contains("tool_000") && !shown.contains("secret"), "{shown}");
        assert!(shown.contains("tool_001"), "{shown}");
    }
}

#[tokio::test]
async fn a_step_that_allows_few_tools_offers_them() {
    let model =
        ScriptedProvider::new().turn(search("tool 005")).turn(search("tool 005")).otherwise(|_| text("Hi"));
    let prepare_step = |step: &mut StepPlan| {
        match step.number() {
            2 => step.allow_tools(["tool_005", "tool_006"]),
            3 => step.deny_tools(["tool_005"]),
            _ => step,
        };
        std::future::ready(Ok::<_, Refusal>(()))
    };
    let assistant = numbered(&model, 50).prepare_step(prepare_step).build().unwrap();
    ask(&assistant, Vec::new(), "Hi").await;
    let steps = offered(&model);
    assert_eq!(steps[0], ["tool_search"]);
    assert_eq!(steps[1], ["tool_005", "tool_006"]);
    assert!(!steps[2].contains(&"tool_005".to_owned()) && steps[2][0] == "tool_search", "{:?}", steps[2]);
}

#[tokio::test]
async fn a_step_without_the_search_offers_the_loaded_tools() {
    let model =
        ScriptedProvider::new().turn(search("tool 005")).turn(search("tool 006")).otherwise(|_| text("Hi"));
    let prepare_step = |step: &mut StepPlan| {
        if step.number() == 2 {
            step.deny_tools(["tool_search"]);
        }
        std::future::ready(Ok::<_, Refusal>(()))
    };
    let assistant = numbered(&model, 50).prepare_step(prepare_step).build().unwrap();
    let (messages, _) = ask(&assistant, Vec::new(), "Hi").await;
    let steps = offered(&model);
    assert_eq!(steps[1], ["tool_005"]);
    assert_eq!(steps[2][1..], steps[1][..], "the second search must find nothing");
    assert!(outputs(&messages[1])[1].to_string().contains("There is no tool of this name"));
}

#[tokio::test]
async fn a_chosen_tool_is_offered() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let assistant = numbered(&model, 50).build().unwrap();
    let mut request = RunRequest::prompt("Hi");
    request.tool_use.choice = ToolChoice::Tool("tool_007".into());
    assistant.run(request).text().await.unwrap();
    assert_eq!(last(&model), ["tool_search", "tool_007"]);
}

#[tokio::test]
async fn a_request_without_server_tools_has_no_search() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let assistant = numbered(&model, 50).build().unwrap();
    let mut request = RunRequest::prompt("Hi");
    request.tool_use.server_tools = false;
    assistant.run(request).text().await.unwrap();
    assert!(last(&model).is_empty());
}

#[tokio::test]
async fn the_name_of_the_search_is_reserved() {
    let model = ScriptedProvider::new();
    let build = |above: Option<usize>| {
        Assistant::builder(model.clone()).tool(tool("tool_search")).defer_tools_above(above).build()
    };
    let error = build(Some(40)).unwrap_err().to_string();
    assert!(error.contains("tool_search") && error.contains("built-in search"), "{error}");
    build(None).unwrap();

    let mut request = RunRequest::prompt("Hi");
    let schema = json!({"type": "object", "properties": {}});
    request.tools = vec![Arc::new(ToolSpec::new("tool_search", "Mine", schema).front_end())];
    let assistant = Assistant::builder(model).build().unwrap();
    let refused = assistant.try_run(request, Extensions::new()).await.unwrap_err().to_string();
    assert!(refused.contains("`tool_search` is the name of a tool that the server runs"), "{refused}");
}

#[tokio::test]
async fn a_search_is_shown_as_a_call_with_a_title() {
    let model = ScriptedProvider::new().turn(search("tool 005")).otherwise(|_| text("Hi"));
    let assistant = numbered(&model, 50).build().unwrap();
    let (_, events) = ask(&assistant, Vec::new(), "Hi").await;
    let events = format!("{events:?}");
    assert!(events.contains("Search tools") && events.contains("ToolOutput"), "{events}");
    let tools = assistant.visible_tools(&Extensions::new());
    assert_eq!(tools.get("tool_search").unwrap().spec().title.as_deref(), Some("Search tools"));
}
