//! Questions that are not asked, and answers that are not accepted.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use omniassist_server::core::{ErrorCode, Limits};

use super::*;
use crate::approvals::post_as;

/// Asks for seats with a state, and gives the text of an error.
fn asking(state: usize) -> Tool {
    Tool::new("book", "Books", move |call: ToolContext| async move {
        match call.ask_user(form("seats"), "x".repeat(state)).await {
            Err(error) if error.is_state_too_large() => Ok("too large".to_owned()),
            Err(error) if error.text().contains("waits") => Err(error),
            other => Ok(format!("{other:?}")),
        }
    })
}

#[tokio::test]
async fn a_state_of_more_than_32_kib_is_an_error_before_the_user_is_asked() {
    // A string has two quotes.
    let most = 32 * 1024 - 2;
    let (messages, _) = post(&assistant(asks("book"), asking(most)), "c", question()).await;
    assert_eq!(open(&messages).len(), 1);
    let (messages, _) = post(&assistant(asks("book"), asking(most + 1)), "c", question()).await;
    assert_eq!(output(state_of(&messages, "book")), "\"too large\"");
}

#[tokio::test]
async fn a_form_that_no_provider_would_take_is_not_shown() {
    let tool = Tool::new("book", "Books", |call: ToolContext| async move {
        call.ask_user(UserForm::new("How?", json!({ "type": "array" })), ()).await.map(|_| "shown")
    });
    let (messages, _) = post(&assistant(asks("book"), tool), "c", question()).await;
    assert!(open(&messages).is_empty());
    let ToolState::OutputError { error_text, .. } = state_of(&messages, "book") else {
        panic!("{messages:?}")
    };
    assert!(error_text.contains("schema"), "{error_text}");
}

#[tokio::test]
async fn an_answer_that_does_not_fit_the_form_is_an_error_of_the_tool() {
    let assistant = assistant(asks("book"), asking(1));
    let (mut messages, _) = post(&assistant, "c", question()).await;
    fill_in(&mut messages, &Ok(json!({ "seats": "many" })));
    let (messages, _) = post(&assistant, "c", messages).await;
    let end = output(state_of(&messages, "book"));
    assert!(end.contains("The form's answer"), "{end}");
    assert!(matches!(state_of(&messages, "request_input"), ToolState::OutputError { .. }));
}

/// Seals have whole seconds of the wall clock, which no test can move.
#[tokio::test]
async fn an_answer_that_comes_too_late_is_an_error_of_the_tool() {
    let mut limits = Limits::default();
    limits.approval_lifetime = Duration::ZERO;
    let builder = Assistant::builder(asks("book")).tool(asking(1)).seal_keys(keys());
    let assistant = builder.limits(limits).build().unwrap();
    let (mut messages, events) = post(&assistant, "c", question()).await;
    let expires_at = |event: &RunEvent| match event {
        RunEvent::InputRequest(request) => request.expires_at_ms,
        _ => None,
    };
    let expires_at = UNIX_EPOCH + Duration::from_millis(events.iter().find_map(expires_at).unwrap());
    fill_in(&mut messages, &Ok(json!({ "seats": 2 })));
    while let Ok(left) = expires_at.duration_since(SystemTime::now()) {
        tokio::time::sleep(left + Duration::from_millis(1)).await;
    }
    let (messages, _) = post(&assistant, "c", messages).await;
    let end = output(state_of(&messages, "book"));
    assert!(end.contains("after its deadline"), "{end}");
    assert!(matches!(state_of(&messages, "request_input"), ToolState::OutputError { .. }));
}

#[tokio::test]
async fn the_state_belongs_to_its_chat_its_user_and_its_call() {
    let (tool, held) = book();
    let model = ScriptedProvider::new().otherwise(|payload| {
        let asked = format!("{:?}", payload.transcript).contains("\"book\"");
        if asked { text("Done.") } else { call("book", json!({})).then(call("book", json!({}))) }
    });
    let assistant = assistant(model, tool);
    let (mut messages, _) = post(&assistant, "c", question()).await;
    fill_in(&mut messages, &Ok(json!({ "seats": 1 })));
    for (user, chat) in [("ada", "d"), ("bob", "c")] {
        let refused = post_as(&assistant, user, chat, messages.clone()).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::SealInvalid, "{user} {chat}");
    }
    // The states of two calls, exchanged; and others.
    let entries: Vec<_> = {
        let asked = messages.last().unwrap().tools().filter(|call| call.asked_by().is_some());
        asked.map(|call| call.metadata.as_ref().unwrap().own_text("agent").unwrap().to_owned()).collect()
    };
    let token = |entry: &str| entry.split_once(' ').unwrap().0.to_owned();
    for tokens in [[token(&entries[1]), token(&entries[0])], ["k1.AAAA".into(), "k1.AAAA".into()]] {
        let mut forged = messages.clone();
        let parts = forged.last_mut().unwrap().parts.iter_mut();
        let asked = parts.filter_map(|part| match part {
            Part::Tool(call) if call.asked_by().is_some() => Some(call),
            _ => None,
        });
        for (call, token) in asked.zip(tokens) {
            let asked_by = call.asked_by().unwrap().to_owned();
            call.metadata.as_mut().unwrap().set_own("agent", format!("{token} {asked_by}"));
        }
        let (after, _) = post_as(&assistant, "ada", "c", forged).await.unwrap();
        let mut booked = after.last().unwrap().tools().filter(|call| call.name == *"book");
        assert!(booked.all(|call| !call.state.is_answered()), "{after:?}");
    }
    assert_eq!(held.load(Ordering::SeqCst), 2, "the tool did not run again");
}

#[tokio::test]
async fn a_tool_that_hides_the_error_waits_all_the_same() {
    let tool = Tool::new("book", "Books", |call: ToolContext| async move {
        Ok::<_, ToolError>(match call.ask_user(form("seats"), ()).await {
            Ok(answer) => format!("{answer:?}"),
            Err(_) => "hidden".to_owned(),
        })
    });
    let hidden = Assistant::builder(asks("book"))
        .tool(tool)
        .after_tool(|_, result: Result<JsonText, ToolError>| async move {
            Ok::<_, ToolError>(result.unwrap_or(JsonText::NULL))
        })
        .build()
        .unwrap();
    let (mut messages, _) = post(&hidden, "c", question()).await;
    assert_eq!(open(&messages).len(), 1, "{messages:?}");
    fill_in(&mut messages, &Ok(json!({ "seats": 8 })));
    let (messages, _) = post(&hidden, "c", messages).await;
    assert!(output(state_of(&messages, "book")).contains('8'));
}

#[tokio::test]
async fn a_call_knows_if_the_user_can_be_asked() {
    let can_ask = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&can_ask);
    let tool = Tool::new("book", "Books", move |call: ToolContext| {
        count.store(1 + usize::from(call.can_ask_user()), Ordering::SeqCst);
        async move { call.ask_user(form("seats"), ()).await.map(|_| "booked") }
    });
    for (is_sealed, expected) in [(true, 2), (false, 1)] {
        let builder = Assistant::builder(asks("book")).tool(tool.clone());
        let assistant = if is_sealed { builder } else { builder.trust_client_history() }.build().unwrap();
        let (messages, _) = post(&assistant, "c", question()).await;
        assert_eq!(can_ask.load(Ordering::SeqCst), expected, "sealed: {is_sealed}");
        assert_eq!(open(&messages).len(), usize::from(is_sealed), "{messages:?}");
    }
}
