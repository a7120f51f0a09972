//! Tests of the events that tools send in addition to their output.

use std::time::Duration;

use futures_util::StreamExt;
use http::Extensions;
use omniassist_server::core::{ContextMessage, JsonText, Limits, RunEvent, RunRequest};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::{Agent, Args, Assistant, AssistantBuilder, Json, Tool, ToolContext, ToolError};
use serde_json::{Value, json};

async fn events_of(tool: Tool, state: Option<Value>) -> Vec<RunEvent> {
    events_within(Limits::default(), tool, state).await
}

async fn events_within(limits: Limits, tool: Tool, state: Option<Value>) -> Vec<RunEvent> {
    let model = ScriptedProvider::new().turn(Turn::call("work", json!({}))).turn(text("ok"));
    let assistant = Assistant::builder(model).limits(limits).tool(tool).build().unwrap();
    let mut request = RunRequest::prompt("Work.");
    request.state = state.map(|state| JsonText::from_value(&state));
    let events: Vec<_> = assistant.try_run(request, Extensions::new()).await.unwrap().collect().await;
    let is_output = |event: &RunEvent| matches!(event, RunEvent::ToolOutput { preliminary: false, .. });
    let output = events.iter().position(is_output).unwrap();
    events.into_iter().take(output).collect()
}

#[tokio::test]
async fn data_and_activities_arrive_in_order_and_before_the_output() {
    async fn work(call: ToolContext) -> Result<(), ToolError> {
        call.data("chart", Some("c1"), json!([1]));
        call.data("chart", None, json!([2]));
        call.transient_data("note", "hello");
        call.activity("a1", "PLAN", json!({ "done": 1 }));
        call.activity("a1", "PLAN", json!({ "done": 2 }));
        call.activity("a2", "PLAN", "no object");
        call.data("no such name", None, 1);
        Ok(())
    }
    let events = events_of(Tool::new("work", "Works", work), None).await;
    let shown: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::Data { name, id, data, transient } => {
                Some(format!("{name} {:?} {} {transient}", id.as_deref(), data.as_str()))
            }
            RunEvent::ActivitySnapshot { id, kind, content } => {
                Some(format!("{id} {kind} {}", content.as_str()))
            }
            _ => None,
        })
        .collect();
    let expected = [
        r#"chart Some("c1") [1] false"#,
        "chart None [2] false",
        r#"note None "hello" true"#,
        r#"a1 PLAN {"done":2}"#,
    ];
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn the_number_of_unread_values_is_bounded() {
    async fn work(call: ToolContext) -> Result<(), ToolError> {
        for number in 0..1_025 {
            call.data("n", None, number);
        }
        Ok(())
    }
    let events = events_of(Tool::new("work", "Works", work), None).await;
    let data = events.iter().filter(|event| matches!(event, RunEvent::Data { .. }));
    assert_eq!(data.count(), 1_024);
}

#[tokio::test(start_paused = true)]
async fn the_bytes_of_unread_values_are_bounded() {
    /// Sends values of 64 KiB including their names. The last values of the progress are kept.
    async fn work(call: ToolContext) -> Result<(), ToolError> {
        let bytes = 64 * 1024 - "n".len() - "\"\"".len();
        for _ in 0..5 {
            call.data("n", None, "x".repeat(bytes));
            call.progress("x".repeat(64 * 1024 - 2));
        }
        // The end of a call drops its progress.
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(())
    }
    let is_data = |event: &&RunEvent| matches!(event, RunEvent::Data { .. });
    let is_progress = |event: &&RunEvent| matches!(event, RunEvent::ToolOutput { preliminary: true, .. });
    for (bytes, values) in [(4 * 64 * 1024, 4), (4 * 64 * 1024 - 1, 3)] {
        let mut limits = Limits::default();
        limits.max_unread_tool_bytes = bytes;
        let events = events_within(limits, Tool::new("work", "Works", work), None).await;
        assert_eq!(events.iter().filter(is_data).count(), values);
        assert_eq!(events.iter().filter(is_progress).count(), values);
    }
}

#[tokio::test]
async fn a_single_large_value_is_sent() {
    async fn work(call: ToolContext) -> Result<(), ToolError> {
        call.data("n", Some("1"), "x".repeat(300_000));
        call.data("n", Some("1"), "x".repeat(400_000));
        call.data("m", None, 1);
        Ok(())
    }
    let events = events_of(Tool::new("work", "Works", work).max_output_bytes(500_000), None).await;
    let [RunEvent::Data { data, .. }] =
        events.iter().filter(|event| matches!(event, RunEvent::Data { .. })).collect::<Vec<_>>()[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(data.as_str().len(), 400_002);
}

#[tokio::test]
async fn values_with_invalid_ids_are_dropped() {
    async fn work(call: ToolContext) -> Result<(), ToolError> {
        for id in ["", "a\nb", &"x".repeat(257)] {
            call.data("n", Some(id), 1);
            call.activity(id, "PLAN", json!({}));
        }
        call.data("n", Some(&"x".repeat(256)), 1);
        call.activity("ü/1", "PLAN", json!({}));
        Ok(())
    }
    let events = events_of(Tool::new("work", "Works", work), None).await;
    let shown = events
        .iter()
        .filter(|event| matches!(event, RunEvent::Data { .. } | RunEvent::ActivitySnapshot { .. }));
    assert_eq!(shown.count(), 2);
}

#[tokio::test]
async fn a_tool_changes_the_shared_state() {
    async fn work(call: ToolContext) -> Result<(), ToolError> {
        assert_eq!(call.run().shared_state(), json!({ "cart": ["tea"], "open": true }));
        call.update_shared_state(|state| state["cart"] = json!(["tea", "milk"]));
        Ok(())
    }
    let posted = json!({ "cart": ["tea"], "open": true });
    let events = events_of(Tool::new("work", "Works", work), Some(posted.clone())).await;
    let deltas: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::StateDelta(patch) => Some(patch.clone()),
            _ => None,
        })
        .collect();
    let [delta] = deltas.as_slice() else { panic!("{deltas:?}") };
    let mut client = posted;
    let patch: json_patch::Patch = serde_json::from_str(delta.as_str()).unwrap();
    json_patch::patch(&mut client, &patch).unwrap();
    assert_eq!(client, json!({ "cart": ["tea", "milk"], "open": true }));
}

/// Runs a tool and returns the changes of the shared state.
async fn changes(tool: Tool, posted: Option<Value>) -> Vec<RunEvent> {
    let mut events = events_of(tool, posted).await;
    events.retain(|event| matches!(event, RunEvent::StateSnapshot(_) | RunEvent::StateDelta(_)));
    events
}

/// Adds an item to the list of the shared state, and says what the tool finds of the request.
fn adding(name: &'static str) -> Tool {
    Tool::new(name, "Adds an item", move |call: ToolContext| async move {
        tokio::task::yield_now().await;
        call.update_shared_state(|state| state["list"].as_array_mut().unwrap().push(json!(name)));
        call.activity(name, "ADDED", json!({ "item": name }));
        let run = call.run();
        let context: Vec<_> = run.context().iter().map(|message| &*message.id).collect();
        let found = json!([context, run.body_field("locale"), run.forwarded(), run.shared_state()["open"]]);
        Ok::<_, ToolError>(Json(found))
    })
}

/// Runs an assistant, and returns the state of its client at the end, the ids of its activities, and the output of the tool.
async fn shared(builder: AssistantBuilder) -> (Value, Vec<String>, Value) {
    let posted = json!({ "list": [], "open": true });
    let mut request = RunRequest::prompt("Add.");
    request.state = Some(JsonText::from_value(&posted));
    request.extra.insert("locale".into(), JsonText::from_str_value("de"));
    request.forwarded = Some(JsonText::from_value(&json!({ "f": 1 })));
    request.context.push(ContextMessage::new("form-1", "form", json!({})));
    let assistant = builder.build().unwrap();
    let mut events = assistant.try_run(request, Extensions::new()).await.unwrap();
    let (mut client, mut activities, mut last) = (posted, Vec::new(), Value::Null);
    while let Some(event) = events.next().await {
        match event {
            RunEvent::StateDelta(patch) => {
                json_patch::patch(&mut client, &patch.to::<json_patch::Patch>().unwrap()).unwrap();
            }
            RunEvent::ActivitySnapshot { id, .. } => activities.push(id.to_string()),
            RunEvent::ToolOutput { output, .. } => last = output.to_value(),
            RunEvent::ToolError { error_text, .. } => panic!("{error_text}"),
            _ => {}
        }
    }
    activities.sort_unstable();
    (client, activities, last)
}

#[tokio::test]
async fn a_tool_that_another_one_calls_finds_the_request_and_changes_the_shared_state() {
    async fn work(call: ToolContext) -> Result<Json<Value>, ToolError> {
        let found = call.call_tool(&adding("tea"), json!({}), ()).await?;
        assert_eq!(call.run().shared_state()["list"], json!(["tea"]));
        Ok(Json(found))
    }
    let model = ScriptedProvider::new().turn(Turn::call("work", json!({}))).turn(text("ok"));
    let (client, activities, found) =
        shared(Assistant::builder(model).tool(Tool::new("work", "Works", work))).await;
    assert_eq!(client, json!({ "list": ["tea"], "open": true }));
    assert_eq!(activities, ["tea"]);
    assert_eq!(found, json!([["form-1"], "de", { "f": 1 }, true]));
}

#[tokio::test]
async fn tools_call_each_other_16_levels_deep() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Levels {
        below: u32,
    }
    /// Calls itself, and returns the number of levels below the first.
    fn deeper() -> Tool {
        Tool::new(
            "deeper",
            "Calls itself",
            |Args(Levels { below }): Args<Levels>, call: ToolContext| async move {
                if below == 0 {
                    return Ok(Json(json!(0)));
                }
                let found = call.call_tool(&deeper(), json!({ "below": below - 1 }), ()).await?;
                Ok::<_, ToolError>(Json(json!(found.as_u64().unwrap() + 1)))
            },
        )
    }
    for (below, wanted) in
        [(16, Ok(json!(16))), (17, Err("more than 16 levels deep")), (2_000, Err("more than 16"))]
    {
        let model =
            ScriptedProvider::new().turn(Turn::call("deeper", json!({ "below": below }))).turn(text("ok"));
        let assistant = Assistant::builder(model).tool(deeper()).build().unwrap();
        let events: Vec<_> = assistant.run(RunRequest::prompt("Go.")).collect().await;
        let end = events.iter().find_map(|event| match event {
            RunEvent::ToolOutput { output, .. } => Some(Ok(output.to_value())),
            RunEvent::ToolError { error_text, .. } => Some(Err(error_text.to_string())),
            _ => None,
        });
        match (end.unwrap(), wanted) {
            (Ok(output), Ok(wanted)) => assert_eq!(output, wanted),
            (Err(error), Err(wanted)) => assert!(error.contains(wanted), "{error}"),
            (end, _) => panic!("{below}: {end:?}"),
        }
    }
}

#[tokio::test]
async fn the_tools_of_agents_at_work_change_the_state_of_their_run() {
    let agent = |name: &'static str, item: &'static str| {
        let model = ScriptedProvider::new().turn(Turn::call(item, json!({}))).turn(text("Added."));
        Agent::new(name, "Adds.").provider(model).tool(adding(item))
    };
    let ask = |agent| Turn::call(agent, json!({ "task": "Add." }));
    let below = ScriptedProvider::new().turn(ask("second")).turn(text("Added."));
    let first = Agent::new("first", "Asks.").provider(below).delegates(["second"]);
    let all = ask("first").then(ask("third")).then(Turn::call("own", json!({})));
    let model = ScriptedProvider::new().turn(all).turn(text("ok"));
    let builder = Assistant::builder(model)
        .tool(adding("own"))
        .agent(first)
        .agent(agent("second", "tea"))
        .agent(agent("third", "milk"))
        .delegates(["first", "third"]);
    let (client, activities, _) = shared(builder).await;
    let mut list: Vec<_> =
        client["list"].as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect();
    list.sort_unstable();
    assert_eq!((list, &client["open"]), (vec!["milk", "own", "tea"], &json!(true)));
    assert_eq!(activities, ["milk", "own", "tea"]);
}

#[tokio::test]
async fn a_client_without_state_receives_a_snapshot_first() {
    async fn work(call: ToolContext) -> Result<(), ToolError> {
        call.update_shared_state(|state| *state = json!({ "cart": [] }));
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        call.update_shared_state(|state| state["cart"] = json!(["tea"]));
        call.update_shared_state(|state| state["paid"] = json!(true));
        Ok(())
    }
    let changes = changes(Tool::new("work", "Works", work), None).await;
    let [RunEvent::StateSnapshot(whole), RunEvent::StateDelta(patch)] = &changes[..] else {
        panic!("{changes:?}")
    };
    let mut client = whole.to_value();
    assert_eq!(client, json!({ "cart": [] }));
    json_patch::patch(&mut client, &patch.to::<json_patch::Patch>().unwrap()).unwrap();
    assert_eq!(client, json!({ "cart": ["tea"], "paid": true }));
}

#[tokio::test]
async fn state_changes_cannot_reach_a_prototype() {
    async fn work(call: ToolContext) -> Result<(), ToolError> {
        assert_eq!(call.run().shared_state(), json!({ "a": {}, "n": 1 }));
        call.update_shared_state(|state| {
            state["a"]["__proto__"] = json!({ "x": 2 });
            state["constructor"] = json!({ "prototype": { "y": 3 } });
        });
        Ok(())
    }
    async fn replace(call: ToolContext) -> Result<(), ToolError> {
        call.update_shared_state(|state| state["n"] = json!({ "constructor": 1 }));
        Ok(())
    }
    let posted = Some(json!({ "a": { "__proto__": { "x": 1 } }, "n": 1 }));
    assert_eq!(changes(Tool::new("work", "Works", work), posted.clone()).await, []);
    let changes = changes(Tool::new("work", "Works", replace), posted).await;
    let [RunEvent::StateDelta(patch)] = &changes[..] else { panic!("{changes:?}") };
    let replaced = json!([{ "op": "replace", "path": "/n", "value": { "constructor": 1 } }]);
    assert_eq!(patch.to_value(), replaced);
}
