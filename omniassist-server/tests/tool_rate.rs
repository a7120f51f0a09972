//! Tests of the rate limits of tools.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use http::Extensions;
use omniassist_server::core::message::Message;
use omniassist_server::core::{JsonText, RunEvent, RunRequest};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::throttle::{Attempt, LimitFuture, RateDecision, RateLimit};
use omniassist_server::tool::{Approval, ToolContext, ToolDecision};
use omniassist_server::{Assistant, Principal, Tool, ToolError};
use serde_json::json;

use crate::approvals::{answer, call_refund, post, refund};
use crate::counted::counted;

/// A limit of this many calls, which a store counts.
#[derive(Clone, Default)]
pub(crate) struct AtMost {
    calls: usize,
    counted: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl AtMost {
    pub(crate) fn calls(calls: usize) -> Self {
        Self { calls, ..Self::default() }
    }

    fn counted(&self) -> usize {
        self.counted.load(Ordering::SeqCst)
    }
}

impl RateLimit for AtMost {
    fn check<'a>(&'a self, attempt: &'a Attempt<'a>) -> LimitFuture<'a, RateDecision> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            let (tool, arguments) = (attempt.tool().unwrap(), attempt.arguments().unwrap());
            assert!(attempt.request().is_none());
            self.seen.lock().unwrap().push(format!(
                "{} {tool} {}",
                attempt.principal().id(),
                arguments.as_str()
            ));
            let counted = self.counted.fetch_add(1, Ordering::SeqCst);
            let wait = RateDecision::Wait(Duration::from_millis(1_200));
            Ok(if counted < self.calls { RateDecision::Allow } else { wait })
        })
    }
}

fn limited(limit: impl RateLimit) -> (Tool, Arc<AtomicUsize>) {
    let (tool, ran) = counted();
    (tool.rate_limit(limit), ran)
}

async fn events(assistant: &Assistant) -> Vec<RunEvent> {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    assistant.try_run(RunRequest::prompt("go"), extensions).await.unwrap().collect().await
}

fn errors(events: &[RunEvent]) -> Vec<&str> {
    let errors = events.iter().filter_map(|event| match event {
        RunEvent::ToolError { error_text, .. } => Some(error_text.as_str()),
        _ => None,
    });
    errors.collect()
}

#[tokio::test]
async fn a_call_over_the_limit_does_not_run_and_the_model_receives_the_delay() {
    let limit = AtMost::calls(2);
    let (tool, ran) = limited(limit.clone());
    let work = || call("work", json!({}));
    let model = ScriptedProvider::new().turn(work()).turn(work()).turn(work()).turn(text("Later, then."));
    let assistant = Assistant::builder(model.clone()).tool(tool).build().unwrap();
    let events = events(&assistant).await;
    assert!(matches!(events.last(), Some(RunEvent::Finish { .. })), "the run must continue");
    assert_eq!((ran.load(Ordering::SeqCst), limit.counted()), (2, 3));
    let told = "This tool was called too often and did not run. Try again in 2 s.";
    assert_eq!(errors(&events), [told]);
    let read = format!("{:?}", model.payloads().last().unwrap().transcript);
    assert!(read.contains(told), "{read}");
    assert_eq!(limit.seen.lock().unwrap()[0], "ada work {}");
}

#[tokio::test]
async fn a_call_that_does_not_run_does_not_count() {
    // A user denies the call.
    let limit = AtMost::calls(1);
    let (tool, ran) = refund(Approval::always());
    let model = ScriptedProvider::new().otherwise(|payload| match payload.transcript.len() {
        1 => call_refund(5),
        _ => text("Done."),
    });
    let assistant = Assistant::builder(model).tool(tool.rate_limit(limit.clone())).build().unwrap();
    for (chat, approved) in [("denied", false), ("approved", true)] {
        let (mut messages, _) = post(&assistant, chat, vec![Message::user("q", "Refund 5.")]).await;
        assert_eq!(limit.counted(), 0, "{chat}: a call without an approval must not count");
        answer(&mut messages, approved);
        post(&assistant, chat, messages).await;
        assert_eq!(limit.counted(), usize::from(approved), "{chat}");
    }
    assert_eq!(ran.load(Ordering::SeqCst), 1);

    // A hook refuses or answers the call.
    for decision in [ToolDecision::Refuse("No.".into()), ToolDecision::Answer(JsonText::EMPTY_OBJECT)] {
        let limit = AtMost::calls(1);
        let (tool, ran) = limited(limit.clone());
        let model = ScriptedProvider::new().turn(call("work", json!({}))).turn(text("Done."));
        let hook = move |_: ToolContext| {
            let decision = decision.clone();
            async move { Ok::<_, ToolError>(decision) }
        };
        let assistant = Assistant::builder(model).tool(tool).before_tool(hook).build().unwrap();
        events(&assistant).await;
        assert_eq!((limit.counted(), ran.load(Ordering::SeqCst)), (0, 0));
    }
}

/// A limit that cannot be checked.
enum Broken {
    Fails,
    Hangs,
    Panics,
}

impl RateLimit for Broken {
    fn check<'a>(&'a self, _: &'a Attempt<'a>) -> LimitFuture<'a, RateDecision> {
        match self {
            Self::Fails => Box::pin(async { Err("the store's secret address".into()) }),
            Self::Hangs => Box::pin(std::future::pending()),
            Self::Panics => panic!("canary"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_cannot_be_checked_refuses_the_call_and_the_run_continues() {
    for broken in [Broken::Fails, Broken::Hangs, Broken::Panics] {
        let (tool, ran) = limited(broken);
        let model = ScriptedProvider::new().turn(call("work", json!({}))).turn(text("Later, then."));
        let assistant = Assistant::builder(model).tool(tool).build().unwrap();
        let events = events(&assistant).await;
        assert!(matches!(events.last(), Some(RunEvent::Finish { .. })));
        let told = "This tool did not run: its rate limit cannot be checked now. Try again later.";
        assert_eq!((errors(&events), ran.load(Ordering::SeqCst)), (vec![told], 0));
    }
}

#[tokio::test(start_paused = true)]
async fn stopping_a_run_drops_the_check_of_its_tool() {
    let (tool, ran) = limited(Broken::Hangs);
    let model = ScriptedProvider::new().turn(call("work", json!({}))).turn(Turn::pending());
    let assistant = Assistant::builder(model).tool(tool).build().unwrap();
    let run = assistant.run(RunRequest::prompt("go"));
    let handle = run.handle();
    let (events, ()) = tokio::join!(run.collect::<Vec<_>>(), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        handle.abort("enough");
    });
    assert!(matches!(events.last(), Some(RunEvent::Abort { .. })));
    assistant.shutdown().await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[test]
fn a_tool_of_the_client_cannot_have_a_limit() {
    let tool = Tool::front_end_with_schema("navigate", "Opens a page", json!({"type": "object"}));
    let builder = Assistant::builder(ScriptedProvider::new()).tool(tool.rate_limit(AtMost::calls(1)));
    let error = builder.build().unwrap_err();
    assert!(error.is_invalid_tool() && error.to_string().contains("the client runs it"), "{error}");
}
