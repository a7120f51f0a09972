//! Tests of agents that other agents ask.

use std::collections::BTreeSet;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use omniassist_server::core::event::AgentDelta;
use omniassist_server::core::tree::{AgentBudget, TreeLimits};
use omniassist_server::core::{LlmPayload, RunEvent, ToolChoice};
use omniassist_server::testing::{Turn, call};
use omniassist_server::throttle::InMemoryTokenBudget;
use omniassist_server::tool::{Agents, Approval};
use omniassist_server::{Args, Price, Prices};
use schemars::JsonSchema;
use serde::Deserialize;

use super::*;
use crate::request_cpu_time::cost;
use crate::stored::restart::runtime;

pub(super) fn ask(agent: &str, task: &str) -> Turn {
    call(agent, json!({ "task": task }))
}

fn in_pieces(text: &str, bytes: usize) -> Turn {
    Turn::text_chunks(text.as_bytes().chunks(bytes).map(|piece| str::from_utf8(piece).unwrap().to_owned()))
}

/// Returns the text of what a model was sent, without its tools.
pub(super) fn sent(payload: &LlmPayload) -> String {
    format!("{:?}", payload.transcript)
}

pub(super) async fn events(assistant: &Assistant) -> Vec<RunEvent> {
    assistant.run(RunRequest::prompt("Go")).collect().await
}

/// Returns the states of agents in events, as clients get them.
pub(super) fn states(events: &[RunEvent]) -> Vec<Value> {
    let of_agent = |event: &RunEvent| match event {
        RunEvent::AgentState(state) => serde_json::to_value(state).ok(),
        _ => None,
    };
    events.iter().filter_map(of_agent).collect()
}

/// Returns what agents write and do.
fn deltas(events: &[RunEvent]) -> Vec<AgentDelta> {
    let of_agent = |event: &RunEvent| match event {
        RunEvent::AgentDelta { delta, .. } => Some(delta.clone()),
        _ => None,
    };
    events.iter().filter_map(of_agent).collect()
}

/// Returns the output of the only call.
pub(super) fn output(events: &[RunEvent]) -> Value {
    let of_call = |event: &RunEvent| match event {
        RunEvent::ToolOutput { output, preliminary: false, .. } => Some(output.to_value()),
        RunEvent::ToolError { error_text, .. } => Some(json!({ "error": &**error_text })),
        _ => None,
    };
    events.iter().find_map(of_call).expect("an output")
}

#[tokio::test]
async fn a_run_that_is_stopped_ends_the_agents_below_its_own() {
    let reached = Arc::new(tokio::sync::Notify::new());
    let notify = Arc::clone(&reached);
    let leaf = ScriptedProvider::new().turn_with(move |_| {
        notify.notify_one();
        Turn::pending()
    });
    let helper = Agent::new("helper", "Helps.").provider(leaf);
    let middle = ScriptedProvider::new().turn(ask("helper", "Help"));
    let worker = Agent::new("worker", "Works.").provider(middle).delegates(["helper"]);
    let builder = Assistant::builder(ScriptedProvider::new().turn(ask("worker", "Work")));
    let assistant = builder.agent(worker).agent(helper).delegates(["worker"]).build().unwrap();
    let run = assistant.run(RunRequest::prompt("Go"));
    let handle = run.handle();
    let stop = async {
        reached.notified().await;
        handle.abort("Enough.");
    };
    let (events, ()) = futures_util::join!(run.collect::<Vec<RunEvent>>(), stop);
    let ends =
        states(&events).into_iter().skip(2).map(|state| (state["name"].clone(), state["status"].clone()));
    let expected = [(json!("helper"), json!("cancelled")), (json!("worker"), json!("cancelled"))];
    assert_eq!(ends.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_model_asks_an_agent_that_sees_its_task_only() {
    let parent = ScriptedProvider::new().turn(ask("researcher", "How tall is it?")).turn(text("8,849 m."));
    let child = ScriptedProvider::new().turn(call("atlas", json!({}))).turn(text("It is 8,849 m tall."));
    let researcher = Agent::new("researcher", "Finds facts.")
        .system_prompt("You research.")
        .provider(child.clone())
        .tool(tool("atlas"));
    let assistant = Assistant::builder(parent.clone())
        .system_prompt("You help.")
        .agent(researcher)
        .delegates(["researcher"])
        .build()
        .unwrap();
    let events = events(&assistant).await;

    let first = &child.payloads()[0];
    assert_eq!(first.system.as_deref(), Some("You research."));
    assert_eq!(first.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["atlas"]);
    assert!(sent(first).contains("How tall is it?") && !sent(first).contains("Go"), "{}", sent(first));
    let offered = &parent.payloads()[0].tools;
    assert_eq!(offered[0].input_schema.get("description"), None);
    assert_eq!((&*offered[0].name, &*offered[0].description), ("researcher", "Finds facts."));

    let report = output(&events);
    assert_eq!((&report["status"], &report["result"]), (&json!("completed"), &json!("It is 8,849 m tall.")));
    assert!(sent(&parent.payloads()[1]).contains("It is 8,849 m tall."));
    let text: String = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::TextDelta { delta, .. } => Some(&**delta),
            _ => None,
        })
        .collect();
    assert_eq!(text, "8,849 m.", "the text of the agent is not that of the answer");

    let agents = states(&events);
    let fields =
        |at: usize| ["name", "status", "task", "depth", "parentId"].map(|key| agents[at][key].clone());
    assert_eq!(agents.len(), 2);
    assert_eq!(
        fields(0),
        [json!("researcher"), json!("running"), json!("How tall is it?"), json!(1), json!(null)]
    );
    assert_eq!(fields(1)[1], "completed");
    assert_eq!(agents[0]["agentId"], report["agentId"]);
    let [
        AgentDelta::ToolCall { tool_name, .. },
        AgentDelta::ToolEnd { failed: false, .. },
        AgentDelta::Text { delta },
    ] = &deltas(&events)[..]
    else {
        panic!("{:?}", deltas(&events))
    };
    assert_eq!((&**tool_name, &**delta), ("atlas", "It is 8,849 m tall."));
}

#[tokio::test]
async fn the_stream_of_the_ai_sdk_has_each_text_once() {
    let parent = ScriptedProvider::new().turn(ask("writer", "Write")).turn(text("Done."));
    let words: String = (0..200).map(|number| format!("word{number} ")).collect();
    let child = ScriptedProvider::new().turn(in_pieces(&words, 10));
    let writer = Agent::new("writer", "Writes.").provider(child);
    let assistant = Assistant::builder(parent).agent(writer).delegates(["writer"]).build().unwrap();
    let (_, body) = send(&assistant, "ada", Method::POST, "/", Some(&question())).await;
    assert!(body.contains(r#""type":"data-agent-delta""#) && body.contains(r#""transient":true"#), "{body}");
    // As deltas, in the result of the call, and at the end of the agent.
    for word in ["word0 ", "word100 ", "word199 "] {
        assert!(body.matches(word.trim()).count() <= 3, "{word}");
    }
    assert!(body.len() < words.len() * 20, "{} bytes for {}", body.len(), words.len());
}

#[tokio::test]
async fn an_agent_at_the_greatest_depth_is_offered_no_other() {
    for depth in [1, 2, 3, 8] {
        let model = ScriptedProvider::new().otherwise(|payload| match payload.tools.is_empty() {
            true => text("The end."),
            false if sent(payload).contains("Result") => text("Passed on."),
            false => ask("deeper", "Go on"),
        });
        let deeper = Agent::new("deeper", "Goes deeper.").delegates(["deeper"]);
        let builder = Assistant::builder(model.clone()).agent(deeper).delegates(["deeper"]);
        let assistant = builder.tree(TreeLimits::new().depth(depth)).build().unwrap();
        let events = events(&assistant).await;
        let started = states(&events).iter().filter(|agent| agent["status"] == "running").count();
        assert_eq!(started, depth as usize);
        let deepest = model.payloads().into_iter().filter(|payload| payload.tools.is_empty()).count();
        assert_eq!(deepest, 1, "only the last one has no tool");
        let depths: BTreeSet<_> =
            states(&events).iter().map(|agent| agent["depth"].as_u64().unwrap()).collect();
        assert_eq!(depths, (1..=u64::from(depth)).collect());
        // Each is the child of the one above.
        let begun: Vec<_> =
            states(&events).into_iter().filter(|agent| agent["status"] == "running").collect();
        for pair in begun.windows(2) {
            assert_eq!(pair[1]["parentId"], pair[0]["agentId"]);
        }
    }
}

/// Must show: a model that always delegates ends at the limits, with an answer.
#[tokio::test]
async fn a_model_that_always_delegates_ends_with_an_answer_within_its_budget() {
    const BUDGET: u64 = 20_000;
    let spent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&spent);
    let model = ScriptedProvider::new().otherwise(move |payload| {
        let most = payload.options.max_output_tokens.expect("a maximum");
        // Each answer is as long as it may be.
        let (input, output) = (50, u64::from(most));
        let number = counted.fetch_add(50 + most as usize, Ordering::SeqCst);
        let answer = text("I know a part of it.").then(Turn::usage(input, output));
        match payload.tool_choice == ToolChoice::None {
            true => answer,
            false if payload.tools.is_empty() => answer,
            false => answer.then(ask("worker", &format!("Task {number}"))),
        }
    });
    let worker = Agent::new("worker", "Works.").delegates(["worker"]);
    let assistant = Assistant::builder(model.clone())
        .agent(worker)
        .delegates(["worker"])
        .tree(TreeLimits::new().tokens(BUDGET))
        .build()
        .unwrap();
    let events = events(&assistant).await;
    assert!(matches!(events.last(), Some(RunEvent::Finish { .. })), "{:?}", events.last());
    let last = model.payloads().pop().unwrap();
    assert!(last.tool_choice == ToolChoice::None && last.system.unwrap().contains("Answer now"));
    let total = spent.load(Ordering::SeqCst) as u64;
    assert!(total <= BUDGET + 64 * 64, "{total}");
    assert!(model.payloads().len() > 3, "{}", model.payloads().len());
}

#[tokio::test]
async fn an_answer_beyond_the_reserved_tokens_is_cut() {
    let parent = ScriptedProvider::new().turn(ask("writer", "Write")).turn(text("Done."));
    // The budget leaves some hundred tokens, and the model writes thousands.
    let child = ScriptedProvider::new().turn(in_pieces(&"word ".repeat(4_000), 20));
    let writer = Agent::new("writer", "Writes.").provider(child).budget(AgentBudget::new().tokens(400));
    let assistant = Assistant::builder(parent).agent(writer).delegates(["writer"]).build().unwrap();
    let report = output(&events(&assistant).await);
    assert_eq!((&report["status"], &report["reason"]), (&json!("incomplete"), &json!("tokens")));
    let tokens = report["result"].as_str().unwrap().len() / 4;
    assert!((300..=400 + 64 + 20).contains(&tokens), "{tokens}");
}

#[derive(Deserialize, JsonSchema)]
struct Many {
    number: usize,
}

/// Returns a tool that asks an agent this many times at once.
fn fan_out(agent: &'static str) -> Tool {
    Tool::new("fan_out", "Asks many", move |Args(Many { number }): Args<Many>, agents: Agents| async move {
        let asked = join_all((0..number).map(|number| agents.ask(agent, format!("Part {number}")))).await;
        let parts: Result<Vec<_>, ToolError> =
            asked.into_iter().map(|report| Ok(report?.result.to_string())).collect();
        Ok::<_, ToolError>(parts?.join(","))
    })
}

#[tokio::test(start_paused = true)]
async fn agents_work_side_by_side_up_to_the_limit() {
    for (at_once, seconds) in [(1, 6), (2, 3), (4, 2), (6, 1)] {
        let parent =
            ScriptedProvider::new().turn(call("fan_out", json!({ "number": 6 }))).turn(text("Done."));
        let child =
            ScriptedProvider::new().otherwise(|_| Turn::delay(Duration::from_secs(1)).then(text("part")));
        let worker = Agent::new("worker", "Works.").provider(child);
        let assistant = Assistant::builder(parent)
            .tool(fan_out("worker"))
            .agent(worker)
            .tree(TreeLimits::new().parallel(at_once))
            .build()
            .unwrap();
        let began = tokio::time::Instant::now();
        let output = output(&events(&assistant).await);
        assert_eq!(output, json!("part,part,part,part,part,part"));
        assert_eq!(began.elapsed().as_secs(), seconds, "{at_once} at once");
    }
}

#[tokio::test(start_paused = true)]
async fn questions_beyond_the_limit_of_children_do_not_wait() {
    let flood = Tool::new("flood", "Asks many agents.", async |agents: Agents| {
        let asks = (0..10_000).map(|n| agents.ask("worker", format!("Task {n}")));
        let mut asks: FuturesUnordered<_> = asks.collect();
        for _ in 16..10_000 {
            let Some(Err(_)) = asks.next().await else { return Err(ToolError::new("An agent was asked.")) };
        }
        Ok("refused")
    });
    let worker =
        Agent::new("worker", "Works.").provider(ScriptedProvider::new().otherwise(|_| Turn::pending()));
    let parent = ScriptedProvider::new().turn(call("flood", json!({}))).turn(text("Done."));
    let assistant = Assistant::builder(parent).tool(flood).agent(worker).build().unwrap();
    assert_eq!(output(&events(&assistant).await), "refused");
}

/// Returns the CPU time of a run whose tool asks so many agents at once, which work one after the other.
fn cost_of_questions(number: u32) -> Duration {
    let flood = Tool::new("flood", "Asks many agents.", move |agents: Agents| async move {
        let asks = (0..number).map(|n| agents.ask("worker", format!("Task {n}")));
        let mut asks: FuturesUnordered<_> = asks.collect();
        asks.next().await.map(|report| report.map(|report| report.result)).transpose()
    });
    let slow = ScriptedProvider::new().otherwise(|_| Turn::delay(Duration::from_secs(1)).then(text("part")));
    let parent = ScriptedProvider::new().turn(call("flood", json!({}))).turn(text("Done."));
    let limits = TreeLimits::new().parallel(1).children(number).agents(number + 1);
    let builder = Assistant::builder(parent).tool(flood).tree(limits);
    let assistant = builder.agent(Agent::new("worker", "Works.").provider(slow)).build().unwrap();
    let (cost, output) = cost(|| runtime().block_on(async { output(&events(&assistant).await) }));
    assert_eq!(output, "part");
    cost
}

#[test]
fn the_cost_of_a_question_does_not_grow_with_those_that_wait() {
    let (few, many) = (cost_of_questions(4_000), cost_of_questions(16_000));
    assert!(many < few * 9, "{few:?} for 4,000 questions, {many:?} for 16,000");
}

#[tokio::test]
async fn sixty_four_agents_end_with_the_client() {
    let parent = ScriptedProvider::new().otherwise(|_| call("fan_out", json!({ "number": 64 })));
    let child = ScriptedProvider::new().otherwise(|_| Turn::text("Working").then(Turn::pending()));
    let worker = Agent::new("worker", "Works.").provider(child.clone());
    let limits = TreeLimits::new().parallel(64).children(64).model_calls(100);
    let builder = Assistant::builder(parent).tool(fan_out("worker")).agent(worker).tree(limits);
    let assistant = builder.build().unwrap();
    for round in 1..=20 {
        let mut run = assistant.run(RunRequest::prompt("Go"));
        let mut at_work = 0;
        while at_work < 64 {
            let event = run.next().await.expect("the run goes on");
            at_work += deltas(&[event]).len();
        }
        assert_eq!(child.drops(), 64 * (round - 1));
        drop(run);
        assert_eq!(child.drops(), 64 * round, "the streams end with the run");
    }
    assert_eq!(assistant.live_runs(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_an_agent_has_a_reason() {
    let slow =
        || Turn::text("Half of it").then(Turn::delay(Duration::from_secs(200))).then(text(" and more"));
    let model = |turn| ScriptedProvider::new().turn(turn);
    let panics = ScriptedProvider::new().turn_with(|_| panic!("a provider"));
    let cases: [(ScriptedProvider, &str, Option<&str>, &str); 5] = [
        (model(text("All.")), "completed", None, "All."),
        (model(text("")), "failed", Some("empty"), ""),
        (model(slow()), "incomplete", Some("time"), "Half of it"),
        (model(Turn::interrupted()), "failed", Some("stream_interrupted"), ""),
        (panics, "failed", Some("internal"), ""),
    ];
    for (child, status, reason, result) in cases {
        let parent = ScriptedProvider::new().turn(ask("worker", "Work")).turn(text("Done."));
        let worker = Agent::new("worker", "Works.").provider(child);
        let assistant =
            Assistant::builder(parent.clone()).agent(worker).delegates(["worker"]).build().unwrap();
        let events = events(&assistant).await;
        let report = output(&events);
        let reason = reason.map_or(Value::Null, Value::from);
        assert_eq!(
            (&report["status"], &report["reason"], &report["result"]),
            (&json!(status), &reason, &json!(result))
        );
        assert!(matches!(events.last(), Some(RunEvent::Finish { .. })), "the asking run goes on");
        assert_eq!(states(&events).last().unwrap()["status"], status);
    }
}

#[tokio::test]
async fn an_agent_that_cannot_be_asked_is_an_error_of_the_call() {
    let parent = || ScriptedProvider::new().turn(call("fan_out", json!({ "number": 3 }))).turn(text("Done."));
    let worker = || Agent::new("worker", "Works.").provider(answering());
    let output_of = async |builder: omniassist_server::AssistantBuilder| {
        let output = output(&events(&builder.build().unwrap()).await);
        output["error"].as_str().unwrap_or_default().to_owned()
    };
    let few = Assistant::builder(parent()).tool(fan_out("worker")).agent(worker());
    assert!(output_of(few.tree(TreeLimits::new().agents(2))).await.contains("no more agents"));
    let few = Assistant::builder(parent()).tool(fan_out("worker")).agent(worker());
    assert!(output_of(few.tree(TreeLimits::new().children(2))).await.contains("may not ask more"));
    let nobody = Assistant::builder(parent()).tool(fan_out("nobody")).agent(worker());
    assert!(output_of(nobody).await.contains("no agent \"nobody\""));
    let without = Assistant::builder(parent()).tool(fan_out("worker"));
    assert!(output_of(without).await.contains("No agent can be asked here"));

    let same = Tool::new("same", "Asks the same", async |agents: Agents| {
        for _ in 0..2 {
            agents.ask("worker", "The same").await?;
        }
        agents.ask("worker", "The same").await.map(|report| report.result.to_string())
    });
    let asks = ScriptedProvider::new().turn(call("same", json!({}))).turn(text("Done."));
    assert!(output_of(Assistant::builder(asks).tool(same).agent(worker())).await.contains("asked the same"));
}

#[tokio::test]
async fn a_tool_that_asks_no_more_stops_its_agent() {
    let parent = ScriptedProvider::new().turn(call("first", json!({}))).turn(text("Done."));
    let slow = ScriptedProvider::new().otherwise(|_| Turn::text("Slowly").then(Turn::pending()));
    let first = Tool::new("first", "Takes the first", async |agents: Agents| {
        tokio::select! {
            _ = agents.ask("slow", "Work") => Ok::<_, ToolError>("slow".to_owned()),
            fast = agents.ask("fast", "Work") => Ok(fast?.result.to_string()),
        }
    });
    let assistant = Assistant::builder(parent)
        .tool(first)
        .agent(Agent::new("slow", "Is slow.").provider(slow.clone()))
        .agent(Agent::new("fast", "Is fast.").provider(answering()))
        .build()
        .unwrap();
    let events = events(&assistant).await;
    assert_eq!(output(&events), json!("Hello"));
    assert!(matches!(events.last(), Some(RunEvent::Finish { .. })));
    let ended = states(&events).into_iter().filter(|state| state["status"] != "running");
    let ends: Vec<_> = ended.map(|state| (state["name"].clone(), state["status"].clone())).collect();
    assert_eq!(ends, [(json!("fast"), json!("completed")), (json!("slow"), json!("cancelled"))]);
    assert_eq!(slow.drops(), 1);
}

/// The future of a tool that has timed out lives on for a while.
#[tokio::test(start_paused = true)]
async fn an_agent_ends_with_the_time_of_the_tool_that_asked() {
    let slow = ScriptedProvider::new().otherwise(|_| Turn::text("Slowly").then(Turn::pending()));
    let left = slow.clone();
    let parent = ScriptedProvider::new().turn(call("patient", json!({}))).turn_with(move |_| {
        assert_eq!(left.drops(), 1, "the agent ends before the model is asked again");
        text("Done.")
    });
    let patient = Tool::new("patient", "Waits", async |agents: Agents| {
        agents.ask("slow", "Work").await.map(|report| report.result.to_string())
    });
    let assistant = Assistant::builder(parent)
        .tool(patient.timeout(Duration::from_secs(5)))
        .agent(Agent::new("slow", "Is slow.").provider(slow))
        .build()
        .unwrap();
    let events = events(&assistant).await;
    assert!(output(&events)["error"].as_str().unwrap().contains("timed out"), "{}", output(&events));
    assert_eq!(states(&events).last().unwrap()["status"], "cancelled");
    assert!(matches!(events.last(), Some(RunEvent::Finish { .. })));
}

#[tokio::test]
async fn agents_of_a_run_that_is_stopped_are_shown_as_cancelled() {
    let worker = ScriptedProvider::new().otherwise(|_| Turn::text("Half").then(Turn::pending()));
    let parent = ScriptedProvider::new().turn(call("fan_out", json!({ "number": 3 })));
    let worker = Agent::new("worker", "Works.").provider(worker);
    let assistant = Assistant::builder(parent).tool(fan_out("worker")).agent(worker).build().unwrap();
    let mut run = assistant.run(RunRequest::prompt("Go"));
    let mut seen = Vec::new();
    while deltas(&seen).len() < 3 {
        seen.push(run.next().await.expect("the run goes on"));
    }
    run.handle().abort("Enough.");
    seen.extend(run.collect::<Vec<_>>().await);
    assert!(matches!(seen.last(), Some(RunEvent::Abort { .. })), "{:?}", seen.last());
    let ended = states(&seen).split_off(3);
    assert_eq!(ended.len(), 3);
    assert!(ended.iter().all(|state| state["status"] == "cancelled" && state["text"] == "Half"), "{ended:?}");
}

#[tokio::test]
async fn a_tool_that_needs_an_approval_does_not_run_for_an_agent() {
    let (refund, ran) = crate::approvals::refund(Approval::always());
    let parent = ScriptedProvider::new().turn(ask("money", "Refund 5")).turn(text("Done."));
    let child = ScriptedProvider::new().turn(crate::approvals::call_refund(5)).turn(text("I cannot."));
    let money = Agent::new("money", "Refunds.").provider(child).tool(refund);
    let assistant = Assistant::builder(parent).agent(money).delegates(["money"]).build().unwrap();
    assert_eq!(output(&events(&assistant).await)["result"], "I cannot.");
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn tokens_and_cost_of_agents_are_those_of_the_run() {
    let usage = |input, output| Turn::usage(input, output);
    let parent = ScriptedProvider::new()
        .with_model("m")
        .turn(ask("worker", "Work").then(usage(100, 10)))
        .turn(text("Done.").then(usage(200, 20)));
    let child = ScriptedProvider::new().with_model("m").turn(text("Worked.").then(usage(1_000, 500)));
    let worker = Agent::new("worker", "Works.").provider(child);
    let prices = Prices::new().model("m", Price::per_million_tokens(1.0, 10.0));
    let assistant =
        Assistant::builder(parent).agent(worker).delegates(["worker"]).prices(prices).build().unwrap();
    let outcome = assistant.run(RunRequest::prompt("Go")).outcome().await.unwrap();
    assert_eq!(outcome.usage.input_tokens, Some(1_300));
    assert_eq!(outcome.usage.output_tokens, Some(530));
    assert_eq!(outcome.cost.unwrap().micros(), 6_600);
}

#[test]
fn a_tree_that_cannot_work_is_refused() {
    let worker = || Agent::new("worker", "Works.");
    let builder = || Assistant::builder(answering()).agent(worker());
    let cases = [
        (builder().delegates(["nobody"]), "no agent \"nobody\""),
        (builder().agent(Agent::new("a", "A.").delegates(["b"])), "no agent \"b\""),
        (builder().delegates(["worker", "worker"]), "already registered"),
        (builder().tool(tool("worker")).delegates(["worker"]), "already registered"),
        (builder().tree(TreeLimits::new().tokens(0)), "no tokens"),
        (builder().tree(TreeLimits::new().depth(0)), "no depth"),
        (builder().tree(TreeLimits::new().parallel(65)), "at most 64"),
        (builder().tree(TreeLimits::new().depth(9)), "at most 8"),
        (builder().agent(Agent::new("a", "A.").budget(AgentBudget::new().model_calls(0))), "no model_calls"),
    ];
    for (builder, said) in cases {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    builder().tree(TreeLimits::new().parallel(64).depth(8)).build().unwrap();
}

/// Must show: the budget of a principal holds for the agents too.
#[tokio::test]
async fn agents_spend_from_the_token_budget_of_their_principal() {
    let usage = || text("Worked.").then(Turn::usage(900, 100));
    let parent = ScriptedProvider::new().otherwise(|payload| match payload.transcript.len() {
        1 => ask("worker", "Work").then(Turn::usage(10, 10)),
        _ => text("Done.").then(Turn::usage(10, 10)),
    });
    let worker = Agent::new("worker", "Works.").provider(ScriptedProvider::new().otherwise(move |_| usage()));
    let budget = InMemoryTokenBudget::new(1_500, Duration::from_secs(3_600));
    let builder = Assistant::builder(parent).agent(worker).delegates(["worker"]).token_budget(budget);
    let assistant = builder.build().unwrap();
    let (status, answer) = send(&assistant, "ada", Method::POST, "/", Some(&question())).await;
    assert!(status == StatusCode::OK && answer.contains("Done."), "{answer}");
    // 1,040 of 1,500 are spent. The next agent uses up the rest, and its run ends.
    let mut again = question();
    again["messages"][0]["id"] = json!("m2");
    let (_, answer) = send(&assistant, "ada", Method::POST, "/", Some(&again)).await;
    assert!(answer.contains("token_budget_exceeded"), "{answer}");
    again["messages"][0]["id"] = json!("m3");
    let (status, answer) = send(&assistant, "ada", Method::POST, "/", Some(&again)).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{answer}");
    let (status, _) = send(&assistant, "eve", Method::POST, "/", Some(&question())).await;
    assert_eq!(status, StatusCode::OK, "the budget is that of one principal");
}

/// A question that waits for its turn and is not needed any more holds up no other.
#[tokio::test(start_paused = true)]
async fn a_waiting_question_that_was_dropped_makes_way() {
    let parent = ScriptedProvider::new().turn(call("several", json!({}))).turn(text("Done."));
    let slow = ScriptedProvider::new().otherwise(|_| Turn::delay(Duration::from_secs(1)).then(text("part")));
    let several = Tool::new("several", "Asks several", async |agents: Agents| {
        let (first, dropped) = (agents.ask("slow", "One"), agents.ask("slow", "Two"));
        let dropped = tokio::time::timeout(Duration::from_millis(100), dropped);
        let (first, dropped, third) = tokio::join!(first, dropped, agents.ask("slow", "Three"));
        assert!(dropped.is_err());
        Ok::<_, ToolError>(format!("{} {}", first?.result, third?.result))
    });
    let assistant = Assistant::builder(parent)
        .tool(several)
        .agent(Agent::new("slow", "Is slow.").provider(slow.clone()))
        .tree(TreeLimits::new().parallel(1))
        .build()
        .unwrap();
    assert_eq!(output(&events(&assistant).await), json!("part part"));
    assert_eq!(slow.payloads().len(), 2);
}

#[cfg(feature = "openai")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_connections_of_sixty_four_agents_close_with_the_client() {
    use omniassist_server::OpenAiProvider;
    use omniassist_server::testing::{FakeProvider, Reply, responses_sse};

    for _ in 0..2 {
        let server = FakeProvider::start().await.unwrap();
        server.otherwise(Reply::sse(responses_sse::text("never")).stall_after(0));
        let child = OpenAiProvider::builder().base_url(server.base_url()).api_key("k").build().unwrap();
        let parent = ScriptedProvider::new().turn(call("fan_out", json!({ "number": 64 })));
        let limits = TreeLimits::new().parallel(64).children(64).model_calls(100);
        let worker = Agent::new("worker", "Works.").provider(child);
        let builder = Assistant::builder(parent).tool(fan_out("worker")).agent(worker).tree(limits);
        let mut run = builder.build().unwrap().run(RunRequest::prompt("Go"));
        {
            let asked = server.request(64);
            tokio::pin!(asked);
            loop {
                tokio::select! {
                    _ = &mut asked => break,
                    event = run.next() => assert!(event.is_some(), "the run goes on"),
                }
            }
        }
        drop(run);
        for _ in 0..64 {
            server.closed().await;
        }
    }
}

/// The states of an agent stay with the message, so they are short. The call has the task and the answer.
#[tokio::test]
async fn a_long_task_and_a_long_answer_are_shown_in_part() {
    for (bytes, is_cut) in [(4_096, false), (4_097, true)] {
        let long = "x".repeat(bytes);
        let parent = ScriptedProvider::new().turn(ask("writer", &long)).turn(text("Done."));
        let writer = Agent::new("writer", "Writes.").provider(ScriptedProvider::new().turn(text(&*long)));
        let assistant = Assistant::builder(parent).agent(writer).delegates(["writer"]).build().unwrap();
        let events = events(&assistant).await;
        assert_eq!(output(&events)["result"], long);
        let last = states(&events).pop().unwrap();
        for shown in [&last["task"], &last["text"]] {
            let shown = shown.as_str().unwrap();
            assert_eq!(shown != long, is_cut, "{bytes}");
            assert!(shown.len() <= 4_096 && shown.contains("cut off") == is_cut, "{shown}");
        }
    }
}

/// Must show: the stop of one agent ends those that work for it, and leaves the others unharmed.
#[tokio::test(start_paused = true)]
async fn a_stop_of_one_agent_leaves_the_others_at_work() {
    // The root asks a lead and a worker. The lead asks a worker that never ends.
    for (stopped, ended) in [("lead", vec!["worker", "lead"]), ("worker", vec!["worker"])] {
        let parent = ScriptedProvider::new()
            .turn(ask("lead", "Lead").then(ask("worker", "Answer")))
            .turn(text("Done."));
        let lead = ScriptedProvider::new()
            .turn(Turn::text("I ask. ").then(ask("worker", "Wait")))
            .turn(text("I go on."));
        let worker = ScriptedProvider::new().otherwise(|payload| match sent(payload).contains("Wait") {
            true => Turn::text("Half").then(Turn::pending()),
            false => Turn::delay(Duration::from_secs(9)).then(text("Whole")),
        });
        let assistant = Assistant::builder(parent.clone())
            .agent(Agent::new("lead", "Leads.").provider(lead).delegates(["worker"]))
            .agent(Agent::new("worker", "Works.").provider(worker.clone()))
            .delegates(["lead", "worker"])
            .build()
            .unwrap();
        let mut run = assistant.run(RunRequest::prompt("Go"));
        let handle = run.handle();
        assert!(!handle.stop_agent("nobody"));
        let mut events = Vec::new();
        let began = tokio::time::Instant::now();
        while let Some(event) = run.next().await {
            if states(slice::from_ref(&event)).iter().any(|state| state["status"] == "cancelled") {
                assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
            }
            let is_half = matches!(&event, RunEvent::AgentDelta { delta: AgentDelta::Text { delta }, .. } if delta == "Half");
            events.push(event);
            if is_half {
                let at_work = states(&events);
                let is_wanted = |state: &&Value| state["name"] == stopped && state["task"] != "Answer";
                let id = at_work.iter().find(is_wanted).unwrap()["agentId"].as_str().unwrap().to_owned();
                let handle = handle.clone();
                // The run waits meanwhile, and is woken.
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    assert!(handle.stop_agent(&id) && !handle.stop_agent("nobody"));
                });
            }
        }
        let cancelled: Vec<_> = states(&events)
            .into_iter()
            .filter(|state| state["status"] == "cancelled")
            .map(|state| state["name"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(cancelled, ended);
        let completed: Vec<_> =
            states(&events).into_iter().filter(|state| state["status"] == "completed").collect();
        assert!(completed.iter().any(|state| state["text"] == "Whole"), "{completed:?}");
        assert_eq!(completed.len(), 3 - ended.len());
        let reports = sent(&parent.payloads()[1]);
        assert!(
            reports.contains("Whole") && matches!(events.last(), Some(RunEvent::Finish { .. })),
            "{reports}"
        );
        assert_eq!(reports.contains("cancelled"), stopped == "lead", "{reports}");
        assert_eq!(worker.drops(), 1, "the stream of the stopped agent is closed");
    }
}
