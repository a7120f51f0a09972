//! The limits of trees: their time, their slot, the tokens that they reserve, and what waits for a slow reader.

use std::collections::HashSet;
use std::future::{pending, ready};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use http::Extensions;
use omniassist_server::agents::{
    AgentSession, AgentStream, Explore, Intervention, Requested, ServerFrame, Status, UserQuery,
};
use omniassist_server::core::{Limits, Text};
use omniassist_server::testing::{Turn, call, text};
use omniassist_server::throttle::{Grant, LimitFuture, Reservation, Spent, TokenBudget};
use omniassist_server::{Assistant, Principal, Tool, ToolError};
use serde_json::json;
use tokio::time::{Instant, timeout};

use super::{Call, ask, builder, model, questions};
use crate::agents::tool;

/// Limits with runs of a minute, so that a tree takes at most 92 seconds.
fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.run_timeout, limits.max_runs_per_principal) = (Duration::from_secs(60), 1);
    limits
}

const LONGEST: Duration = Duration::from_secs(60 + 30 + 2);

fn of_ada(assistant: &Assistant) -> AgentSession {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    AgentSession::new(assistant.clone()).extensions(extensions)
}

/// Reads frames up to the first text.
async fn writes(stream: &mut AgentStream) -> Text {
    loop {
        if let ServerFrame::TextDelta { agent_id, .. } = stream.next().await.expect("a text") {
            return agent_id;
        }
    }
}

fn pause(session: &AgentSession, id: &Text, status: Requested) {
    session.user_intervention(Intervention::of(id.clone()).status(status)).unwrap();
}

/// Returns `true` for an error with this code.
fn is_error(frame: Option<&ServerFrame>, wanted: &str) -> bool {
    matches!(frame, Some(ServerFrame::Error { code: Some(code), .. }) if *code == *wanted)
}

#[tokio::test(start_paused = true)]
async fn a_paused_tree_ends_after_the_longest_run_and_frees_its_slot() {
    let model = model(|call, _, _| {
        (call == Call::Work).then(|| Turn::from([text("begun"), Turn::delay(Duration::from_secs(1))]))
    });
    let assistant = builder(&model).limits(limits()).explore(Explore::new().asks(false)).build().unwrap();
    let (session, other) = (of_ada(&assistant), of_ada(&assistant));
    let since = Instant::now();
    let mut stream = session.agent("Compare lamps");
    let id = writes(&mut stream).await;
    session.user_intervention(Intervention::of(id.clone()).comment("Only red ones")).unwrap();
    pause(&session, &id, Requested::Paused);
    let refused = other.agent("Compare chairs").next().await;
    assert!(is_error(refused.as_ref(), "too_many_runs"), "{refused:?}");
    // The stream is kept, as by a connection.
    let frames: Vec<_> = timeout(2 * LONGEST, stream.by_ref().collect()).await.expect("an end");
    assert_eq!(since.elapsed().as_secs(), LONGEST.as_secs());
    assert!(is_error(frames.last(), "timeout"), "{frames:?}");
    assert_eq!(session.get_agent_tree()[0].status, Status::Failed);
    let frames: Vec<_> = other.agent("Compare chairs").collect().await;
    assert!(matches!(frames.last(), Some(ServerFrame::AgentCompleted { .. })), "{frames:?}");
}

#[tokio::test(start_paused = true)]
async fn a_tree_may_take_as_long_as_the_longest_run() {
    let little = Duration::from_millis(10);
    for (time, completes) in [(LONGEST - little, true), (LONGEST + little, false)] {
        // Two runs, of which each is short enough.
        let half = time / 2;
        let model = model(move |call, _, _| match call {
            Call::Plan => Some(Turn::delay(half).then(text(r#"{"questions": []}"#))),
            Call::Work => Some(Turn::from([text("begun"), Turn::delay(half), text("done")])),
            _ => None,
        });
        let assistant = builder(&model).limits(limits()).explore(Explore::new().asks(false)).build().unwrap();
        let frames: Vec<_> = AgentSession::new(assistant).agent("Compare lamps").collect().await;
        let is_completed = matches!(frames.last(), Some(ServerFrame::AgentCompleted { .. }));
        assert_eq!((is_completed, is_error(frames.last(), "timeout")), (completes, !completes), "{frames:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_does_not_count_for_the_time_of_a_run() {
    let mut limits = limits();
    // The tree may take longer.
    limits.write_timeout = Duration::from_secs(300);
    let (before, little) = (Duration::from_secs(10), Duration::from_millis(10));
    let left = limits.run_timeout - before;
    for (after, completes) in [(left - little, true), (left + little, false)] {
        let tried = Mutex::new(0);
        let model = model(move |kind, _, _| {
            (kind == Call::Work).then(|| {
                let mut tried = tried.lock().unwrap();
                *tried += 1;
                match *tried {
                    1 => Turn::from([text("begun"), Turn::delay(before), call("look", json!({}))]),
                    _ => Turn::delay(after).then(text("done")),
                }
            })
        });
        let explore = Explore::new().asks(false);
        let assistant = builder(&model).tool(tool("look")).limits(limits.clone()).explore(explore);
        let session = AgentSession::new(assistant.build().unwrap());
        let mut stream = session.agent("Compare lamps");
        let id = writes(&mut stream).await;
        pause(&session, &id, Requested::Paused);
        let waits = async { while stream.next().await.is_some() {} };
        assert!(timeout(before + limits.run_timeout + little, waits).await.is_err());
        assert_eq!(session.get_agent_tree()[0].status, Status::Paused);
        pause(&session, &id, Requested::Running);
        let frames: Vec<_> = stream.collect().await;
        let is_completed = matches!(frames.last(), Some(ServerFrame::AgentCompleted { .. }));
        assert_eq!((is_completed, is_error(frames.last(), "timeout")), (completes, !completes), "{frames:?}");
    }
}

/// A budget that knows which reservations are not settled.
#[derive(Clone, Default)]
struct Open(Arc<Mutex<HashSet<String>>>);

impl TokenBudget for Open {
    fn reserve<'a>(&'a self, of: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
        self.0.lock().unwrap().insert(of.id().to_owned());
        Box::pin(ready(Ok(Grant::Tokens(*tokens.end()))))
    }

    fn settle<'a>(&'a self, of: &'a Reservation, _spent: &'a Spent) -> LimitFuture<'a, ()> {
        self.0.lock().unwrap().remove(of.id());
        Box::pin(ready(Ok(())))
    }
}

impl Open {
    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// Returns an assistant whose work is `work`, and whose tool `look` never ends.
fn stuck(budget: &Open, work: fn() -> Turn, plan: &'static [&str]) -> Assistant {
    let model = model(move |kind, task, _| match (kind, task) {
        (Call::Work, "Compare lamps") => Some(work()),
        (Call::Plan, _) => Some(questions(plan)),
        (Call::Block, "a b?") => Some(Turn::delay(Duration::from_millis(20)).then(ask("Which year?"))),
        _ => None,
    });
    let look = Tool::new("look", "Looks for ever", pending::<Result<&'static str, ToolError>>);
    builder(&model).tool(look).token_budget(budget.clone()).build().unwrap()
}

/// The call ends while another agent asks its user, so that the tree has a reservation for the next one.
fn calls_a_tool() -> Turn {
    Turn::from([text("begun"), Turn::delay(Duration::from_millis(10)), call("look", json!({}))])
}

#[tokio::test(start_paused = true)]
async fn a_tree_that_is_dropped_keeps_no_reservation() {
    let in_a_model_call = || text("begun").then(Turn::pending());
    for work in [in_a_model_call, calls_a_tool] {
        let budget = Open::default();
        let session = AgentSession::new(stuck(&budget, work, &[]));
        let mut stream = session.agent("Compare lamps");
        writes(&mut stream).await;
        let waits = async { while stream.next().await.is_some() {} };
        assert!(timeout(Duration::from_secs(1), waits).await.is_err());
        assert_eq!(budget.len(), 1);
        drop(stream);
        assert_eq!(budget.len(), 0, "the session is still there");
        drop(session);
    }
}

#[tokio::test(start_paused = true)]
async fn a_tree_that_panics_keeps_no_reservation() {
    async fn fails(_: UserQuery) -> &'static str {
        panic!("on purpose")
    }
    let in_a_model_call = || text("begun").then(Turn::pending());
    for work in [in_a_model_call, calls_a_tool] {
        let budget = Open::default();
        let session = AgentSession::new(stuck(&budget, work, &["a b?"]));
        session.set_query_user_handler(fails);
        let frames: Vec<_> = session.agent("Compare lamps").collect().await;
        assert!(is_error(frames.last(), "internal"), "{frames:?}");
        assert_eq!(budget.len(), 0, "the session is still there");
        drop(session);
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_newest_state_of_an_agent_waits() {
    let model = model(|call, _, _| (call == Call::Work).then(|| text("begun").then(Turn::pending())));
    let assistant = builder(&model).explore(Explore::new().asks(false)).build().unwrap();
    let session = AgentSession::new(assistant);
    let mut stream = session.agent("Compare lamps");
    let id = writes(&mut stream).await;
    while stream.next().now_or_never().is_some() {}
    for number in 0..1_000 {
        session.user_intervention(Intervention::of(id.clone()).content(format!("Task {number}"))).unwrap();
    }
    let Some(ServerFrame::AgentState { state, .. }) = stream.next().await else { panic!("a state") };
    assert_eq!(state.user_content, "Task 999");
    assert!(stream.next().now_or_never().is_none(), "one state waits");
}
