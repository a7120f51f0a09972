//! Tests of the limit of steps of agents that hand a conversation off.

use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::message::Message;
use omniassist_server::core::{LlmPayload, RunEvent, TranscriptItem};
use omniassist_server::store::{MemoryStore, RunState};
use omniassist_server::testing::Turn;
use omniassist_server::tool::Approval;
use omniassist_server::{Refusal, RunPlan};
use tokio::sync::Notify;

use super::*;
use crate::approvals::{answer, call_refund, post, refund};
use crate::stored::restart::{begin_and_stop, restart, stored};

fn transfer(to: &str) -> Turn {
    call(format!("transfer_to_{to}"), json!({}))
}

fn look() -> Turn {
    call("look", json!({}))
}

/// Returns an assistant with these limits. It hands off to the agent `billing`, and that one to `legal`.
fn office(model: &ScriptedProvider, own: u32, billing: u32) -> AssistantBuilder {
    let (refund, _) = refund(Approval::always());
    let agent = |name: &'static str| Agent::new(name, "Helps.").system_prompt(name).tool(tool("look"));
    Assistant::builder(model.clone())
        .max_steps(own)
        .tool(tool("look"))
        .handoffs(["billing"])
        .agent(agent("billing").tool(refund).max_steps(billing).handoffs(["legal"]))
        .agent(agent("legal").max_steps(2))
}

fn question() -> Vec<Message> {
    vec![Message::user("q", "What do I owe?")]
}

fn is_at_limit(events: &[RunEvent]) -> bool {
    matches!(events.last(), Some(RunEvent::Error { code: RunErrorCode::MaxSteps, .. }))
}

/// The steps of the agents before it do not count, and their limit does not hold. The last step of each may hand off.
#[tokio::test]
async fn each_agent_has_its_own_limit_of_steps() {
    for (billing, calls, is_over) in [(3, 5, false), (2, 4, true)] {
        let model = ScriptedProvider::new().turn(look()).turn(transfer("billing"));
        let model = model.turn(look()).turn(look()).turn(text("You owe 5."));
        let assistant = office(&model, 2, billing).build().unwrap();
        let (_, events) = post(&assistant, "c", question()).await;
        assert_eq!((is_at_limit(&events), model.payloads().len()), (is_over, calls), "{events:?}");
    }
    // An agent that hands nothing off.
    for (looks, is_over) in [(1, false), (2, true)] {
        let mut model = ScriptedProvider::new().turn(transfer("billing")).turn(transfer("legal"));
        for _ in 0..looks {
            model = model.turn(look());
        }
        let model = model.turn(text("You must pay."));
        let assistant = office(&model, 1, 1).build().unwrap();
        let (_, events) = post(&assistant, "c", question()).await;
        assert_eq!((is_at_limit(&events), model.payloads().len()), (is_over, 4), "{events:?}");
    }
}

#[tokio::test]
async fn without_a_handoff_the_limit_is_that_of_the_agent() {
    for (own, is_over) in [(2, false), (1, true)] {
        let model = ScriptedProvider::new().turn(look()).turn(text("Hello"));
        let assistant = office(&model, own, 9).build().unwrap();
        let (_, events) = post(&assistant, "c", question()).await;
        assert_eq!((is_at_limit(&events), model.payloads().len()), (is_over, own as usize), "{events:?}");
    }
}

/// The steps of the agent are counted across posts.
#[tokio::test]
async fn a_run_that_goes_on_counts_the_steps_since_the_handoff() {
    for (billing, is_over) in [(3, false), (2, true)] {
        let model = ScriptedProvider::new().turn(look()).turn(transfer("billing"));
        let model = model.turn(call_refund(5)).turn(look()).turn(text("Done."));
        let assistant = office(&model, 2, billing).build().unwrap();
        let (mut messages, _) = post(&assistant, "c", question()).await;
        answer(&mut messages, true);
        let (_, events) = post(&assistant, "c", messages).await;
        let calls = if is_over { 4 } else { 5 };
        assert_eq!((is_at_limit(&events), model.payloads().len()), (is_over, calls), "{events:?}");
    }
}

async fn one_step_for_billing(plan: &mut RunPlan, run: RunContext) -> Result<(), Refusal> {
    if run.agent().is_some_and(|agent| *agent == "billing") {
        plan.max_steps(1);
    }
    Ok(())
}

#[tokio::test]
async fn the_host_limits_the_steps_of_the_next_agent() {
    let model = ScriptedProvider::new().turn(transfer("billing")).turn(look());
    let assistant = office(&model, 9, 9).prepare(one_step_for_billing).build().unwrap();
    let (_, events) = post(&assistant, "c", question()).await;
    assert_eq!((is_at_limit(&events), model.payloads().len()), (true, 2), "{events:?}");
}

/// A client that comes back by itself does not make agents hand off without end.
#[tokio::test]
async fn a_question_changes_its_agent_at_most_four_times() {
    let model = ScriptedProvider::new().otherwise(|payload| {
        let transfer = payload.tools.iter().find(|tool| tool.name.starts_with("transfer_to_"));
        let has_asked = format!("{:?}", payload.transcript.last()).contains("refunded");
        match transfer {
            Some(tool) if has_asked || payload.system.as_deref() != Some("a") => {
                call(tool.name.clone(), json!({}))
            }
            _ if has_asked => text("Enough."),
            _ => call_refund(5),
        }
    });
    let agent = |name: &'static str, to: &'static str| {
        Agent::new(name, "Helps.").system_prompt(name).tool(refund(Approval::always()).0).handoffs([to])
    };
    let assistant = Assistant::builder(model.clone()).agent(agent("a", "b")).agent(agent("b", "a")).build();
    let assistant = assistant.unwrap().agent("a").unwrap();
    let mut messages = question();
    let mut handoffs = 0;
    for _ in 0..4 {
        let (now, events) = post(&assistant, "c", messages).await;
        handoffs += events
            .iter()
            .filter(|event| matches!(event, RunEvent::Data { name, .. } if name == "agent-handoff"))
            .count();
        messages = now;
        answer(&mut messages, true);
    }
    assert_eq!(handoffs, 4);
    assert!(messages.last().unwrap().text().contains("Enough."));
    // The next question may change it again.
    messages.push(Message::user("q2", "And now?"));
    let (mut messages, _) = post(&assistant, "c", messages).await;
    answer(&mut messages, true);
    let (_, events) = post(&assistant, "c", messages).await;
    assert!(
        events.iter().any(|event| matches!(event, RunEvent::Data { name, .. } if name == "agent-handoff"))
    );
}

/// A run that another server takes over has the same limit.
#[test]
fn another_server_counts_the_steps_since_the_handoff() {
    for (billing, state) in [(3, RunState::Finished), (2, RunState::Failed)] {
        let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
        let notify = Arc::clone(&reached);
        let model = ScriptedProvider::new().turn(look()).turn(look()).turn(transfer("billing")).turn(look());
        let model = model.turn_with(move |_| {
            notify.notify_one();
            text("The first try").then(Turn::pending())
        });
        begin_and_stop(office(&model, 3, 3).store(store.clone()).build().unwrap(), &reached);

        let looks = |payload: &LlmPayload| {
            let calls = payload.transcript.iter().filter_map(TranscriptItem::as_call);
            calls.filter(|call| call.name == "look").count()
        };
        let model = ScriptedProvider::new().otherwise(move |payload| match payload.system.as_deref() {
            Some("billing") if looks(payload) < 4 => look(),
            _ => text("The second try"),
        });
        let assistant = office(&model, 3, billing).store(store.clone()).build().unwrap();
        assert_eq!(restart(&assistant, &store), state);
        assert_eq!(stored(&store).contains("The second try"), billing == 3);
    }
}
