//! Tests of the stored runs of loaded agents.

use std::sync::Arc;

use omniassist_server::Approval;
use omniassist_server::store::{MemoryStore, RunState};
use tokio::sync::Notify;

use super::*;
use crate::stored::restart::{begin_and_stop, restart, runtime, stored, stuck_after};

/// The user of the stored runs.
const USER: &str = "ada";

fn row() -> Value {
    json!({ "id": "sales", "description": "Sells.", "prompt": "You sell.", "tools": ["refund"] })
}

fn server(model: ScriptedProvider, store: &MemoryStore, table: &Table) -> Assistant {
    let refund = tool("refund").requires_approval(Approval::always());
    let catalog = AgentCatalog::new(table.clone()).tool(refund);
    Assistant::builder(model).system_prompt("You help.").store(store.clone()).agents(catalog).build().unwrap()
}

fn loaded(assistant: &Assistant) -> Assistant {
    runtime().block_on(assistant.agent_for("sales", &Principal::new(USER))).unwrap().unwrap()
}

#[test]
fn a_run_of_a_loaded_agent_goes_on_as_that_agent_on_another_server() {
    let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
    let table = Table::of([("sales", row())]);
    begin_and_stop(loaded(&server(stuck_after("The first try", &reached), &store, &table)), &reached);

    let model = ScriptedProvider::new().otherwise(|_| text("The second try"));
    assert_eq!(restart(&server(model.clone(), &store, &table), &store), RunState::Finished);
    assert!(stored(&store).contains("The second try"));
    let prompts: Vec<_> =
        model.payloads().iter().map(|payload| payload.system.clone().unwrap().to_string()).collect();
    assert_eq!(prompts.iter().filter(|prompt| *prompt == "You sell.").count(), 1, "{prompts:?}");
}

#[test]
fn a_run_whose_agent_cannot_be_loaded_is_tried_again() {
    // A run waits for its agent for 15 minutes, and is then given up with what it wrote.
    for (failures, state, text_kept) in [
        (1, RunState::Finished, "The second try"),
        (300, RunState::Finished, "The second try"),
        (usize::MAX, RunState::Interrupted, "The first try"),
    ] {
        let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
        let mut table = Table::of([("sales", row())]);
        begin_and_stop(loaded(&server(stuck_after("The first try", &reached), &store, &table)), &reached);

        let model = ScriptedProvider::new().otherwise(|_| text("The second try"));
        table.failures = Arc::new(AtomicUsize::new(failures));
        assert_eq!(restart(&server(model, &store, &table), &store), state);
        assert!(stored(&store).contains(text_kept), "{}", stored(&store));
    }
}

#[test]
fn a_run_of_an_agent_that_its_user_does_not_have_any_more_is_given_up() {
    let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
    let table = Table::of([("sales", row())]);
    begin_and_stop(loaded(&server(stuck_after("The first try", &reached), &store, &table)), &reached);

    // Another user has an agent of the same name.
    table.rows.lock().unwrap().clear();
    table.set("bob", "sales", row());
    let model = ScriptedProvider::new().otherwise(|_| text("The second try"));
    assert_eq!(restart(&server(model, &store, &table), &store), RunState::Interrupted);
}

#[tokio::test(start_paused = true)]
async fn the_answer_to_a_question_continues_the_loaded_agent_that_asked() {
    let (store, table) = (MemoryStore::new(), Table::of([("sales", row())]));
    let model = ScriptedProvider::new().turn(call("refund", json!({}))).turn(text("Done."));
    let assistant = server(model.clone(), &store, &table);
    let (_, asked) = send(&assistant, USER, Method::POST, "/agents/sales", Some(&question())).await;
    assert!(asked.contains("tool-approval-request"), "{asked}");
    let threads = get(&assistant, USER, "/threads").await;
    let run = threads["threads"][0]["run"]["id"].as_str().unwrap();
    let waiting = get(&assistant, USER, &format!("/runs/{run}")).await;
    let call = waiting["obligations"][0]["callId"].as_str().unwrap();
    let path = format!("/runs/{run}/obligations/{call}");
    let (status, body) =
        send(&assistant, USER, Method::POST, &path, Some(&json!({ "approved": true }))).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    while get(&assistant, USER, &format!("/runs/{run}")).await["state"] == "running" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(last_call(&model), ("You sell.".into(), None, vec!["refund".into()]));
}
