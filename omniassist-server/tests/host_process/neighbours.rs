//! Tests of two assistants in one process, which share nothing.

use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt;
use omniassist_server::core::message::{Message, Role};
use omniassist_server::core::{ErrorCode, Limits, RunEvent, RunRequest};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::throttle::InMemoryTokenBudget;
use omniassist_server::{Assistant, Principal, Tool, ToolError};
use serde_json::json;

use super::{as_user, chat};

fn strict(model: ScriptedProvider) -> Assistant {
    let mut limits = Limits::default();
    (limits.max_runs_per_principal, limits.max_runs) = (1, 1);
    Assistant::builder(model).allow_anonymous().limits(limits).build().unwrap()
}

#[tokio::test]
async fn runs_chats_and_limits_are_separate() {
    let stuck = || strict(ScriptedProvider::new().otherwise(|_| text("So far").then(Turn::pending())));
    let (one, other) = (stuck(), stuck());
    let mut first = one.try_run(chat("c", "hi"), as_user("ada")).await.unwrap();
    let mut second = other.try_run(chat("c", "hi"), as_user("ada")).await.unwrap();
    assert_eq!((one.live_runs(), other.live_runs()), (1, 1));
    one.try_run(chat("d", "hi"), as_user("bob")).await.unwrap_err();

    // A stop and a drain of one do not affect the other.
    assert!(one.stop(&Principal::new("ada"), "c"));
    while let Some(event) = first.next().await {
        assert!(!event.is_terminal() || matches!(event, RunEvent::Abort { .. }));
    }
    one.drain(Duration::ZERO).await;
    assert!(one.is_draining() && !other.is_draining());
    while !matches!(second.next().await, Some(RunEvent::TextDelta { .. })) {}
    // The other's run continues without new events.
    while let Poll::Ready(event) = futures_util::poll!(second.next()) {
        assert!(!event.expect("the run has not ended").is_terminal());
    }
    drop(second);
    drop(other.try_run(chat("c", "again"), as_user("ada")).await.unwrap());
}

#[tokio::test]
async fn tools_context_budgets_and_seals_are_separate() {
    let build = |name: &'static str| {
        let model =
            ScriptedProvider::new().turn(call("name", json!({}))).turn(text("Hi")).turn(text("Again"));
        let tool = Tool::new("name", "Says its name", move || async move { Ok::<_, ToolError>(name) });
        let budget = InMemoryTokenBudget::new(1_000, Duration::from_secs(3600));
        let builder = Assistant::builder(model.clone())
            .allow_anonymous()
            .tool(tool)
            .token_budget(budget)
            .refuse_unsealed_text(true);
        (builder.build().unwrap(), model)
    };
    let ((one, _), (other, model)) = (build("one"), build("other"));
    one.add_context(omniassist_server::core::ContextMessage::new("c", "flag", "only for one".into()));
    one.tools().register(Tool::new("extra", "More", async || Ok::<_, ToolError>("more"))).unwrap();
    assert_eq!((one.tools().names().len(), other.tools().names().len()), (2, 1));

    let message = async |assistant: &Assistant| {
        assistant.try_run(chat("c", "hi"), as_user("ada")).await.unwrap().message().await.unwrap()
    };
    let (said, of_other) = (message(&one).await, message(&other).await);
    assert!(format!("{said:?}").contains("\"one\"") && format!("{of_other:?}").contains("\"other\""));
    assert!(!format!("{:?}", model.payloads()).contains("only for one"));

    // One assistant does not accept the seals of the other.
    let with = |said: &Message| {
        let mut request =
            RunRequest::new(vec![Message::user("m1", "hi"), said.clone(), Message::user("m2", "and then?")]);
        request.chat_id = Some("c".into());
        request
    };
    assert_eq!(said.role, Role::Assistant);
    let refused = other.try_run(with(&said), as_user("ada")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::SealInvalid);
    let run = other.try_run(with(&of_other), as_user("ada")).await.unwrap();
    assert_eq!(run.text().await.unwrap(), "Again");
}
