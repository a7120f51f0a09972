//! Ten thousand tools.

use std::time::Instant;

use omniassist_server::core::{Limits, RunRequest};
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::tool::{StateMap, Tools};
use omniassist_server::{Assistant, Tool, ToolError};
use serde_json::json;

const COUNT: usize = 10_000;
const VERBS: [&str; 10] =
    ["list", "get", "create", "update", "delete", "archive", "export", "approve", "assign", "search"];

fn tool(index: usize) -> Tool {
    let (verb, region) = (VERBS[index % 10], index / 10);
    let about = format!("{verb} the orders of region {region}. {}", "It has a long description. ".repeat(8));
    Tool::new(format!("{verb}_orders_{region}"), about, async || Ok::<_, ToolError>("done"))
}

/// Returns the bytes of the definitions in a model call, as a provider writes them at least.
fn bytes(payload: &omniassist_server::core::LlmPayload) -> usize {
    let spec = |tool: &std::sync::Arc<omniassist_server::core::ToolSpec>| json!({ "name": tool.name, "description": tool.model_description(), "parameters": tool.input_schema });
    let system = payload.system.as_ref().map_or(0, |system| system.len());
    system + json!(payload.tools.iter().map(spec).collect::<Vec<_>>()).to_string().len()
}

#[tokio::test]
async fn ten_thousand_tools_are_a_small_prompt() {
    let model = ScriptedProvider::new()
        .turn(call("tool_search", json!({ "query": "remove the orders of region 777" })))
        .turn(call("delete_orders_777", json!({})))
        .turn(text("Done"));
    let start = Instant::now();
    let assistant =
        (0..COUNT).map(tool).fold(Assistant::builder(model.clone()), |builder, tool| builder.tool(tool));
    let assistant = assistant.build().unwrap();
    println!("built in {:?}", start.elapsed());
    let outcome =
        assistant.run(RunRequest::prompt("Remove the orders of region 777")).outcome().await.unwrap();
    let payloads = model.payloads();
    let names = |step: usize| payloads[step].tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names(0), ["tool_search"]);
    assert_eq!(names(1)[..2], ["tool_search", "delete_orders_777"]);
    let called = outcome.message.tools().find(|part| part.name == "delete_orders_777");
    assert!(format!("{:?}", called.unwrap().state).contains("done"));
    // A token has three bytes or more.
    let sizes: Vec<usize> = payloads.iter().map(bytes).collect();
    println!("{sizes:?} bytes of system prompt and definitions");
    assert!(sizes.iter().all(|bytes| bytes / 3 <= 5_000), "{sizes:?}");
}

#[test]
fn a_registration_does_not_copy_the_registry() {
    let seconds = |count: usize| {
        let registry = Tools::new(StateMap::new(), Limits::default());
        let tools: Vec<Tool> = (0..count).map(tool).collect();
        let start = Instant::now();
        tools.into_iter().for_each(|tool| registry.register(tool).unwrap());
        assert_eq!(registry.snapshot().len(), count);
        start.elapsed().as_secs_f64()
    };
    // A quadratic registry takes 64 times as long for 8 times as many. Repeated, because the machine has other work.
    let ratio = || seconds(8_000) / seconds(1_000);
    let best = (0..5).map(|_| ratio()).fold(f64::INFINITY, f64::min);
    println!("{best:.1} times as long for 8 times as many tools");
    assert!(best < 16.0, "{best}");
}

#[test]
fn a_snapshot_keeps_its_tools_while_others_are_registered_and_removed() {
    let registry = Tools::new(StateMap::new(), Limits::default());
    registry.register(tool(0)).unwrap();
    let before = registry.snapshot();
    registry.register(tool(1)).unwrap();
    let between = registry.snapshot();
    assert_eq!(between.search("get orders")[0].spec().name, "get_orders_0");
    assert!(registry.unregister("list_orders_0"));
    assert_eq!(before.specs().iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["list_orders_0"]);
    assert_eq!(before.search("list orders").len(), 1);
    assert_eq!((between.len(), between.specs().len()), (2, 2));
    let after = registry.snapshot();
    assert_eq!(after.specs().iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["get_orders_0"]);
    assert_eq!(after.search("list orders").len(), 1);
}

#[test]
fn a_run_searches_its_own_tools_too_and_no_hidden_ones() {
    use omniassist_server::RunContext;
    use omniassist_server::core::ToolSpec;
    let registry = Tools::new(StateMap::new(), Limits::default());
    (0..30).for_each(|index| registry.register(tool(index)).unwrap());
    registry.register(tool(30).visible_to(|_: &RunContext| false)).unwrap();
    let whole = registry.snapshot();
    assert_eq!(whole.search("list the orders of region 3")[0].spec().name, "list_orders_3");
    let run = RunContext::for_request(RunRequest::prompt("Hi"), http::Extensions::new());
    let mine =
        ToolSpec::new("show_orders_map", "Shows orders of region 3 on a map", json!({ "type": "object" }));
    let own = whole.visible_to(|| run).with_declared(&[std::sync::Arc::new(mine.front_end())]).unwrap();
    let found = own.search("show the map of the orders of region 3");
    assert_eq!(found[0].spec().name, "show_orders_map");
    assert!(found.iter().all(|tool| tool.spec().name != "list_orders_3"), "a hidden tool is found");
    assert_eq!(found.len(), 31);
}
