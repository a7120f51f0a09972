//! The usage of stored runs, and the budgets of runs that go on without their client.

use std::future::ready;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use omniassist_server::core::{Day, LlmEvent, Usage};
use omniassist_server::observe::FinishedRun;
use omniassist_server::store::{ModelUsage, Page, UsageDay};
use omniassist_server::throttle::{Grant, InMemoryTokenBudget, LimitFuture, Reservation, Spent, TokenBudget};
use omniassist_server::{Price, Prices};
use tokio::sync::{Notify, mpsc};

use super::elsewhere::{get, read, send};
use super::restart::{begin_and_stop, restart, runtime, stored, stuck_after};
use super::*;

const DAYS: RangeInclusive<Day> = Day::MIN..=Day::MAX;

fn refund() -> Tool {
    Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("refunded") })
}

/// Returns the usage of Ada: one day, unless the test goes on over midnight.
async fn usage(assistant: &Assistant) -> Vec<UsageDay> {
    assistant.usage().unwrap().of(&Principal::new("ada"), DAYS, &Page::first(9)).await.unwrap().days
}

/// Returns the usage of calls that reported 100 tokens and 10 tokens each.
fn calls(calls: u64, runs: u64) -> ModelUsage {
    let mut usage = Usage::default();
    (usage.input_tokens, usage.output_tokens) = (Some(100), Some(10));
    let cost = Price::per_million_tokens(1.0, 2.0).cost(&usage);
    let mut sum = ModelUsage::new("gpt-5-mini");
    for _ in 0..calls {
        sum = sum.call(&usage, cost);
    }
    sum.runs = runs;
    sum
}

fn priced(store: &MemoryStore, model: ScriptedProvider) -> Assistant {
    priced_with(store, model, refund())
}

fn priced_with(store: &MemoryStore, model: ScriptedProvider, refund: Tool) -> Assistant {
    let prices = Prices::new().model("gpt-5-mini", Price::per_million_tokens(1.0, 2.0));
    let model = model.with_model("gpt-5-mini");
    Assistant::builder(model).tool(refund).store(store.clone()).prices(prices).build().unwrap()
}

/// A server sends the name, and the key of a database's table has a limited size.
#[tokio::test(start_paused = true)]
async fn a_long_name_of_a_model_is_cut_off_in_the_usage() {
    let (store, name) = (MemoryStore::new(), format!("m{}", "é".repeat(4_000)));
    let prices = Prices::new().model(name.as_str(), Price::per_million_tokens(1.0, 2.0));
    let model = ScriptedProvider::new().turn(text("Done.").then(Turn::usage(100, 10)));
    let builder = Assistant::builder(model.with_model(name)).store(store.clone()).prices(prices);
    let assistant = builder.build().unwrap();
    post(&assistant, &ask("m1", "Hi")).await;
    settled(&store).await;
    let mut expected = calls(1, 1);
    expected.model = format!("m{}", "é".repeat(127)).into();
    assert_eq!(usage(&assistant).await[0].usage, expected);
}

#[tokio::test(start_paused = true)]
async fn each_model_call_is_counted_for_its_principal_and_day() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new()
        .turn(call("refund", json!({})).then(Turn::usage(100, 10)))
        .turn(text("Done.").then(Turn::usage(100, 10)))
        .turn(text("Tomorrow.").then(Turn::usage(100, 10)))
        .turn(text("A model that reports nothing."));
    let assistant = priced(&store, model);
    post(&assistant, &ask("m1", "Refund it")).await;
    settled(&store).await;
    assert_eq!(usage(&assistant).await[0].usage, calls(2, 1));
    for id in ["m2", "m3"] {
        post(&assistant, &ask(id, "When?")).await;
        settled(&store).await;
    }
    let found = usage(&assistant).await;
    let mut expected = calls(3, 3);
    (expected.calls, expected.unpriced_calls) = (4, 1);
    assert_eq!(found[0].usage, expected);
    assert_eq!((found[0].owner.as_str(), found.len()), ("ada", 1));
    assert_eq!(found[0].usage.cost.to_string(), "0.00036");
    let shown = serde_json::to_value(&found[0]).unwrap();
    assert_eq!((&shown["day"], &shown["cost"]), (&json!(found[0].day.to_string()), &json!("0.00036")));

    let records = assistant.usage().unwrap();
    let bob = records.of(&Principal::new("bob"), DAYS, &Page::first(9)).await.unwrap();
    let nobody = records.of(&Principal::anonymous(), DAYS, &Page::first(9)).await.unwrap();
    assert!(bob.days.is_empty() && nobody.days.is_empty());
    assert_eq!(records.of_all(DAYS, &Page::first(9)).await.unwrap().days, found);
    assistant.conversations().unwrap().forget(&Principal::new("ada")).await.unwrap();
    assert!(usage(&assistant).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_cut_off_is_counted_without_a_price() {
    let store = MemoryStore::new();
    let begun = [Turn::usage(100, 1), text("The"), Turn::interrupted()];
    let assistant = priced(&store, ScriptedProvider::new().turn(begun));
    post(&assistant, &ask("m1", "When?")).await;
    settled(&store).await;
    let mut expected = ModelUsage::new("gpt-5-mini");
    (expected.runs, expected.calls, expected.unpriced_calls) = (1, 1, 1);
    (expected.input_tokens, expected.output_tokens) = (100, 1);
    assert_eq!(usage(&assistant).await[0].usage, expected);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_is_counted_once_with_all_its_calls() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new()
        .turn(call("refund", json!({})).then(Turn::usage(100, 10)))
        .turn(text("Done.").then(Turn::usage(100, 10)));
    let assistant = priced_with(&store, model, refund().requires_approval(Approval::always()));
    post(&assistant, &ask("m1", "Refund it")).await;
    assert_eq!(settled(&store).await, RunState::Waiting);
    assert_eq!(usage(&assistant).await[0].usage, calls(1, 1));

    approve(&assistant, &store).await;
    assert_eq!(usage(&assistant).await[0].usage, calls(2, 1));
}

/// Approves the call of the chat, and returns the answer.
async fn approve(assistant: &Assistant, store: &MemoryStore) -> String {
    let mut message = serde_json::to_value(messages(store).await.last().unwrap()).unwrap();
    for part in message["parts"].as_array_mut().unwrap() {
        if part["state"] == "approval-requested" {
            part["state"] = "approval-responded".into();
            part["approval"]["approved"] = true.into();
        }
    }
    let answer = post(assistant, &json!({"id": "c", "message": message})).await;
    assert_eq!(settled(store).await, RunState::Finished);
    answer
}

/// A sum without one of its parts would be too low.
#[tokio::test(start_paused = true)]
async fn the_cost_of_a_run_is_unknown_if_a_later_part_has_no_price() {
    let store = MemoryStore::new();
    let other = Turn::event(LlmEvent::Start { id: None, model: Some("other".into()) });
    let model = ScriptedProvider::new()
        .turn(call("refund", json!({})).then(Turn::usage(100, 10)))
        .turn(other.then(text("Done.")).then(Turn::usage(100, 10)));
    let assistant = priced_with(&store, model, refund().requires_approval(Approval::always()));
    post(&assistant, &ask("m1", "Refund it")).await;
    assert_eq!(settled(&store).await, RunState::Waiting);
    let metadata = async || messages(&store).await.pop().unwrap().metadata.unwrap();
    assert_eq!(metadata().await["cost"], "0.00012");
    let answer = approve(&assistant, &store).await;
    let stored = metadata().await;
    assert_eq!((&stored["usage"]["inputTokens"], &stored["cost"]), (&json!(200), &Value::Null));
    assert!(answer.contains(r#"{"cost":null}"#), "the page drops the cost too: {answer}");
}

/// The server stops in the second model call of a run. The first one is in the journal, and is counted once.
#[test]
fn a_call_is_counted_once_although_its_server_stops() {
    let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
    let notify = Arc::clone(&reached);
    let model = ScriptedProvider::new().turn(call("refund", json!({})).then(Turn::usage(100, 10))).turn_with(
        move |_| {
            notify.notify_one();
            Turn::text("The first try").then(Turn::usage(100, 10)).then(Turn::pending())
        },
    );
    begin_and_stop(priced(&store, model), &reached);

    let model = ScriptedProvider::new().otherwise(|_| text("Done.").then(Turn::usage(100, 10)));
    let second = priced(&store, model);
    runtime().block_on(async { assert_eq!(usage(&second).await[0].usage, calls(1, 1)) });
    assert_eq!(restart(&second, &store), RunState::Finished);
    // The post to another chat, with which the second server begins, has one call.
    let found = runtime().block_on(usage(&second));
    assert_eq!(found[0].usage, calls(3, 2));
}

/// Stops a server in the answer of a run, and returns the state of the run after a restart with a budget.
fn restarted_with(tokens: u64) -> (RunState, String, (u64, Duration)) {
    let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
    let model = stuck_after("The first try", &reached);
    begin_and_stop(Assistant::builder(model).store(store.clone()).build().unwrap(), &reached);

    let budget = Arc::new(InMemoryTokenBudget::new(tokens, Duration::from_secs(3600)));
    let model = ScriptedProvider::new().otherwise(|_| text("Done.").then(Turn::usage(100, 10)));
    let second = Assistant::builder(model).store(store.clone()).token_budget(Shared(Arc::clone(&budget)));
    let second = second.build().unwrap();
    let state = runtime().block_on(async {
        tokio::time::advance(Duration::from_secs(7)).await;
        // A post that the server refuses begins its lease.
        let mut body = ask("m1", "Hello");
        (body["id"], body["message"]["role"]) = ("other".into(), "assistant".into());
        AssistantService::new(second.clone()).handle(request(&body)).await;
        let state = settled(&store).await;
        let left = budget.left(&Principal::new("ada"));
        (state, left)
    });
    (state.0, stored(&store), state.1)
}

/// A budget that the test keeps.
pub(super) struct Shared(pub(super) Arc<InMemoryTokenBudget>);

impl TokenBudget for Shared {
    fn reserve<'a>(&'a self, of: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
        self.0.reserve(of, tokens)
    }

    fn settle<'a>(&'a self, of: &'a Reservation, spent: &'a Spent) -> LimitFuture<'a, ()> {
        self.0.settle(of, spent)
    }
}

#[test]
fn a_run_that_goes_on_after_a_restart_spends_its_budget() {
    let (state, stored, (left, _)) = restarted_with(1000);
    assert_eq!((state, left), (RunState::Finished, 890), "{stored}");
    let (state, stored, (left, _)) = restarted_with(1);
    assert_eq!((state, left), (RunState::Failed, 1), "no budget, no call: {stored}");
    assert!(!stored.contains("Done."), "{stored}");
}

/// Returns the state of the run of the chat, and the input tokens that its route reports.
async fn reported(assistant: &Assistant, store: &MemoryStore) -> (String, Value) {
    let head = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
    let run: Value =
        serde_json::from_str(&read(get(assistant, &format!("/runs/{}", head.run)).await).await).unwrap();
    (run["state"].as_str().unwrap().to_owned(), run["usage"]["inputTokens"].clone())
}

#[tokio::test(start_paused = true)]
async fn the_usage_of_a_run_has_what_it_used_before_it_waited() {
    let store = MemoryStore::new();
    let call = |order: u32| call("refund", json!({"order": order}));
    let model = ScriptedProvider::new()
        .turn(call(17).then(call(18)).then(Turn::usage(100, 10)))
        .turn(text("Done.").then(Turn::usage(100, 10)));
    let (sender, mut finished) = mpsc::unbounded_channel();
    let refund = refund().requires_approval(Approval::always());
    let prices = Prices::new().model("gpt-5-mini", Price::per_million_tokens(1.0, 2.0));
    let builder = Assistant::builder(model.with_model("gpt-5-mini")).tool(refund).store(store.clone());
    let builder = builder.on_finish(move |run: FinishedRun| ready(sender.send(run)));
    let assistant = builder.prices(prices).build().unwrap();
    post(&assistant, &ask("m1", "Refund it")).await;
    assert_eq!(settled(&store).await, RunState::Waiting);
    let head = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
    for (asked, state, tokens) in
        head.obligations.iter().zip(["waiting", "finished"]).zip([100, 200]).map(|((a, s), t)| (a, s, t))
    {
        assert_eq!(reported(&assistant, &store).await, ("waiting".to_owned(), json!(100)));
        let path = format!("/runs/{}/obligations/{}", head.run, asked.call);
        send(&assistant, &path, &json!({"approved": true})).await;
        settled(&store).await;
        assert_eq!(reported(&assistant, &store).await, (state.to_owned(), json!(tokens)));
    }
    // A token of the input costs 1 millionth, and one of the output 2.
    let stored = messages(&store).await.pop().unwrap().metadata.unwrap();
    assert_eq!((&stored["usage"]["inputTokens"], &stored["cost"]), (&json!(200), &json!("0.00024")));
    assistant.shutdown().await;
    let parts: Vec<_> = std::iter::from_fn(|| finished.try_recv().ok()).collect();
    let costs: Vec<_> = parts.iter().map(|run| run.report.cost.map(|cost| cost.to_string())).collect();
    // Nothing was called between the answers.
    assert_eq!(costs, [Some("0.00012".to_owned()), None, Some("0.00012".to_owned())]);
    assert_eq!(parts[2].message.metadata.as_ref().unwrap()["cost"], stored["cost"]);
    // Each call is counted once for the user.
    assert_eq!(usage(&assistant).await[0].usage, calls(2, 1));
}

#[tokio::test(start_paused = true)]
async fn the_usage_of_a_stopped_run_has_the_steps_that_it_completed() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new()
        .turn(call("refund", json!({})).then(Turn::usage(100, 10)))
        .turn(Turn::text("Half").then(Turn::pending()));
    let assistant = Assistant::builder(model).tool(refund()).store(store.clone()).build().unwrap();
    let _body = open(&assistant, &ask("m1", "Refund it")).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    send(&assistant, "/c/stop", &json!({})).await;
    assert_eq!(reported(&assistant, &store).await, ("stopped".to_owned(), json!(100)));
}

/// Anthropic reports the input and one token of output when an answer begins.
#[tokio::test(start_paused = true)]
async fn the_usage_of_a_run_has_what_was_reported_of_a_call_that_was_cut_off() {
    for (end, state) in [(Turn::pending(), "stopped"), (Turn::interrupted(), "failed")] {
        let (store, (sender, mut reports)) = (MemoryStore::new(), mpsc::unbounded_channel());
        let model = ScriptedProvider::new()
            .turn(call("refund", json!({})).then(Turn::usage(100, 10)))
            .turn(Turn::usage(50, 1).then(text("Half")).then(end));
        let builder = Assistant::builder(model).tool(refund()).store(store.clone());
        let builder = builder.on_run_end(move |report| {
            let _ = sender.send(report.usage.input_tokens);
        });
        let assistant = builder.build().unwrap();
        let _body = open(&assistant, &ask("m1", "Refund it")).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        send(&assistant, "/c/stop", &json!({})).await;
        assert_eq!(reported(&assistant, &store).await, (state.to_owned(), json!(150)));
        assert_eq!(reports.recv().await, Some(Some(150)), "{state}");
    }
}

/// The model call of the step is complete, and its tool is not.
#[tokio::test(start_paused = true)]
async fn the_usage_of_a_run_has_the_step_in_which_it_was_stopped() {
    for stops_elsewhere in [false, true] {
        let store = MemoryStore::new();
        let model = ScriptedProvider::new()
            .turn(call("refund", json!({})).then(Turn::usage(100, 10)))
            .turn(call("stuck", json!({})).then(Turn::usage(100, 10)));
        let stuck = Tool::new("stuck", "Takes long", || async {
            std::future::pending::<()>().await;
            Ok::<_, ToolError>("")
        });
        let server = |model: ScriptedProvider| {
            let builder = Assistant::builder(model).tool(refund()).tool(stuck.clone());
            builder.store(store.clone()).build().unwrap()
        };
        let first = server(model);
        let _body = open(&first, &ask("m1", "Refund it")).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let second = server(ScriptedProvider::new());
        if stops_elsewhere {
            assert_eq!(first.drain(Duration::ZERO).await.released, 1);
        }
        let at = if stops_elsewhere { &second } else { &first };
        send(at, "/c/stop", &json!({})).await;
        assert_eq!(reported(at, &store).await, ("stopped".to_owned(), json!(200)));
    }
}
