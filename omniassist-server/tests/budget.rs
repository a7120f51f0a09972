//! Tests of token budgets: before a run, between its steps, and during an answer.

use std::collections::HashMap;
use std::future::ready;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use http::{Extensions, StatusCode};
use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::message::Message;
use omniassist_server::core::{ErrorCode, LlmEvent, RunEvent, RunRequest, Usage};
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::throttle::{Grant, InMemoryTokenBudget, LimitFuture, Reservation, Spent, TokenBudget};
use omniassist_server::{Assistant, Error, Principal, ProviderErrorKind, Run, Tool, ToolError};
use serde_json::json;
use tokio::time::advance;

use crate::counted::counted;
use crate::dialects::{ROUTES, Shape, note, terminal};

const HOUR: Duration = Duration::from_secs(3600);

/// A budget that all principals share and that a test inspects.
#[derive(Clone, Default)]
struct Purse {
    left: Arc<Mutex<u64>>,
    spent: Arc<Mutex<Vec<(String, Spent)>>>,
    reserved: Arc<Mutex<HashMap<String, u64>>>,
    looks: Arc<AtomicUsize>,
}

impl Purse {
    fn of(tokens: u64) -> Self {
        let purse = Self::default();
        *purse.left.lock().unwrap() = tokens;
        purse
    }

    fn left(&self) -> u64 {
        *self.left.lock().unwrap()
    }

    fn spent(&self) -> Vec<Spent> {
        self.spent.lock().unwrap().iter().map(|(_, spent)| *spent).collect()
    }
}

impl TokenBudget for Purse {
    fn reserve<'a>(&'a self, of: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        let mut reserved = self.reserved.lock().unwrap();
        let others: u64 = reserved.iter().filter(|(id, _)| *id != of.id()).map(|(_, tokens)| tokens).sum();
        let (left, least) = (Purse::left(self), *tokens.start());
        let room = left.saturating_sub(others);
        let grant = if room < least {
            Grant::Exceeded { retry_after: if left >= least { Duration::from_secs(1) } else { HOUR } }
        } else {
            let granted = room.min(*tokens.end());
            reserved.insert(of.id().to_owned(), granted);
            Grant::Tokens(granted)
        };
        Box::pin(ready(Ok(grant)))
    }

    fn settle<'a>(&'a self, of: &'a Reservation, spent: &'a Spent) -> LimitFuture<'a, ()> {
        self.reserved.lock().unwrap().remove(of.id());
        let mut left = self.left.lock().unwrap();
        *left = left.saturating_sub(spent.tokens());
        if *spent != Spent::nothing() {
            self.spent.lock().unwrap().push((of.account().id().to_owned(), *spent));
        }
        Box::pin(ready(Ok(())))
    }
}

fn assistant(model: &ScriptedProvider, budget: impl TokenBudget) -> Assistant {
    Assistant::builder(model.clone()).allow_anonymous().token_budget(budget).object(note()).build().unwrap()
}

fn as_user(name: &str) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new(name));
    extensions
}

fn begin(assistant: &Assistant, words: &str) -> Run {
    let run = assistant.try_run(RunRequest::new(vec![Message::user("m1", words)]), as_user("ada"));
    run.now_or_never().unwrap().unwrap()
}

async fn events(assistant: &Assistant) -> Vec<RunEvent> {
    begin(assistant, "hi").collect().await
}

fn said(events: &[RunEvent]) -> String {
    let deltas = events.iter().filter_map(|event| match event {
        RunEvent::TextDelta { delta, .. } | RunEvent::ReasoningDelta { delta, .. } => Some(delta.as_str()),
        _ => None,
    });
    deltas.collect()
}

fn failure(events: &[RunEvent]) -> Option<RunErrorCode> {
    match terminal(events) {
        RunEvent::Error { code, .. } => Some(*code),
        _ => None,
    }
}

const EXCEEDED: Option<RunErrorCode> = Some(RunErrorCode::TokenBudgetExceeded);

fn used(input: u64, output: u64) -> Usage {
    let mut usage = Usage::default();
    (usage.input_tokens, usage.output_tokens) = (Some(input), Some(output));
    usage
}

#[tokio::test]
async fn four_bytes_count_as_a_token_until_the_provider_reports_usage() {
    // The question takes one token. An answer of 300 tokens queries the budget several times.
    for (budget, bytes, cut) in [(2, 4, false), (2, 5, true), (301, 1_200, false), (301, 1_201, true)] {
        let words: String = "0123456789".chars().cycle().take(bytes).collect();
        let pieces = words.as_bytes().iter().map(|byte| char::from(*byte).to_string());
        for turn in [
            Turn::text_chunks(pieces.clone()),
            pieces
                .clone()
                .map(|piece| Turn::event(LlmEvent::ReasoningDelta { block: 0, delta: piece.into() }))
                .collect(),
            pieces
                .map(|piece| Turn::event(LlmEvent::RefusalDelta { block: 0, delta: piece.into() }))
                .collect(),
        ] {
            // The end of the turn shows whether the run was still active after the last byte.
            let end = if cut { Turn::pending() } else { Turn::new() };
            let model = ScriptedProvider::new().turn(turn.then(end));
            let purse = Purse::of(budget);
            let events = events(&assistant(&model, purse.clone())).await;
            assert_eq!(failure(&events), if cut { EXCEEDED } else { None }, "{budget} {bytes}");
            assert_eq!(said(&events), words, "the text so far must be shown");
            assert_eq!(model.drops(), usize::from(cut), "the provider's connection must close");
            let [spent] = purse.spent()[..] else { panic!("{:?}", purse.spent()) };
            assert!(spent.estimated);
            assert_eq!(spent.usage.output_tokens, Some(bytes.div_ceil(4) as u64));
            assert!(purse.looks.load(Ordering::SeqCst) <= 9, "the budget must not be queried for each delta");
        }
    }
}

#[tokio::test]
async fn arguments_count_and_no_tool_of_a_cut_turn_runs() {
    let (tool, ran) = counted();
    let arguments = json!({"words": "x".repeat(25)});
    assert_eq!(arguments.to_string().len(), 37);
    let input = input_of(tool.clone()).await;
    // A complete call before too much text, and a call that exceeds the budget itself.
    for (turn, budget) in [
        (call("work", json!({})).then(text("x".repeat(100))), 20),
        (call("work", json!({})).then(call("work", arguments.clone())), 9),
        (call("work", json!({})).then(call("work", arguments.clone())), 10),
    ] {
        let model = ScriptedProvider::new().turn(turn).turn(text("Done."));
        let builder = Assistant::builder(model.clone())
            .allow_anonymous()
            .tool(tool.clone())
            .token_budget(Purse::of(input + budget));
        let events = events(&builder.build().unwrap()).await;
        let whole = budget == 10;
        assert_eq!(
            ran.load(Ordering::SeqCst),
            0,
            "{budget}: no call must run if no tokens are left for its result"
        );
        assert_eq!(failure(&events), EXCEEDED);
        assert_eq!(model.drops(), usize::from(!whole));
        assert_eq!(model.payloads().len(), 1);
        let told = events.iter().filter(|event| matches!(event, RunEvent::ToolInputError { .. })).count();
        assert!(told >= 1, "{events:?}");
    }
}

/// Returns the tokens that a model call with the question "hi" and this tool is estimated to read.
async fn input_of(tool: Tool) -> u64 {
    let (model, purse) = (ScriptedProvider::new().turn(text("Hi")), Purse::of(10_000));
    let builder = Assistant::builder(model).allow_anonymous().tool(tool).token_budget(purse.clone());
    events(&builder.build().unwrap()).await;
    purse.spent()[0].usage.input_tokens.unwrap()
}

#[tokio::test]
async fn reported_usage_replaces_the_estimate() {
    let (tool, ran) = counted();
    // The second model call also reads the tool call and its output: `work`, `{}` and `"done"`.
    let second = input_of(tool.clone()).await + 3;
    for (budget, runs, asks) in [
        (30 + second + 1, true, true),
        (30 + second, true, false),
        (31, true, false),
        (30, false, false),
        (29, false, false),
    ] {
        let model = ScriptedProvider::new()
            .turn([call("work", json!({})), Turn::usage(20, 10)])
            .turn([text("A"), Turn::usage(0, 1)]);
        let purse = Purse::of(budget);
        let builder = Assistant::builder(model.clone())
            .allow_anonymous()
            .tool(tool.clone())
            .token_budget(purse.clone());
        let events = events(&builder.build().unwrap()).await;
        assert_eq!(ran.swap(0, Ordering::SeqCst), usize::from(runs), "{budget}");
        assert_eq!(failure(&events), if asks { None } else { EXCEEDED }, "{budget}");
        let spent: Vec<_> = purse.spent().iter().map(|spent| (spent.tokens(), spent.estimated)).collect();
        let first = (30, false);
        assert_eq!(spent, if asks { vec![first, (1, false)] } else { vec![first] }, "{budget}");
        assert!(purse.reserved.lock().unwrap().is_empty(), "{budget}");
    }
    // The usage is below the estimate, so the difference is released.
    let purse = Purse::of(100);
    let model = ScriptedProvider::new().turn([text("x".repeat(200)), Turn::usage(5, 10)]);
    assert_eq!(failure(&events(&assistant(&model, purse.clone())).await), None);
    assert_eq!(purse.left(), 85);
}

#[tokio::test]
async fn a_complete_answer_stays_complete() {
    let purse = Purse::of(10);
    let model = ScriptedProvider::new().turn([text("Hello"), Turn::usage(500, 2)]).turn(text("again"));
    let assistant = assistant(&model, purse.clone());
    let events = events(&assistant).await;
    assert!(matches!(terminal(&events), RunEvent::Finish { .. }));
    assert_eq!(purse.left(), 0);
    let refused = assistant.try_run(RunRequest::prompt("hi"), as_user("ada")).await.unwrap_err();
    assert_eq!((refused.code(), refused.retry_after()), (ErrorCode::TokenBudgetExceeded, Some(HOUR)));
    assert_eq!(model.payloads().len(), 1);
}

#[tokio::test]
async fn input_that_is_reported_first_counts_at_once() {
    for (input, cut) in [(90, false), (91, true)] {
        let early = Turn::event(LlmEvent::Usage(used(input, 1)));
        let end = if cut { Turn::pending() } else { Turn::usage(input, 10) };
        let model = ScriptedProvider::new().turn([early, text("x".repeat(40)), end]);
        let purse = Purse::of(100);
        let events = events(&assistant(&model, purse.clone())).await;
        assert_eq!(failure(&events), if cut { EXCEEDED } else { None }, "{input}");
        assert_eq!(purse.left(), 0);
        assert_eq!(purse.spent()[0].usage.input_tokens, Some(input));
        assert_eq!(purse.spent()[0].estimated, cut);
    }
}

#[tokio::test]
async fn usage_that_is_reported_often_reserves_no_more_often() {
    let pieces = (1..=300).flat_map(|tokens| {
        let usage = LlmEvent::Usage(used(90, tokens));
        [Turn::event(usage), Turn::event(LlmEvent::TextDelta { block: 0, delta: "word".into() })]
    });
    let model = ScriptedProvider::new().turn(pieces.collect::<Turn>());
    let purse = Purse::of(10_000);
    assert_eq!(failure(&events(&assistant(&model, purse.clone())).await), None);
    assert_eq!((purse.spent()[0].tokens(), purse.spent()[0].estimated), (390, false));
    let looks = purse.looks.load(Ordering::SeqCst);
    assert!(looks <= 9, "{looks} for 390 tokens");
}

#[tokio::test]
async fn a_principal_without_tokens_is_refused_in_every_dialect() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let service = AssistantService::new(assistant(&model, Purse::of(0)));
    for route in ROUTES {
        let refused = route.refusal(route.ask(&service).await).await;
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS, "{route:?}");
        assert_eq!((refused.code.as_str(), refused.retry_after()), ("token_budget_exceeded", 3600));
        assert!(refused.message.contains("later"), "{}", refused.message);
        assert!(refused.kind.is_empty() || refused.kind == "rate_limit_error", "{}", refused.kind);
        let is_openai = !refused.kind.is_empty();
        assert_eq!(
            refused.headers.contains_key("x-should-retry"),
            is_openai,
            "clients must not wait for an hour"
        );
    }
    assert!(model.payloads().is_empty());
    let two = assistant(&model, Purse::of(2));
    assert_eq!(failure(&events(&two).await), None, "a token for the question and one for the answer");
}

#[tokio::test]
async fn a_run_that_exceeds_its_budget_reports_it_in_every_dialect() {
    for route in ROUTES {
        let model = ScriptedProvider::new().turn(text("Too much".repeat(250)).then(Turn::pending()));
        let service = AssistantService::new(assistant(&model, Purse::of(250)));
        let failure = route.failure(route.ask(&service).await).await;
        let Some((code, message)) = failure else {
            assert_eq!(route.shape, Shape::Text);
            continue;
        };
        assert_eq!(code, "token_budget_exceeded", "{route:?}");
        assert!(message.contains("token budget is used up"), "{message}");
        assert_eq!(model.drops(), 1, "{route:?}");
    }
}

#[tokio::test]
async fn a_budget_that_other_runs_use_up_ends_the_run_before_its_next_call() {
    let purse = Purse::of(50);
    let other = purse.clone();
    let tool = Tool::new("work", "Works", move || {
        let other = other.clone();
        async move {
            *other.left.lock().unwrap() = 0;
            Ok::<_, ToolError>("done")
        }
    });
    let model =
        ScriptedProvider::new().turn([call("work", json!({})), Turn::usage(1, 1)]).turn(text("Done."));
    let assistant = Assistant::builder(model.clone())
        .allow_anonymous()
        .tool(tool)
        .token_budget(purse.clone())
        .build()
        .unwrap();
    let failed = begin(&assistant, "hi").outcome().await.unwrap_err();
    assert_eq!((failed.code(), failed.retry_after()), (EXCEEDED, Some(HOUR)));
    assert_eq!(model.payloads().len(), 1);
    assert_eq!(purse.spent().len(), 1);
}

#[tokio::test]
async fn concurrent_runs_of_one_principal_share_the_remaining_tokens() {
    const BUDGET: usize = 400;
    let endless = || (0..BUDGET * 8).map(|_| "word".to_owned());
    let model = ScriptedProvider::new().otherwise(move |_| Turn::text_chunks(endless()));
    let purse = Purse::of(BUDGET as u64);
    let assistant = assistant(&model, purse.clone());
    let mut runs: Vec<_> = (0..4).map(|_| begin(&assistant, "")).collect();
    let mut written = 0;
    let mut ended = 0;
    // In turns, a token at a time.
    while ended < runs.len() {
        for run in &mut runs {
            match run.next().await {
                Some(RunEvent::TextDelta { .. }) => written += 1,
                Some(RunEvent::Error { code, .. }) => {
                    assert_eq!(Some(code), EXCEEDED);
                    ended += 1;
                }
                _ => {}
            }
        }
    }
    // Each run queries the budget after at most 64 tokens.
    assert!((BUDGET..=BUDGET + 4 * 64).contains(&written), "{written} tokens for {BUDGET}");
    assert_eq!(purse.spent().len(), 4);

    // No tokens stay reserved, and other principals are not affected.
    *purse.left.lock().unwrap() = 1;
    let run = assistant.try_run(RunRequest::prompt("hi"), as_user("ada")).await.unwrap();
    drop(run);
}

#[tokio::test]
async fn tokens_of_a_stopped_run_are_spent() {
    let question = "x".repeat(80);
    let spent = |purse: &Purse| {
        let [spent] = purse.spent()[..] else { panic!("{:?}", purse.spent()) };
        assert!(spent.estimated);
        (spent.usage.input_tokens.unwrap(), spent.usage.output_tokens.unwrap())
    };
    for stop in ["leaves", "stops", "before the first word"] {
        let purse = Purse::of(1_000);
        let silent = stop == "before the first word";
        let turn = if silent { Turn::pending() } else { text("x".repeat(40)).then(Turn::pending()) };
        let model = ScriptedProvider::new().turn(turn);
        let assistant = assistant(&model, purse.clone());
        let mut run = begin(&assistant, &question);
        if silent {
            // The model is called by the first poll that is pending.
            while futures_util::poll!(run.next()).is_ready() {}
        } else {
            while !matches!(run.next().await, Some(RunEvent::TextDelta { .. })) {}
        }
        if stop == "stops" {
            run.handle().abort("enough");
            assert!(matches!(run.collect::<Vec<_>>().await.last(), Some(RunEvent::Abort { .. })));
        } else {
            drop(run);
        }
        assert_eq!(spent(&purse), (20, if silent { 0 } else { 10 }), "{stop}");
    }
    // An interrupted answer costs tokens; a refused request does not.
    for (turn, calls) in [
        (text("x".repeat(40)).then(Turn::interrupted()), 1),
        (Turn::event(LlmEvent::Usage(used(7, 0))).then(Turn::interrupted()), 1),
    ] {
        let purse = Purse::of(1_000);
        events(&assistant(&ScriptedProvider::new().turn(turn), purse.clone())).await;
        assert_eq!(purse.spent().len(), calls);
    }
    let purse = Purse::of(1_000);
    let refusing = Refusing;
    let assistant =
        Assistant::builder(refusing).allow_anonymous().token_budget(purse.clone()).build().unwrap();
    assert_eq!(failure(&events(&assistant).await), Some(RunErrorCode::RateLimited));
    assert!(purse.spent().is_empty());
}

/// A provider that refuses every request.
struct Refusing;

impl omniassist_server::LlmProvider for Refusing {
    fn name(&self) -> &str {
        "refusing"
    }

    fn stream(&self, _: omniassist_server::core::LlmPayload) -> omniassist_server::LlmStream {
        let error = Error::provider(ProviderErrorKind::RateLimited);
        Box::pin(futures_util::stream::iter([Err(error)]))
    }
}

#[tokio::test]
async fn totals_come_from_the_provider_and_host_runs_are_not_counted() {
    let mut usage = used(10, 5);
    usage.total_tokens = Some(22);
    let model =
        ScriptedProvider::new().otherwise(move |_| Turn::event(LlmEvent::Usage(usage)).then(text("Hi")));
    let purse = Purse::of(1_000);
    let assistant = assistant(&model, purse.clone());
    assistant.run(RunRequest::prompt("hi")).text().await.unwrap();
    assert!(purse.spent().is_empty());
    assert_eq!(purse.looks.load(Ordering::SeqCst), 0);
    events(&assistant).await;
    assert_eq!((purse.spent()[0].tokens(), purse.left()), (22, 978));
    assert_eq!(purse.spent.lock().unwrap()[0].0, "ada");
}

#[derive(Clone, Copy, PartialEq)]
enum Broken {
    AtFirst,
    Later,
    Spending,
}

struct Panicking(Broken, AtomicUsize);

impl TokenBudget for Panicking {
    fn reserve<'a>(&'a self, _: &'a Reservation, _: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
        let looks = self.1.fetch_add(1, Ordering::SeqCst);
        assert!(self.0 != Broken::AtFirst, "canary");
        assert!(self.0 != Broken::Later || looks < 2, "canary");
        Box::pin(ready(Ok(Grant::Tokens(u64::MAX))))
    }

    fn settle<'a>(&'a self, _: &'a Reservation, _: &'a Spent) -> LimitFuture<'a, ()> {
        assert!(self.0 != Broken::Spending, "canary");
        Box::pin(ready(Ok(())))
    }
}

#[tokio::test]
async fn a_panic_in_a_budget_is_contained() {
    let model = ScriptedProvider::new().otherwise(|_| text("x".repeat(1_000)));
    let broken = |how| assistant(&model, Panicking(how, AtomicUsize::new(0)));
    let refused =
        broken(Broken::AtFirst).try_run(RunRequest::prompt("hi"), as_user("ada")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Internal);
    assert_eq!(failure(&events(&broken(Broken::Later)).await), Some(RunErrorCode::Internal));
    assert_eq!(failure(&events(&broken(Broken::Spending)).await), None);
}

#[tokio::test(start_paused = true)]
async fn a_window_in_memory_limits_the_tokens_of_each_principal() {
    let model = ScriptedProvider::new().otherwise(|_| Turn::from([text("Hi"), Turn::usage(30, 10)]));
    let assistant = assistant(&model, InMemoryTokenBudget::new(80, HOUR));
    let ask = |user: &'static str| {
        let run = assistant.try_run(RunRequest::prompt("hi"), as_user(user));
        async move { Ok::<_, omniassist_server::core::Error>(run.await?.text().await.unwrap()) }
    };
    for user in ["ada", "bob"] {
        ask(user).await.unwrap();
        advance(Duration::from_secs(60)).await;
        ask(user).await.unwrap();
        let refused = ask(user).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::TokenBudgetExceeded);
        assert_eq!(refused.retry_after(), Some(Duration::from_secs(3540)), "the end of the window");
    }
    advance(Duration::from_secs(3539)).await;
    assert_eq!(ask("bob").await.unwrap_err().retry_after(), Some(Duration::from_secs(1)));
    ask("ada").await.unwrap();
    advance(Duration::from_secs(1)).await;
    ask("bob").await.unwrap();
}

#[test]
fn expired_windows_are_removed() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let budget = InMemoryTokenBudget::new(80, HOUR);
        let spent = Spent::new(used(1, 1), false);
        let spend = |user: Principal| {
            let reservation = Reservation::new(user, "r", HOUR);
            budget.settle(&reservation, &spent).now_or_never().unwrap().unwrap();
        };
        let mut most = 0;
        for round in 0..10 {
            for n in 0..3_000 {
                spend(Principal::new(format!("user-{round}-{n}")));
                most = most.max(budget.principals());
            }
            advance(HOUR).await;
        }
        assert!(most <= 3 * 3_000, "{most} of 30,000");
        for _ in 0..10_000 {
            spend(Principal::anonymous());
        }
        assert_eq!(budget.principals(), 1);
        assert_eq!(budget.left(&Principal::anonymous()), (0, HOUR));
        assert_eq!(budget.left(&Principal::new("user-0-0")), (80, HOUR));
    });
}

#[tokio::test]
async fn eight_runs_with_a_thousand_tokens_left_overdraw_them_by_less_than_one_reservation() {
    const LEFT: usize = 1_000;
    // The questions take none of the tokens, most of the tokens, and more than the available tokens.
    for question in [0, 100, 300] {
        let model = ScriptedProvider::new()
            .otherwise(move |_| Turn::text_chunks((0..LEFT).map(|_| "word".to_owned())));
        let purse = Purse::of(LEFT as u64);
        let mut limits = omniassist_server::core::Limits::default();
        limits.max_runs_per_principal = 8;
        let builder = Assistant::builder(model.clone()).limits(limits).token_budget(purse.clone());
        let assistant = builder.build().unwrap();
        let words = "word".repeat(question);
        let mut runs: Vec<_> = (0..8).map(|_| begin(&assistant, &words)).collect();
        // In turns, a token at a time.
        while !runs.is_empty() {
            let mut still = Vec::new();
            for mut run in runs {
                match run.next().await {
                    Some(RunEvent::Error { code, .. }) => assert_eq!(Some(code), EXCEEDED),
                    Some(_) => still.push(run),
                    None => {}
                }
            }
            runs = still;
        }
        let spent = purse.spent();
        let tokens: u64 = spent.iter().map(Spent::tokens).sum();
        assert!((LEFT as u64..=LEFT as u64 + 64).contains(&tokens), "{tokens} tokens");
        assert!(purse.reserved.lock().unwrap().is_empty());
        assert_eq!(spent.len(), model.payloads().len(), "the other runs must not call the model");
        eprintln!("{tokens} tokens of {LEFT} in {} calls with questions of {question}", spent.len());
    }
}

#[tokio::test]
async fn tokens_that_other_runs_reserved_are_not_available() {
    let purse = Purse::of(65);
    let model = ScriptedProvider::new().otherwise(|_| text("word").then(Turn::pending()));
    let assistant = assistant(&model, purse.clone());
    let mut runs = Vec::new();
    // The first run reserves 64 tokens and the second one token.
    for _ in 0..2 {
        let mut run = begin(&assistant, "");
        while !matches!(run.next().await, Some(RunEvent::TextDelta { .. })) {}
        runs.push(run);
    }
    let refused = assistant.try_run(RunRequest::prompt("hi"), as_user("ada")).await.unwrap_err();
    assert_eq!(
        (refused.code(), refused.retry_after()),
        (ErrorCode::TokenBudgetExceeded, Some(Duration::from_secs(1)))
    );
    drop(runs);
    drop(begin(&assistant, ""));
}

/// The tenant of a request.
#[derive(Clone)]
struct Tenant(&'static str);

#[tokio::test(start_paused = true)]
async fn users_of_a_tenant_share_its_tokens() {
    let model = ScriptedProvider::new().otherwise(|_| Turn::from([text("Hi"), Turn::usage(30, 10)]));
    let budget = InMemoryTokenBudget::new(80, HOUR).per(|attempt| {
        Principal::new(attempt.extensions().get::<Tenant>().map_or("none", |Tenant(name)| name))
    });
    let assistant = assistant(&model, budget);
    let ask = |user: &'static str, tenant: &'static str| {
        let mut extensions = as_user(user);
        extensions.insert(Tenant(tenant));
        let run = assistant.try_run(RunRequest::prompt("hi"), extensions);
        async move { Ok::<_, omniassist_server::core::Error>(run.await?.text().await.unwrap()) }
    };
    ask("ada", "acme").await.unwrap();
    ask("bob", "acme").await.unwrap();
    let refused = ask("cleo", "acme").await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::TokenBudgetExceeded);
    ask("ada", "other").await.unwrap();
}
