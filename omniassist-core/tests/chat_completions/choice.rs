//! Tests of `tool_choice`.

use omniassist_core::{Limits, ToolChoice};
use serde_json::{Value, json};

use super::{read, refused, with};

fn choosing(choice: Value) -> Value {
    let tools = ["a", "b"].map(|name| json!({"type": "function", "function": {"name": name}}));
    with(json!({"tools": tools, "tool_choice": choice}))
}

fn offered(choice: Value) -> (Vec<String>, Vec<String>, bool, ToolChoice) {
    let run = read(&choosing(choice)).unwrap().run;
    let tools = run.tools.iter().map(|tool| tool.name.to_string()).collect();
    let past = run.past_tools.iter().map(ToString::to_string).collect();
    (tools, past, run.tool_use.server_tools, run.tool_use.choice)
}

#[test]
fn auto_offers_all_tools() {
    let all = (vec!["a".to_owned(), "b".to_owned()], vec![], true, ToolChoice::Auto);
    assert_eq!(offered(json!("auto")), all);
    assert_eq!(offered(Value::Null), all);
}

#[test]
fn none_offers_only_server_tools() {
    let none = (vec![], vec!["a".to_owned(), "b".to_owned()], true, ToolChoice::Auto);
    assert_eq!(offered(json!("none")), none);
}

#[test]
fn required_choices_require_a_call_of_a_caller_tool() {
    let both = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(offered(json!("required")), (both.clone(), vec![], false, ToolChoice::Required));
    let named = json!({"type": "function", "function": {"name": "b"}});
    assert_eq!(offered(named), (both, vec![], false, ToolChoice::Tool("b".into())));
}

#[test]
fn allowed_tools_exclude_other_tools() {
    let allowed = |mode: &str| {
        let tools = [json!({"type": "function", "function": {"name": "b"}})];
        json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}})
    };
    let (b, a) = (vec!["b".to_owned()], vec!["a".to_owned()]);
    assert_eq!(offered(allowed("auto")), (b.clone(), a.clone(), true, ToolChoice::Auto));
    assert_eq!(offered(allowed("required")), (b, a, false, ToolChoice::Required));
    refused(&choosing(allowed("none")), "tool_choice.allowed_tools.mode");
}

#[test]
fn invalid_choices_are_rejected() {
    refused(&choosing(json!("any")), "tool_choice");
    refused(&choosing(json!(5)), "tool_choice");
    refused(&choosing(json!({})), "tool_choice.type");
    refused(&choosing(json!({"type": "custom"})), "tool_choice.type");
    refused(&choosing(json!({"type": "function"})), "tool_choice.function");
    refused(&choosing(json!({"type": "function", "function": {}})), "tool_choice.function.name");
    refused(&choosing(json!({"type": "function", "function": {"name": "c"}})), "tool_choice.function.name");
    refused(&choosing(json!({"type": "allowed_tools"})), "tool_choice.allowed_tools");
    let allowed = |inner: Value| choosing(json!({"type": "allowed_tools", "allowed_tools": inner}));
    refused(&allowed(json!({"mode": "auto"})), "tool_choice.allowed_tools.tools");
    let strange = json!({"mode": "auto", "tools": [{"type": "function", "function": {"name": "c"}}]});
    refused(&allowed(strange), "tool_choice.allowed_tools.tools[0].function.name");
    let many = vec![
        json!({"type": "function", "function": {"name": "a"}});
        Limits::default().max_declared_tools + 1
    ];
    let error = read(&allowed(json!({"mode": "auto", "tools": many}))).unwrap_err();
    assert_eq!(error.limit().map(|(name, _)| name), Some("max_declared_tools"));
    refused(&with(json!({"tool_choice": "required"})), "tool_choice");
    assert!(read(&with(json!({"tool_choice": "auto"}))).is_ok());
    assert!(read(&with(json!({"tool_choice": "none"}))).is_ok());
}
