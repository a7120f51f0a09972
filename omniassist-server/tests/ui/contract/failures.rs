//! Items 40 to 42: the types, and the failures of components.

use omniassist_server::component::{
    ComponentErrorBoundary, ComponentProps, ComponentRegistry, ComponentStreamCoordinator, Environment,
};
use omniassist_server::core::event::ComponentEvent;
use omniassist_server::ui::{UiMessage, UiMessageComponent};

use super::*;
use crate::components::post_to;

#[test]
fn contract_002_40_the_types_have_the_members_of_the_document() {
    let mut coordinator = ComponentStreamCoordinator::new(ComponentRegistry::from_iter([dashboard()]));
    let event = RunEvent::TextDelta { id: omniassist_server::core::event::BlockId(0), delta: "Hi".into() };
    let part = serde_json::to_value(coordinator.push(&event).unwrap().unwrap()).unwrap();
    assert_eq!(part, json!({ "type": "text", "content": "Hi", "isComplete": true, "isValid": true }));
    let start =
        RunEvent::ToolInputStart { call_id: "1".into(), name: "ui_Dashboard".into(), title: None, app: None };
    assert!(coordinator.push(&start).unwrap().is_none());
    let delta =
        RunEvent::ToolInputDelta { call_id: "1".into(), delta: r#"{"panels": 7, "title": "S"#.into() };
    let part = serde_json::to_value(coordinator.push(&delta).unwrap().unwrap()).unwrap();
    let keys = ["callId", "componentName", "isComplete", "isValid", "props", "type", "validationErrors"];
    assert_eq!(keys_of(part.as_object().unwrap()), keys);
    let props: ComponentProps = part["props"].as_object().unwrap().clone();
    assert_eq!(props["title"], "S");

    let message = json!({ "role": "assistant", "content": "There.",
        "component": { "instanceId": "chart_1", "name": "chart", "props": { "title": "S" }, "state": { "period": "week" } },
        "renderedElement": { "kind": "chart" } });
    let read: UiMessage = serde_json::from_value(message.clone()).unwrap();
    let UiMessageComponent { name, .. } = read.component.as_ref().unwrap();
    assert_eq!((name.as_str(), serde_json::to_value(&read).unwrap()), ("chart", message));
    assert_eq!(serde_json::to_value(UiMessage::default()).unwrap(), json!({}), "each member is optional");
}

/// A component that fails, or panics.
fn broken(panics: bool) -> Component {
    let component = Component::new::<Dashboard>("Broken", "Is broken").render(move || async move {
        assert!(!panics, "the secret of the host");
        Err::<ComponentOutput, _>(ToolError::new("No data.").with_source("the secret of the host"))
    });
    component.cli(|props: &Dashboard, _| format!("Broken: {}", props.title))
}

fn agent_with(model: &ScriptedProvider, components: impl IntoIterator<Item = Component>) -> UiAgent {
    UiAgent::for_web(options(model, &in_memory()).components(components)).unwrap()
}

fn faults(events: &[RunEvent]) -> Vec<Value> {
    let events = events.iter().filter_map(|event| match event {
        RunEvent::Component(event) => match &**event {
            ComponentEvent::Emitted(event) if event.kind == "componentError" => Some(event.data.to_value()),
            _ => None,
        },
        _ => None,
    });
    events.collect()
}

#[tokio::test]
async fn contract_002_41_a_failing_component_is_logged_and_sent_as_an_event() {
    for (panics, error) in [(false, "No data."), (true, "The tool failed.")] {
        let (log, _guard) = Log::install();
        let model = ScriptedProvider::new().turn(call("ui_Broken", sales())).turn(text("Sorry."));
        let (messages, events) = ask(&agent_with(&model, [broken(panics)]), question()).await;
        let logged = log.text();
        assert!(logged.contains("Component Broken failed:"), "{logged}");
        assert!(logged.contains("the secret of the host") || panics, "the log has the source: {logged}");
        let faults = faults(&events);
        let [fault] = &faults[..] else { panic!("{events:?}") };
        assert_eq!(keys_of(fault.as_object().unwrap()), ["componentName", "error", "instanceId"]);
        assert_eq!(fault["componentName"], "Broken");
        assert!(fault["instanceId"].as_str().unwrap().starts_with("Broken_"));
        if !panics {
            assert_eq!(fault["error"], error);
        }
        assert!(!format!("{events:?}").contains("secret"), "clients get safe text");
        // The answer goes on, and the model reads the failure.
        assert_eq!(messages.last().unwrap().text(), "Sorry.");
    }
    // Props are checked before the function is called.
    let model = ScriptedProvider::new().turn(call("ui_Broken", json!({ "title": 7 }))).turn(text("Sorry."));
    ask(&agent_with(&model, [broken(true)]), question()).await;
    let sent = format!("{:?}", model.payloads()[1].transcript);
    assert!(sent.contains("Component props validation failed: "), "{sent}");
}

#[tokio::test]
async fn contract_002_42_a_failing_component_has_a_fallback() {
    let expected = json!({ "type": "error", "componentName": "Broken", "message": "No data." });
    assert_eq!(ComponentErrorBoundary::fallback("Broken", "No data.", Environment::Web), expected);
    let terminal = "❌ Error rendering Broken: No data.";
    assert_eq!(ComponentErrorBoundary::fallback("Broken", "No data.", Environment::Cli), terminal);

    // In a terminal, or for a client of text.
    let model = ScriptedProvider::new().turn(call("ui_Broken", sales())).turn(text("Sorry."));
    let message = json!({ "id": "q", "role": "user", "parts": [{ "type": "text", "text": "Hi" }] });
    let body = json!({ "id": "c", "messages": [message] });
    let agent = agent_with(&model, [broken(false)]);
    let (_, answer) = post_to(agent.assistant(), "ada", "/?protocol=text", &body).await;
    assert_eq!(answer, format!("{terminal}\n\nSorry."));

    // Within another component of a page: the rest is shown.
    let model = ScriptedProvider::new().turn(call("ui_Frame", sales())).turn(text("There."));
    let frame =
        Component::new::<Dashboard>("Frame", "Shows two parts").render(async |ui: ComponentContext| {
            let (broken, dashboard) = (broken(true), dashboard());
            let first = ComponentErrorBoundary::render_safely(&broken, sales(), &ui).await;
            let second = ComponentErrorBoundary::render_safely(&dashboard, json!({ "title": 7 }), &ui).await;
            let third = ComponentErrorBoundary::render_safely(&dashboard, sales(), &ui).await;
            let parts = [first, second, third].map(|part| part.element_value().cloned());
            Ok::<_, ToolError>(ComponentOutput::new().element(parts))
        });
    let (messages, events) = ask(&agent_with(&model, [frame]), question()).await;
    let parts = output(&messages)["element"].clone();
    assert_eq!((&parts[0]["type"], &parts[0]["componentName"]), (&json!("error"), &json!("Broken")));
    let reason = parts[1]["message"].as_str().unwrap();
    assert!(reason.starts_with("Component props validation failed: "), "{reason}");
    assert_eq!(parts[2], json!({ "kind": "dashboard" }));
    assert_eq!(faults(&events).len(), 2);
}
