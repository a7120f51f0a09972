//! Tests of models that write props which do not fit.

use omniassist_server::Assistant;
use omniassist_server::core::message::{Message, ToolState};
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::ui::builtin;
use serde_json::{Value, json};

use super::keys;
use crate::approvals::post;

/// Returns valid props of built-in components.
fn valid() -> [(&'static str, Value); 4] {
    let column = |label: &str| json!({"label": label});
    [
        (
            "ui_table",
            json!({"columns": [column("Region"), column("Sales")], "rows": [["North", 5], ["South", 7]]}),
        ),
        (
            "ui_chart",
            json!({"kind": "bar", "labels": ["N"], "series": [{"name": "Sales", "values": [5, null]}]}),
        ),
        ("ui_stat", json!({"items": [{"label": "Sales", "value": "5", "trend": "up"}]})),
        (
            "ui_timeline",
            json!({"events": [{"time": "1969", "title": "Moon"}, {"time": "1989", "title": "Wall"}]}),
        ),
    ]
}

/// Returns the paths of all values.
fn paths(value: &Value, at: &str, found: &mut Vec<String>) {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        _ => Vec::new(),
    };
    for (key, member) in members {
        let path = format!("{at}/{key}");
        found.push(path.clone());
        paths(member, &path, found);
    }
}

#[tokio::test]
async fn a_model_reads_the_fault_of_two_hundred_mutated_props_and_corrects_them() {
    let mut tried = 0;
    let mut refused = 0;
    for (tool, props) in valid() {
        let mut all = Vec::new();
        paths(&props, "", &mut all);
        for path in &all {
            for wrong in [
                json!({"x": 1}),
                json!([[]]),
                json!("wrong"),
                json!(true),
                json!(-1),
                json!(1e30),
                Value::Null,
            ] {
                let mut mutated = props.clone();
                *mutated.pointer_mut(path).unwrap() = wrong;
                tried += 1;
                refused += usize::from(corrects(tool, &mutated, &props).await);
            }
        }
    }
    assert!(tried >= 200, "{tried}");
    assert!(refused >= 150, "{refused} of {tried}");
}

/// Lets a model write the props, and then the right ones if it is sent a fault. Returns `true` if it was.
async fn corrects(tool: &str, mutated: &Value, right: &Value) -> bool {
    let model = ScriptedProvider::new()
        .turn(call(tool, mutated.clone()))
        .turn(call(tool, right.clone()))
        .turn(text("There."))
        .otherwise(|_| text("There."));
    let assistant =
        Assistant::builder(model.clone()).components(builtin::all()).seal_keys(keys()).build().unwrap();
    let (messages, _) = post(&assistant, "c", vec![Message::user("q", "Show it")]).await;
    let calls: Vec<_> = messages.last().unwrap().tools().collect();
    let ToolState::OutputError { error_text, .. } = &calls[0].state else {
        assert!(matches!(calls[0].state, ToolState::OutputAvailable { .. }), "{calls:?}");
        return false;
    };
    assert!(error_text.starts_with("Component props validation failed: "), "{error_text}");
    // The model reads the fault as the client does, and its second call is shown.
    let sent = model.payloads()[1].transcript.iter().map(|item| format!("{item:?}")).collect::<String>();
    let fault = format!("{:?}", &**error_text);
    assert!(sent.contains(fault.trim_matches('"').get(..60).unwrap_or_default()), "{fault}: {sent}");
    assert!(matches!(calls[1].state, ToolState::OutputAvailable { .. }), "{calls:?}");
    true
}
