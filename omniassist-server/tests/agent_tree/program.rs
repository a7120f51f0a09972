//! The six steps, in process.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use omniassist_server::agents::{
    AgentSession, Explore, Intervention, Requested, ServerFrame, Status, UserQuery,
};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Agent, TreeLimits};
use serde_json::{Value, json};

use super::{Call, ask, builder, call_of, model, prompt, questions, task_of, values, written};
use crate::agents::tool;

fn session(model: &ScriptedProvider) -> AgentSession {
    AgentSession::new(builder(model).build().unwrap())
}

fn calls(model: &ScriptedProvider) -> Vec<Call> {
    model.payloads().iter().map(call_of).collect()
}

async fn all(session: &AgentSession, prompt: &str) -> Vec<Value> {
    values(&session.agent(prompt).collect::<Vec<_>>().await)
}

#[tokio::test]
async fn a5_12_six_steps() {
    let model = model(|call, task, _| match (call, task) {
        (Call::Plan, "Compare lamps") => Some(questions(&["Price of lamps?"])),
        (Call::Final, _) => None,
        _ => None,
    });
    let frames = all(&session(&model), "Compare lamps").await;
    let root = frames[0]["agentId"].clone();
    let of_root: Vec<_> =
        model.payloads().iter().filter(|payload| task_of(payload) == "Compare lamps").map(call_of).collect();
    assert_eq!(of_root, [Call::Clarify, Call::Block, Call::Plan, Call::Work, Call::Summarise, Call::Final]);
    // The agent below follows the same program, and cannot divide its task.
    let below: Vec<_> =
        model.payloads().iter().filter(|payload| task_of(payload) != "Compare lamps").map(call_of).collect();
    assert_eq!(below, [Call::Clarify, Call::Block, Call::Work]);
    let mut steps: Vec<_> = frames
        .iter()
        .filter(|frame| frame["type"] == "agent-state" && frame["agentId"] == root)
        .map(|frame| frame["state"]["metadata"]["step"].as_u64().unwrap())
        .collect();
    steps.dedup();
    assert_eq!(steps, [1, 2, 3, 4, 5, 6]);
}

#[tokio::test]
async fn a5_13_a_question_waits_for_its_answer() {
    let model = model(|call, _, _| match call {
        Call::Clarify => Some(ask("Which lamps?")),
        Call::Block => Some(ask("Which year?")),
        Call::Final => Some(ask("In which tone?")),
        _ => None,
    });
    let session = session(&model);
    let mut stream = session.agent("Compare lamps");
    let mut asked = Vec::new();
    while let Some(frame) = stream.next().await {
        if let ServerFrame::UserQuery { agent_id, prompt, .. } = frame {
            assert_eq!(session.get_agent_tree()[0].status, Status::WaitingForUser);
            asked.push(prompt.to_string());
            session.user_response(&agent_id, format!("answer {}", asked.len())).unwrap();
        }
    }
    assert_eq!(asked, ["Which lamps?", "Which year?", "In which tone?"]);
    let payloads = model.payloads();
    let work = prompt(payloads.iter().find(|payload| call_of(payload) == Call::Work).unwrap());
    for said in ["Which lamps?", "answer 1", "Which year?", "answer 2"] {
        assert!(work.contains(said), "{work}");
    }
    let last = prompt(payloads.last().unwrap());
    assert!(
        last.contains("In which tone?")
            && last.contains("answer 3")
            && last.contains("Work on Compare lamps."),
        "{last}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_does_not_hold_the_agent_forever() {
    let model = model(|call, _, _| (call == Call::Block).then(|| ask("Which year?")));
    let session = session(&model).explore(Explore::new().answer_timeout(Duration::from_secs(60)));
    let frames = all(&session, "Compare lamps").await;
    assert_eq!(frames.last().unwrap()["type"], "agent-completed");
    assert!(prompt(&model.payloads()[3]).contains("(no answer)"));
}

#[tokio::test]
async fn a5_14_no_to_four_sub_questions() {
    for (planned, wanted) in [(0, 0), (1, 1), (4, 4), (5, 4)] {
        let parts: Vec<_> = (0..planned).map(|number| format!("Part {number}?")).collect();
        let model = model(move |call, _, _| {
            let parts: Vec<_> = parts.iter().map(String::as_str).collect();
            (call == Call::Plan).then(|| questions(&parts))
        });
        let session = session(&model);
        all(&session, "Compare lamps").await;
        let tree = session.get_agent_tree();
        assert_eq!((tree.len(), tree[0].subagents.len()), (wanted + 1, wanted), "{planned}");
        assert!(tree[1..].iter().all(|state| state.parent_id.as_ref() == Some(&tree[0].agent_id)));
    }
    // Fewer by the settings, or by a limit of the tree.
    let four = || model(|call, _, _| (call == Call::Plan).then(|| questions(&["a?", "b?", "c?", "d?"])));
    let by_settings = session(&four()).explore(Explore::new().sub_questions(2));
    all(&by_settings, "Compare lamps").await;
    assert_eq!(by_settings.get_agent_tree().len(), 3);
    let limited = builder(&four()).tree(TreeLimits::new().children(3)).build().unwrap();
    let by_limit = AgentSession::new(limited);
    all(&by_limit, "Compare lamps").await;
    assert_eq!(by_limit.get_agent_tree().len(), 4);
}

#[tokio::test]
async fn a_rule_decides_where_an_answer_of_the_model_does_not_fit() {
    let model = model(|call, _, _| {
        matches!(call, Call::Clarify | Call::Block | Call::Plan | Call::Final).then(|| text("Well, hm."))
    });
    let session = session(&model);
    let frames = all(&session, "Which lamp is bright? Which one is cheap?").await;
    assert_eq!(frames.last().unwrap()["type"], "agent-completed");
    let tasks: Vec<_> =
        session.get_agent_tree()[1..].iter().map(|state| state.user_content.to_string()).collect();
    assert_eq!(tasks, ["Which lamp is bright?", "Which one is cheap?"]);
    assert!(frames.iter().all(|frame| frame["type"] != "user-query"));
}

#[tokio::test]
async fn the_depth_of_the_program_and_of_the_tree_both_count() {
    let divide = || model(|call, task, _| (call == Call::Plan).then(|| questions(&[&format!("{task} x")])));
    for (program, tree, agents) in [(0, 3, 1), (1, 3, 2), (2, 3, 3), (3, 3, 4), (3, 2, 3), (8, 8, 9)] {
        let model = divide();
        let limits = TreeLimits::new().depth(tree).model_calls(200);
        let session = AgentSession::new(
            builder(&model).tree(limits).explore(Explore::new().depth(program)).build().unwrap(),
        );
        all(&session, "Compare lamps").await;
        assert_eq!(session.get_agent_tree().len(), agents, "{program} {tree}");
    }
}

#[tokio::test]
async fn a5_15_agents_work_at_the_same_time() {
    let slow = || Turn::from([text("one "), Turn::delay(Duration::from_millis(200)), text("two")]);
    let model = model(move |call, task, _| match (call, task) {
        (Call::Plan, _) => Some(questions(&["a b?", "c d?", "e f?"])),
        (Call::Work, _) => Some(slow()),
        _ => None,
    });
    let session = session(&model).explore(Explore::new().asks(false));
    let since = std::time::Instant::now();
    let frames = all(&session, "Compare lamps").await;
    assert!(since.elapsed() < Duration::from_millis(700), "{:?}", since.elapsed());
    let deltas: Vec<_> = frames
        .iter()
        .filter(|frame| frame["type"] == "text-delta" && frame["delta"].as_str().unwrap().trim() != "")
        .map(|frame| frame["delta"].as_str().unwrap())
        .collect();
    assert_eq!(deltas[..8], ["one ", "one ", "one ", "one ", "two", "two", "two", "two"]);
}

#[tokio::test]
async fn only_as_many_agents_work_at_the_same_time_as_the_tree_allows() {
    let slow = || Turn::from([text("one"), Turn::delay(Duration::from_millis(30)), text("two")]);
    let model = model(move |call, task, _| match (call, task) {
        (Call::Plan, "Compare lamps") => Some(questions(&["a b?", "c d?", "e f?"])),
        (Call::Work, _) => Some(slow()),
        _ => None,
    });
    let assistant = builder(&model).tree(TreeLimits::new().parallel(1)).explore(Explore::new().asks(false));
    let session = AgentSession::new(assistant.build().unwrap());
    let frames = all(&session, "Compare lamps").await;
    let root = frames[0]["agentId"].as_str().unwrap();
    let below: Vec<_> = frames
        .iter()
        .filter(|frame| frame["type"] == "text-delta" && frame["agentId"] != root)
        .map(|frame| frame["delta"].as_str().unwrap())
        .collect();
    assert_eq!(below, ["one", "two", "one", "two", "one", "two"]);
    let last = session.get_agent_tree().pop().unwrap().agent_id;
    let of_last = frames.iter().filter(|frame| frame["type"] == "agent-state" && frame["agentId"] == *last);
    let mut shown: Vec<_> = of_last.map(|frame| frame["state"]["status"].as_str().unwrap()).collect();
    shown.dedup();
    assert_eq!(shown, ["pending", "running", "completed"]);
}

#[tokio::test]
async fn a5_16_the_main_agent_asks_others_and_waits() {
    let helper = ScriptedProvider::new().turn(text("I found two."));
    let model = ScriptedProvider::new()
        .turn(Turn::text("I ask. ").then(call("helper", json!({ "task": "Find lamps" }))))
        .turn(text("There are two."));
    let helper = Agent::new("helper", "Finds lamps.").provider(helper);
    let assistant = builder(&model).agent(helper).delegates(["helper"]);
    let program = Explore::new().asks(false).sub_questions(0);
    let session = AgentSession::new(assistant.explore(program).build().unwrap());
    let frames = all(&session, "Compare lamps").await;
    let tree = session.get_agent_tree();
    assert_eq!(tree.len(), 2);
    let (root, below) = (&tree[0], &tree[1]);
    assert_eq!(
        (below.parent_id.as_ref(), &*below.metadata.name, below.metadata.depth),
        (Some(&root.agent_id), "helper", 1)
    );
    assert_eq!((below.status, below.result.as_deref()), (Status::Completed, Some("I found two.")));
    assert_eq!(written(&frames, &root.agent_id), "I ask. There are two.");
    assert_eq!(written(&frames, &below.agent_id), "I found two.");
    assert_eq!(root.result.as_deref(), Some("There are two."));
    // The messages of the state have the call and its result.
    let messages = serde_json::to_value(&root.messages).unwrap();
    assert_eq!(messages[0], json!({ "role": "user", "content": "Compare lamps" }));
    assert_eq!(messages[1]["content"][1]["toolName"], "helper");
    assert_eq!(messages[2]["content"][0]["result"]["result"], "I found two.");
    assert_eq!(messages[3], json!({ "role": "assistant", "content": "There are two." }));
    // An agent that a tool has asked is not changed from outside.
    let refused = session.user_intervention(Intervention::of(root.agent_id.clone())).unwrap_err();
    assert_eq!(refused.code(), "agent_has_ended");
}

#[tokio::test]
async fn a5_17_results_are_summarised() {
    let model = model(|call, task, _| match (call, task) {
        (Call::Plan, "Compare lamps") => Some(questions(&["Price now?", "Colour now?"])),
        (Call::Work, "Price now?") => Some(text("Ten.")),
        (Call::Work, "Colour now?") => Some(Turn::error(omniassist_server::Error::configuration("broken"))),
        _ => None,
    });
    let session = session(&model);
    let frames = all(&session, "Compare lamps").await;
    let payloads = model.payloads();
    let summary = prompt(payloads.iter().find(|payload| call_of(payload) == Call::Summarise).unwrap());
    for part in ["Work on Compare lamps.", "Price now?", "Ten.", "Colour now?", "(failed)"] {
        assert!(summary.contains(part), "{summary}");
    }
    let tree = session.get_agent_tree();
    let statuses: Vec<_> = tree.iter().map(|state| state.status).collect();
    assert_eq!(statuses, [Status::Completed, Status::Completed, Status::Failed]);
    assert_eq!(tree[0].result.as_deref(), Some("All in all."));
    let completed: Vec<_> = frames.iter().filter(|frame| frame["type"] == "agent-completed").collect();
    assert_eq!(completed.len(), 1);
    assert_eq!(frames.last().unwrap()["result"], "All in all.");
    assert!(frames.iter().all(|frame| frame["type"] != "error"));
}

#[tokio::test]
async fn a_root_that_fails_says_so_once() {
    let model = model(|call, _, _| match call {
        Call::Plan => Some(questions(&["Price now?"])),
        Call::Work => Some(Turn::error(omniassist_server::Error::configuration("broken"))),
        _ => None,
    });
    let session = session(&model);
    let frames = all(&session, "Compare lamps").await;
    let last = frames.last().unwrap();
    assert_eq!((&last["type"], &last["agentId"]), (&json!("error"), &frames[0]["agentId"]));
    assert!(!last["error"].as_str().unwrap().contains("broken"), "{last}");
    assert_eq!(frames.iter().filter(|frame| frame["type"] == "error").count(), 1);
    assert_eq!(session.get_agent_tree()[0].status, Status::Failed);
    assert!(session.get_agent_tree().iter().all(|state| state.status.is_end()));
}

#[tokio::test]
async fn a5_18_the_seeds_exports_in_process() {
    let model = model(|call, _, _| (call == Call::Block).then(|| ask("Which year?")));
    let session = session(&model);
    let asked: Arc<Mutex<Vec<UserQuery>>> = Arc::default();
    let kept = Arc::clone(&asked);
    session.set_query_user_handler(move |query: UserQuery| {
        kept.lock().unwrap().push(query);
        async { "2024" }
    });
    let frames = all(&session, "Compare lamps").await;
    // The handler takes the place of the frame.
    assert!(frames.iter().all(|frame| frame["type"] != "user-query"));
    let tree = session.get_agent_tree();
    let asked = asked.lock().unwrap();
    assert_eq!((asked.len(), &*asked[0].prompt, &asked[0].agent_id), (1, "Which year?", &tree[0].agent_id));
    assert!(prompt(&model.payloads()[3]).contains("2024"));
    let late = Intervention::of(tree[0].agent_id.clone()).status(Requested::Cancelled);
    assert!(session.user_intervention(late).is_err());
    // Another session knows nothing of it.
    assert!(AgentSession::new(builder(&model).build().unwrap()).get_agent_tree().is_empty());
}

#[tokio::test]
async fn a5_21_the_state_of_an_agent() {
    let model = model(|_, _, _| None);
    let frames = all(&session(&model), "Compare lamps").await;
    let first = &frames[0];
    assert_eq!((&first["type"], &first["state"]["status"]), (&json!("agent-state"), &json!("running")));
    let id = first["agentId"].as_str().unwrap();
    assert!(id.len() == 36 && id.matches('-').count() == 4, "{id}");
    let created = first["state"]["createdAt"].as_u64().unwrap();
    assert!(created > 1_700_000_000_000, "{created}");
    let ended = frames.iter().rfind(|frame| frame["type"] == "agent-state").unwrap();
    let wanted = json!({
        "agentId": id, "parentId": null, "status": "completed", "userContent": "Compare lamps", "userComment": null,
        "subagents": [],
        "messages": [
            { "role": "user", "content": "Compare lamps" },
            { "role": "assistant", "content": "Work on Compare lamps." },
        ],
        "result": "Work on Compare lamps.", "metadata": { "name": "explore", "depth": 0, "step": 6 }, "createdAt": created,
    });
    assert_eq!(ended["state"], wanted);
}

#[tokio::test]
async fn all_agents_spend_from_one_ledger() {
    for most in [1, 2, 5, 9] {
        let model =
            model(|call, _, _| (call == Call::Plan).then(|| questions(&["a b?", "c d?", "e f?", "g h?"])));
        let assistant = builder(&model).tree(TreeLimits::new().model_calls(most)).build().unwrap();
        let session = AgentSession::new(assistant);
        let frames = all(&session, "Compare lamps").await;
        assert!(model.payloads().len() <= most as usize, "{most}: {:?}", calls(&model));
        assert!(matches!(frames.last().unwrap()["type"].as_str(), Some("agent-completed" | "error")));
    }
}

#[tokio::test]
async fn an_agent_that_may_call_no_model_again_answers_with_what_it_has_written() {
    let model = model(|call, _, _| (call == Call::Plan).then(|| questions(&["a b?", "c d?"])));
    let limits = TreeLimits::new().model_calls(2);
    let assistant = builder(&model).tree(limits).explore(Explore::new().asks(false)).build().unwrap();
    let session = AgentSession::new(assistant);
    let frames = all(&session, "Compare lamps").await;
    assert_eq!(calls(&model), [Call::Plan, Call::Work]);
    let last = frames.last().unwrap();
    assert_eq!(
        (&last["type"], &last["result"]),
        (&json!("agent-completed"), &json!("Work on Compare lamps."))
    );
    assert_eq!(session.get_agent_tree()[0].status, Status::Completed);
}

#[tokio::test]
async fn decisions_have_no_tools_and_work_has_those_of_the_assistant() {
    let model = model(|_, _, _| None);
    let assistant = builder(&model).tool(tool("look")).build().unwrap();
    all(&AgentSession::new(assistant), "Compare lamps").await;
    for payload in model.payloads() {
        let tools = usize::from(call_of(&payload) == Call::Work);
        assert_eq!(payload.tools.len(), tools, "{:?}", call_of(&payload));
    }
}
