use std::sync::{Arc, Mutex};

use futures_util::{FutureExt, StreamExt};
use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::{RunEvent, RunRequest, ToolChoice};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Assistant, Extension, Principal, Refusal, RunPlan, StepPlan};
use serde_json::json;

use super::{Rank, offered, post, question, send, tool};

fn two_steps() -> ScriptedProvider {
    ScriptedProvider::new().turn(Turn::usage(10, 5).then(call("read", json!({})))).turn(text("Done."))
}

#[tokio::test]
async fn each_model_call_begins_with_the_plan_of_the_run() {
    let model = two_steps();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let assistant = Assistant::builder(model.clone())
        .tool(tool("read"))
        .tool(tool("write"))
        .prepare(async |plan: &mut RunPlan| {
            plan.system_prompt("The run's").model("run").tool_choice(ToolChoice::Required);
            Ok(())
        })
        .prepare_step(move |step: &mut StepPlan, user: Principal| {
            let transcript = step.transcript().len();
            log.lock().unwrap().push((
                step.number(),
                step.usage().total_tokens,
                transcript,
                user.id().to_owned(),
            ));
            if step.number() == 1 {
                step.model("first")
                    .system_prompt("The first's")
                    .tool_choice(ToolChoice::Auto)
                    .deny_tools(["write"]);
                step.options_mut().temperature = Some(0.0);
            }
            std::future::ready(Ok(()))
        })
        .build()
        .unwrap();
    post(&assistant, Rank::Agent, question()).await;
    let payloads = model.payloads();
    let shown = |index: usize| {
        let payload = &payloads[index];
        let (model, system) = (payload.model.as_deref().unwrap(), payload.system.as_deref().unwrap());
        (model, system, payload.tool_choice.clone(), payload.options.temperature, offered(payload))
    };
    assert_eq!(shown(0), ("first", "The first's", ToolChoice::Auto, Some(0.0), vec!["read"]));
    assert_eq!(shown(1), ("run", "The run's", ToolChoice::Required, None, vec!["read", "write"]));
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0], (1, None, 1, "ada".to_owned()));
    assert_eq!(
        (seen[1].0, seen[1].2),
        (2, 3),
        "the transcript must hold the question, the call and its result"
    );
    assert!(seen[1].1.is_some());
}

#[tokio::test]
async fn a_tool_that_a_step_hides_is_unknown_in_that_step() {
    let model = ScriptedProvider::new().otherwise(|payload| match payload.transcript.len() {
        1 | 3 => call("read", json!({})),
        _ => text("Done."),
    });
    let assistant = Assistant::builder(model.clone())
        .tool(tool("read"))
        .prepare_step(async |step: &mut StepPlan| {
            if step.number() == 1 {
                step.deny_tools(["read"]);
            }
            Ok(())
        })
        .build()
        .unwrap();
    post(&assistant, Rank::Agent, question()).await;
    let transcript = &model.payloads()[2].transcript;
    let results: Vec<_> = transcript.iter().map(|item| format!("{item:?}")).collect();
    assert!(results[2].contains("There is no tool of this name"), "{results:?}");
    assert!(results[4].contains("pong"), "{results:?}");
}

async fn ends_at_the_second(step: &mut StepPlan, Extension(_): Extension<Rank>) -> Result<(), Refusal> {
    tokio::task::yield_now().await;
    match step.number() {
        1 => Ok(()),
        _ => Err(Refusal::new("too_long", "The answer became too long.")),
    }
}

#[tokio::test]
async fn a_refused_step_ends_the_stream_in_every_dialect() {
    let bodies = [
        (
            "/",
            json!({"id": "c", "messages": [{"id": "m", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}]}),
            200,
        ),
        (
            "/ag-ui",
            json!({"threadId": "c", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
            "messages": [{"id": "m", "role": "user", "content": "Hi"}]}),
            200,
        ),
        (
            "/v1/chat/completions",
            json!({"model": "omniassist", "messages": [{"role": "user", "content": "Hi"}]}),
            403,
        ),
    ];
    for (path, body, expected) in bodies {
        let model = two_steps();
        let assistant = Assistant::builder(model.clone()).tool(tool("read")).prepare_step(ends_at_the_second);
        let (status, _, answer) =
            send(&assistant.build().unwrap(), Rank::Agent, path, Some(&body.to_string())).await;
        assert_eq!(status, expected, "{answer}");
        assert!(answer.contains("too_long") && answer.contains("The answer became too long."), "{answer}");
        assert_eq!(model.payloads().len(), 1, "the second model call must not begin");
    }
}

#[tokio::test]
async fn a_stream_of_openai_ends_with_the_message_of_the_refusal() {
    let model = ScriptedProvider::new().turn(Turn::text("One moment.").then(call("read", json!({}))));
    let assistant =
        Assistant::builder(model).tool(tool("read")).prepare_step(ends_at_the_second).build().unwrap();
    let body =
        json!({"model": "omniassist", "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
    let (status, _, answer) =
        send(&assistant, Rank::Agent, "/v1/chat/completions", Some(&body.to_string())).await;
    assert_eq!(status, 200);
    assert!(
        answer.contains("One moment.") && answer.contains(r#""message":"The answer became too long.""#),
        "{answer}"
    );
    assert!(answer.contains(r#""code":"too_long""#), "{answer}");
}

#[tokio::test]
async fn a_step_that_panics_fails_its_run() {
    let model = ScriptedProvider::new();
    let assistant =
        Assistant::builder(model.clone()).prepare_step(async |_: &mut StepPlan| panic!("it breaks"));
    let assistant = assistant.build().unwrap();
    let failure = assistant.run(RunRequest::prompt("Hi")).text().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::Internal));
    assert!(model.payloads().is_empty());
}

#[tokio::test]
async fn stopping_a_run_drops_the_preparation_of_its_step() {
    struct Dropped(Arc<Mutex<bool>>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            *self.0.lock().unwrap() = true;
        }
    }
    let dropped = Arc::new(Mutex::new(false));
    let flag = Arc::clone(&dropped);
    let assistant = Assistant::builder(ScriptedProvider::new())
        .prepare_step(move |_: &mut StepPlan| {
            let held = Dropped(Arc::clone(&flag));
            async move {
                let _held = held;
                std::future::pending().await
            }
        })
        .build()
        .unwrap();
    let mut run = assistant.run(RunRequest::prompt("Hi"));
    assert!(matches!(run.next().await, Some(RunEvent::Start { .. })));
    assert!(run.next().now_or_never().is_none(), "the preparation must be pending");
    run.handle().abort("enough");
    assert!(matches!(run.next().await, Some(RunEvent::Abort { .. })));
    assert!(*dropped.lock().unwrap());
}
