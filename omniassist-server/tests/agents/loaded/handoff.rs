//! Tests of handoffs between loaded agents.

use omniassist_server::core::message::Message;
use omniassist_server::store::{MemoryStore, RunState};
use omniassist_server::testing::Turn;
use tokio::sync::Notify;

use super::*;
use crate::approvals::post;
use crate::stored::restart::{begin_and_stop, restart, runtime, stored};

fn transfer(to: &str) -> Turn {
    call(format!("transfer_to_{to}"), json!({ "reason": "It is about money." }))
}

/// Returns a graph whose agents hand off to each other, to one of code and to another configuration.
fn desk() -> Value {
    let edge = |from: &str, to: &str| json!({ "source": from, "target": to, "data": { "kind": "handoff" } });
    json!({
        "id": "desk", "description": "Is the first contact.",
        "nodes": [
            { "id": "1", "type": "agent", "data": { "name": "billing", "description": "Knows invoices.", "prompt": "You bill." } },
            { "id": "desk", "type": "agent", "data": { "prompt": "You greet.", "handoffs": ["clerk"] } },
            { "id": "3", "type": "tool", "data": { "name": "count" } },
            { "id": "4", "type": "agent", "data": { "ref": "legal" } },
        ],
        "edges": [
            edge("desk", "1"), edge("1", "desk"), edge("1", "4"), { "source": "1", "target": "3" },
        ],
    })
}

fn office(model: &ScriptedProvider) -> Assistant {
    let legal = json!({ "id": "legal", "description": "Knows the law.", "prompt": "You know the law." });
    Assistant::builder(model.clone())
        .system_prompt("You help.")
        .agent(Agent::new("clerk", "Looks things up.").system_prompt("You look up."))
        .agents(catalog(Table::of([("desk", desk()), ("legal", legal)])))
        .build()
        .unwrap()
}

fn calls(model: &ScriptedProvider) -> Vec<(String, Vec<String>)> {
    let call = |payload: omniassist_server::core::LlmPayload| {
        let tools = payload.tools.iter().map(|tool| tool.name.to_string()).collect();
        (payload.system.unwrap_or_default().to_string(), tools)
    };
    model.payloads().into_iter().map(call).collect()
}

/// Contract A.2, 18: edges of the kind `handoff`.
#[tokio::test]
async fn an_edge_hands_the_conversation_off() {
    let model = ScriptedProvider::new().turn(transfer("billing")).turn(text("You owe 5."));
    let model = model.turn(transfer("legal")).turn(text("You must pay.")).turn(text("In May."));
    let assistant = office(&model);
    let desk = assistant.agent_for("desk", &Principal::new("ada")).await.unwrap().unwrap();
    let (mut messages, _) = post(&desk, "c", vec![Message::user("q", "What do I owe?")]).await;
    assert_eq!(messages[1].text(), "You owe 5.");
    messages.push(Message::user("q2", "Must I pay?"));
    let (mut messages, _) = post(&desk, "c", messages).await;
    messages.push(Message::user("q3", "When?"));
    post(&desk, "c", messages).await;
    let tools = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let first = ("You greet.".to_owned(), tools(&["transfer_to_billing", "transfer_to_clerk"]));
    let billing = ("You bill.".to_owned(), tools(&["count", "transfer_to_desk", "transfer_to_legal"]));
    let legal = ("You know the law.".to_owned(), tools(&[]));
    assert_eq!(calls(&model), [first, billing.clone(), billing, legal.clone(), legal]);
}

#[tokio::test]
async fn a_loaded_agent_hands_off_to_one_of_code_and_back_to_itself() {
    let model = ScriptedProvider::new().turn(transfer("billing")).turn(transfer("desk"));
    let model = model.turn(transfer("clerk")).turn(text("Found."));
    let (status, answer) = run(&office(&model), "ada", "desk").await;
    assert!(status == StatusCode::OK && answer.contains("Found."), "{status} {answer}");
    assert!(answer.contains(r#""data":{"from":"desk","to":"billing"}"#), "{answer}");
    let prompts: Vec<_> = calls(&model).into_iter().map(|(prompt, _)| prompt).collect();
    assert_eq!(prompts, ["You greet.", "You bill.", "You greet.", "You look up."]);
}

#[test]
fn another_server_goes_on_with_the_agent_that_has_the_conversation() {
    let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
    let table =
        Table::of([("desk", desk()), ("legal", json!({ "id": "legal", "description": "Knows the law." }))]);
    let server = |model: ScriptedProvider| {
        let builder = Assistant::builder(model).system_prompt("You help.").store(store.clone());
        let builder = builder.agent(Agent::new("clerk", "Looks things up."));
        builder.agents(catalog(table.clone())).build().unwrap()
    };
    let notify = Arc::clone(&reached);
    let stuck = ScriptedProvider::new().turn(transfer("billing")).turn_with(move |_| {
        notify.notify_one();
        Turn::text("The first try").then(Turn::pending())
    });
    let desk = runtime().block_on(server(stuck).agent_for("desk", &Principal::new("ada"))).unwrap().unwrap();
    begin_and_stop(desk, &reached);

    let model = ScriptedProvider::new().otherwise(|_| text("The second try"));
    assert_eq!(restart(&server(model.clone()), &store), RunState::Finished);
    assert!(stored(&store).contains("The second try"));
    let prompts: Vec<_> = calls(&model).into_iter().map(|(prompt, _)| prompt).collect();
    assert!(prompts.contains(&"You bill.".to_owned()), "{prompts:?}");
}
