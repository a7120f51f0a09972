//! The tokens of the trees of a stored chat.

use std::sync::{Arc, Mutex};

use omniassist_server::agents::{AgentSession, Explore, ServerFrame};
use omniassist_server::core::Day;
use omniassist_server::store::{MemoryStore, ModelUsage, Page, RunState, RunStore, Scope, Which};
use omniassist_server::testing::{Turn, call};
use omniassist_server::tool::{ChatId, Tool, ToolError};
use omniassist_server::{Agent, Error, Principal};
use tokio::time::sleep;

use super::*;

/// Returns the calls of a model that reported 100 tokens and 10 tokens each, all in one run.
fn calls(calls: u64) -> ModelUsage {
    let mut sum = ModelUsage::new("lamp-1");
    (sum.runs, sum.calls, sum.unpriced_calls) = (1, calls, calls);
    (sum.input_tokens, sum.output_tokens) = (100 * calls, 10 * calls);
    sum
}

#[tokio::test(start_paused = true)]
async fn the_tools_of_a_tree_see_its_chat() {
    let (look, seen) = (call("look", json!({})), Arc::new(Mutex::new(Vec::new())));
    let sees = Arc::clone(&seen);
    let look_at = Tool::new("look", "Looks", move |ChatId(chat): ChatId| {
        sees.lock().unwrap().push(chat.to_string());
        async { Ok::<_, ToolError>("seen") }
    });
    let assistant = Assistant::builder(ScriptedProvider::new().turn(look).turn(text("Two.")))
        .store(MemoryStore::new())
        .tool(look_at)
        .explore(Explore::new().asks(false).sub_questions(0))
        .build()
        .unwrap();
    let mut extensions = http::Extensions::new();
    extensions.insert(Principal::new("ada"));
    let session = AgentSession::new(assistant).extensions(extensions).chat("c");
    let mut stream = session.agent("Compare lamps");
    while stream.next().await.is_some() {}
    assert_eq!(*seen.lock().unwrap(), ["c"]);
}

/// Each tree asks the agent `helper`, whose answer and the one after it are these.
#[tokio::test(start_paused = true)]
async fn each_model_call_of_a_tree_is_counted_once_however_it_ends() {
    let used = |turn: Turn| Turn::usage(100, 10).then(turn);
    let broken = || Turn::error(Error::configuration("broken"));
    let found = || used(text("Two."));
    let cases = [
        (found(), used(text("There are two.")), RunState::Finished, 3),
        (found(), used(Turn::new()).then(broken()), RunState::Failed, 3),
        (used(text("begun")).then(Turn::pending()), Turn::new(), RunState::Stopped, 2),
    ];
    for (helps, answers, end, expected) in cases {
        let store = MemoryStore::new();
        let helper = ScriptedProvider::new().turn(helps).with_model("lamp-1");
        let asks = used(call("helper", json!({ "task": "Find lamps" })));
        let model = ScriptedProvider::new().turn(asks).turn(answers).with_model("lamp-1");
        let helper = Agent::new("helper", "Finds lamps.").provider(helper);
        let assistant = Assistant::builder(model)
            .store(store.clone())
            .agent(helper)
            .delegates(["helper"])
            .explore(Explore::new().asks(false).sub_questions(0))
            .build()
            .unwrap();
        let mut extensions = http::Extensions::new();
        extensions.insert(Principal::new("ada"));
        let session = AgentSession::new(assistant.clone()).extensions(extensions).chat("c");
        let mut stream = session.agent("Compare lamps");
        while let Some(frame) = stream.next().await {
            if matches!(frame, ServerFrame::TextDelta { delta, .. } if delta == "begun") {
                break;
            }
        }
        drop(stream);
        let head = loop {
            let head = store.find(&Scope::new("ada"), Which::Chat("c")).await.unwrap().expect("a run");
            if head.state != RunState::Running {
                break head;
            }
            sleep(Duration::from_millis(5)).await;
        };
        assert_eq!(head.state, end);
        let run: Value = serde_json::from_slice(&head.usage.expect("a usage")).unwrap();
        assert_eq!(run["inputTokens"], 100 * expected, "{end:?}");
        let usage = assistant.usage().unwrap();
        let days = usage.of(&Principal::new("ada"), Day::MIN..=Day::MAX, &Page::first(9)).await.unwrap().days;
        assert_eq!(days.iter().map(|day| &day.usage).collect::<Vec<_>>(), [&calls(expected)], "{end:?}");
    }
}
