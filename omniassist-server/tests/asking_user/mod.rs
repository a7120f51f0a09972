//! Tests of tool calls that wait for the user: forms and calls of other tools, on another server and within agents.

mod refused;
mod stored;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use omniassist_server::core::message::{Approval as Asked, Decision, Message, Part, ToolPart, ToolState};
use omniassist_server::core::{JsonText, RunEvent};
use omniassist_server::seal::SealKeys;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::tool::{Approval, ToolContext, UserAnswer, UserForm};
use omniassist_server::{Agent, Args, Assistant, Tool, ToolError};
use serde_json::{Value, json};

use crate::approvals::{answer, post, refund};

fn keys() -> SealKeys {
    SealKeys::new("k1", "a secret of at least 32 bytes for tests").unwrap()
}

fn assistant(model: ScriptedProvider, tool: Tool) -> Assistant {
    Assistant::builder(model).tool(tool).seal_keys(keys()).build().unwrap()
}

fn form(field: &str) -> UserForm {
    let schema = json!({
        "type": "object",
        "properties": { field: { "type": "integer", "title": field } },
        "required": [field],
    });
    UserForm::new(format!("How many {field}?"), schema)
}

/// Returns a tool that asks for the seats and then for the bags. The number counts its effect: it holds the seats once.
pub(super) fn book() -> (Tool, Arc<AtomicUsize>) {
    let held = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&held);
    let tool = Tool::new("book", "Books seats", move |call: ToolContext| {
        let held = Arc::clone(&count);
        async move {
            call.progress("looking");
            let known: Option<Value> = call.resumed_state().map(JsonText::to_value);
            let seats = match known.as_ref().and_then(|state| state["seats"].as_u64()) {
                Some(seats) => seats,
                None => {
                    if known.is_none() {
                        held.fetch_add(1, Ordering::SeqCst);
                    }
                    let answer = call.ask_user(form("seats"), json!({ "held": true })).await?;
                    let UserAnswer::Accepted(answer) = answer else { return Ok("Nothing.".to_owned()) };
                    answer["seats"].as_u64().unwrap()
                }
            };
            let answer = call.ask_user(form("bags"), json!({ "held": true, "seats": seats })).await?;
            let UserAnswer::Accepted(answer) = answer else { return Ok(format!("{seats} seats, no bags.")) };
            Ok::<_, ToolError>(format!("{seats} seats, {} bags.", answer["bags"]))
        }
    });
    (tool, held)
}

/// Returns the open calls that the last message shows for others.
fn open(messages: &[Message]) -> Vec<&ToolPart> {
    let calls = messages.last().unwrap().tools().filter(|call| call.asked_by().is_some());
    calls.filter(|call| !call.state.is_answered()).collect()
}

/// Fills in the forms that are open, or fails them with a text.
fn fill_in(messages: &mut [Message], answer: &Result<Value, &str>) {
    for part in &mut messages.last_mut().unwrap().parts {
        if let Part::Tool(call) = part
            && call.name == *"request_input"
            && let ToolState::InputAvailable { input } = &call.state
        {
            let input = input.clone();
            call.state = match answer {
                Ok(value) => {
                    let output = JsonText::from_value(value);
                    ToolState::OutputAvailable { input, output, preliminary: false }
                }
                Err(text) => ToolState::OutputError { input: Some(input), error_text: (*text).into() },
            };
        }
    }
}

fn state_of<'a>(messages: &'a [Message], name: &str) -> &'a ToolState {
    let mut calls = messages.last().unwrap().tools();
    &calls.find(|call| call.name == *name).unwrap_or_else(|| panic!("no call of {name}")).state
}

fn output(state: &ToolState) -> &str {
    match state {
        ToolState::OutputAvailable { output, .. } => output.as_str(),
        other => panic!("{other:?}"),
    }
}

fn asks(name: &str) -> ScriptedProvider {
    ScriptedProvider::new().turn(call(name, json!({}))).turn(text("Done."))
}

fn question() -> Vec<Message> {
    vec![Message::user("q", "Please do it")]
}

#[tokio::test]
async fn a_tool_asks_the_user_twice_and_goes_on_at_other_servers() {
    let (tool, held) = book();
    let model = asks("book");
    let (mut messages, events) = post(&assistant(model.clone(), tool.clone()), "c", question()).await;
    let [asked] = open(&messages)[..] else { panic!("{messages:?}") };
    assert_eq!(asked.name, *"request_input");
    assert!(asked.state.input().unwrap().as_str().contains("How many seats?"));
    let shown = state_of(&messages, "book");
    assert!(matches!(shown, ToolState::OutputAvailable { preliminary: true, .. }), "{shown:?}");
    assert!(events.iter().any(|event| matches!(event, RunEvent::InputRequest(_))), "{events:?}");
    assert!(
        !events.iter().any(|event| matches!(event, RunEvent::AgentState(_) | RunEvent::AgentDelta { .. }))
    );
    let posted = serde_json::to_string(&messages).unwrap();
    assert!(!posted.contains("held"), "the state cannot be read: {posted}");

    fill_in(&mut messages, &Ok(json!({ "seats": 2 })));
    let (mut messages, _) = post(&assistant(model.clone(), tool.clone()), "c", messages).await;
    let [asked] = open(&messages)[..] else { panic!("{messages:?}") };
    assert!(asked.state.input().unwrap().as_str().contains("How many bags?"));

    fill_in(&mut messages, &Ok(json!({ "bags": 3 })));
    let (messages, _) = post(&assistant(model.clone(), tool), "c", messages).await;
    assert_eq!(output(state_of(&messages, "book")), "\"2 seats, 3 bags.\"");
    assert!(messages.last().unwrap().text().ends_with("Done."));
    assert_eq!(held.load(Ordering::SeqCst), 1, "the effect before the first form is not repeated");
    let payloads = model.payloads();
    assert_eq!(payloads.len(), 2, "no model is called for a form");
    let sent = format!("{:?}", payloads[1].transcript);
    assert!(sent.contains("2 seats, 3 bags.") && !sent.contains("How many"), "{sent}");

    // The whole conversation is legal history.
    let mut next = messages;
    next.push(Message::user("q2", "Thanks"));
    let answering = ScriptedProvider::new().turn(text("Welcome."));
    let (next, _) = post(&assistant(answering, book().0), "c", next).await;
    assert_eq!(next.last().unwrap().text(), "Welcome.");
}

#[tokio::test]
async fn a_user_may_decline_a_form() {
    let denied = |messages: &mut [Message]| {
        for part in &mut messages.last_mut().unwrap().parts {
            if let Part::Tool(call) = part
                && call.asked_by().is_some()
            {
                let input = call.state.input().unwrap().clone();
                let approval = Asked::new("a").decided(Decision::denied(Some("no time".into())));
                call.state = ToolState::OutputDenied { input, approval };
            }
        }
    };
    for (decline, expected) in [
        (
            &(|messages: &mut [Message]| fill_in(messages, &Err("not now"))) as &dyn Fn(&mut [Message]),
            "not now",
        ),
        (&denied, "no time"),
    ] {
        let tool = Tool::new("book", "Books", |call: ToolContext| async move {
            Ok::<_, ToolError>(match call.ask_user(form("seats"), ()).await? {
                UserAnswer::Declined(reason) => {
                    reason.map_or("declined".to_owned(), |reason| reason.to_string())
                }
                answer => format!("{answer:?}"),
            })
        });
        let assistant = assistant(asks("book"), tool);
        let (mut messages, _) = post(&assistant, "c", question()).await;
        decline(&mut messages);
        let (messages, _) = post(&assistant, "c", messages).await;
        assert_eq!(output(state_of(&messages, "book")), format!("\"{expected}\""));
    }
}

/// Returns a tool that calls another one for each of its amounts, and goes on with an error.
fn pay_all(other: Tool) -> Tool {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct All {
        cents: Vec<u64>,
    }
    Tool::new("pay_all", "Pays", move |Args(all): Args<All>, call: ToolContext| {
        let other = other.clone();
        async move {
            let mut paid: Vec<String> =
                call.resumed_state().map(|state| state.to()).transpose()?.unwrap_or_default();
            for cents in &all.cents[paid.len()..] {
                let end = call.call_tool(&other, json!({ "cents": cents }), &paid).await;
                paid.push(match end {
                    Ok(output) => output.as_str().unwrap_or_default().to_owned(),
                    Err(error) if error.text().contains("waits") => return Err(error),
                    Err(error) => error.text().to_owned(),
                });
            }
            Ok(paid.join(", "))
        }
    })
}

fn pays(cents: &[u64]) -> ScriptedProvider {
    ScriptedProvider::new().turn(call("pay_all", json!({ "cents": cents }))).turn(text("Done."))
}

#[tokio::test]
async fn a_tool_calls_others_that_the_user_approves_one_after_the_other() {
    let (other, ran) = refund(Approval::when(|arguments: &Value, _| arguments["cents"].as_u64() > Some(100)));
    let model = pays(&[5, 500, 7, 700, 900]);
    let server = || assistant(model.clone(), pay_all(other.clone()));
    let (mut messages, _) = post(&server(), "c", question()).await;
    for (approved, ran_before) in [(true, 1), (false, 3), (true, 3)] {
        let [asked] = open(&messages)[..] else { panic!("{messages:?}") };
        assert_eq!(asked.name, *"refund");
        assert!(matches!(asked.state, ToolState::ApprovalRequested { .. }));
        assert_eq!(ran.load(Ordering::SeqCst), ran_before);
        answer(&mut messages, approved);
        (messages, _) = post(&server(), "c", messages).await;
    }
    let expected =
        "refunded 5, refunded 500, refunded 7, The user denied this call; it was not run., refunded 900";
    assert_eq!(output(state_of(&messages, "pay_all")), format!("\"{expected}\""));
    assert_eq!(ran.load(Ordering::SeqCst), 4);
    assert!(messages.last().unwrap().text().ends_with("Done."));
    let shown: Vec<_> = messages.last().unwrap().tools().filter(|call| call.name == *"refund").collect();
    assert_eq!(shown.len(), 3, "calls that need nobody are not shown: {shown:?}");
}

#[tokio::test]
async fn a_tool_that_was_approved_asks_the_user_too() {
    let (tool, held) = book();
    let assistant = assistant(asks("book"), tool.requires_approval(Approval::always()));
    let (mut messages, _) = post(&assistant, "c", question()).await;
    answer(&mut messages, true);
    (messages, _) = post(&assistant, "c", messages).await;
    for answer in [json!({ "seats": 1 }), json!({ "bags": 0 })] {
        fill_in(&mut messages, &Ok(answer));
        (messages, _) = post(&assistant, "c", messages).await;
    }
    assert_eq!(output(state_of(&messages, "book")), "\"1 seats, 0 bags.\"");
    assert_eq!(held.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn calls_of_one_step_wait_together() {
    let (tool, held) = book();
    let model = ScriptedProvider::new()
        .turn(call("book", json!({})).then(call("book", json!({}))))
        .turn(text("Both."));
    let assistant = assistant(model.clone(), tool);
    let (mut messages, _) = post(&assistant, "c", question()).await;
    for answer in [json!({ "seats": 4 }), json!({ "bags": 5 })] {
        assert_eq!(open(&messages).len(), 2, "{messages:?}");
        fill_in(&mut messages, &Ok(answer));
        (messages, _) = post(&assistant, "c", messages).await;
    }
    let booked = messages.last().unwrap().tools().filter(|call| call.name == *"book");
    let outputs: Vec<_> = booked.map(|call| output(&call.state)).collect();
    assert_eq!(outputs, ["\"4 seats, 5 bags.\""; 2]);
    assert_eq!(held.load(Ordering::SeqCst), 2);
    assert_eq!(model.payloads().len(), 2);
}

#[tokio::test]
async fn a_tool_of_an_agent_below_another_asks_at_the_root() {
    let (tool, held) = book();
    let asked = |agent: &str| {
        ScriptedProvider::new().turn(call(agent, json!({ "task": "Book" }))).turn(text("Booked."))
    };
    let (root, desk, clerk) = (asked("desk"), asked("clerk"), asks("book"));
    let server = || {
        Assistant::builder(root.clone())
            .agent(Agent::new("desk", "Helps.").provider(desk.clone()).delegates(["clerk"]).internal())
            .agent(Agent::new("clerk", "Books.").provider(clerk.clone()).tool(tool.clone()).internal())
            .delegates(["desk"])
            .seal_keys(keys())
            .build()
            .unwrap()
    };
    let (mut messages, _) = post(&server(), "c", question()).await;
    for answer in [json!({ "seats": 6 }), json!({ "bags": 7 })] {
        assert_eq!(open(&messages).len(), 1, "{messages:?}");
        fill_in(&mut messages, &Ok(answer));
        (messages, _) = post(&server(), "c", messages).await;
    }
    assert!(messages.last().unwrap().text().ends_with("Booked."), "{messages:?}");
    let sent = format!("{:?}", clerk.payloads()[1].transcript);
    assert!(sent.contains("6 seats, 7 bags."), "{sent}");
    assert_eq!(held.load(Ordering::SeqCst), 1);
    assert_eq!([&root, &desk, &clerk].map(|model| model.payloads().len()), [2, 2, 2]);
}

#[tokio::test]
async fn a_tool_that_another_one_calls_asks_the_user_itself() {
    let (inner, held) = book();
    let outer = Tool::new("trip", "Plans", move |call: ToolContext| {
        let inner = inner.clone();
        async move {
            let booked = call.call_tool(&inner, json!({}), "planned").await?;
            let state = call.resumed_state().map(|state| state.as_str().to_owned());
            Ok::<_, ToolError>(format!("{} {state:?}", booked.as_str().unwrap_or_default()))
        }
    });
    let server = assistant(asks("trip"), outer);
    let (mut messages, _) = post(&server, "c", question()).await;
    for answer in [json!({ "seats": 1 }), json!({ "bags": 1 })] {
        assert_eq!(open(&messages).len(), 1, "{messages:?}");
        fill_in(&mut messages, &Ok(answer));
        (messages, _) = post(&server, "c", messages).await;
    }
    let end = output(state_of(&messages, "trip"));
    assert!(end.contains("1 seats, 1 bags.") && end.contains("planned"), "{end}");
    assert_eq!(held.load(Ordering::SeqCst), 1);
}
