//! Tests of the tools of a page.

use omniassist_server::tool::BrowserTools;

use super::*;

fn paged(model: &ScriptedProvider) -> Assistant {
    let tools = ["discover_dom", "fill_input", "control_cursor", "web_control", "requestInput"];
    let row = json!({ "id": "guide", "description": "Guides.", "tools": tools });
    let catalog = AgentCatalog::new(Table::of([("guide", row)])).tools(BrowserTools::all());
    assistant_of(model, catalog, &Told::default())
}

/// Contract A.2, 9 and 24: the model calls a tool of the page, and reads what the page found.
#[tokio::test]
async fn a_page_runs_its_tools() {
    let found = json!({ "kind": "field", "text": "Street", "limit": 5 });
    let model = ScriptedProvider::new().turn(call("discover_dom", found.clone())).turn(text("I see it."));
    let assistant = paged(&model);
    let (_, answer) = run(&assistant, "ada", "guide").await;
    let chunks: Vec<Value> = answer
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter_map(|json| serde_json::from_str(json).ok())
        .collect();
    let call = chunks.iter().find(|chunk| chunk["type"] == "tool-input-available").expect("a call");
    assert_eq!((&call["toolName"], &call["input"]), (&json!("discover_dom"), &found));

    let mut offered = model.payloads()[0].tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
    offered.sort();
    assert_eq!(offered, ["control_cursor", "discover_dom", "fill_input", "requestInput", "web_control"]);
    let message = chunks.iter().find(|chunk| chunk["type"] == "start").unwrap()["messageId"].clone();
    let part = json!({
        "type": "tool-discover_dom", "toolCallId": call["toolCallId"], "state": "output-available", "input": found,
        "output": [{ "id": "e1", "kind": "field", "label": "Street" }],
    });
    let mut posted = question();
    let messages = posted["messages"].as_array_mut().unwrap();
    messages.push(json!({ "id": message, "role": "assistant", "parts": [{ "type": "step-start" }, part] }));
    let (status, answer) = send(&assistant, "ada", Method::POST, "/api/run/guide", Some(&posted)).await;
    assert!(status == StatusCode::OK && answer.contains("I see it."), "{status} {answer}");
    let read = format!("{:?}", model.payloads()[1].transcript);
    assert!(read.contains("Street"), "{read}");
}

#[tokio::test]
async fn arguments_that_the_page_could_not_use_are_refused() {
    let cases = [
        ("discover_dom", json!({ "kind": "link", "limit": 1 }), true),
        ("discover_dom", json!({ "kind": "link", "limit": 100 }), true),
        ("discover_dom", json!({ "kind": "link", "limit": 0 }), false),
        ("discover_dom", json!({ "kind": "link", "limit": 101 }), false),
        ("discover_dom", json!({ "kind": "lamp", "limit": 1 }), false),
        ("fill_input", json!({ "element": "e1", "value": "" }), true),
        ("fill_input", json!({ "element": "e1" }), false),
        ("control_cursor", json!({ "action": "click", "element": "e1" }), true),
        ("control_cursor", json!({ "action": "drag" }), false),
        ("web_control", json!({ "action": "open", "path": "/orders" }), true),
        ("web_control", json!({ "action": "open", "url": "https://example.com" }), false),
    ];
    for (name, arguments, is_shown) in cases {
        let model = ScriptedProvider::new().turn(call(name, arguments.clone())).otherwise(|_| text("Sorry."));
        let (_, answer) = run(&paged(&model), "ada", "guide").await;
        assert_eq!(answer.contains("Sorry."), !is_shown, "{name} {arguments}: {answer}");
    }
}

/// Contract A.2, 13: the form under its other name.
#[tokio::test]
async fn request_input_is_a_form() {
    let schema =
        json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    let form = json!({ "message": "Where to?", "schema": schema });
    let model = ScriptedProvider::new().turn(call("requestInput", form)).turn(text("To Oslo."));
    let assistant = paged(&model);
    let (_, answer) = run(&assistant, "ada", "guide").await;
    assert!(answer.contains("requestInput") && answer.contains("Where to?"), "{answer}");
    // A form that cannot be shown is refused.
    let bad = json!({ "message": "Where to?", "schema": { "type": "object", "properties": 7 } });
    let model = ScriptedProvider::new().turn(call("requestInput", bad)).otherwise(|_| text("Sorry."));
    let (_, answer) = run(&paged(&model), "ada", "guide").await;
    assert!(answer.contains("Sorry."), "{answer}");
}
