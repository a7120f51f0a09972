//! Tests of the stored runs of agents.

use std::sync::Arc;

use omniassist_server::Approval;
use omniassist_server::core::Day;
use omniassist_server::store::{MemoryStore, Page, RunState};
use omniassist_server::testing::{Turn, call};
use tokio::sync::Notify;

use super::*;
use crate::stored::restart::{begin_and_stop, restart, stored, stuck_after};

fn server(model: ScriptedProvider, store: &MemoryStore) -> Assistant {
    let refund = tool("refund").requires_approval(Approval::always());
    let sales = Agent::new("sales", "Sells lamps.").system_prompt("You sell.").tool(refund);
    Assistant::builder(model).system_prompt("You help.").store(store.clone()).agent(sales).build().unwrap()
}

#[test]
fn a_run_of_an_agent_goes_on_as_that_agent_on_another_server() {
    let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
    let model = stuck_after("The first try", &reached);
    begin_and_stop(server(model, &store).agent("sales").unwrap(), &reached);

    let model = ScriptedProvider::new().otherwise(|_| text("The second try"));
    assert_eq!(restart(&server(model.clone(), &store), &store), RunState::Finished);
    assert!(stored(&store).contains("The second try"));
    let prompts: Vec<_> =
        model.payloads().iter().map(|payload| payload.system.clone().unwrap().to_string()).collect();
    // The other call answers a post to the assistant itself.
    assert_eq!(prompts.iter().filter(|prompt| *prompt == "You sell.").count(), 1, "{prompts:?}");
}

#[test]
fn a_run_of_an_agent_that_is_not_there_any_more_is_given_up() {
    let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
    let model = stuck_after("The first try", &reached);
    begin_and_stop(server(model, &store).agent("sales").unwrap(), &reached);

    let second = Assistant::builder(answering()).store(store.clone()).build().unwrap();
    assert_eq!(restart(&second, &store), RunState::Interrupted);
}

#[tokio::test(start_paused = true)]
async fn the_answer_to_a_question_continues_the_agent_that_asked() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().turn(call("refund", json!({}))).turn(text("Done."));
    let assistant = server(model.clone(), &store);
    let (_, asked) = send(&assistant, "ada", Method::POST, "/agents/sales", Some(&question())).await;
    assert!(asked.contains("tool-approval-request"), "{asked}");
    let threads = get(&assistant, "ada", "/threads").await;
    let run = threads["threads"][0]["run"]["id"].as_str().unwrap();
    let waiting = get(&assistant, "ada", &format!("/runs/{run}")).await;
    let call = waiting["obligations"][0]["callId"].as_str().unwrap();

    // The route of the run has no agent.
    let path = format!("/runs/{run}/obligations/{call}");
    let (status, body) =
        send(&assistant, "ada", Method::POST, &path, Some(&json!({ "approved": true }))).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    while get(&assistant, "ada", &format!("/runs/{run}")).await["state"] == "running" {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(last_call(&model), ("You sell.".into(), None, vec!["refund".into()]));
    let sent = format!("{:?}", model.payloads()[1].transcript);
    assert!(sent.contains("done"), "{sent}");
}

/// Returns an assistant whose model asks the agent `worker`.
fn asking(parent: ScriptedProvider, worker: ScriptedProvider, store: &MemoryStore) -> Assistant {
    let worker = Agent::new("worker", "Works.").provider(worker);
    let builder = Assistant::builder(parent).store(store.clone()).agent(worker).delegates(["worker"]);
    builder.build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_work_of_an_asked_agent_is_stored_as_its_result_and_its_tokens_are_counted() {
    let store = MemoryStore::new();
    let parent = ScriptedProvider::new().with_model("large");
    let parent = parent.turn(call("worker", json!({ "task": "Work" })).then(Turn::usage(100, 10)));
    let parent = parent.turn(text("Done.").then(Turn::usage(200, 20)));
    let worker =
        ScriptedProvider::new().with_model("small").turn(text("It is so.").then(Turn::usage(1_000, 500)));
    let assistant = asking(parent, worker, &store);
    let (_, answer) = send(&assistant, "ada", Method::POST, "/", Some(&question())).await;
    assert!(answer.contains(r#""type":"data-agent-delta""#), "{answer}");

    let messages = get(&assistant, "ada", "/threads/c/messages").await["messages"].to_string();
    assert!(messages.contains("It is so.") && messages.contains("data-agent\""), "{messages}");
    assert!(!messages.contains("agent-delta"), "{messages}");
    let usage = assistant.usage().unwrap();
    let days = usage.of(&Principal::new("ada"), Day::MIN..=Day::MAX, &Page::first(9)).await.unwrap().days;
    let of_model = |model: &str| {
        let of_day = days.iter().find(|day| &*day.usage.model == model);
        of_day.map(|day| (day.usage.calls, day.usage.runs))
    };
    assert_eq!((of_model("large"), of_model("small")), (Some((2, 1)), Some((1, 0))), "{days:?}");
}
