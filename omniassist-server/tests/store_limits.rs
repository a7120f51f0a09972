//! Tests of rate limits and token budgets in a store that is slow, fails or does not answer.

use std::collections::HashMap;
use std::future::pending;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use http::{Extensions, StatusCode};
use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::{Error, ErrorCode, Limits, RunEvent, RunRequest};
use omniassist_server::http::AssistantService;
use omniassist_server::observe::{Observe, RunInfo, RunReport};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::throttle::{
    Attempt, Grant, LimitFuture, RateDecision, RateLimit, Reservation, Spent, TokenBudget, WhenUnavailable,
};
use omniassist_server::{Assistant, Principal, Run};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::counted::counted;
use crate::dialects::{ROUTES, Shape, note, terminal};

const SECOND: Duration = Duration::from_secs(1);

/// The answer of a store after one second.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Answer {
    Yes,
    No,
    Fails,
    Hangs,
}

/// A store of rates and tokens.
#[derive(Clone)]
struct Store {
    answer: Arc<Mutex<Answer>>,
    when_unavailable: WhenUnavailable,
    timeout: Duration,
    asked: Arc<AtomicUsize>,
    reserved: Arc<Mutex<HashMap<String, u64>>>,
    spent: Arc<Mutex<u64>>,
}

impl Store {
    fn that(answer: Answer) -> Self {
        Self {
            answer: Arc::new(Mutex::new(answer)),
            when_unavailable: WhenUnavailable::Refuse,
            timeout: 2 * SECOND,
            asked: Arc::default(),
            reserved: Arc::default(),
            spent: Arc::default(),
        }
    }

    fn or(self, when_unavailable: WhenUnavailable) -> Self {
        Self { when_unavailable, ..self }
    }

    fn becomes(&self, answer: Answer) {
        *self.answer.lock().unwrap() = answer;
    }

    async fn ask(&self) -> Result<bool, std::io::Error> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = *self.answer.lock().unwrap();
        if answer == Answer::Hangs {
            return pending().await;
        }
        sleep(SECOND).await;
        match answer {
            Answer::Fails => Err(std::io::Error::other("the store's secret address")),
            answer => Ok(answer == Answer::Yes),
        }
    }
}

impl RateLimit for Store {
    fn check<'a>(&'a self, _: &'a Attempt<'a>) -> LimitFuture<'a, RateDecision> {
        Box::pin(async move {
            Ok(if self.ask().await? { RateDecision::Allow } else { RateDecision::Wait(7 * SECOND) })
        })
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn when_unavailable(&self) -> WhenUnavailable {
        self.when_unavailable
    }
}

impl TokenBudget for Store {
    fn reserve<'a>(&'a self, of: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
        Box::pin(async move {
            // This simulates a lost answer: the store reserves tokens, but the caller receives no result.
            self.reserved.lock().unwrap().insert(of.id().to_owned(), *tokens.end());
            let granted = self.ask().await?;
            Ok(if granted {
                Grant::Tokens(*tokens.end())
            } else {
                Grant::Exceeded { retry_after: 7 * SECOND }
            })
        })
    }

    fn settle<'a>(&'a self, of: &'a Reservation, spent: &'a Spent) -> LimitFuture<'a, ()> {
        Box::pin(async move {
            sleep(SECOND).await;
            self.reserved.lock().unwrap().remove(of.id());
            *self.spent.lock().unwrap() += spent.tokens();
            Ok(())
        })
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn when_unavailable(&self) -> WhenUnavailable {
        self.when_unavailable
    }
}

fn as_ada() -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    extensions
}

async fn begin(assistant: &Assistant) -> Result<Run, Error> {
    assistant.try_run(RunRequest::prompt("go"), as_ada()).await
}

#[tokio::test(start_paused = true)]
async fn a_store_decides_in_every_dialect() {
    for (answer, status, code, seconds) in [
        (Answer::No, StatusCode::TOO_MANY_REQUESTS, "rate_limited", 7),
        (Answer::Fails, StatusCode::SERVICE_UNAVAILABLE, "limits_unavailable", 2),
        (Answer::Hangs, StatusCode::SERVICE_UNAVAILABLE, "limits_unavailable", 2),
    ] {
        let model = ScriptedProvider::new();
        let builder = || Assistant::builder(model.clone()).allow_anonymous().object(note());
        let rate = builder().rate_limit(Store::that(answer)).build().unwrap();
        let budget = builder().token_budget(Store::that(answer)).build().unwrap();
        for (assistant, code) in
            [(rate, code), (budget, if answer == Answer::No { "token_budget_exceeded" } else { code })]
        {
            let service = AssistantService::new(assistant);
            for route in ROUTES {
                let refused = route.refusal(route.ask(&service).await).await;
                let is_openai = matches!(route.shape, Shape::OpenAi | Shape::OpenAiWhole);
                let code = if is_openai && code == "rate_limited" { "rate_limit_exceeded" } else { code };
                assert_eq!((refused.status, refused.code.as_str()), (status, code), "{route:?}");
                assert_eq!(refused.retry_after(), seconds, "{route:?}");
                assert!(!refused.message.contains("secret"), "{}", refused.message);
            }
            assert_eq!(service.assistant().live_runs(), 0);
        }
        assert!(model.payloads().is_empty(), "a refused run must not call the model");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_continues_if_the_store_agrees_or_its_failures_are_ignored() {
    for (answer, when_unavailable) in [
        (Answer::Yes, WhenUnavailable::Refuse),
        (Answer::Fails, WhenUnavailable::Allow),
        (Answer::Hangs, WhenUnavailable::Allow),
    ] {
        let store = Store::that(answer).or(when_unavailable);
        let model = ScriptedProvider::new().turn(text("word".repeat(100)));
        let builder = Assistant::builder(model).rate_limit(store.clone()).token_budget(store.clone());
        let assistant = builder.build().unwrap();
        assert_eq!(begin(&assistant).await.unwrap().text().await.unwrap().len(), 400, "{answer:?}");
        assistant.shutdown().await;
        assert_eq!(*store.spent.lock().unwrap(), 101, "{answer:?}: one for the question");
        assert!(store.reserved.lock().unwrap().is_empty(), "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_check_can_take_as_long_as_its_limit() {
    for (timeout, code) in [(SECOND * 11 / 10, None), (SECOND * 9 / 10, Some(ErrorCode::LimitsUnavailable))] {
        let store = Store { timeout, ..Store::that(Answer::Yes) };
        let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
        let assistant = Assistant::builder(model).rate_limit(store).build().unwrap();
        let started = Instant::now();
        let begun = begin(&assistant).await.map(drop).map_err(|error| error.code());
        assert_eq!(begun.err(), code);
        assert_eq!(started.elapsed().as_millis(), timeout.min(SECOND).as_millis());
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_disconnects_during_a_store_check_releases_everything() {
    let mut limits = Limits::default();
    limits.max_runs_per_principal = 1;
    for in_budget in [false, true] {
        let store = Store::that(Answer::Hangs);
        let builder =
            Assistant::builder(ScriptedProvider::new().otherwise(|_| text("Hi"))).limits(limits.clone());
        let assistant = match in_budget {
            true => builder.token_budget(store.clone()),
            false => builder.rate_limit(store.clone()),
        }
        .build()
        .unwrap();
        let mut waiting = Box::pin(begin(&assistant));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        // The slot of the run is taken.
        assert_eq!(begin(&assistant).await.unwrap_err().code(), ErrorCode::TooManyRuns);
        assert_eq!(store.reserved.lock().unwrap().len(), usize::from(in_budget));
        drop(waiting);
        store.becomes(Answer::Yes);
        begin(&assistant).await.unwrap().text().await.unwrap();
        assistant.shutdown().await;
        assert!(store.reserved.lock().unwrap().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_fails_during_an_answer_ends_it_in_every_dialect() {
    for (answer, when, code) in [
        (Answer::Fails, "first call", "limits_unavailable"),
        (Answer::Hangs, "first call", "limits_unavailable"),
        (Answer::Hangs, "answer", "limits_unavailable"),
        (Answer::No, "answer", "token_budget_exceeded"),
    ] {
        for route in ROUTES {
            let store = Store::that(Answer::Yes);
            let then = store.clone();
            let fails = move || then.becomes(answer);
            let model = ScriptedProvider::new();
            let model = match when {
                "answer" => model.otherwise(move |_| {
                    fails();
                    text("word".repeat(100)).then(text("more"))
                }),
                _ => model.otherwise(|_| text("Hi")),
            };
            let mut builder = Assistant::builder(model.clone()).allow_anonymous().object(note());
            if when == "first call" {
                let then = store.clone();
                builder = builder.system_prompt(move |_: &omniassist_server::RunContext| {
                    then.becomes(answer);
                    "You help."
                });
            }
            let service = AssistantService::new(builder.token_budget(store.clone()).build().unwrap());
            let response = route.ask(&service).await;
            if route.shape == Shape::Text && when == "first call" {
                assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{route:?}");
            } else if let Some((failed, _)) = route.failure(response).await {
                assert_eq!(failed, code, "{route:?} {when}");
            } else {
                assert_eq!(route.shape, Shape::Text);
            }
            assert_eq!(model.payloads().len(), usize::from(when == "answer"), "{route:?} {when}");
            service.assistant().shutdown().await;
            assert!(store.reserved.lock().unwrap().is_empty(), "{route:?} {when}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_drain_waits_until_the_tokens_of_a_dropped_run_are_settled() {
    let store = Store::that(Answer::Yes);
    let model = ScriptedProvider::new().turn(text("word".repeat(10)).then(Turn::pending()));
    let assistant = Assistant::builder(model).token_budget(store.clone()).build().unwrap();
    let mut run = begin(&assistant).await.unwrap();
    while !matches!(run.next().await, Some(RunEvent::TextDelta { .. })) {}
    drop(run);
    assert_eq!((*store.spent.lock().unwrap(), store.reserved.lock().unwrap().len()), (0, 1));
    assistant.shutdown().await;
    assert_eq!((*store.spent.lock().unwrap(), store.reserved.lock().unwrap().len()), (11, 0));
}

#[tokio::test(start_paused = true)]
async fn no_tool_runs_before_tokens_for_its_results_are_reserved() {
    for answer in [Answer::Yes, Answer::No, Answer::Fails] {
        let (store, (tool, ran)) = (Store::that(Answer::Yes), counted());
        let then = store.clone();
        let model = ScriptedProvider::new().otherwise(move |payload| {
            then.becomes(answer);
            if payload.transcript.len() > 1 { text("Done.") } else { call("work", json!({})) }
        });
        let assistant = Assistant::builder(model).tool(tool).token_budget(store.clone()).build().unwrap();
        let events: Vec<_> = begin(&assistant).await.unwrap().collect().await;
        let code = match terminal(&events) {
            RunEvent::Error { code, .. } => Some(*code),
            _ => None,
        };
        let expected = match answer {
            Answer::Yes => None,
            Answer::No => Some(RunErrorCode::TokenBudgetExceeded),
            _ => Some(RunErrorCode::LimitsUnavailable),
        };
        assert_eq!((code, ran.load(Ordering::SeqCst)), (expected, usize::from(answer == Answer::Yes)));
    }
}

/// Counts the notifications of an observer.
#[derive(Clone, Default)]
struct Told(Arc<[AtomicUsize; 3]>);

impl Observe for Told {
    fn run_started(&self, _: &RunInfo) {
        self.0[0].fetch_add(1, Ordering::SeqCst);
    }

    fn run_ended(&self, _: &RunReport) {
        self.0[1].fetch_add(1, Ordering::SeqCst);
    }

    fn run_refused(&self, _: &Principal, _: &Error) {
        self.0[2].fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_replaced_during_its_check_never_starts() {
    let (store, told) = (Store::that(Answer::Hangs), Told::default());
    let model = ScriptedProvider::new().otherwise(|_| text("Hi").then(Turn::pending()));
    let builder = Assistant::builder(model).rate_limit(store.clone()).observe(told.clone());
    let assistant = builder.build().unwrap();
    let ask = || {
        let mut request = RunRequest::prompt("go");
        request.chat_id = Some("c".into());
        assistant.try_run(request, as_ada())
    };
    *store.answer.lock().unwrap() = Answer::Yes;
    let mut slow = Box::pin(ask());
    assert!(slow.as_mut().now_or_never().is_none());
    let run = ask().await.unwrap();
    assert_eq!(slow.await.unwrap_err().code(), ErrorCode::DuplicateRun);
    let counts = || told.0.each_ref().map(|count| count.load(Ordering::SeqCst));
    assert_eq!(counts(), [1, 0, 1], "started, ended, refused");
    drop(run);
    assert_eq!(counts(), [1, 1, 1]);
}
