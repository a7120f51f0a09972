//! Tests of approvals and forms through the engine, and of repeated posts of a chat.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use futures_util::StreamExt;
use http::Extensions;
use omniassist_server::core::message::{Decision, Message, MessageCollector, Part, ToolState};
use omniassist_server::core::run::ClientAbilities;
use omniassist_server::core::{ErrorCode, JsonText, Limits, RunEvent, RunRequest};
use omniassist_server::seal::{ClaimFuture, InMemoryReplayGuard, ReplayGuard, SealClaim, SealKeys};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::tool::{Approval, ApprovalDecision};
use omniassist_server::{Args, Assistant, Drained, Principal, Tool, ToolError, WhenBusy};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Refund {
    cents: u64,
}

/// Returns a tool that refunds money, and the number of its executions.
pub(super) fn refund(approval: Approval) -> (Tool, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ran);
    let tool = Tool::new("refund", "Gives money back", move |Args(refund): Args<Refund>| {
        let count = Arc::clone(&count);
        async move {
            count.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ToolError>(format!("refunded {}", refund.cents))
        }
    });
    (tool.requires_approval(approval), ran)
}

fn ask(chat: &str, messages: Vec<Message>) -> RunRequest {
    let mut request = RunRequest::new(messages);
    request.chat_id = Some(chat.into());
    request
}

fn extensions(user: &str) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new(user));
    extensions
}

/// Runs a post to its end and returns the conversation that the client then holds.
pub(super) async fn post(
    assistant: &Assistant,
    chat: &str,
    messages: Vec<Message>,
) -> (Vec<Message>, Vec<RunEvent>) {
    post_by(assistant, "ada", chat, messages).await
}

async fn post_by(
    assistant: &Assistant,
    user: &str,
    chat: &str,
    messages: Vec<Message>,
) -> (Vec<Message>, Vec<RunEvent>) {
    post_as(assistant, user, chat, messages).await.unwrap()
}

/// Runs a post of a user to its end, unless it is refused.
pub(super) async fn post_as(
    assistant: &Assistant,
    user: &str,
    chat: &str,
    mut messages: Vec<Message>,
) -> Result<(Vec<Message>, Vec<RunEvent>), omniassist_server::core::Error> {
    let run = assistant.try_run(ask(chat, messages.clone()), extensions(user)).await?;
    let events: Vec<_> = run.collect().await;
    let continued = messages.pop_if(|last| last.role == omniassist_server::core::message::Role::Assistant);
    let mut collector = continued.map_or_else(MessageCollector::new, MessageCollector::continuing);
    for event in &events {
        collector.apply(event);
    }
    messages.push(collector.into_message());
    Ok((messages, events))
}

pub(super) fn answer(messages: &mut [Message], approved: bool) {
    for part in &mut messages.last_mut().unwrap().parts {
        if let Part::Tool(tool) = part
            && let ToolState::ApprovalRequested { input, approval } = &tool.state
        {
            let input = input.clone();
            let approval = approval.clone().decided(Decision { approved, reason: None });
            tool.state = ToolState::ApprovalResponded { input, approval };
        }
    }
}

pub(super) fn state(messages: &[Message]) -> &ToolState {
    &messages.last().unwrap().tools().last().unwrap().state
}

pub(super) fn call_refund(cents: u64) -> Turn {
    Turn::call("refund", json!({ "cents": cents }))
}

#[tokio::test]
async fn an_approved_call_runs_once_and_the_model_continues() {
    let (tool, ran) = refund(Approval::always().message("Give it back?"));
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("Done."));
    let assistant = Assistant::builder(model.clone()).tool(tool).build().unwrap();
    let (mut messages, events) = post(&assistant, "c", vec![Message::user("q", "Refund 5.")]).await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert!(events.iter().any(|event| matches!(
        event,
        RunEvent::ToolApprovalRequest(request) if request.message.as_deref() == Some("Give it back?")
    )));

    answer(&mut messages, true);
    let (messages, _) = post(&assistant, "c", messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert!(messages.last().unwrap().text().ends_with("Done."));
    assert!(matches!(
        state(&messages),
        ToolState::OutputAvailable { output, .. } if output.to_value() == json!("refunded 5")
    ));
    assert_eq!(model.payloads().len(), 2);
}

#[tokio::test]
async fn a_page_edits_the_arguments_if_the_question_says_that_it_may() {
    let (tool, ran) = refund(Approval::always().editable());
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("Done."));
    let assistant = Assistant::builder(model).tool(tool).build().unwrap();
    let (mut messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund 5.")]).await;
    let asked = messages.last().unwrap();
    let call = asked.tools().last().unwrap().call_id.to_string();
    let question = &asked.metadata.as_ref().unwrap()["omniassist"]["approvals"][call.as_str()];
    assert_eq!(question, &json!({ "editable": true }));

    answer(&mut messages, true);
    for part in &mut messages.last_mut().unwrap().parts {
        if let Part::Tool(tool) = part
            && let ToolState::ApprovalResponded { approval, .. } = &mut tool.state
        {
            approval.arguments = Some(JsonText::from_value(&json!({ "cents": 4 })));
        }
    }
    let (messages, _) = post(&assistant, "c", messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert!(matches!(
        state(&messages),
        ToolState::OutputAvailable { output, .. } if output.to_value() == json!("refunded 4")
    ));
}

#[test]
fn seal_keys_come_from_a_variable() {
    let builder = || Assistant::builder(ScriptedProvider::new());
    builder().seal_keys_from_env("OMNIASSIST_SURELY_NOT_SET").build().unwrap();
    // Cargo sets these variables for every test. The first is empty.
    assert_eq!(std::env::var("CARGO_PKG_LICENSE_FILE").as_deref(), Ok(""));
    builder().seal_keys_from_env("CARGO_PKG_LICENSE_FILE").build().unwrap();
    let error = builder().seal_keys_from_env("CARGO_PKG_NAME").build().unwrap_err();
    assert!(error.is_configuration());
    let said = "seal keys in CARGO_PKG_NAME: keys are written as NAME:SECRET, separated by commas";
    assert_eq!(error.to_string(), said);
    let shown = format!("{error:?}");
    assert!(
        shown.starts_with(&format!("Error {{ message: {said}, source: ")) && !shown.contains("None"),
        "{shown}"
    );
}

#[tokio::test]
async fn another_instance_accepts_an_approval_that_was_requested_before_a_shutdown() {
    let keys = SealKeys::new("k1", "a secret of thirty-two bytes, or more").unwrap();
    let (tool, ran) = refund(Approval::always());
    let instance = |model: ScriptedProvider| {
        let builder = Assistant::builder(model).tool(tool.clone());
        builder.seal_keys(keys.clone()).build().unwrap()
    };
    let first = instance(ScriptedProvider::new().turn(call_refund(5)));
    let (mut messages, _) = post(&first, "c", vec![Message::user("q", "Refund 5.")]).await;
    assert_eq!(first.drain(Duration::from_secs(60)).await, Drained::default(), "no run is active");

    let second = instance(ScriptedProvider::new().turn(text("Done.")));
    answer(&mut messages, true);
    let (messages, _) = post(&second, "c", messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert!(messages.last().unwrap().text().ends_with("Done."));
}

#[tokio::test]
async fn a_denied_call_does_not_run_and_the_model_reads_the_reason() {
    let (tool, ran) = refund(Approval::always());
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("As you wish."));
    let assistant = Assistant::builder(model.clone()).tool(tool).build().unwrap();
    let (mut messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund 5.")]).await;
    answer(&mut messages, false);
    let (messages, _) = post(&assistant, "c", messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert!(matches!(state(&messages), ToolState::OutputDenied { .. }));
}

/// This happens after a restart with a random key.
#[tokio::test]
async fn an_approval_without_a_valid_seal_fails_for_the_client_too() {
    let (tool, ran) = refund(Approval::always());
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("Not done.")).turn(text("No."));
    let server = || Assistant::builder(model.clone()).tool(tool.clone()).build().unwrap();
    let (mut messages, _) = post(&server(), "c", vec![Message::user("q", "Refund 5.")]).await;
    answer(&mut messages, true);
    let restarted = server();
    let (mut messages, events) = post(&restarted, "c", messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    let ToolState::OutputError { error_text, .. } = state(&messages) else { panic!("{messages:?}") };
    let error_text = error_text.to_string();
    assert!(error_text.contains("make the call again"), "{error_text}");
    let tells = |event: &&RunEvent| matches!(event, RunEvent::ToolError { .. });
    assert_eq!(events.iter().filter(tells).count(), 1);
    assert!(matches!(events[0], RunEvent::Start { .. }));

    // The client's message is now sealed by the server, so the error is not reported again.
    messages.push(Message::user("q2", "Did you?"));
    let (_, events) = post(&restarted, "c", messages).await;
    assert_eq!(events.iter().filter(tells).count(), 0);
    let heard: Vec<_> =
        model.payloads()[1..].iter().map(|payload| format!("{:?}", payload.transcript)).collect();
    assert!(heard.iter().all(|transcript| transcript.contains("make the call again")), "{heard:?}");
}

/// Resets the part of the answered call to an earlier state and posts it again.
async fn post_as_open(assistant: &Assistant, messages: &[Message], approved: bool) -> Vec<Message> {
    let mut messages = messages.to_vec();
    for part in &mut messages.last_mut().unwrap().parts {
        if let Part::Tool(tool) = part {
            let input = tool.state.input().unwrap().clone();
            let approval = omniassist_server::core::message::Approval::new("approval-x");
            tool.state = ToolState::ApprovalRequested { input, approval };
        }
    }
    // Text after the call would make the call part of the history.
    let message = messages.last_mut().unwrap();
    let end = message.parts.iter().rposition(|part| matches!(part, Part::Tool(_))).unwrap();
    message.parts.truncate(end + 1);
    let (mut messages, _) = post(assistant, "c", messages).await;
    if approved {
        answer(&mut messages, true);
        messages = post(assistant, "c", messages).await.0;
    }
    messages
}

#[tokio::test]
async fn a_call_that_ran_without_approval_never_needs_one_and_never_runs_again() {
    let (tool, ran) = refund(Approval::when(|refund: &Refund, _: &Principal| refund.cents > 10));
    let model =
        ScriptedProvider::new().turn(call_refund(5)).turn(text("Done.")).turn(text("1")).turn(text("2"));
    let assistant = Assistant::builder(model).tool(tool).build().unwrap();
    let (messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund 5.")]).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    let after = post_as_open(&assistant, &messages, true).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1, "{after:?}");
    assert!(matches!(state(&after), ToolState::OutputError { .. }), "{after:?}");
}

/// A record that several servers share.
#[derive(Clone, Default)]
struct SharedGuard(Arc<InMemoryReplayGuard>);

impl ReplayGuard for SharedGuard {
    fn claim<'a>(&'a self, claim: &'a SealClaim, lifetime: Duration) -> ClaimFuture<'a> {
        self.0.claim(claim, lifetime)
    }
}

#[tokio::test]
async fn a_repeated_approval_request_runs_its_call_once() {
    let signature = |messages: &[Message]| match state(messages) {
        ToolState::ApprovalRequested { approval, .. } => approval.signature.clone(),
        other => panic!("{other:?}"),
    };
    let (tool, ran) = refund(Approval::always());
    let guard = SharedGuard::default();
    // Each server signs with its own key and accepts the key of the first server.
    let server = |number: u8, model: ScriptedProvider| {
        let mut keys = SealKeys::new(&format!("k{number}"), [number; 32]).unwrap();
        if number > 0 {
            keys = keys.with_previous_key("k0", [0; 32]).unwrap();
        }
        let builder = Assistant::builder(model).tool(tool.clone()).seal_keys(keys);
        builder.replay_guard(guard.clone()).build().unwrap()
    };
    let first = server(0, ScriptedProvider::new().turn(call_refund(5)));
    let (asked, _) = post(&first, "c", vec![Message::user("q", "Refund 5.")]).await;
    for number in 1..=5 {
        // The client posts the open request and receives a new signature.
        let assistant = server(number, ScriptedProvider::new().turn(text("Done.")));
        let (mut again, events) = post(&assistant, "c", asked.clone()).await;
        assert!(events.iter().any(|event| matches!(event, RunEvent::ToolApprovalRequest(_))));
        assert_ne!(signature(&again), signature(&asked));
        answer(&mut again, true);
        post(&assistant, "c", again).await;
    }
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_principal_that_fills_the_record_leaves_room_for_others() {
    let (tool, ran) = refund(Approval::always());
    let mut model = ScriptedProvider::new();
    for _ in 0..3 {
        model = model.turn(call_refund(5)).turn(text("Done."));
    }
    let guard = InMemoryReplayGuard::with_capacity(1);
    let assistant = Assistant::builder(model).tool(tool).replay_guard(guard).build().unwrap();
    let mut shown = Vec::new();
    for (user, chat) in [("eve", "c1"), ("eve", "c2"), ("ada", "c3")] {
        let (mut messages, _) = post_by(&assistant, user, chat, vec![Message::user("q", "Refund.")]).await;
        answer(&mut messages, true);
        shown.push(format!("{:?}", post_by(&assistant, user, chat, messages).await.0));
    }
    assert_eq!(ran.load(Ordering::SeqCst), 2);
    assert!(
        shown[1].contains("too many calls were approved") && !shown[1].contains("before"),
        "{}",
        shown[1]
    );
}

/// A record whose store does not answer.
struct SilentGuard;

impl ReplayGuard for SilentGuard {
    fn claim<'a>(&'a self, _: &'a SealClaim, _: Duration) -> ClaimFuture<'a> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_that_does_not_answer_delays_a_run_for_seconds_only() {
    let (tool, ran) = refund(Approval::always());
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("It did not run."));
    let assistant = Assistant::builder(model).tool(tool).replay_guard(SilentGuard).build().unwrap();
    let (mut messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund.")]).await;
    answer(&mut messages, true);
    let began = tokio::time::Instant::now();
    let (messages, events) = post(&assistant, "c", messages).await;
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert!(matches!(events.last(), Some(RunEvent::Finish { .. })));
    let shown = format!("{messages:?}");
    assert!(ran.load(Ordering::SeqCst) == 0 && shown.contains("cannot be reached"), "{shown}");
}

#[tokio::test]
async fn the_policy_receives_the_arguments_and_the_principal() {
    let policy = || {
        Approval::decide(|refund: &Refund, user: &Principal| match refund.cents {
            0..=10 => ApprovalDecision::Allow,
            _ if user.id() != "ada" => ApprovalDecision::Refuse("Only Ada may.".into()),
            _ => ApprovalDecision::Ask,
        })
    };
    for (cents, user, asked, runs) in [(5, "bob", 0, 1), (11, "bob", 0, 0), (11, "ada", 1, 0)] {
        let (tool, ran) = refund(policy());
        let model = ScriptedProvider::new().turn(call_refund(cents)).turn(text("ok"));
        let assistant = Assistant::builder(model).tool(tool).build().unwrap();
        let run = assistant.try_run(RunRequest::prompt("Refund."), extensions(user)).await.unwrap();
        let events: Vec<_> = run.collect().await;
        let requests = events.iter().filter(|event| matches!(event, RunEvent::ToolApprovalRequest(_)));
        assert_eq!((requests.count(), ran.load(Ordering::SeqCst)), (asked, runs), "{cents} {user}");
    }
}

#[tokio::test]
async fn a_policy_that_panics_refuses_the_call() {
    let (tool, ran) = refund(Approval::when(|_: &Value, _: &Principal| panic!("no")));
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("ok"));
    let assistant = Assistant::builder(model).tool(tool).build().unwrap();
    let message = assistant.run(RunRequest::prompt("Refund.")).message().await.unwrap();
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert!(message.tools().all(|tool| matches!(tool.state, ToolState::OutputError { .. })));
}

#[tokio::test]
async fn a_client_without_approvals_receives_an_answer_and_no_call_runs() {
    let (tool, ran) = refund(Approval::always());
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("I cannot do that here."));
    let assistant = Assistant::builder(model.clone()).tool(tool).build().unwrap();
    let mut request = RunRequest::prompt("Refund.");
    request.abilities = ClientAbilities::none();
    assert_eq!(assistant.run(request).text().await.unwrap(), "I cannot do that here.");
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[test]
fn an_approval_for_a_front_end_tool_is_refused_at_registration() {
    let tool = Tool::front_end::<Refund>("refund", "Gives money back").requires_approval(Approval::always());
    let error = Assistant::builder(ScriptedProvider::new()).tool(tool).build().unwrap_err();
    assert!(error.to_string().contains("refund"), "{error}");
}

fn form() -> Value {
    json!({
        "message": "Where to?",
        "schema": {
            "type": "object",
            "properties": { "city": { "type": "string" } },
            "required": ["city"]
        }
    })
}

#[tokio::test]
async fn a_form_waits_for_its_answer_and_checks_it() {
    let turn = || Turn::call("request_input", form());
    let nonsense = json!({ "type": "object", "properties": { "a": { "type": "nonsense" } } });
    let bad = Turn::call("request_input", json!({ "message": "?", "schema": nonsense }));
    let model =
        ScriptedProvider::new().turn(bad).turn(turn()).turn(text("Off to Rome.")).turn(text("Where?"));
    let assistant = Assistant::builder(model.clone()).tool(Tool::request_input()).build().unwrap();
    let (messages, events) = post(&assistant, "c", vec![Message::user("q", "Send it.")]).await;
    // The first form cannot be shown, so the model writes another one.
    assert_eq!(events.iter().filter(|event| matches!(event, RunEvent::ToolInputError { .. })).count(), 1);
    assert!(events.iter().any(|event| matches!(
        event,
        RunEvent::InputRequest(request) if request.schema.to_value() == form()["schema"]
    )));

    let answered = |city: Value| {
        let mut messages = messages.clone();
        for part in &mut messages.last_mut().unwrap().parts {
            if let Part::Tool(tool) = part
                && let ToolState::InputAvailable { input } = &tool.state
            {
                let (input, output) = (input.clone(), JsonText::from_value(&json!({ "city": city })));
                tool.state = ToolState::OutputAvailable { input, output, preliminary: false };
            }
        }
        messages
    };
    let (good, _) = post(&assistant, "c", answered("Rome".into())).await;
    assert!(good.last().unwrap().text().ends_with("Off to Rome."));
    let (_, events) = post(&assistant, "c", answered(5.into())).await;
    assert!(events.iter().any(|event| matches!(
        event,
        RunEvent::ToolError { error_text, .. } if error_text.contains("/city")
    )));
}

#[tokio::test]
async fn a_repeated_post_is_refused_and_a_new_post_replaces_the_run() {
    let model = ScriptedProvider::new().turn(Turn::pending()).turn(text("Second."));
    let assistant = Assistant::builder(model).build().unwrap();
    let first = || ask("c", vec![Message::user("q1", "First?")]);
    let run = assistant.try_run(first(), extensions("ada")).await.unwrap();
    let error = assistant.try_run(first(), extensions("ada")).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::DuplicateRun);
    // A chat with the same id of another principal is a different chat.
    drop(assistant.try_run(first(), extensions("bob")).await.unwrap());

    let first = tokio::spawn(run.collect::<Vec<_>>());
    tokio::task::yield_now().await;
    let second =
        assistant.try_run(ask("c", vec![Message::user("q2", "Second?")]), extensions("ada")).await.unwrap();
    assert_eq!(second.text().await.unwrap(), "Second.");
    let events = first.await.unwrap();
    assert!(matches!(events.last(), Some(RunEvent::Abort { .. })), "{events:?}");
    // The same post is accepted after its run has ended.
    drop(assistant.try_run(ask("c", vec![Message::user("q2", "Second?")]), extensions("ada")).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn an_unread_run_is_replaced_after_the_grace_period() {
    let model = ScriptedProvider::new().turn(text("Second."));
    let assistant = Assistant::builder(model).build().unwrap();
    let unread =
        assistant.try_run(ask("c", vec![Message::user("q1", "1")]), extensions("ada")).await.unwrap();
    let started = tokio::time::Instant::now();
    let second =
        assistant.try_run(ask("c", vec![Message::user("q2", "2")]), extensions("ada")).await.unwrap();
    assert_eq!(second.text().await.unwrap(), "Second.");
    assert_eq!(started.elapsed(), Duration::from_millis(250));
    assert!(unread.collect::<Vec<_>>().await.is_empty());
}

#[tokio::test]
async fn a_host_can_let_a_run_finish_first() {
    let model = ScriptedProvider::new().turn(text("First."));
    let assistant = Assistant::builder(model).when_busy(WhenBusy::Reject).build().unwrap();
    let run = assistant.try_run(ask("c", vec![Message::user("q1", "1")]), extensions("ada")).await.unwrap();
    let second = || assistant.try_run(ask("c", vec![Message::user("q2", "2")]), extensions("ada"));
    assert_eq!(second().await.unwrap_err().code(), ErrorCode::ChatBusy);
    assert_eq!(run.text().await.unwrap(), "First.");
    assert!(second().await.is_ok());
}

#[tokio::test]
async fn a_chat_is_stopped_by_its_own_principal_only() {
    let model = ScriptedProvider::new().turn(Turn::pending());
    let assistant = Assistant::builder(model).build().unwrap();
    let run = assistant.try_run(ask("c", vec![Message::user("q1", "1")]), extensions("ada")).await.unwrap();
    let run = tokio::spawn(run.collect::<Vec<_>>());
    tokio::task::yield_now().await;
    assert!(!assistant.stop(&Principal::new("bob"), "c"));
    assert!(!assistant.stop(&Principal::anonymous(), "c"));
    assert!(!assistant.stop(&Principal::new("ada"), "other"));
    assert!(assistant.stop(&Principal::new("ada"), "c"));
    assert!(matches!(run.await.unwrap().last(), Some(RunEvent::Abort { .. })));
    assert!(!assistant.stop(&Principal::new("ada"), "c"));
}

#[tokio::test]
async fn approvals_expire_after_the_configured_time() {
    let now_ms = || u64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    let mut limits = Limits::default();
    limits.approval_lifetime = Duration::from_secs(60);
    let model = ScriptedProvider::new().turn(call_refund(5));
    let assistant =
        Assistant::builder(model).tool(refund(Approval::always()).0).limits(limits).build().unwrap();
    let start = now_ms();
    let (_, events) = post(&assistant, "c", vec![Message::user("q", "Refund 5.")]).await;
    let expires_at = |event: &RunEvent| match event {
        RunEvent::ToolApprovalRequest(request) => request.expires_at_ms,
        _ => None,
    };
    let expires_at = events.iter().find_map(expires_at).unwrap();
    // Seals count whole seconds.
    assert!((start + 60_000..now_ms() + 61_000).contains(&expires_at), "{start}: {expires_at}");
}
