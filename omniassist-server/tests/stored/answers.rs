//! Answers that come with the next message of the user, and answers that are posted again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_server::store::Branch;
use omniassist_server::tool::Args;
use omniassist_server::{RunContext, WhenBusy};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

use super::drain::look;
use super::elsewhere::{get, send};
use super::own_store::Own;
use super::*;

/// A chat of Ada, whose model calls a tool first.
struct World {
    runs: MemoryStore,
    chats: MemoryStore,
    model: ScriptedProvider,
    refunds: Arc<AtomicUsize>,
    assistant: Assistant,
}

impl World {
    async fn new(tool: &str, when_busy: WhenBusy, has_own_store: bool) -> Self {
        let model = ScriptedProvider::new()
            .turn(call(tool, json!({"order": 17})))
            .turn(text("Two."))
            .turn(text("Three."));
        let refunds = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&refunds);
        let refund = Tool::new("refund", "Refunds an order", move || {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok::<_, ToolError>("refunded") }
        });
        let (runs, own) = (MemoryStore::new(), Own::default());
        let mut builder = Assistant::builder(model.clone())
            .tool(refund.requires_approval(Approval::always()))
            .tool(Tool::front_end_with_schema("show", "Shows an order", json!({"type": "object"})))
            .store(runs.clone());
        let mut chats = runs.clone();
        if has_own_store {
            chats = own.store.clone();
            builder = builder.conversations(own);
        }
        let assistant = builder.when_busy(when_busy).build().unwrap();
        post(&assistant, &ask("u1", "Do it")).await;
        assert_eq!(settled(&runs).await, RunState::Waiting);
        Self { runs, chats, model, refunds, assistant }
    }

    /// Returns the messages that the page has, with a part of the call.
    async fn page(&self, state: &str, part: Value) -> Vec<Value> {
        let mut shown: Vec<_> = messages(&self.chats)
            .await
            .iter()
            .map(|message| serde_json::to_value(message).unwrap())
            .collect();
        for shown in shown[1]["parts"].as_array_mut().unwrap() {
            if shown["toolCallId"].is_string() {
                shown["state"] = state.into();
                for (name, value) in part.as_object().unwrap() {
                    match &mut shown[name] {
                        Value::Object(known) => known.extend(value.as_object().cloned().unwrap()),
                        shown => *shown = value.clone(),
                    }
                }
            }
        }
        shown
    }

    /// Posts a page with a new message, and returns the stored call and what the model was sent with its last call.
    async fn ask_next(&self, mut page: Vec<Value>) -> (Value, String) {
        page.push(ask("u2", "What now?")["message"].clone());
        let answer = post(&self.assistant, &json!({"id": "c", "messages": page})).await;
        assert!(answer.ends_with("data: [DONE]\n\n") && !answer.contains("\"abort\""), "{answer}");
        assert_eq!(settled(&self.runs).await, RunState::Finished);
        let stored = serde_json::to_value(&messages(&self.chats).await[1]).unwrap();
        let parts = stored["parts"].as_array().unwrap();
        let call = parts.iter().find(|part| part["toolCallId"].is_string()).unwrap().clone();
        (call, format!("{:?}", self.model.payloads().last().unwrap().transcript))
    }

    async fn said(&self) -> Vec<String> {
        messages(&self.chats).await.iter().map(Message::text).collect()
    }
}

/// `onToolCall` and `addToolOutput` of `useChat`, without `sendAutomaticallyWhen`, and then `sendMessage`.
#[tokio::test(start_paused = true)]
async fn an_output_counts_with_the_next_message() {
    for when_busy in [WhenBusy::Supersede, WhenBusy::Reject] {
        for has_own_store in [false, true] {
            let world = World::new("show", when_busy, has_own_store).await;
            let page = world.page("output-available", json!({"output": {"shown": "In Kiel"}})).await;
            let (call, sent) = world.ask_next(page).await;
            assert_eq!(call["state"], "output-available", "{when_busy:?} {has_own_store}: {call}");
            assert_eq!(call["output"], json!({"shown": "In Kiel"}));
            assert!(sent.contains("In Kiel") && !sent.contains("never answered"), "{sent}");
            assert_eq!(world.said().await, ["Do it", "", "What now?", "Two."]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_denial_counts_with_the_next_message() {
    let world = World::new("refund", WhenBusy::Supersede, false).await;
    let approval = json!({"approval": {"approved": false, "reason": "Too much"}});
    let page = world.page("approval-responded", approval).await;
    let (call, sent) = world.ask_next(page).await;
    assert_eq!(call["state"], "output-denied", "{call}");
    assert_eq!(call["approval"]["reason"], "Too much");
    assert!(sent.contains("was denied") && sent.contains("Too much"), "{sent}");
    assert_eq!(world.refunds.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_approved_with_the_next_message_does_not_run() {
    let world = World::new("refund", WhenBusy::Supersede, false).await;
    let page = world.page("approval-responded", json!({"approval": {"approved": true}})).await;
    let (call, sent) = world.ask_next(page.clone()).await;
    assert_eq!(call["state"], "output-error", "{call}");
    assert!(sent.contains("did not run: the user approved it") && !sent.contains("unknown"), "{sent}");
    // Neither does it with the approval alone.
    let last = json!({"id": "c", "message": page[1]});
    assert_eq!(code_of(&world.assistant, &last).await, (StatusCode::CONFLICT, "already_answered".to_owned()));
    assert_eq!(world.refunds.load(Ordering::SeqCst), 0);
}

/// The server was deployed without the tool, or the user has left the page that declared it.
#[tokio::test(start_paused = true)]
async fn an_answer_to_a_call_of_a_tool_that_is_gone_counts() {
    for (tool, state, part) in [
        ("show", "output-available", json!({"output": {"shown": "In Kiel"}})),
        ("show", "output-error", json!({"errorText": "In Kiel"})),
        ("refund", "approval-responded", json!({"approval": {"approved": true}})),
        ("refund", "approval-responded", json!({"approval": {"approved": false}})),
    ] {
        let world = World::new(tool, WhenBusy::Supersede, false).await;
        let page = world.page(state, part.clone()).await;
        assert!(world.assistant.tools().unregister(tool));
        let answer = post(&world.assistant, &json!({"id": "c", "messages": page})).await;
        assert!(answer.contains("Two."), "{tool} {part}: {answer}");
        assert_eq!(settled(&world.runs).await, RunState::Finished);
        assert_eq!(world.refunds.load(Ordering::SeqCst), 0);
        let sent = format!("{:?}", world.model.payloads().last().unwrap().transcript);
        let told = match (tool, &part["approval"]["approved"]) {
            ("show", _) => "In Kiel",
            (_, Value::Bool(true)) => "The call did not run. There is no tool of this name.",
            _ => "This call was denied; it was not run.",
        };
        assert!(sent.contains(told) && !sent.contains("unknown"), "{told}: {sent}");
        let stored = serde_json::to_string(&messages(&world.chats).await[1]).unwrap();
        assert!(!stored.contains("approval-responded"), "{stored}");
    }
}

/// The run that waits goes on with the answer, and that of the message follows it.
#[tokio::test(start_paused = true)]
async fn a_queued_message_brings_its_answer_to_the_run_before_it() {
    let world = World::new("refund", WhenBusy::Enqueue, false).await;
    let page = world.page("approval-responded", json!({"approval": {"approved": true}})).await;
    let (call, sent) = world.ask_next(page).await;
    assert_eq!(call["output"], "refunded", "{call}");
    assert!(sent.contains("refunded"), "{sent}");
    assert_eq!(world.said().await, ["Do it", "Two.", "What now?", "Three."]);
    assert_eq!(world.refunds.load(Ordering::SeqCst), 1);
}

/// An AG-UI client posts the result as a message of its own.
#[tokio::test(start_paused = true)]
async fn an_output_of_an_ag_ui_client_counts_with_the_next_message() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().turn(call("show", json!({"order": 17}))).turn(text("Two."));
    let show = Tool::front_end_with_schema("show", "Shows an order", json!({"type": "object"}));
    let assistant = Assistant::builder(model.clone()).tool(show).store(store.clone()).build().unwrap();
    let run = async |messages: &Value| {
        let mut request = request(&json!({
            "threadId": "c", "runId": "r", "messages": messages,
            "tools": [], "context": [], "state": {}, "forwardedProps": {},
        }));
        *request.uri_mut() = "/ag-ui".parse().unwrap();
        let response = AssistantService::new(assistant.clone()).handle(request).await;
        assert_eq!(response.status(), StatusCode::OK);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let body = String::from_utf8(body.into()).unwrap();
        let events = body.lines().filter_map(|line| line.strip_prefix("data: "));
        events.map(|event| serde_json::from_str::<Value>(event).unwrap()).collect::<Vec<_>>()
    };
    let question = json!({"id": "u1", "role": "user", "content": "Show it"});
    let events = run(&json!([question])).await;
    assert_eq!(settled(&store).await, RunState::Waiting);
    let of_kind = |kind: &str| events.iter().rfind(|event| event["type"] == kind).unwrap();
    let (start, seal) = (of_kind("TOOL_CALL_START"), of_kind("REASONING_ENCRYPTED_VALUE"));
    let call = json!({
        "id": start["toolCallId"], "type": "function", "encryptedValue": seal["encryptedValue"],
        "function": {"name": "show", "arguments": "{\"order\":17}"},
    });
    run(&json!([
        question,
        {"id": start["parentMessageId"], "role": "assistant", "toolCalls": [call]},
        {"id": "t1", "role": "tool", "toolCallId": start["toolCallId"], "content": "In Kiel"},
        {"id": "u2", "role": "user", "content": "What now?"},
    ]))
    .await;
    settled(&store).await;
    let sent = format!("{:?}", model.payloads().last().unwrap().transcript);
    assert!(sent.contains("In Kiel") && !sent.contains("never answered"), "{sent}");
    let stored = serde_json::to_string(&messages(&store).await[1]).unwrap();
    assert!(stored.contains("In Kiel"), "{stored}");
}

async fn code_of(assistant: &Assistant, body: &Value) -> (StatusCode, String) {
    let response = AssistantService::new(assistant.clone()).handle(request(body)).await;
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body: Value = serde_json::from_slice(&body).unwrap();
    (status, body["error"]["code"].as_str().unwrap().to_owned())
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_posted_again_gets_what_followed_it() {
    for (tool, state, part, other) in [
        ("show", "output-available", json!({"output": "In Kiel"}), json!({"output": "In Bonn"})),
        (
            "refund",
            "approval-responded",
            json!({"approval": {"approved": true}}),
            json!({"approval": {"approved": false}}),
        ),
    ] {
        let world = World::new(tool, WhenBusy::Supersede, false).await;
        let page = json!({"id": "c", "messages": world.page(state, part).await});
        let other = json!({"id": "c", "messages": world.page(state, other).await});
        let first = post(&world.assistant, &page).await;
        assert!(first.contains("Two."), "{first}");
        assert_eq!(settled(&world.runs).await, RunState::Finished);
        let last = json!({"id": "c", "message": page["messages"][1]});
        for retry in [&page, &last] {
            assert_eq!(post(&world.assistant, retry).await, first, "{tool}");
        }
        let refused = (StatusCode::CONFLICT, "already_answered".to_owned());
        assert_eq!(code_of(&world.assistant, &other).await, refused, "{tool}");
        assert_eq!(world.model.payloads().len(), 2);

        // The chat has gone on.
        post(&world.assistant, &ask("u2", "What now?")).await;
        settled(&world.runs).await;
        assert_eq!(code_of(&world.assistant, &page).await, refused, "{tool}");
        assert_eq!(world.refunds.load(Ordering::SeqCst), usize::from(tool == "refund"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_a_stop_is_not_taken_for_one_of_an_unknown_message() {
    let world = World::new("show", WhenBusy::Supersede, false).await;
    let page = world.page("output-available", json!({"output": "In Kiel"})).await;
    let mut stop = Request::post("/c/stop");
    stop.extensions_mut().unwrap().insert(Principal::new("ada"));
    let stop = stop.body(Full::<Bytes>::default()).unwrap();
    assert_eq!(AssistantService::new(world.assistant.clone()).handle(stop).await.status(), StatusCode::OK);
    let late = json!({"id": "c", "messages": page});
    assert_eq!(code_of(&world.assistant, &late).await, (StatusCode::CONFLICT, "not_waiting".to_owned()));
    // It counts with the next message.
    sleep(Duration::from_millis(1)).await;
    let (call, sent) = world.ask_next(page).await;
    assert_eq!(call["output"], "In Kiel", "{call}");
    assert!(sent.contains("In Kiel"), "{sent}");
}

/// A page posts its context, its tools and its own fields with each post. They change while the user answers.
#[tokio::test(start_paused = true)]
async fn an_answer_brings_the_context_and_the_tools_of_its_post() {
    for has_stopped in [false, true] {
        let store = MemoryStore::new();
        let slow = Turn::text("Half").then(Turn::pending());
        let mut model = ScriptedProvider::new().turn(call("navigate", json!({"to": 2})));
        model = if has_stopped { model.turn(slow) } else { model.turn(text("There.")) };
        let server = |model: &ScriptedProvider| {
            let prompt = |run: &RunContext| format!("Language: {:?}", run.body_field("language"));
            Assistant::builder(model.clone()).system_prompt(prompt).store(store.clone()).build().unwrap()
        };
        let page = |messages: &Value, place: &str, language: &str| {
            let tool =
                |name: &str| json!({"name": name, "description": name, "parameters": {"type": "object"}});
            json!({
                "id": "c", "messages": messages, "language": language,
                "context": [{"id": "route", "type": "route", "data": format!("the {place}")}],
                "tools": [tool("navigate"), tool(&format!("use_{place}"))],
            })
        };
        let first = server(&model);
        let question = ask("u1", "Go there")["message"].clone();
        post(&first, &page(&json!([question]), "shop", "french")).await;
        assert_eq!(settled(&store).await, RunState::Waiting);
        let mut asked = serde_json::to_value(messages(&store).await.last().unwrap()).unwrap();
        for part in asked["parts"].as_array_mut().unwrap() {
            if part["state"] == "input-available" {
                part["state"] = "output-available".into();
                part["output"] = "gone there".into();
            }
        }
        let body = open(&first, &page(&json!([question, asked]), "till", "german")).await;
        let sent = if has_stopped {
            sleep(Duration::from_secs(1)).await;
            drop(body);
            assert_eq!(first.drain(Duration::ZERO).await.released, 1);
            let model = ScriptedProvider::new().otherwise(|_| text("There."));
            look(&server(&model)).await;
            assert_eq!(settled(&store).await, RunState::Finished);
            format!("{:?}", model.payloads())
        } else {
            body.collect().await.unwrap();
            format!("{:?}", model.payloads()[1])
        };
        assert!(sent.contains("gone there"), "{sent}");
        for now in ["the till", "use_till", "german"] {
            assert!(sent.contains(now), "{now}, stopped: {has_stopped}: {sent}");
        }
        for before in ["the shop", "use_shop", "french"] {
            assert!(!sent.contains(before), "{before}, stopped: {has_stopped}: {sent}");
        }
    }
}

/// The answer comes with the next message, for a run that goes on before that of the message.
#[tokio::test(start_paused = true)]
async fn a_queued_message_brings_its_context_to_the_run_before_it() {
    let world = World::new("refund", WhenBusy::Enqueue, false).await;
    let mut page = world.page("approval-responded", json!({"approval": {"approved": true}})).await;
    page.push(ask("u2", "What now?")["message"].clone());
    let context = json!([{"id": "route", "type": "route", "data": "the till"}]);
    post(&world.assistant, &json!({"id": "c", "messages": page, "context": context})).await;
    assert_eq!(settled(&world.runs).await, RunState::Finished);
    for sent in &world.model.payloads()[1..] {
        assert!(format!("{sent:?}").contains("the till"), "{sent:?}");
    }
}

/// The run writes into the message of the page, which no run of the store began.
#[tokio::test(start_paused = true)]
async fn an_imported_answer_that_is_posted_again_gets_what_followed_it() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new()
        .turn([call("show", json!({"order": 17})), call("show", json!({"order": 18}))])
        .turn(text("Two."));
    let show = Tool::front_end_with_schema("show", "Shows an order", json!({"type": "object"}));
    let assistant = Assistant::builder(model.clone()).tool(show).store(store.clone()).build().unwrap();
    let call = json!({
        "type": "tool-show", "toolCallId": "call_1", "state": "output-available", "input": {}, "output": "In Kiel",
    });
    let imported = json!({"id": "a1", "role": "assistant", "parts": [{"type": "step-start"}, call]});
    let mut page = json!({"id": "c", "messages": [ask("u1", "Where?")["message"], imported]});
    let started = r#"{"type":"start","messageId":"a1""#;
    let asked = post(&assistant, &page).await;
    assert!(asked.contains(started), "{asked}");
    assert_eq!(settled(&store).await, RunState::Waiting);

    for is_last in [false, true] {
        page["messages"][1] = serde_json::to_value(messages(&store).await.last().unwrap()).unwrap();
        let parts = page["messages"][1]["parts"].as_array_mut().unwrap();
        let open = parts.iter_mut().find(|part| part["state"] == "input-available").unwrap();
        open["state"] = "output-available".into();
        open["output"] = "In Bonn".into();
        let first = post(&assistant, &page).await;
        assert!(first.contains(started), "the message of the page: {first}");
        assert_eq!(first.contains("Two."), is_last, "{first}");
        if is_last {
            assert_eq!(settled(&store).await, RunState::Finished);
            assert_eq!(post(&assistant, &page).await, first);
        }
    }
    assert_eq!(model.payloads().len(), 2);
}

/// Returns the call of the only message with one, whatever branch it is on.
async fn stored_call(world: &World) -> Value {
    let mut all = Window::default();
    all.branch = Branch::All;
    let conversation = world.chats.load(&scope(), "c", &all).await.unwrap().unwrap();
    let bodies = conversation.messages.iter();
    let bodies = bodies.map(|stored| serde_json::from_slice::<Value>(&stored.body).unwrap());
    let mut parts = bodies.flat_map(|message| message["parts"].as_array().unwrap().clone());
    parts.find(|part| part["toolCallId"].is_string()).unwrap()
}

const NO_ANSWERS: [(&str, &str); 2] = [("refund", "did not run"), ("show", "No result")];

#[tokio::test(start_paused = true)]
async fn the_question_of_a_stopped_run_is_not_left_open() {
    for (tool, says) in NO_ANSWERS {
        for has_own_store in [false, true] {
            let world = World::new(tool, WhenBusy::Supersede, has_own_store).await;
            send(&world.assistant, "/c/stop", &json!({})).await;
            assert_eq!(settled(&world.runs).await, RunState::Stopped);
            let call = stored_call(&world).await;
            assert_eq!(call["state"], "output-error", "{call}");
            assert!(call["errorText"].as_str().unwrap().contains(says), "{call}");
            let stream = get(&world.assistant, "/c/stream").await.into_body().collect().await.unwrap();
            let stream = String::from_utf8(stream.to_bytes().into()).unwrap();
            assert!(!stream.contains("tool-approval-request") && stream.contains(says), "{stream}");
            post(&world.assistant, &ask("u2", "What now?")).await;
            let sent = format!("{:?}", world.model.payloads().last().unwrap().transcript);
            assert!(sent.contains(says) && !sent.contains("unknown"), "{sent}");
            assert_eq!(world.said().await, ["Do it", "", "What now?", "Two."]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_question_of_a_run_that_another_one_follows_is_not_left_open() {
    for (tool, says) in NO_ANSWERS {
        for has_own_store in [false, true] {
            for (id, said) in
                [("u2", ["Do it", "", "What now?", "Two."].as_slice()), ("u1", &["What now?", "Two."])]
            {
                let world = World::new(tool, WhenBusy::Supersede, has_own_store).await;
                post(&world.assistant, &ask(id, "What now?")).await;
                assert_eq!(settled(&world.runs).await, RunState::Finished);
                let call = stored_call(&world).await;
                assert_eq!(call["state"], "output-error", "{call}");
                assert!(call["errorText"].as_str().unwrap().contains(says), "{call}");
                assert_eq!(world.said().await, said);
            }
        }
    }
}

/// One of two answers comes with the next message.
#[tokio::test(start_paused = true)]
async fn the_other_question_of_an_answered_message_is_not_left_open() {
    let store = MemoryStore::new();
    let show = |order: u32| call("show", json!({"order": order}));
    let model = ScriptedProvider::new().turn(show(17).then(show(18))).turn(text("Two."));
    let tool = Tool::front_end_with_schema("show", "Shows an order", json!({"type": "object"}));
    let assistant = Assistant::builder(model).tool(tool).store(store.clone()).build().unwrap();
    post(&assistant, &ask("u1", "Do it")).await;
    assert_eq!(settled(&store).await, RunState::Waiting);
    let mut page: Vec<_> =
        messages(&store).await.iter().map(|message| serde_json::to_value(message).unwrap()).collect();
    let parts = page[1]["parts"].as_array_mut().unwrap();
    let answered = parts.iter_mut().find(|part| part["toolCallId"].is_string()).unwrap();
    (answered["state"], answered["output"]) = ("output-available".into(), "In Kiel".into());
    page.push(ask("u2", "What now?")["message"].clone());
    post(&assistant, &json!({"id": "c", "messages": page})).await;
    assert_eq!(settled(&store).await, RunState::Finished);
    let stored = serde_json::to_value(&messages(&store).await[1]).unwrap();
    let calls = stored["parts"].as_array().unwrap().iter().filter(|part| part["toolCallId"].is_string());
    let states: Vec<_> = calls.map(|part| part["state"].as_str().unwrap().to_owned()).collect();
    assert_eq!(states, ["output-available", "output-error"], "{stored}");
}

/// A model whose ids of calls are unique in one answer only.
fn refund_of(order: u32) -> Turn {
    Turn::call_with_id("call_0", "refund", json!({"order": order}))
}

/// A page may show a question of an answer that another page has replaced.
#[tokio::test(start_paused = true)]
async fn an_approval_counts_for_the_message_that_asked_for_it_only() {
    #[derive(Deserialize, JsonSchema)]
    struct Order {
        order: u32,
    }
    for when_busy in [WhenBusy::Supersede, WhenBusy::Enqueue] {
        let store = MemoryStore::new();
        let model = ScriptedProvider::new().turn(refund_of(1)).turn(refund_of(2)).turn(text("Done."));
        let refunded = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&refunded);
        let refund = Tool::new("refund", "Refunds an order", move |Args(order): Args<Order>| {
            seen.lock().unwrap().push(order.order);
            async { Ok::<_, ToolError>("refunded") }
        });
        let assistant = Assistant::builder(model)
            .tool(refund.requires_approval(Approval::always()))
            .store(store.clone())
            .build()
            .unwrap();
        post(&assistant, &ask("u1", "Refund it")).await;
        assert_eq!(settled(&store).await, RunState::Waiting);
        let mut shown: Vec<_> =
            messages(&store).await.iter().map(|message| serde_json::to_value(message).unwrap()).collect();
        let edited = json!({"id": "c", "trigger": "submit-message", "messageId": "u1", "messages": [
            {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Refund the other"}]},
        ]});
        post(&assistant, &edited).await;
        assert_eq!(settled(&store).await, RunState::Waiting);

        let calls = shown[1]["parts"].as_array_mut().unwrap();
        let asked = calls.iter_mut().find(|part| part["toolCallId"] == "call_0").unwrap();
        asked["state"] = "approval-responded".into();
        asked["approval"]["approved"] = true.into();
        let late = json!({"id": "c", "messages": shown});
        assert_eq!(code_of(&assistant, &late).await, (StatusCode::CONFLICT, "not_waiting".to_owned()));
        let mut with_next = shown.clone();
        with_next.push(ask("u9", "And now?")["message"].clone());
        let mut next = request(&json!({"id": "c", "messages": with_next}));
        next.extensions_mut().insert(when_busy);
        drop(AssistantService::new(assistant.clone()).handle(next).await);
        sleep(Duration::from_secs(5)).await;
        assert!(refunded.lock().unwrap().is_empty(), "{when_busy:?}: {refunded:?}");
    }
}

/// Another page has answered the first question of a run, which waits for the second one.
#[tokio::test(start_paused = true)]
async fn another_answer_to_a_question_is_refused_while_the_run_waits_for_the_next_one() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new()
        .turn(call("show", json!({"order": 17})))
        .turn(call("show", json!({"order": 18})))
        .turn(text("Done."));
    let show = Tool::front_end_with_schema("show", "Shows an order", json!({"type": "object"}));
    let assistant = Assistant::builder(model.clone()).tool(show).store(store.clone()).build().unwrap();
    post(&assistant, &ask("u1", "Show them")).await;
    assert_eq!(settled(&store).await, RunState::Waiting);
    let page = async |output: &str| {
        let mut shown: Vec<_> =
            messages(&store).await.iter().map(|message| serde_json::to_value(message).unwrap()).collect();
        let calls = shown[1]["parts"].as_array_mut().unwrap();
        let open = calls.iter_mut().find(|part| part["state"] == "input-available").unwrap();
        open["state"] = "output-available".into();
        open["output"] = output.into();
        json!({"id": "c", "messages": shown})
    };
    let (given, stale) = (page("In Kiel").await, page("In Bonn").await);
    post(&assistant, &given).await;
    assert_eq!(settled(&store).await, RunState::Waiting);

    let refused = (StatusCode::CONFLICT, "already_answered".to_owned());
    assert_eq!(code_of(&assistant, &stale).await, refused);
    assert_eq!(state(&store).await, RunState::Waiting);
    assert_eq!(model.payloads().len(), 2);
    let last = page("In Ulm").await;
    assert!(post(&assistant, &last).await.contains("Done."));
    let sent = format!("{:?}", model.payloads().last().unwrap().transcript);
    assert!(sent.contains("In Kiel") && sent.contains("In Ulm") && !sent.contains("In Bonn"), "{sent}");
}

/// A page that is loaded again would show the calls as running. The second tool waits for the first one.
#[tokio::test(start_paused = true)]
async fn no_call_of_a_stopped_run_is_open() {
    let store = MemoryStore::new();
    let calls = call("refund", json!({"order": 1})).then(call("refund", json!({"order": 2})));
    let model = ScriptedProvider::new().turn(calls.then(call("show", json!({})))).turn(text("I see."));
    let mut limits = Limits::default();
    limits.max_parallel_tools = 1;
    let assistant = Assistant::builder(model.clone())
        .tool(Tool::new("refund", "Refunds an order", std::future::pending::<Result<&str, ToolError>>))
        .tool(Tool::front_end_with_schema("show", "Shows an order", json!({"type": "object"})))
        .limits(limits)
        .store(store.clone())
        .build()
        .unwrap();
    let answer = open(&assistant, &ask("u1", "Do it")).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(send(&assistant, "/c/stop", &json!({})).await.status(), StatusCode::OK);
    assert_eq!(state(&store).await, RunState::Stopped);
    drop(answer);

    let unknown = "It is not known whether this took effect";
    let stored = serde_json::to_value(&messages(&store).await[1]).unwrap();
    let errors = stored["parts"].as_array().unwrap().iter().filter(|part| part["toolCallId"].is_string());
    let errors: Vec<_> = errors.map(|part| part["errorText"].as_str().unwrap_or_default()).collect();
    assert!(errors[0].starts_with(unknown), "{stored}");
    assert!(errors.len() == 3 && errors[1..].iter().all(|error| error.starts_with("No result")), "{stored}");
    post(&assistant, &ask("u2", "And now?")).await;
    let sent = format!("{:?}", model.payloads().last().unwrap().transcript);
    assert_eq!(sent.matches(unknown).count(), 1, "{sent}");
}

/// The model must not take a call that has begun for one that was never approved.
#[tokio::test(start_paused = true)]
async fn the_outcome_of_an_approved_call_that_is_stopped_is_unknown() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().turn(call("refund", json!({}))).turn(text("I see."));
    let refund = Tool::new("refund", "Refunds an order", async || {
        sleep(Duration::from_secs(30)).await;
        Ok::<_, ToolError>("refunded")
    });
    let builder = Assistant::builder(model.clone()).tool(refund.requires_approval(Approval::always()));
    let assistant = builder.store(store.clone()).build().unwrap();
    post(&assistant, &ask("u1", "Do it")).await;
    assert_eq!(settled(&store).await, RunState::Waiting);
    let mut page = serde_json::to_value(messages(&store).await).unwrap();
    let refund = page[1]["parts"].as_array_mut().unwrap().last_mut().unwrap();
    refund["state"] = "approval-responded".into();
    refund["approval"]["approved"] = true.into();
    let answer = open(&assistant, &json!({"id": "c", "messages": page})).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(state(&store).await, RunState::Running);
    assert_eq!(send(&assistant, "/c/stop", &json!({})).await.status(), StatusCode::OK);
    assert_eq!(state(&store).await, RunState::Stopped);
    drop(answer);

    let unknown = "It is not known whether this took effect";
    let stored = serde_json::to_string(&messages(&store).await[1]).unwrap();
    assert!(stored.contains("output-error") && stored.contains(unknown), "{stored}");
    post(&assistant, &ask("u2", "And now?")).await;
    let sent = format!("{:?}", model.payloads().last().unwrap().transcript);
    assert!(sent.contains(unknown) && !sent.contains("did not answer"), "{sent}");
}
