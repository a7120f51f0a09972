//! Tests of rate limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use http::{Extensions, StatusCode};
use omniassist_server::core::{ErrorCode, Limits, RunRequest};
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::throttle::{Attempt, RateLimit};
use omniassist_server::{Assistant, Principal};

use crate::dialects::{ROUTES, Shape, note};

fn answering() -> ScriptedProvider {
    ScriptedProvider::new().otherwise(|_| text("Hello"))
}

fn limited(model: &ScriptedProvider, limit: impl RateLimit) -> Assistant {
    Assistant::builder(model.clone()).allow_anonymous().rate_limit(limit).object(note()).build().unwrap()
}

fn as_user(name: &str) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new(name));
    extensions
}

fn begin(assistant: &Assistant, user: &str) -> Result<(), omniassist_server::core::Error> {
    assistant.try_run(RunRequest::prompt("go"), as_user(user)).now_or_never().unwrap().map(drop)
}

#[tokio::test]
async fn a_run_over_the_limit_is_refused_in_every_dialect() {
    for (wait, seconds) in [(Duration::from_millis(1), 1), (Duration::from_secs(90), 90)] {
        let model = answering();
        let service = AssistantService::new(limited(&model, move |_: &Attempt<'_>| Err(wait)));
        for route in ROUTES {
            let refused = route.refusal(route.ask(&service).await).await;
            assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS, "{route:?}");
            let is_openai = matches!(route.shape, Shape::OpenAi | Shape::OpenAiWhole);
            let code = if is_openai { "rate_limit_exceeded" } else { "rate_limited" };
            assert_eq!((refused.code.as_str(), refused.retry_after()), (code, seconds), "rounded up");
            assert!(refused.kind.is_empty() || refused.kind == "rate_limit_error", "{}", refused.kind);
            // Clients of OpenAI ignore a longer delay and retry at once, so the response forbids retries.
            let gives_up = is_openai && seconds > 60;
            assert_eq!(refused.headers.contains_key("x-should-retry"), gives_up, "{route:?}");
        }
        assert!(model.payloads().is_empty(), "a refused run must not call the model");
        assert_eq!(service.assistant().live_runs(), 0);
    }
}

#[tokio::test]
async fn the_hook_receives_the_request_and_the_principal() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let assistant = limited(&answering(), move |attempt: &Attempt<'_>| {
        count.fetch_add(1, Ordering::SeqCst);
        assert_eq!(attempt.request().unwrap().messages.len(), 1);
        assert!(attempt.extensions().get::<Principal>().is_some());
        if attempt.principal().id() == "ada" { Ok(()) } else { Err(Duration::from_secs(7)) }
    });
    begin(&assistant, "ada").unwrap();
    let refused = begin(&assistant, "bob").unwrap_err();
    assert_eq!(
        (refused.code(), refused.retry_after()),
        (ErrorCode::RateLimited, Some(Duration::from_secs(7)))
    );
    assert!(refused.is_throttled());
    // Runs that the host begins in process are not limited.
    assert_eq!(assistant.run(RunRequest::prompt("go")).text().await.unwrap(), "Hello");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_attempt_above_the_limit_of_runs_is_not_counted() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let mut limits = Limits::default();
    limits.max_runs_per_principal = 1;
    let model = ScriptedProvider::new().otherwise(|_| Turn::pending());
    let assistant = Assistant::builder(model)
        .allow_anonymous()
        .limits(limits)
        .rate_limit(move |_: &Attempt<'_>| {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })
        .build()
        .unwrap();
    let run = assistant.try_run(RunRequest::prompt("go"), as_user("ada")).await.unwrap();
    assert_eq!(begin(&assistant, "ada").unwrap_err().code(), ErrorCode::TooManyRuns);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    drop(run);
}

#[tokio::test]
async fn a_hook_that_panics_refuses_only_its_run() {
    let model = answering();
    let service = AssistantService::new(limited(&model, |attempt: &Attempt<'_>| {
        assert!(!attempt.principal().is_anonymous(), "a canary in the panic");
        Ok(())
    }));
    for route in ROUTES {
        let refused = route.refusal(route.ask(&service).await).await;
        assert_eq!(refused.status, StatusCode::INTERNAL_SERVER_ERROR, "{route:?}");
        assert_eq!(refused.code, "internal");
        assert!(!refused.message.contains("canary"), "{}", refused.message);
        assert!(refused.kind.is_empty() || refused.kind == "server_error", "{}", refused.kind);
    }
    // A run in process without an HTTP service is refused too.
    let refused = service.assistant().try_run(RunRequest::prompt("go"), Extensions::new()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Internal);
    assert!(model.payloads().is_empty());
    begin(service.assistant(), "ada").unwrap();
}

#[cfg(feature = "rate-limit")]
mod principals {
    use omniassist_server::throttle::{InMemoryRateLimit, RateDecision};
    use tokio::time::advance;

    use super::*;

    async fn wait(seconds: u64) {
        advance(Duration::from_secs(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn each_principal_has_its_own_rate() {
        let assistant = limited(&answering(), InMemoryRateLimit::per_minute(3));
        for user in ["ada", "bob"] {
            for _ in 0..3 {
                begin(&assistant, user).unwrap();
            }
            let refused = begin(&assistant, user).unwrap_err();
            assert_eq!(
                refused.retry_after(),
                Some(Duration::from_secs(20)),
                "the wait must be a third of a minute"
            );
        }
        wait(19).await;
        assert_eq!(begin(&assistant, "ada").unwrap_err().retry_after(), Some(Duration::from_secs(1)));
        wait(1).await;
        begin(&assistant, "ada").unwrap();
        begin(&assistant, "ada").unwrap_err();
        wait(600).await;
        for _ in 0..3 {
            begin(&assistant, "ada").unwrap();
        }
        begin(&assistant, "ada").unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn anonymous_callers_share_a_rate() {
        let assistant = limited(&answering(), InMemoryRateLimit::per_hour(1));
        assistant.try_run(RunRequest::prompt("go"), Extensions::new()).await.map(drop).unwrap();
        let refused = assistant.try_run(RunRequest::prompt("go"), Extensions::new()).await.unwrap_err();
        assert_eq!(refused.retry_after(), Some(Duration::from_secs(3600)));
        begin(&assistant, "ada").unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_and_a_rate_of_zero() {
        let assistant = limited(&answering(), InMemoryRateLimit::per_second(10).burst(2));
        for _ in 0..2 {
            begin(&assistant, "ada").unwrap();
        }
        let refused = begin(&assistant, "ada").unwrap_err();
        assert_eq!(refused.retry_after(), Some(Duration::from_millis(100)));
        for rate in [InMemoryRateLimit::per_minute(0), InMemoryRateLimit::per_minute(5).burst(0)] {
            let assistant = limited(&answering(), rate);
            let refused = begin(&assistant, "ada").unwrap_err();
            assert_eq!(refused.retry_after(), Some(Duration::from_secs(60)));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn idle_principals_are_removed() {
        let rate = InMemoryRateLimit::per_minute(5);
        let request = RunRequest::prompt("go");
        let extensions = Extensions::new();
        let ask = |name: &str| {
            let principal = Principal::new(name);
            let attempt = Attempt::new(&principal, &request, &extensions);
            rate.check(&attempt).now_or_never().unwrap().unwrap()
        };
        let mut most = 0;
        for minute in 0..20 {
            for n in 0..2_000 {
                assert_eq!(ask(&format!("user-{minute}-{n}")), RateDecision::Allow);
                most = most.max(rate.principals());
            }
            wait(120).await;
        }
        assert!(most <= 3 * 2_000, "{most} of 40,000 principals were kept at once");
        for n in 0..8_000 {
            let _ = ask("the last one");
            most = rate.principals();
            assert!(n < 7_000 || most <= 1, "{most}");
        }
    }

    #[derive(Clone)]
    struct Tenant(&'static str);

    #[tokio::test(start_paused = true)]
    async fn users_of_a_tenant_share_a_rate_and_have_their_own() {
        let tenants = InMemoryRateLimit::per_hour(3).burst(3).per(|attempt| {
            Principal::new(attempt.extensions().get::<Tenant>().map_or("none", |Tenant(name)| name))
        });
        let assistant = Assistant::builder(answering())
            .rate_limit(InMemoryRateLimit::per_minute(2))
            .rate_limit(tenants)
            .build()
            .unwrap();
        let begin = |user: &str, tenant| {
            let mut extensions = as_user(user);
            extensions.insert(Tenant(tenant));
            assistant
                .try_run(RunRequest::prompt("go"), extensions)
                .now_or_never()
                .unwrap()
                .map(drop)
                .map_err(|error| error.retry_after())
        };
        begin("ada", "acme").unwrap();
        begin("ada", "acme").unwrap();
        assert_eq!(
            begin("ada", "acme"),
            Err(Some(Duration::from_secs(30))),
            "the rate of the user must apply"
        );
        begin("bob", "acme").unwrap();
        assert_eq!(
            begin("bob", "acme"),
            Err(Some(Duration::from_secs(1_200))),
            "the rate of the tenant must apply"
        );
        begin("cleo", "other").unwrap();
    }
}
