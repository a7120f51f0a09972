//! Tests of panics in the host's code. A status or a last event reports them, and the connection remains usable.

use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt;
use http::{Request, StatusCode, header};
use http_body::Frame;
use omniassist_server::core::event::{CallKind, RunErrorCode};
use omniassist_server::core::verify::{HistoryPart, Verdict};
use omniassist_server::core::{ErrorCode, Limits, LlmEvent, LlmPayload, RunEvent, RunRequest, Verifier};
use omniassist_server::http::{AssistantService, PostedRun};
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::{
    Assistant, AuthError, AuthRequest, LlmProvider, LlmStream, Principal, Result, Tool, ToolError,
};
use tokio::sync::Notify;

use super::as_user;
use crate::counted::counted;
use crate::dialects::{ROUTES, Shape, note, terminal};

/// The places at which the host's provider panics.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Where {
    Call,
    FirstPoll,
    MidText,
    MidArguments,
    Drop,
}

#[derive(Clone)]
struct Broken(Where);

impl LlmProvider for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn stream(&self, _: LlmPayload) -> LlmStream {
        assert!(self.0 != Where::Call, "canary");
        Box::pin(Breaking { place: self.0, polls: 0 })
    }
}

struct Breaking {
    place: Where,
    polls: u32,
}

impl Stream for Breaking {
    type Item = Result<LlmEvent>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<LlmEvent>>> {
        self.polls += 1;
        assert!(self.place != Where::FirstPoll, "canary");
        let (call, block, name) = (0, 0, "work".into());
        let event = match (self.place, self.polls) {
            (_, 1) => LlmEvent::TextDelta { block, delta: "So far".into() },
            (Where::MidArguments, 2) => {
                LlmEvent::ToolCallStart { call, id: "c1".into(), name, kind: CallKind::Function }
            }
            (Where::MidArguments, 3) => {
                LlmEvent::ToolCallEnd { call, arguments: "{}".into(), metadata: None }
            }
            (Where::Drop, 2) => {
                return Poll::Ready(Some(Err(omniassist_server::Error::provider(
                    omniassist_server::ProviderErrorKind::Interrupted,
                ))));
            }
            _ => panic!("canary"),
        };
        Poll::Ready(Some(Ok(event)))
    }
}

impl Drop for Breaking {
    fn drop(&mut self) {
        assert!(self.place != Where::Drop || std::thread::panicking(), "canary");
    }
}

#[tokio::test]
async fn a_provider_that_panics_fails_its_run_in_every_dialect() {
    let (tool, ran) = counted();
    for place in [Where::Call, Where::FirstPoll, Where::MidText, Where::MidArguments, Where::Drop] {
        let tool = tool.clone();
        let assistant =
            Assistant::builder(Broken(place)).allow_anonymous().tool(tool).object(note()).build().unwrap();
        let service = AssistantService::new(assistant.clone());
        for route in ROUTES {
            let response = route.ask(&service).await;
            let begun = matches!(place, Where::MidText | Where::MidArguments | Where::Drop);
            if route.shape == Shape::Text && !begun {
                assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR, "{place:?} {route:?}");
                continue;
            }
            let Some((code, message)) = route.failure(response).await else {
                assert_eq!(route.shape, Shape::Text);
                continue;
            };
            assert_eq!(code, "internal", "{place:?} {route:?}");
            assert!(!message.contains("canary"), "{message}");
        }
        let run = assistant.run(RunRequest::prompt("hi"));
        let events: Vec<_> = run.collect().await;
        let RunEvent::Error { code, .. } = terminal(&events) else { panic!("{events:?}") };
        assert_eq!(*code, RunErrorCode::Internal);
        let opened = events.iter().filter(|event| matches!(event, RunEvent::TextStart { .. })).count();
        let closed = events.iter().filter(|event| matches!(event, RunEvent::TextEnd { .. })).count();
        assert!(opened == closed || place == Where::Drop, "{place:?} {events:?}");
        assert_eq!(assistant.live_runs(), 0);
    }
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_system_prompt_that_panics_fails_its_run_in_every_dialect() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let builder = Assistant::builder(model.clone()).allow_anonymous().object(note());
    let prompt = |_: &omniassist_server::RunContext| -> String { panic!("canary") };
    let service = AssistantService::new(builder.system_prompt(prompt).build().unwrap());
    for route in ROUTES {
        let response = route.ask(&service).await;
        if route.shape == Shape::Text {
            assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR, "{route:?}");
        } else {
            assert_eq!(route.failure(response).await.unwrap().0, "internal", "{route:?}");
        }
    }
    assert!(model.payloads().is_empty());
}

/// A body of the host's server that panics.
struct BrokenBody;

impl http_body::Body for BrokenBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, Self::Error>>> {
        panic!("canary")
    }
}

#[tokio::test]
async fn a_panic_while_a_request_is_answered_is_a_500_in_the_format_of_the_route() {
    let service =
        AssistantService::new(Assistant::builder(ScriptedProvider::new()).allow_anonymous().build().unwrap());
    for route in ROUTES.into_iter().filter(|route| !route.path.starts_with("/object")) {
        let request = Request::post(route.path).header(header::CONTENT_TYPE, "application/json");
        let response = service.handle(request.body(BrokenBody).unwrap()).await;
        let refused = route.refusal(response).await;
        assert_eq!(refused.status, StatusCode::INTERNAL_SERVER_ERROR, "{route:?}");
        assert_eq!(refused.code, "internal");
        assert!(!refused.message.contains("canary"), "{}", refused.message);
    }
}

struct BrokenVerifier;

impl Verifier for BrokenVerifier {
    fn verify(&self, _: HistoryPart<'_>) -> Verdict {
        panic!("canary")
    }
}

#[tokio::test]
async fn a_verifier_that_panics_refuses_the_run() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let assistant =
        Assistant::builder(model.clone()).allow_anonymous().verifier(BrokenVerifier).build().unwrap();
    let said = assistant.run(RunRequest::prompt("hi")).message().await.unwrap();
    let mut request = RunRequest::prompt("hi");
    request.messages.insert(0, said);
    let refused = assistant.try_run(request, as_user("ada")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Internal);
    assert!(refused.is_internal());
    assert_eq!((model.payloads().len(), assistant.live_runs()), (1, 0));
    // Other runs are not affected.
    let run = assistant.try_run(RunRequest::prompt("hi"), as_user("ada")).await.unwrap();
    assert_eq!(run.text().await.unwrap(), "Hi");
}

#[tokio::test]
async fn a_tool_that_panics_is_a_tool_error_and_the_answer_continues() {
    let model = ScriptedProvider::new().otherwise(|payload| {
        let asked = payload.transcript.len() > 1;
        if asked {
            text("It failed.")
        } else {
            omniassist_server::testing::call("work", serde_json::json!({}))
        }
    });
    let broken =
        Tool::new("work", "Works", async || -> std::result::Result<(), ToolError> { panic!("canary") });
    let assistant = Assistant::builder(model).allow_anonymous().tool(broken).object(note()).build().unwrap();
    let service = AssistantService::new(assistant);
    for route in ROUTES {
        // Objects are made without tools.
        let response = service.handle(route.request(Principal::new("ada"))).await;
        assert_eq!(response.status(), StatusCode::OK, "{route:?}");
        let body = crate::dialects::read(response.into_body()).await;
        assert!(body.contains("It failed."), "{route:?} {body}");
        assert!(!body.contains("canary"));
    }
}

#[tokio::test]
async fn an_authentication_hook_that_panics_refuses_the_request() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    type Hook = fn(AuthRequest) -> Ready<std::result::Result<Option<Principal>, AuthError>>;
    let hooks: [Hook; 2] = [|_| panic!("canary"), |_| ready(Ok(None))];
    for (hook, status) in hooks.into_iter().zip([500, 401]) {
        let builder = Assistant::builder(model.clone()).authenticate(hook).object(note());
        let service = AssistantService::new(builder.build().unwrap());
        for route in ROUTES {
            let request = without_principal(route.request(Principal::anonymous()));
            let response = service.handle(request).await;
            assert_eq!(response.status(), status, "{route:?}");
            assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
            let body = crate::dialects::read(response.into_body()).await;
            let code = if status == 500 { "\"internal\"" } else { "\"unauthenticated\"" };
            assert!(body.contains(code) && !body.contains("canary"), "{route:?} {body}");
        }
        let request = without_principal(ROUTES[0].request(Principal::anonymous()));
        let refused = PostedRun::read_for(request, service.assistant()).await.unwrap_err();
        assert_eq!(refused.status(), status);
    }
    assert!(model.payloads().is_empty());
}

fn without_principal<B>(mut request: Request<B>) -> Request<B> {
    request.extensions_mut().remove::<Principal>();
    request
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "canary");
    }
}

#[tokio::test]
async fn a_tool_that_panics_when_it_is_dropped_affects_no_other_run() {
    let begun = Arc::new(Notify::new());
    let (ended, begins) = (Arc::clone(&begun), Arc::clone(&begun));
    let ends = Tool::new("ends", "Ends", move || {
        let ended = Arc::clone(&ended);
        async move {
            let _bomb = Bomb;
            ended.notify_one();
            Ok::<_, ToolError>("done")
        }
    });
    let waits = Tool::new("waits", "Waits", move || {
        let begins = Arc::clone(&begins);
        async move {
            let _bomb = Bomb;
            begins.notify_one();
            std::future::pending::<()>().await;
            Ok::<_, ToolError>("done")
        }
    });
    let turn = |name: &str| omniassist_server::testing::call(name, serde_json::json!({}));
    let model =
        ScriptedProvider::new().turn(turn("ends")).turn(text("Hi")).turn(turn("waits")).turn(text("Hi"));
    let mut limits = Limits::default();
    limits.tool_cancel_grace = Duration::from_millis(5);
    let assistant = Assistant::builder(model).limits(limits).tool(ends).tool(waits).build().unwrap();
    let events: Vec<_> = assistant.run(RunRequest::prompt("hi")).collect().await;
    let errors = events.iter().filter(|event| matches!(event, RunEvent::ToolError { .. })).count();
    assert_eq!(errors, 1, "{events:?}");
    assert!(matches!(terminal(&events), RunEvent::Finish { .. }));

    // The client disconnects, and the tool has to be aborted.
    begun.notified().await;
    let run = tokio::spawn(assistant.run(RunRequest::prompt("hi")).collect::<Vec<_>>());
    begun.notified().await;
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    assistant.drain(Duration::ZERO).await;
    assert_eq!(assistant.live_runs(), 0);
}
