use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::{RunEvent, RunRequest};
use omniassist_server::http::{AssistantService, PostedRun};
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::tool::Approval;
use omniassist_server::{Assistant, Extension, Refusal, RunPlan};
use serde_json::{Value, json};

use super::{Rank, extensions, post, question, send};
use crate::approvals::{answer, call_refund, refund};
use crate::audit::Kept;
use crate::plain_routes::invoice;

async fn agents_only(_: &mut RunPlan, Extension(role): Extension<Rank>) -> Result<(), Refusal> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    match role {
        Rank::Viewer => Err(Refusal::new("no_credits", "Your credits are used up.")
            .status(StatusCode::PAYMENT_REQUIRED)
            .retry_after(Duration::from_secs(60))),
        Rank::Agent => Ok(()),
        Rank::Admin => Err(std::io::Error::other("the database's secret address").into()),
    }
}

fn assistant(model: &ScriptedProvider) -> Assistant {
    Assistant::builder(model.clone()).object(invoice()).prepare(agents_only).build().unwrap()
}

/// Returns the routes, each with a body and the JSON pointer of the error in the answer.
fn routes() -> [(&'static str, String, &'static str); 7] {
    let message =
        json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hi"}], "content": "Hi"});
    let chat = json!({"id": "c", "messages": [message]}).to_string();
    let ag_ui = json!({"threadId": "c", "runId": "r", "state": {}, "messages": [message], "tools": [], "context": [],
        "forwardedProps": {}});
    let openai = |stream: bool| {
        let message = json!({"role": "user", "content": "Hi"});
        json!({"model": "omniassist", "stream": stream, "messages": [message]}).to_string()
    };
    [
        ("/", chat.clone(), "/error"),
        ("/ag-ui", ag_ui.to_string(), "/error"),
        ("/completion", json!({"prompt": "Hi"}).to_string(), "/error"),
        ("/v1/chat/completions", openai(true), "/error"),
        ("/v1/chat/completions", openai(false), "/error"),
        ("/?protocol=text", chat, ""),
        ("/object", json!("Hi").to_string(), ""),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_the_response_of_every_route() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let assistant = assistant(&model);
    for (path, body, place) in routes() {
        let (status, kind, answer) = send(&assistant, Rank::Viewer, path, Some(&body)).await;
        assert_eq!(status, 402, "{path} {answer}");
        if place.is_empty() {
            assert_eq!(
                (kind.as_str(), answer.as_str()),
                ("text/plain; charset=utf-8", "Your credits are used up.")
            );
        } else {
            let answer: Value = serde_json::from_str(&answer).unwrap();
            let error = answer.pointer(place).unwrap();
            assert_eq!(
                (&error["code"], &error["message"]),
                (&json!("no_credits"), &json!("Your credits are used up."))
            );
        }
    }
    assert!(model.payloads().is_empty(), "a refused run must not call the model");
    assert_eq!(assistant.live_runs(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_host_is_status_500_without_its_text() {
    let model = ScriptedProvider::new();
    let assistant = assistant(&model);
    for (path, body, _) in routes() {
        let (status, _, answer) = send(&assistant, Rank::Admin, path, Some(&body)).await;
        assert_eq!(status, 500, "{path} {answer}");
        assert!(answer.contains("An internal error occurred.") && !answer.contains("secret"), "{answer}");
    }
    let panics = Assistant::builder(model.clone()).prepare(async |_: &mut RunPlan| panic!("it breaks"));
    let (status, _, answer) = send(&panics.build().unwrap(), Rank::Admin, "/", Some(&routes()[0].1)).await;
    assert_eq!((status, answer.contains("internal")), (500, true), "{answer}");
    assert!(model.payloads().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_refusal_sets_the_retry_after_header() {
    let service = AssistantService::new(assistant(&ScriptedProvider::new()));
    let mut request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    *request.extensions_mut().unwrap() = extensions(Rank::Viewer);
    let response =
        service.handle(request.body(Full::<bytes::Bytes>::from(routes()[0].1.clone())).unwrap()).await;
    assert_eq!(response.headers()["retry-after"], "60");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_after_the_head_of_the_response_ends_the_stream() {
    let assistant = assistant(&ScriptedProvider::new());
    let mut request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    *request.extensions_mut().unwrap() = extensions(Rank::Viewer);
    let request = request.body(Full::<bytes::Bytes>::from(routes()[0].1.clone())).unwrap();
    // A handler of the host returns the response before the run begins.
    let posted = PostedRun::read_for(request, &assistant).await.unwrap();
    let response = posted.respond(&assistant).await;
    assert_eq!(response.status(), StatusCode::OK);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.into()).unwrap();
    assert!(
        body.contains(r#""errorText":"Your credits are used up.""#) && body.contains("no_credits"),
        "{body}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refusal_in_process_is_a_failure_with_its_code() {
    let assistant = assistant(&ScriptedProvider::new());
    let run = assistant.try_run(RunRequest::prompt("Hi"), extensions(Rank::Viewer)).await.unwrap();
    let failure = run.text().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::Refused("no_credits")));
    assert_eq!(failure.refusal().unwrap().code(), "no_credits");
    assert_eq!(failure.to_string(), "Your credits are used up.");
    assert_eq!(failure.retry_after(), Some(Duration::from_secs(60)));
    // This run has no extension for the function to extract.
    let failure = assistant.run(RunRequest::prompt("Hi")).text().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::Internal));
}

#[tokio::test(start_paused = true)]
async fn a_response_begins_when_a_plan_takes_too_long() {
    let model = ScriptedProvider::new().turn(text("Hi"));
    let slow = Assistant::builder(model).prepare(async |_: &mut RunPlan| {
        tokio::time::sleep(Duration::from_secs(100)).await;
        Err(Refusal::new("late", "Too late."))
    });
    let service = AssistantService::new(slow.build().unwrap());
    for (path, accept, begins) in [
        ("/", "text/event-stream", ": keep-alive"),
        ("/", "application/x-ndjson", "{"),
        ("/?protocol=text", "text/plain", ""),
    ] {
        let mut request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        *request.extensions_mut().unwrap() = extensions(Rank::Viewer);
        let request = request.header(header::ACCEPT, accept);
        let began = tokio::time::Instant::now();
        let response =
            service.handle(request.body(Full::<bytes::Bytes>::from(routes()[0].1.clone())).unwrap()).await;
        assert_eq!(response.status(), 200, "{accept}");
        // Otherwise proxies close the connection.
        assert_eq!(began.elapsed().as_secs(), 15, "{accept}");
        let body = response.into_body().collect().await;
        if begins.is_empty() {
            assert!(body.is_err(), "plain text has no representation for errors");
            continue;
        }
        let body = String::from_utf8(body.unwrap().to_bytes().into()).unwrap();
        assert!(body.starts_with(begins) && body.contains("Too late."), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_run_consumes_no_approval_of_its_conversation() {
    let (tool, ran) = refund(Approval::always());
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("Done."));
    let assistant =
        Assistant::builder(model.clone()).tool(tool).max_steps(2).prepare(agents_only).build().unwrap();
    let (mut messages, _) = post(&assistant, Rank::Agent, question()).await;
    // The request for approval is first open and then answered.
    for approved in [None, Some(true)] {
        if let Some(approved) = approved {
            answer(&mut messages, approved);
        }
        let (_, events) = post(&assistant, Rank::Viewer, messages.clone()).await;
        let kinds: Vec<_> = events.iter().filter(|event| !matches!(event, RunEvent::Start { .. })).collect();
        assert!(
            matches!(kinds[..], [RunEvent::Error { code: RunErrorCode::Refused("no_credits"), .. }]),
            "{kinds:?}"
        );
    }
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    // The approval is still valid.
    post(&assistant, Rank::Agent, messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_refused_before_it_begins_is_audited_and_has_no_finish() {
    let (kept, finished) = (Kept::default(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&finished);
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let assistant = Assistant::builder(model)
        .prepare(agents_only)
        .audit(kept.clone())
        .on_finish(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok::<_, std::convert::Infallible>(()) }
        })
        .build()
        .unwrap();
    for (rank, outcome, finishes) in [(Rank::Viewer, "no_credits", 0), (Rank::Agent, "finish", 1)] {
        drop(assistant.try_run(RunRequest::new(question()), extensions(rank)).await.unwrap().text().await);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(kept.json().last().unwrap()["outcome"], outcome);
        assert_eq!(finished.load(Ordering::SeqCst), finishes, "{rank:?}");
    }
    assert_eq!(kept.actions(), ["run_started", "run_ended", "run_started", "run_ended"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_preparation_ends_a_run_with_an_open_approval() {
    let (tool, ran) = refund(Approval::always());
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("Done."));
    let context = |run: omniassist_server::RunContext| async move {
        match run.extensions().get::<Rank>() {
            Some(Rank::Viewer) => Err(std::io::Error::other("no database")),
            _ => Ok(Vec::new()),
        }
    };
    let assistant = Assistant::builder(model).tool(tool).context_for(context).build().unwrap();
    let (mut messages, _) = post(&assistant, Rank::Agent, question()).await;
    for approved in [None, Some(true)] {
        if let Some(approved) = approved {
            answer(&mut messages, approved);
        }
        let (_, events) = post(&assistant, Rank::Viewer, messages.clone()).await;
        let end = events.last().unwrap();
        assert!(matches!(end, RunEvent::Error { code: RunErrorCode::Internal, .. }), "{events:?}");
    }
    post(&assistant, Rank::Agent, messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1, "the approval must still be valid");
}
