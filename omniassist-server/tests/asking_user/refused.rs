//! Questions that are not asked, and answers that are not accepted.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use omniassist_server::RunContext;
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

/// Returns the last message with another call in place of the one that waits for the user.
fn forge(messages: &mut [Message], tool: &str, arguments: &Value) {
    for part in &mut messages.last_mut().unwrap().parts {
        if let Part::Tool(call) = part
            && call.asked_by().is_none()
        {
            call.name = tool.into();
            call.metadata = None;
            call.state = ToolState::InputAvailable { input: JsonText::from_value(arguments) };
        }
    }
}

#[tokio::test]
async fn a_call_that_waits_runs_again_as_the_server_left_it() {
    let ran_with = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&ran_with);
    let book = Tool::new("book", "Books", move |Args(arguments): Args<Value>, call: ToolContext| {
        let seen = Arc::clone(&seen);
        async move {
            seen.lock().unwrap().push(arguments);
            call.ask_user(form("seats"), ()).await.map(|_| "booked")
        }
    });
    let (refund, refunded) = refund(Approval::always());
    let model = ScriptedProvider::new().turn(call("book", json!({ "id": 1 }))).otherwise(|_| text("Done."));
    let builder = Assistant::builder(model).tool(book).tool(refund).seal_keys(keys());
    let assistant = builder.build().unwrap();
    let (mut messages, _) = post(&assistant, "c", question()).await;
    fill_in(&mut messages, &Ok(json!({ "seats": 1 })));

    let mut other_tool = messages.clone();
    forge(&mut other_tool, "refund", &json!({ "cents": 99_999 }));
    post(&assistant, "c", other_tool).await;
    assert_eq!(refunded.load(Ordering::SeqCst), 0);
    assert_eq!(ran_with.lock().unwrap().len(), 1);

    let mut other_arguments = messages.clone();
    forge(&mut other_arguments, "book", &json!({ "id": 2 }));
    post(&assistant, "c", other_arguments).await;
    assert_eq!(*ran_with.lock().unwrap(), [json!({ "id": 1 }), json!({ "id": 1 })]);
}

/// Clients get a number that no double holds as a string.
#[tokio::test]
async fn a_call_that_waits_keeps_its_large_numbers() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Flight {
        id: u64,
    }
    let book = Tool::new("book", "Books", |Args(flight): Args<Flight>, call: ToolContext| async move {
        call.ask_user(form("seats"), ()).await.map(|_| format!("flight {}", flight.id))
    });
    let model = ScriptedProvider::new()
        .turn(call("book", json!({ "id": 9_007_199_254_740_993_u64 })))
        .turn(text("Done."));
    let assistant = assistant(model, book);
    let (mut messages, _) = post(&assistant, "c", question()).await;
    fill_in(&mut messages, &Ok(json!({ "seats": 1 })));
    let (messages, _) = post(&assistant, "c", messages).await;
    assert_eq!(output(state_of(&messages, "book")), "\"flight 9007199254740993\"");
}

#[tokio::test]
async fn a_tool_that_was_hidden_while_it_waited_is_an_error() {
    let is_visible = Arc::new(AtomicBool::new(true));
    let visible = Arc::clone(&is_visible);
    let tool = asking(1).visible_to(move |_: &RunContext| visible.load(Ordering::SeqCst));
    let assistant = assistant(asks("book"), tool);
    let (mut messages, _) = post(&assistant, "c", question()).await;
    fill_in(&mut messages, &Ok(json!({ "seats": 1 })));
    is_visible.store(false, Ordering::SeqCst);
    let (messages, _) = post(&assistant, "c", messages).await;
    let ToolState::OutputError { error_text, .. } = state_of(&messages, "book") else {
        panic!("{messages:?}")
    };
    assert!(error_text.contains("not available any more"), "{error_text}");
    assert!(messages.last().unwrap().text().ends_with("Done."));
}

/// Seals have whole seconds of the wall clock, which no test can move.
#[tokio::test]
async fn an_approval_may_expire_while_its_call_waits() {
    let (tool, held) = book();
    let tool = tool.requires_approval(Approval::always());
    let mut limits = Limits::default();
    limits.approval_lifetime = Duration::from_secs(1);
    let builder = Assistant::builder(asks("book")).tool(tool.clone()).seal_keys(keys());
    let short = builder.limits(limits).build().unwrap();
    let long = assistant(asks("book"), tool);
    let (mut messages, events) = post(&short, "c", question()).await;
    let expires_at = |event: &RunEvent| match event {
        RunEvent::ToolApprovalRequest(request) => request.expires_at_ms,
        _ => None,
    };
    let expires_at = UNIX_EPOCH + Duration::from_millis(events.iter().find_map(expires_at).unwrap());
    answer(&mut messages, true);
    (messages, _) = post(&long, "c", messages).await;
    fill_in(&mut messages, &Ok(json!({ "seats": 1 })));
    while let Ok(left) = expires_at.duration_since(SystemTime::now()) {
        tokio::time::sleep(left + Duration::from_millis(1)).await;
    }
    (messages, _) = post(&long, "c", messages).await;
    fill_in(&mut messages, &Ok(json!({ "bags": 2 })));
    (messages, _) = post(&long, "c", messages).await;
    assert_eq!(output(state_of(&messages, "book")), "\"1 seats, 2 bags.\"");
    assert_eq!(held.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_answers_of_an_approved_call_count_once() {
    let effects = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&effects);
    let tool = Tool::new("book", "Books", move |call: ToolContext| {
        let count = Arc::clone(&count);
        async move {
            call.ask_user(form("seats"), ()).await?;
            count.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ToolError>("booked")
        }
    });
    let model = ScriptedProvider::new().turn(call("book", json!({}))).otherwise(|_| text("Done."));
    let assistant = assistant(model, tool.requires_approval(Approval::always()));
    let (mut messages, _) = post(&assistant, "c", question()).await;
    answer(&mut messages, true);
    (messages, _) = post(&assistant, "c", messages).await;
    fill_in(&mut messages, &Ok(json!({ "seats": 1 })));
    let (first, _) = post(&assistant, "c", messages.clone()).await;
    assert_eq!(output(state_of(&first, "book")), "\"booked\"");
    // The approval may be left out too, as if the call had needed none.
    let mut without = messages.clone();
    forge(&mut without, "book", &json!({}));
    for again in [messages, without] {
        let (again, _) = post(&assistant, "c", again).await;
        assert!(matches!(state_of(&again, "book"), ToolState::OutputError { .. }), "{again:?}");
    }
    assert_eq!(effects.load(Ordering::SeqCst), 1);
}

/// Must not need a stack that grows with the number of calls that end at once.
#[tokio::test(start_paused = true)]
async fn thousands_of_calls_can_end_at_once() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nap {
        seconds: u64,
    }
    let nap = Tool::new("nap", "Sleeps", async |Args(nap): Args<Nap>| {
        tokio::time::sleep(Duration::from_secs(nap.seconds)).await;
        Ok::<_, ToolError>("slept")
    });
    let many = Tool::new("many", "Sleeps often", move |call: ToolContext| {
        let nap = nap.clone();
        async move {
            let calls = (0..2_000).map(|number| {
                let arguments = if number < 4 { json!({ "seconds": 1 }) } else { json!({}) };
                call.call_tool(&nap, arguments, ())
            });
            let ends = futures_util::future::join_all(calls).await;
            Ok::<_, ToolError>(ends.iter().filter(|end| end.is_err()).count())
        }
    });
    let (messages, _) = post(&assistant(asks("many"), many), "c", question()).await;
    assert_eq!(output(state_of(&messages, "many")), "1996");
}

/// Returns a tool that calls another one twice at the same time.
fn pay_both(inner: Tool) -> Tool {
    Tool::new("pay_both", "Pays", move |call: ToolContext| {
        let inner = inner.clone();
        async move {
            let pay = |cents: u64| call.call_tool(&inner, json!({ "cents": cents }), ());
            let (one, two) = tokio::join!(pay(1), pay(2));
            one.and(two).map(|_| "paid")
        }
    })
}

#[tokio::test]
async fn calls_that_would_wait_side_by_side_are_an_error() {
    let (inner, refunded) = refund(Approval::always());
    let assistant = assistant(asks("pay_both"), pay_both(inner));
    let (messages, _) = post(&assistant, "c", question()).await;
    assert!(open(&messages).is_empty(), "{messages:?}");
    assert!(matches!(state_of(&messages, "pay_both"), ToolState::OutputError { .. }));
    assert_eq!(refunded.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn calls_that_need_nobody_may_be_made_side_by_side() {
    let (inner, refunded) = refund(Approval::when(|_: &Value, _| false));
    let (messages, _) = post(&assistant(asks("pay_both"), pay_both(inner)), "c", question()).await;
    assert_eq!(output(state_of(&messages, "pay_both")), "\"paid\"");
    assert_eq!(refunded.load(Ordering::SeqCst), 2);
}
