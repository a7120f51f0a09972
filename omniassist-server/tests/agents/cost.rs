//! Tests of budgets of money.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::tree::{AgentBudget, TreeLimits};
use omniassist_server::core::{FinishReason, LlmEvent, RunEvent, ToolChoice};
use omniassist_server::store::{MemoryStore, RunState};
use omniassist_server::testing::Turn;
use omniassist_server::{Price, Prices, Refusal, RunPlan};
use tokio::sync::Notify;

use super::asked::{ask, events, output, sent};
use super::*;
use crate::stored::restart::{begin_and_stop, restart};

/// A token of input costs a millionth, and one of output ten.
fn price() -> Price {
    Price::per_million_tokens(1.0, 10.0)
}

fn prices() -> Prices {
    Prices::new().model("m", price())
}

fn priced() -> ScriptedProvider {
    ScriptedProvider::new().with_model("m")
}

/// Returns the assistant of a model that asks a worker.
fn with_worker(parent: &ScriptedProvider, worker: Agent) -> AssistantBuilder {
    Assistant::builder(parent.clone()).agent(worker).delegates(["worker"]).prices(prices())
}

fn asking() -> ScriptedProvider {
    priced().turn(ask("worker", "Work")).turn(text("Done."))
}

fn worker(model: &ScriptedProvider) -> Agent {
    Agent::new("worker", "Works.").provider(model.clone())
}

/// Returns the status and the reason of a report.
fn end(events: &[RunEvent]) -> (Value, Value) {
    let report = output(events);
    (report["status"].clone(), report["reason"].clone())
}

/// Must show: a model that always delegates ends at the limit of cost, with an answer.
#[tokio::test]
async fn a_model_that_always_delegates_ends_with_an_answer_within_its_money() {
    const BUDGET: u64 = 100_000;
    let spent = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&spent);
    let model = priced().otherwise(move |payload| {
        let most = u64::from(payload.options.max_output_tokens.expect("a maximum"));
        // Each answer is as long as it may be.
        let number = counted.fetch_add(50 + 10 * most, Ordering::SeqCst);
        let answer = text("I know a part of it.").then(Turn::usage(50, most));
        match payload.tool_choice == ToolChoice::None || payload.tools.is_empty() {
            true => answer,
            false => answer.then(ask("worker", &format!("Task {number}"))),
        }
    });
    let worker = Agent::new("worker", "Works.").delegates(["worker"]);
    let limits = TreeLimits::new().cost_micro_usd(BUDGET);
    let assistant = with_worker(&model, worker).tree(limits).build().unwrap();
    let outcome = assistant.run(RunRequest::prompt("Go")).outcome().await.unwrap();

    assert_eq!(outcome.message.text(), "I know a part of it.I know a part of it.");
    let last = model.payloads().pop().unwrap();
    assert!(last.tool_choice == ToolChoice::None && last.system.unwrap().contains("Answer now"));
    let total = spent.load(Ordering::SeqCst);
    assert_eq!(outcome.cost.unwrap().micros(), u128::from(total), "all agents are counted");
    assert!(total <= BUDGET && model.payloads().len() > 3, "{total} in {}", model.payloads().len());
}

#[tokio::test]
async fn an_agent_answers_with_the_last_of_its_money() {
    let parent = asking();
    let look = || call("look", json!({})).then(Turn::usage(100, 100));
    let child =
        priced().turn(look()).turn(look()).turn(text("As far as I know.").then(Turn::usage(100, 100)));
    // The first two calls cost 1,100 each. The third one leaves less than another one with an answer of 1,024 tokens costs.
    let worker = worker(&child).tool(tool("look")).budget(AgentBudget::new().cost_micro_usd(14_900));
    let events = events(&with_worker(&parent, worker).build().unwrap()).await;
    assert_eq!(end(&events), (json!("incomplete"), json!("cost")));
    assert_eq!(output(&events)["result"], "As far as I know.");
    let choices: Vec<_> = child.payloads().iter().map(|payload| payload.tool_choice.clone()).collect();
    assert_eq!(choices, [ToolChoice::Auto, ToolChoice::Auto, ToolChoice::None]);
    let most = child.payloads()[2].options.max_output_tokens.unwrap();
    assert!((256..1_800).contains(&most), "{most}");
    assert!(matches!(events.last(), Some(RunEvent::Finish { .. })), "the asking run goes on");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_its_client_leaves_has_the_cost_of_the_agents_at_work() {
    let finish = LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false };
    // The cost of a call that is cut off is not known.
    for (end, is_known) in [(Turn::event(finish), true), (Turn::new(), false)] {
        let usage = || Turn::usage(1_000, 10);
        let parent = priced().turn(ask("lead", "Work").then(usage()));
        let lead = priced().turn(ask("worker", "Work").then(usage()));
        let child = priced().turn([text("I begin."), usage(), end, Turn::pending()]);
        let reports = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&reports);
        let assistant = with_worker(&parent, worker(&child))
            .agent(Agent::new("lead", "Leads.").provider(lead).delegates(["worker"]))
            .delegates(["lead"])
            .on_run_end(move |report| {
                let agent = report.run.agent.as_ref().map_or("", |agent| agent.as_str()).to_owned();
                let cost = report.cost.map(|cost| cost.to_string());
                let outcome = report.outcome.as_str();
                kept.lock().unwrap().push((agent, outcome, report.usage.input_tokens, cost));
            })
            .build()
            .unwrap();
        let mut run = assistant.run(RunRequest::prompt("Go"));
        while tokio::time::timeout(Duration::from_secs(1), run.next()).await.is_ok() {}
        drop(run);
        let mut reports = reports.lock().unwrap().clone();
        reports.sort();
        let report = |agent: &str, calls: u64| {
            let cost = is_known.then(|| format!("0.00{}", 11 * calls));
            (agent.to_owned(), "dropped", Some(1_000 * calls), cost)
        };
        assert_eq!(reports, [report("", 3), report("lead", 2), report("worker", 1)]);
    }
}

#[tokio::test]
async fn an_answer_beyond_the_reserved_cost_is_cut() {
    let parent = asking();
    let pieces: Vec<_> = std::iter::repeat_n("word word word word ", 4_000).collect();
    let child = priced().turn(Turn::text_chunks(pieces));
    let worker = worker(&child).budget(AgentBudget::new().cost_micro_usd(4_000));
    let events = events(&with_worker(&parent, worker).build().unwrap()).await;
    assert_eq!(end(&events), (json!("incomplete"), json!("cost")));
    let tokens = output(&events)["result"].as_str().unwrap().len() / 4;
    assert!((300..=400 + 64 + 20).contains(&tokens), "{tokens}");
}

/// A model that falls back to a dearer one spends the price of that one.
#[tokio::test]
async fn the_price_of_the_model_that_answered_counts() {
    for (answered_by, calls) in [("m", 2), ("m-2026-01-31", 2), ("dear", 1), ("unknown", 2)] {
        let parent = asking();
        let start = LlmEvent::Start { id: None, model: Some(answered_by.into()) };
        let look = Turn::event(start).then(call("look", json!({}))).then(Turn::usage(100, 100));
        let child = priced().turn(look).turn(text("As far as I know."));
        let worker = worker(&child).tool(tool("look")).budget(AgentBudget::new().cost_micro_usd(30_000));
        let dear = Price::per_million_tokens(1.0, 1_000.0);
        let builder = with_worker(&parent, worker).prices(prices().model("dear", dear));
        let events = events(&builder.build().unwrap()).await;
        assert_eq!(child.payloads().len(), calls, "{answered_by}");
        let expected = if calls == 2 { json!("completed") } else { json!("incomplete") };
        assert_eq!(end(&events).0, expected, "{answered_by}");
    }
}

/// Tokens that the provider writes to a cache cost more than others.
#[tokio::test]
async fn the_dearest_input_is_reserved() {
    let first = |price: Price| async move {
        let model = priced().turn(text("Hello"));
        let builder = Assistant::builder(model.clone()).system_prompt("word ".repeat(8_000));
        let limits = TreeLimits::new().cost_micro_usd(20_000);
        let assistant = builder.prices(Prices::new().model("m", price)).tree(limits).build().unwrap();
        assistant.run(RunRequest::prompt("Go")).outcome().await.map(|_| model.payloads().len())
    };
    assert_eq!(first(price()).await.unwrap(), 1);
    assert_eq!(first(price().cached_input(9.0)).await.unwrap(), 1, "nothing is known to be cached");
    let failure = first(price().cache_write(2.5)).await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::TokenBudgetExceeded));
}

/// An assistant without agents has the limits of its tree too.
#[tokio::test]
async fn the_cost_of_a_run_without_agents_is_limited() {
    let look = |_: &_| call("look", json!({})).then(Turn::usage(100, 1_000));
    let model = priced().otherwise(look);
    let builder = Assistant::builder(model.clone()).tool(tool("look")).prices(prices());
    let assistant = builder.tree(TreeLimits::new().cost_micro_usd(50_000)).build().unwrap();
    drop(events(&assistant).await);
    let calls = model.payloads();
    assert_eq!(calls.last().unwrap().tool_choice, ToolChoice::None);
    assert!((2..6).contains(&calls.len()), "{}", calls.len());
}

#[tokio::test]
async fn a_model_without_a_price_that_a_function_chooses_is_not_called() {
    let (parent, child) = (priced().turn(text("Hello")), priced().turn(text("Hello")));
    let limits = TreeLimits::new().cost_micro_usd(1_000_000);
    let free = || Assistant::builder(parent.clone()).prices(prices()).tree(limits);
    let unknown = free().prepare(async |plan: &mut RunPlan| {
        plan.model("new");
        Ok::<_, Refusal>(())
    });
    let failure = unknown.build().unwrap().run(RunRequest::prompt("Go")).text().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::TokenBudgetExceeded));
    assert_eq!(parent.payloads().len(), 0);
    // The name of a provider's model may be known when the run begins.
    let chosen =
        Assistant::builder(ScriptedProvider::new().turn(text("Hello"))).prices(prices()).tree(limits);
    let chosen = chosen.prepare(async |plan: &mut RunPlan| {
        plan.model("m");
        Ok::<_, Refusal>(())
    });
    assert_eq!(chosen.build().unwrap().run(RunRequest::prompt("Go")).text().await.unwrap(), "Hello");

    // The same for an agent, whose budget is its own.
    let worker = worker(&child).budget(AgentBudget::new().cost_micro_usd(1_000_000));
    let by_agent = with_worker(&asking(), worker).prepare(async |plan: &mut RunPlan, run: RunContext| {
        if run.agent().is_some() {
            plan.model("new");
        }
        Ok::<_, Refusal>(())
    });
    let events = events(&by_agent.build().unwrap()).await;
    assert_eq!(end(&events), (json!("incomplete"), json!("cost")));
    assert_eq!(child.payloads().len(), 0);
}

/// Must show: another server that goes on with a run spends what is left.
#[test]
fn the_cost_before_a_server_stopped_counts() {
    let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
    let build = |parent: &ScriptedProvider, model: &ScriptedProvider| {
        let agent = worker(model).tool(tool("look"));
        let builder = with_worker(parent, agent).store(store.clone());
        builder.tree(TreeLimits::new().cost_micro_usd(25_000)).build().unwrap()
    };
    let notify = Arc::clone(&reached);
    let first = priced().turn(call("look", json!({})).then(Turn::usage(100, 1_000))).turn_with(move |_| {
        notify.notify_one();
        Turn::pending()
    });
    begin_and_stop(build(&priced().turn(ask("worker", "Work")), &first), &reached);

    // Of 25,000, the agent has spent 10,100, and its parent keeps 10,240 for its answer.
    let second = priced().otherwise(|payload| match payload.tool_choice {
        ToolChoice::None => text("As far as I know."),
        _ => call("look", json!({})),
    });
    let parent = priced().otherwise(|_| text("Done."));
    assert_eq!(restart(&build(&parent, &second), &store), RunState::Finished);
    assert_eq!(second.payloads().len(), 1, "the rest is for the answer");
    let read: String = parent.payloads().iter().map(sent).collect();
    assert!(read.contains("\"incomplete\"") && read.contains("\"cost\""), "{read}");
}

#[test]
fn money_without_a_price_is_an_error_of_the_build() {
    let limits = TreeLimits::new().cost_micro_usd(1_000);
    let own = || AgentBudget::new().cost_micro_usd(1_000);
    let (known, unknown) = (priced(), ScriptedProvider::new().with_model("new"));
    let builder = |model: &ScriptedProvider| Assistant::builder(model.clone()).prices(prices());
    let lead =
        |model: &ScriptedProvider| Agent::new("lead", "Leads.").provider(model.clone()).delegates(["worker"]);
    let cases = [
        (
            builder(&unknown).tree(limits),
            "the assistant: its cost is limited, and `prices` has none for its model \"new\"",
        ),
        (
            Assistant::builder(known.clone()).tree(limits),
            "the assistant: its cost is limited, and `prices` has none",
        ),
        (builder(&answering()).tree(limits), "the name of its model is not known"),
        (builder(&known).agent(worker(&unknown)).tree(limits), "the agent \"worker\""),
        (builder(&known).agent(worker(&unknown).budget(own())), "the agent \"worker\""),
        (builder(&known).agent(worker(&known).model("new").budget(own())), "the agent \"worker\""),
        // The agents that it asks spend from its budget.
        (builder(&known).agent(worker(&unknown)).agent(lead(&known).budget(own())), "the agent \"worker\""),
        (builder(&known).tree(TreeLimits::new().cost_micro_usd(0)), "no cost"),
        (builder(&known).agent(worker(&known).budget(AgentBudget::new().cost_micro_usd(0))), "no cost"),
    ];
    for (builder, said) in cases {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    // An agent that spends from no budget of money needs no price.
    builder(&known).agent(worker(&unknown)).build().unwrap();
    builder(&unknown).agent(worker(&known).budget(own())).build().unwrap();
    builder(&known).agent(worker(&known)).agent(lead(&known).budget(own())).tree(limits).build().unwrap();
}
