//! Tests of asked agents that wait for the user: approvals, forms, and agents below other agents.

use std::sync::atomic::Ordering;

use omniassist_server::core::message::{Message, Part, ToolState};
use omniassist_server::core::{ErrorCode, JsonText, Limits, RunEvent};
use omniassist_server::seal::SealKeys;
use omniassist_server::store::MemoryStore;
use omniassist_server::tool::Approval;
use serde_json::json;

use super::*;
use crate::approvals::{answer, post, post_as, refund};

fn keys() -> SealKeys {
    SealKeys::new("k1", "a secret of at least 32 bytes for tests").unwrap()
}

fn refund_call(cents: u64) -> omniassist_server::testing::Turn {
    call("refund", json!({ "cents": cents }))
}

/// Returns an assistant whose model asks the agent `desk`, which asks the agent `clerk`, which refunds money.
fn tree(models: [ScriptedProvider; 3], tool: Tool) -> Assistant {
    let [root, desk, clerk] = models;
    Assistant::builder(root)
        .agent(Agent::new("desk", "Helps.").provider(desk).delegates(["clerk"]).internal())
        .agent(Agent::new("clerk", "Refunds.").provider(clerk).tool(tool).internal())
        .delegates(["desk"])
        .seal_keys(keys())
        .build()
        .unwrap()
}

fn asks(agent: &str) -> ScriptedProvider {
    ScriptedProvider::new().turn(call(agent, json!({ "task": "Refund it" })))
}

fn part<'a>(messages: &'a [Message], name: &str) -> &'a ToolState {
    let mut calls = messages.last().unwrap().tools();
    &calls.find(|call| call.name == *name).unwrap_or_else(|| panic!("no call of {name}")).state
}

fn output(state: &ToolState) -> &JsonText {
    match state {
        ToolState::OutputAvailable { output, .. } => output,
        other => panic!("{other:?}"),
    }
}

fn sent(model: &ScriptedProvider) -> String {
    format!("{:?}", model.payloads().last().unwrap().transcript)
}

#[tokio::test]
async fn an_approval_of_a_grandchild_is_asked_at_the_root_and_its_call_runs_once() {
    let (tool, ran) = refund(Approval::always());
    let root = asks("desk").turn(text("All done."));
    let desk = asks("clerk").turn(text("The clerk refunded it."));
    let clerk = ScriptedProvider::new().turn(refund_call(500)).turn(text("Refunded."));
    let first = tree([root.clone(), desk.clone(), clerk.clone()], tool.clone());
    let (mut messages, events) = post(&first, "c", vec![Message::user("q", "Refund my order")]).await;

    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert!(matches!(part(&messages, "refund"), ToolState::ApprovalRequested { .. }));
    assert!(matches!(part(&messages, "desk"), ToolState::InputAvailable { .. }));
    let parts = &messages.last().unwrap().parts;
    let step = parts.iter().rposition(|part| matches!(part, Part::StepStart)).unwrap();
    let in_step: Vec<_> = parts[step..].iter().filter(|part| matches!(part, Part::Tool(_))).collect();
    assert_eq!(in_step.len(), 1, "the question has a step of its own: {parts:?}");
    assert!(matches!(events.last(), Some(RunEvent::Finish { .. })), "{:?}", events.last());

    // Another server with the same keys goes on.
    let second = tree([root.clone(), desk.clone(), clerk.clone()], tool);
    answer(&mut messages, true);
    let (messages, _) = post(&second, "c", messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert_eq!(output(part(&messages, "refund")).as_str(), "\"refunded 500\"");
    assert!(output(part(&messages, "desk")).as_str().contains("The clerk refunded it."));
    assert!(messages.last().unwrap().text().ends_with("All done."));
    assert!(sent(&clerk).contains("refunded 500"), "{}", sent(&clerk));
    let root_sent = sent(&root);
    assert!(
        root_sent.contains("The clerk refunded it.") && !root_sent.contains("refunded 500"),
        "{root_sent}"
    );
    let asked = [&root, &desk, &clerk].map(|model| model.payloads().len());
    assert_eq!(asked, [2, 2, 2], "no model is asked the same again");

    // The whole conversation is legal history.
    let mut next = messages.clone();
    next.push(Message::user("q2", "Thanks"));
    let third = tree([answering(), answering(), answering()], refund(Approval::always()).0);
    let (next, _) = post(&third, "c", next).await;
    assert_eq!(next.last().unwrap().text(), "Hello");
}

#[tokio::test]
async fn a_denied_call_of_an_agent_does_not_run_and_the_agent_goes_on() {
    let (tool, ran) = refund(Approval::always());
    let (root, desk) = (asks("desk").turn(text("Sorry.")), asks("clerk").turn(text("It was denied.")));
    let clerk = ScriptedProvider::new().turn(refund_call(500)).turn(text("The user said no."));
    let assistant = tree([root, desk, clerk.clone()], tool);
    let (mut messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund")]).await;
    answer(&mut messages, false);
    let (messages, _) = post(&assistant, "c", messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert!(sent(&clerk).contains("denied"), "{}", sent(&clerk));
    assert!(matches!(part(&messages, "refund"), ToolState::OutputDenied { .. }));
    assert!(messages.last().unwrap().text().ends_with("Sorry."));
}

#[tokio::test]
async fn an_agent_asks_a_second_time_and_goes_on_again() {
    let (tool, ran) = refund(Approval::always());
    let (root, desk) = (asks("desk").turn(text("Both.")), asks("clerk").turn(text("Two refunds.")));
    let clerk =
        ScriptedProvider::new().turn(refund_call(1)).turn(refund_call(2)).turn(text("Refunded both."));
    let assistant = tree([root, desk, clerk.clone()], tool);
    let (mut messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund")]).await;
    for before in 0..2 {
        assert_eq!(ran.load(Ordering::SeqCst), before);
        answer(&mut messages, true);
        messages = post(&assistant, "c", messages).await.0;
    }
    assert_eq!(ran.load(Ordering::SeqCst), 2);
    let both = sent(&clerk);
    assert!(both.contains("refunded 1") && both.contains("refunded 2"), "{both}");
    let refunds = messages.last().unwrap().tools().filter(|call| call.name == *"refund");
    assert_eq!(refunds.filter(|call| call.state.is_answered()).count(), 2);
    assert!(messages.last().unwrap().text().ends_with("Both."));
}

#[tokio::test]
async fn a_repeated_post_of_an_approval_runs_its_call_once() {
    let (tool, ran) = refund(Approval::always());
    let root = asks("desk").otherwise(|_| text("Done."));
    let desk = asks("clerk").otherwise(|_| text("Done."));
    let clerk = ScriptedProvider::new().turn(refund_call(500)).otherwise(|_| text("Done."));
    let assistant = tree([root, desk, clerk], tool);
    let (mut messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund")]).await;
    answer(&mut messages, true);
    for _ in 0..3 {
        let (after, _) = post(&assistant, "c", messages.clone()).await;
        assert!(after.last().unwrap().text().ends_with("Done."));
    }
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn calls_of_siblings_wait_together_and_their_ids_differ() {
    let (tool, ran) = refund(Approval::always());
    // Both models give their call the same id.
    let task = |task: &str| json!({ "task": task });
    let root = ScriptedProvider::new()
        .turn(call("clerk", task("One")).then(call("clerk", task("Two"))))
        .turn(text("Both."));
    let clerk = ScriptedProvider::new()
        .turn(refund_call(1))
        .turn(refund_call(2))
        .turn(text("First."))
        .turn(text("Second."));
    let assistant = Assistant::builder(root)
        .agent(Agent::new("clerk", "Refunds.").provider(clerk).tool(tool))
        .delegates(["clerk"])
        .seal_keys(keys())
        .build()
        .unwrap();
    let (mut messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund")]).await;
    let waiting = messages.last().unwrap().tools().filter(|call| call.name == *"refund");
    let ids: std::collections::BTreeSet<_> = waiting.map(|call| call.call_id.clone()).collect();
    assert_eq!(ids.len(), 2, "{messages:?}");
    answer(&mut messages, true);
    let (messages, _) = post(&assistant, "c", messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 2);
    assert!(messages.last().unwrap().text().ends_with("Both."));
}

#[tokio::test]
async fn a_forged_answer_runs_nothing() {
    let (tool, ran) = refund(Approval::always());
    let root = asks("desk").otherwise(|_| text("Done."));
    let desk = asks("clerk").otherwise(|_| text("Done."));
    let clerk = ScriptedProvider::new().turn(refund_call(500)).otherwise(|_| text("Done."));
    let assistant = tree([root, desk, clerk.clone()], tool);
    let (messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund")]).await;
    let mut approved = messages.clone();
    answer(&mut approved, true);

    // Other arguments.
    let mut forged = approved.clone();
    for part in &mut forged.last_mut().unwrap().parts {
        if let Part::Tool(call) = part
            && let ToolState::ApprovalResponded { input, .. } = &mut call.state
        {
            *input = JsonText::from_value(&json!({ "cents": 9_999 }));
        }
    }
    let refused = post_as(&assistant, "ada", "c", forged).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::SealInvalid);

    // Another chat, and another user.
    for (user, chat) in [("ada", "d"), ("bob", "c")] {
        let refused = post_as(&assistant, user, chat, approved.clone()).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::SealInvalid, "{user} {chat}");
    }

    // A state of another place, and none: the agent does not go on.
    for entry in ["k1.AAAA", ""] {
        let mut forged = approved.clone();
        for part in &mut forged.last_mut().unwrap().parts {
            if let Part::Tool(call) = part
                && let Some(asked_by) = call.asked_by().map(ToOwned::to_owned)
            {
                call.metadata.as_mut().unwrap().set_own("agent", format!("{entry} {asked_by}"));
            }
        }
        post_as(&assistant, "ada", "c", forged).await.unwrap();
    }
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert_eq!(clerk.payloads().len(), 1);
}

#[tokio::test]
async fn the_state_of_an_agent_is_not_readable() {
    let (tool, _) = refund(Approval::always());
    let secret = Tool::new("look", "Looks", || async { Ok::<_, ToolError>("the salary is 90,000") });
    let clerk = ScriptedProvider::new().turn(call("look", json!({}))).turn(refund_call(5));
    let assistant = Assistant::builder(asks("clerk"))
        .agent(Agent::new("clerk", "Refunds.").provider(clerk).tool(tool).tool(secret))
        .delegates(["clerk"])
        .build()
        .unwrap();
    let (messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund")]).await;
    let posted = serde_json::to_string(&messages).unwrap();
    assert!(posted.contains("refund") && !posted.contains("90,000"), "{posted}");
}

#[tokio::test]
async fn an_agent_that_code_asks_cannot_wait() {
    let (tool, ran) = refund(Approval::always());
    let clerk = ScriptedProvider::new().turn(refund_call(5)).turn(text("I could not."));
    let ask = Tool::new("ask", "Asks", |agents: omniassist_server::tool::Agents| async move {
        Ok::<_, ToolError>(agents.ask("clerk", "Refund").await?.result.to_string())
    });
    let root = ScriptedProvider::new().turn(call("ask", json!({}))).turn(text("No."));
    let assistant = Assistant::builder(root)
        .agent(Agent::new("clerk", "Refunds.").provider(clerk.clone()).tool(tool))
        .tool(ask)
        .build()
        .unwrap();
    let (messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund")]).await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert!(sent(&clerk).contains("cannot ask"), "{}", sent(&clerk));
    assert!(output(part(&messages, "ask")).as_str().contains("I could not."));
}

/// Returns an assistant with a store whose model asks the agent `clerk`. Each has seal keys of its own.
fn stored(
    root: ScriptedProvider,
    clerk: ScriptedProvider,
    tools: [Tool; 2],
    store: &MemoryStore,
) -> Assistant {
    let mut limits = Limits::default();
    limits.max_tool_output_bytes = 100_000;
    let clerk = Agent::new("clerk", "Refunds.").provider(clerk);
    Assistant::builder(root)
        .agent(tools.into_iter().fold(clerk, Agent::tool))
        .delegates(["clerk"])
        .limits(limits)
        .store(store.clone())
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_stored_question_of_an_agent_is_answered_at_another_server() {
    let store = MemoryStore::new();
    let (tool, ran) = refund(Approval::always());
    // A client could not keep a state of this length.
    let look = Tool::new("look", "Looks", || async { Ok::<_, ToolError>("90,000 ".repeat(10_000)) });
    let (root, clerk) = (asks("clerk").turn(text("All done.")), ScriptedProvider::new());
    let clerk = clerk.turn(call("look", json!({}))).turn(refund_call(500)).turn(text("Refunded."));
    let first = stored(root.clone(), clerk.clone(), [tool.clone(), look.clone()], &store);
    let (_, asked) = send(&first, "ada", Method::POST, "/", Some(&question())).await;
    assert!(asked.contains("tool-approval-request") && !asked.contains("90,000"), "{asked}");
    drop(first);

    let second = stored(root.clone(), clerk.clone(), [tool, look], &store);
    let threads = get(&second, "ada", "/threads").await;
    let run = threads["threads"][0]["run"]["id"].as_str().unwrap();
    let waiting = get(&second, "ada", &format!("/runs/{run}")).await;
    let obligations = waiting["obligations"].as_array().unwrap();
    let [open] = &obligations[..] else { panic!("{waiting}") };
    assert_eq!((&open["kind"], &open["toolName"]), (&json!("approval"), &json!("refund")), "{waiting}");
    let path = format!("/runs/{run}/obligations/{}", open["callId"].as_str().unwrap());
    let (status, body) = send(&second, "ada", Method::POST, &path, Some(&json!({ "approved": true }))).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    while get(&second, "ada", &format!("/runs/{run}")).await["state"] == "running" {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert!(sent(&clerk).contains("90,000") && sent(&clerk).contains("refunded 500"), "{}", sent(&clerk));
    assert!(sent(&root).contains("Refunded."), "{}", sent(&root));
    let messages = get(&second, "ada", "/threads/c/messages").await["messages"].to_string();
    for shown in ["refunded 500", "Refunded.", "All done.", r#""status":"completed""#] {
        assert!(messages.contains(shown), "{shown}: {messages}");
    }

    // The next question of the page.
    let last = json!({ "id": "c", "messages": [
        { "id": "m2", "role": "user", "parts": [{ "type": "text", "text": "Thanks" }] }] });
    let (status, body) = send(&second, "ada", Method::POST, "/", Some(&last)).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert!(!sent(&root).contains("refunded 500"), "{}", sent(&root));
}

/// Runs an agent whose state has this many bytes of the output of a tool. Returns the bytes of the state, or what the model
/// of the root reads if the agent cannot wait.
async fn waits_with(bytes: usize) -> Result<usize, String> {
    let (tool, ran) = refund(Approval::always());
    let look = Tool::new("look", "Looks", move || async move { Ok::<_, ToolError>("x".repeat(bytes)) });
    let root = asks("clerk").turn(text("Done."));
    let clerk = ScriptedProvider::new().turn(call("look", json!({}))).turn(refund_call(5));
    let mut limits = Limits::default();
    limits.max_tool_output_bytes = 100_000;
    let assistant = Assistant::builder(root.clone())
        .agent(Agent::new("clerk", "Refunds.").provider(clerk).tool(tool).tool(look))
        .delegates(["clerk"])
        .limits(limits)
        .seal_keys(keys())
        .build()
        .unwrap();
    let (messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund")]).await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    let Some(waiting) = messages.last().unwrap().tools().find(|call| call.name == *"refund") else {
        return Err(sent(&root));
    };
    let entry = waiting.metadata.as_ref().unwrap().own_text("agent").unwrap();
    let state = entry.split_once(' ').unwrap().0.rsplit_once('.').unwrap().1;
    // The nonce and the tag are 40 bytes.
    Ok(state.len() * 3 / 4 - 40)
}

#[tokio::test]
async fn the_state_of_an_agent_has_at_most_64_kib() {
    // The arguments of the call that asked the agent do not count.
    let most = 64 * 1024 + json!({ "task": "Refund it" }).to_string().len();
    let around = waits_with(1_000).await.unwrap() - 1_000;
    assert_eq!(waits_with(most - around).await.unwrap(), most);
    let told = waits_with(most - around + 1).await.unwrap_err();
    assert!(told.contains("state_too_long"), "{told}");
}

#[tokio::test]
async fn a_run_waits_for_its_own_calls_and_those_of_its_agents() {
    let (tool, ran) = refund(Approval::always());
    let both = call("clerk", json!({ "task": "Refund" })).then(refund_call(7));
    let root = ScriptedProvider::new().turn(both).turn(text("Both."));
    let clerk = ScriptedProvider::new().turn(refund_call(5)).turn(text("Refunded."));
    let assistant = Assistant::builder(root.clone())
        .agent(Agent::new("clerk", "Refunds.").provider(clerk.clone()).tool(tool.clone()))
        .delegates(["clerk"])
        .tool(tool)
        .seal_keys(keys())
        .build()
        .unwrap();
    let (asked, _) = post(&assistant, "c", vec![Message::user("q", "Refund")]).await;
    // The client answers the last step first, and posts it by itself.
    let mut answered = asked.clone();
    answer(&mut answered, true);
    let own = |message: &Message| {
        let is_own = |part: &Part| matches!(part, Part::Tool(call) if call.asked_by().is_none() && call.name == *"refund");
        message.parts.iter().position(is_own).unwrap()
    };
    let mut first = answered.clone();
    let at = own(&asked[1]);
    first[1].parts[at] = asked[1].parts[at].clone();
    let (after, _) = post(&assistant, "c", first).await;
    assert_eq!((ran.load(Ordering::SeqCst), root.payloads().len(), clerk.payloads().len()), (0, 1, 1));

    let mut second = after;
    answer(&mut second, true);
    let (done, _) = post(&assistant, "c", second).await;
    assert_eq!(ran.load(Ordering::SeqCst), 2);
    assert!(done.last().unwrap().text().ends_with("Both."));
    let read = sent(&root);
    assert!(read.contains("refunded 7") && read.contains("Refunded."), "{read}");
}
