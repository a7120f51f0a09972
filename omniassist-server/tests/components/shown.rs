//! Tests of components that models and tools show.

use omniassist_server::component::{Component, Ui};
use omniassist_server::core::message::{Message, ToolState};
use omniassist_server::core::{JsonText, RunEvent};
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{builder, chunks, post_to, shows_cart, state_in};
use crate::approvals::post;

fn question() -> Vec<Message> {
    vec![Message::user("q", "What is in my cart?")]
}

fn output_of(message: &Message) -> Value {
    let call = message.tools().last().unwrap();
    let ToolState::OutputAvailable { output, .. } = &call.state else { panic!("{call:?}") };
    output.to_value()
}

#[tokio::test]
async fn a_shown_component_has_an_instance_with_a_sealed_state() {
    let model = shows_cart();
    let assistant = builder(model.clone()).build().unwrap();
    let (messages, _) = post(&assistant, "c", question()).await;
    let answer = messages.last().unwrap();

    let (instance, state) = state_in(answer);
    assert!(instance.starts_with("cart_") && instance.len() == "cart_".len() + 13, "{instance}");
    assert_eq!(state.component, *"cart");
    assert_eq!(state.state.to_value(), json!({"ticked": []}));
    assert_eq!(state.server.unwrap().to_value(), json!({"paid": 0, "articles": 2}));
    assert!(state.seal.is_some());
    let expected = json!({"instanceId": instance, "componentName": "cart", "rendered": true});
    assert_eq!(output_of(answer), expected);
    let tools = format!("{:?}", model.payloads()[0].tools);
    assert!(
        tools.contains("ui_cart") && !tools.contains("pay"),
        "actions are no tools of the model: {tools}"
    );
}

#[tokio::test]
async fn the_model_reads_the_states_and_shows_an_instance_again() {
    let model = shows_cart();
    let assistant = builder(model.clone()).build().unwrap();
    let (mut messages, _) = post(&assistant, "c", question()).await;
    let (instance, _) = state_in(messages.last().unwrap());
    for part in &mut messages.last_mut().unwrap().parts {
        if let omniassist_server::core::message::Part::Data(part) = part {
            let mut data = part.data.to_value();
            data["state"] = json!({"ticked": ["tea"]});
            part.data = JsonText::from_value(&data);
        }
    }
    drop(model.clone().turn(call("ui_cart", json!({"articles": ["tea"], "instanceId": instance}))));
    drop(model.clone().turn(text("Changed.")));
    messages.push(Message::user("q2", "Only what I ticked, please"));
    let (messages, _) = post(&assistant, "c", messages).await;

    let sent = format!("{:?}", model.payloads()[2]);
    assert!(sent.contains(&instance) && sent.contains("ticked"), "{sent}");
    let (again, state) = state_in(messages.last().unwrap());
    assert_eq!(again, instance, "the instance is shown again");
    assert_eq!(state.state.to_value(), json!({"ticked": ["tea"]}), "what the user ticked is kept");
    assert_eq!(state.server.unwrap().to_value()["articles"], 1);
    assert!(state.rev > 0);
}

#[tokio::test]
async fn props_that_do_not_fit_are_an_error_that_the_model_corrects() {
    let model = ScriptedProvider::new()
        .turn(call("ui_cart", json!({"articles": "tea"})))
        .turn(call("ui_cart", json!({"articles": ["tea"]})))
        .turn(text("There."));
    let assistant = builder(model.clone()).build().unwrap();
    let (messages, _) = post(&assistant, "c", question()).await;
    let errors: Vec<_> = messages
        .last()
        .unwrap()
        .tools()
        .filter_map(|call| match &call.state {
            ToolState::OutputError { error_text, .. } => Some(error_text.to_string()),
            _ => None,
        })
        .collect();
    let [error] = &errors[..] else { panic!("{errors:?}") };
    assert!(error.starts_with("Component props validation failed: "), "{error}");
    let sent = format!("{:?}", model.payloads()[1].transcript);
    assert!(sent.contains("Component props validation failed: ") && sent.contains("/articles"), "{sent}");
    state_in(messages.last().unwrap());
}

#[tokio::test]
async fn a_client_gets_only_the_components_that_it_names() {
    let model = ScriptedProvider::new().turn(text("No.")).turn(text("No."));
    let assistant = builder(model.clone()).build().unwrap();
    let message = json!({"id": "q", "role": "user", "parts": [{"type": "text", "text": "Hi"}]});
    for (index, names) in [json!(["cart"]), json!([])].into_iter().enumerate() {
        let body = json!({"id": format!("c{index}"), "messages": [message], "components": names});
        let (status, _) = post_to(&assistant, "ada", "/", &body).await;
        assert_eq!(status, 200);
    }
    let offered: Vec<bool> =
        model.payloads().iter().map(|sent| format!("{:?}", sent.tools).contains("ui_cart")).collect();
    assert_eq!(offered, [true, false]);
    let body = json!({"id": "c", "messages": [message], "components": "cart"});
    let (status, answer) = post_to(&assistant, "ada", "/", &body).await;
    assert_eq!(status, 400);
    assert!(answer.contains("components"), "{answer}");
}

#[tokio::test]
async fn clients_of_plain_text_get_the_text_of_a_component() {
    let assistant = builder(shows_cart()).build().unwrap();
    let message = json!({"id": "q", "role": "user", "parts": [{"type": "text", "text": "Hi"}]});
    let body = json!({"id": "c", "messages": [message]});
    let (status, answer) = post_to(&assistant, "ada", "/?protocol=text", &body).await;
    assert_eq!((status, answer.as_str()), (200, "Cart: tea, milk\n\nThere."));
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "only the schema counts")]
struct Slots {
    times: Vec<String>,
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "only the schema counts")]
struct Choice {
    time: String,
}

#[tokio::test]
async fn an_awaiting_component_ends_the_run_and_checks_the_answer() {
    let model = ScriptedProvider::new()
        .turn(call("ui_pick-slot", json!({"times": ["9:00", "10:00"]})))
        .turn(text("Booked."));
    let pick = Component::awaiting::<Slots, Choice>("pick-slot", "Lets the user pick a time");
    let assistant = builder(model.clone()).component(pick).build().unwrap();
    let (messages, _) = post(&assistant, "c", question()).await;
    for (answer, is_valid) in [(json!({"time": 9}), false), (json!({"time": "9:00"}), true)] {
        let mut messages = messages.clone();
        for part in &mut messages.last_mut().unwrap().parts {
            if let omniassist_server::core::message::Part::Tool(call) = part
                && let ToolState::InputAvailable { input } = &call.state
            {
                let (input, output) = (input.clone(), JsonText::from_value(&answer));
                call.state = ToolState::OutputAvailable { input, output, preliminary: false };
            }
        }
        if !is_valid {
            drop(model.clone().turn(text("Again.")));
        }
        post(&assistant, "c", messages).await;
        let sent = format!("{:?}", model.payloads().last().unwrap().transcript);
        assert_eq!(sent.contains("The user's answer does not fit"), !is_valid, "{sent}");
        assert_eq!(sent.contains(r#"{"time":"9:00"}"#), is_valid, "{sent}");
    }
}

#[tokio::test]
async fn a_server_tool_shows_a_component_and_a_fault_of_its_props() {
    let tool = |name: &'static str, props: Value| {
        Tool::new(name, "Shows a cart", move |ui: Ui| {
            let props = props.clone();
            async move { ui.show("cart", props).map(|_| "shown") }
        })
    };
    let model = ScriptedProvider::new()
        .turn(call("good", json!({})))
        .turn(call("bad", json!({})))
        .turn(text("There."));
    let assistant = builder(model)
        .tool(tool("good", json!({"articles": ["tea"]})))
        .tool(tool("bad", json!({"articles": 1})))
        .build()
        .unwrap();
    let message = json!({"id": "q", "role": "user", "parts": [{"type": "text", "text": "Hi"}]});
    let (_, answer) = post_to(&assistant, "ada", "/", &json!({"id": "c", "messages": [message]})).await;
    let shown: Vec<Value> = chunks(&answer).into_iter().filter(|chunk| chunk["type"] == "data-ui").collect();
    let [good, bad] = &shown[..] else { panic!("{answer}") };
    assert_eq!(
        good["data"],
        json!({"component": "cart", "props": {"articles": ["tea"]}, "status": "complete"})
    );
    assert_eq!(bad["data"]["status"], "error");
    let error = bad["data"]["error"].as_str().unwrap();
    assert!(error.starts_with("Component props validation failed: "), "{error}");
}

#[tokio::test]
async fn a_server_tool_shows_its_instance_again_with_other_props() {
    let tool = Tool::new("fill", "Fills a cart", async |ui: Ui| {
        let cart = ui.show("cart", json!({"articles": ["tea"]}))?;
        ui.show_as(&cart, "cart", json!({"articles": ["tea", "jam"]}))
    });
    let model = ScriptedProvider::new().turn(call("fill", json!({}))).turn(text("There."));
    let assistant = builder(model).tool(tool).build().unwrap();
    let message = json!({"id": "q", "role": "user", "parts": [{"type": "text", "text": "Hi"}]});
    let (_, answer) = post_to(&assistant, "ada", "/", &json!({"id": "c", "messages": [message]})).await;
    let shown: Vec<Value> = chunks(&answer).into_iter().filter(|chunk| chunk["type"] == "data-ui").collect();
    let last = shown.last().unwrap();
    assert!(shown.iter().all(|chunk| chunk["id"] == last["id"]), "{answer}");
    assert_eq!(last["data"]["props"], json!({"articles": ["tea", "jam"]}));
}

#[tokio::test]
async fn a_component_that_fails_or_panics_is_an_error_of_its_call() {
    for panics in [false, true] {
        let broken = Component::new::<super::Cart>("broken", "Is broken").render(move || async move {
            assert!(!panics, "broken");
            Err(ToolError::new("It is broken."))
        });
        let model =
            ScriptedProvider::new().turn(call("ui_broken", json!({"articles": []}))).turn(text("Sorry."));
        let assistant = builder(model).component(broken).build().unwrap();
        let (messages, events) = post(&assistant, "c", question()).await;
        let call = messages.last().unwrap().tools().last().unwrap();
        assert!(matches!(call.state, ToolState::OutputError { .. }), "{call:?}");
        let event = events.iter().find(|event| matches!(event, RunEvent::Component(_)));
        let event = serde_json::to_string(event.unwrap()).unwrap();
        assert!(
            event.contains("componentError") && event.contains("\"componentName\":\"broken\""),
            "{event}"
        );
    }
}
