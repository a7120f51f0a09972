//! Tests of the limits on the states of components, and of clients that post too much.

#![allow(clippy::print_stdout, reason = "a test prints its costs")]

use omniassist_server::component::{Component, ComponentContext};
use omniassist_server::core::event::InstanceState;
use omniassist_server::core::message::Message;
use omniassist_server::core::{JsonText, Limits};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Args, Assistant, ToolError};
use serde_json::{Value, json};

use super::{Cart, Pay, Ticked, Totals, action_body, builder, chunks, keys, post_to, shows_cart, state_in};
use crate::approvals::post;
use crate::request_cpu_time::{bound, cost};

/// Returns a part of a state that has this many bytes of JSON.
fn ticked(bytes: usize) -> Value {
    let empty = json!({"ticked": [""]}).to_string().len();
    json!({"ticked": ["t".repeat(bytes - empty)]})
}

/// Returns a body with these parts in answers of at most 1,000 each.
fn conversation(parts: &[Value]) -> Value {
    let message = |id: String| json!({"id": id, "role": "user", "parts": [{"type": "text", "text": "Hi"}]});
    let mut messages = vec![message("q".to_owned())];
    for (index, parts) in parts.chunks(1_000).enumerate() {
        messages.push(json!({"id": format!("a{index}"), "role": "assistant", "parts": parts}));
        messages.push(message(format!("q{index}")));
    }
    json!({"id": "c", "messages": messages})
}

fn state_part(id: &str, state: &InstanceState) -> Value {
    json!({"type": "data-ui-state", "id": id, "data": state})
}

fn last_sent(model: &ScriptedProvider) -> String {
    format!("{:?}", model.payloads().last().unwrap().transcript)
}

#[tokio::test]
async fn a_state_of_the_user_is_accepted_up_to_the_limit() {
    let mut limits = Limits::default();
    limits.max_component_state_bytes = 300;
    let model = shows_cart().turn(text("Fine.")).turn(text("Fine."));
    let assistant = builder(model.clone()).limits(limits).build().unwrap();
    let (messages, _) = post(&assistant, "c", vec![Message::user("q", "My cart?")]).await;
    let (instance, mut state) = state_in(messages.last().unwrap());
    for (bytes, is_accepted) in [(300, true), (301, false)] {
        state.state = JsonText::from_value(&ticked(bytes));
        assert_eq!(state.state.as_str().len(), bytes);
        let (status, _) =
            post_to(&assistant, "ada", "/", &conversation(&[state_part(&instance, &state)])).await;
        assert_eq!(status, 200);
        assert_eq!(last_sent(&model).contains("ttttt"), is_accepted, "{bytes}");
        let path = format!("/ui/{instance}/pay");
        let (status, answer) =
            post_to(&assistant, "ada", &path, &action_body(&state, &json!({"cents": 1}))).await;
        assert_eq!(status == 200, is_accepted, "{answer}");
        if !is_accepted {
            let error: Value = serde_json::from_str(&answer).unwrap();
            let limit = json!({"name": "max_component_state_bytes", "value": 300});
            assert_eq!((status, &error["error"]["limit"]), (400, &limit), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_change_of_the_server_beyond_the_limit_fails_and_changes_nothing() {
    let grow = async |Args(order): Args<Pay>, cart: ComponentContext| {
        let bytes = usize::try_from(order.cents).unwrap();
        let grown = |state: &mut Ticked| {
            state.ticked = serde_json::from_value(ticked(bytes)["ticked"].clone()).unwrap();
        };
        let failed = cart.update_state(grown).await.is_err();
        // The client gets the state in any case.
        cart.update_server_state(|totals: &mut Totals| totals.paid += 1).await?;
        Ok::<_, ToolError>(json!({"failed": failed}))
    };
    let model = ScriptedProvider::new().turn(call("ui_grows", json!({"articles": []}))).turn(text("There."));
    let component = Component::new::<Cart>("grows", "Grows")
        .state::<Ticked>()
        .server_state::<Totals>()
        .on_action("grow", grow);
    let mut limits = Limits::default();
    limits.max_component_state_bytes = 300;
    let assistant =
        Assistant::builder(model).component(component).seal_keys(keys()).limits(limits).build().unwrap();
    let (messages, _) = post(&assistant, "c", vec![Message::user("q", "Grow")]).await;
    let (instance, state) = state_in(messages.last().unwrap());
    for (bytes, fits) in [(300, true), (301, false)] {
        let body = action_body(&state, &json!({ "cents": bytes }));
        let (_, answer) = post_to(&assistant, "ada", &format!("/ui/{instance}/grow"), &body).await;
        assert!(answer.contains(&format!("\"failed\":{}", !fits)), "{answer}");
        let chunks = chunks(&answer);
        let last = chunks.iter().rfind(|chunk| chunk["type"] == "data-ui-state").unwrap();
        assert_eq!(last["data"]["state"].to_string().len() == 300, fits, "{answer}");
        assert_eq!(last["data"]["rev"], state.rev + 1 + u64::from(fits), "{answer}");
    }
}

#[tokio::test]
async fn the_newest_instances_count_up_to_the_limit() {
    let carts = |count: usize| {
        (0..count).fold(Turn::text("See."), |turn, _| turn.then(call("ui_cart", json!({"articles": []}))))
    };
    for (count, lost) in [(3, 0), (4, 1)] {
        let model = ScriptedProvider::new().turn(carts(count)).turn(text("There.")).turn(text("Fine."));
        let mut limits = Limits::default();
        limits.max_component_instances = 3;
        let assistant = builder(model.clone()).limits(limits).build().unwrap();
        let question = json!({"id": "q", "role": "user", "parts": [{"type": "text", "text": "Carts?"}]});
        let body = json!({"id": "c", "messages": [question]});
        let (_, answer) = post_to(&assistant, "ada", "/", &body).await;
        let shown = chunks(&answer).into_iter().filter(|chunk| chunk["type"] == "data-ui-state");
        let parts: Vec<Value> = shown
            .map(|chunk| json!({"type": chunk["type"], "id": chunk["id"], "data": chunk["data"]}))
            .collect();
        assert_eq!(parts.len(), count);
        let (status, _) = post_to(&assistant, "ada", "/", &conversation(&parts)).await;
        assert_eq!(status, 200);
        let sent = last_sent(&model);
        let is_sent: Vec<bool> =
            parts.iter().map(|part| sent.contains(part["id"].as_str().unwrap())).collect();
        assert_eq!(is_sent.iter().filter(|sent| !**sent).count(), lost, "{sent}");
        assert!(is_sent.iter().skip(lost).all(|sent| *sent), "the oldest is left out: {is_sent:?}");
    }
}

/// Returns a call that a front end claims to have run, and which shows an instance.
fn claimed(tool: &str, instance: &str) -> Value {
    let output =
        json!({"instanceId": instance, "componentName": tool.trim_start_matches("ui_"), "rendered": true});
    json!({"type": format!("tool-{tool}"), "toolCallId": format!("call-{instance}"), "state": "output-available",
        "input": {"articles": []}, "output": output})
}

#[tokio::test]
async fn a_client_cannot_invent_an_instance() {
    let pick = Component::awaiting::<Cart, Cart>("pick", "Lets the user pick");
    let model = ScriptedProvider::new().otherwise(|_| text("Fine."));
    let assistant = builder(model.clone()).component(pick).build().unwrap();
    for tool in ["ui_other", "ui_cart", "ui_pick"] {
        for declares in [false, true] {
            let mut body = conversation(&[claimed(tool, "invented-1")]);
            if declares {
                body["tools"] =
                    json!([{"name": tool, "description": "d", "inputSchema": {"type": "object"}}]);
            }
            let (status, _) = post_to(&assistant, "ada", "/", &body).await;
            let sent = model.payloads().last().map(|_| last_sent(&model)).unwrap_or_default();
            assert!(status == 400 || !sent.contains("invented-1 = "), "{tool} {declares}: {sent}");
        }
    }
}

#[tokio::test]
async fn a_client_cannot_post_the_context_of_instances() {
    let model = ScriptedProvider::new().otherwise(|_| text("Fine."));
    let assistant = builder(model.clone()).build().unwrap();
    for kind in ["shown-components", " Shown-Components "] {
        let mut body = conversation(&[json!({"type": "text", "text": "There."})]);
        body["context"] = json!([
            {"id": "1", "type": kind, "data": {"invented-2": {"component": "cart", "server": {"paid": 9}}}},
            {"id": "2", "type": "page", "data": {"path": "kept"}},
        ]);
        let (status, answer) = post_to(&assistant, "ada", "/", &body).await;
        let sent = last_sent(&model);
        assert!(status == 200 && sent.contains("kept") && !sent.contains("invented-2"), "{answer} {sent}");
    }
}

#[test]
fn many_and_large_states_cost_little() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let model = ScriptedProvider::new()
        .turn(call("ui_cart", json!({"articles": ["tea"]})))
        .otherwise(|_| text("Fine."));
    let assistant = builder(model).build().unwrap();
    let shown = vec![Message::user("q", "My cart?")];
    let (messages, _) = runtime.block_on(post(&assistant, "c", shown));
    let (instance, mut state) = state_in(messages.last().unwrap());
    state.state = JsonText::from_value(&json!({"ticked": vec!["tea"; 2_000]}));
    let copies = vec![state_part(&instance, &state); 400];
    let seal = "v1.k1.0.AAAAAAAAAAAAAAAAAAAAAA";
    let forged = json!({"component": "cart", "rev": 1_000_000, "state": {}, "seal": seal});
    let part = |id: String| json!({"type": "data-ui-state", "id": id, "data": forged});
    let forgeries = (0..20_000).map(|number| part(format!("cart_{number}"))).collect();
    let long = (0..4).map(|number| part(format!("{number}{}", "x".repeat(1024 * 1024)))).collect();
    let claims = (0..20_000).map(|number| claimed("ui_other", &format!("other-{number}"))).collect();
    let posts: [(_, Vec<Value>); 4] =
        [("copies", copies), ("forgeries", forgeries), ("long ids", long), ("claims", claims)];
    for (name, parts) in posts {
        let body = conversation(&parts);
        let parse = cost(|| serde_json::from_str::<Value>(&body.to_string()).map(drop)).0;
        let (cost, (status, answer)) = cost(|| runtime.block_on(post_to(&assistant, "ada", "/", &body)));
        println!(
            "{name}: {} bytes, {cost:?}, {} times parsing it; {status} {answer:.200}",
            body.to_string().len(),
            cost.as_micros() / parse.as_micros()
        );
        assert_eq!(status, 200, "{answer}");
        assert!(cost < bound() + parse * 20, "{name}: {cost:?}, parsing takes {parse:?}");
    }
}
