use std::sync::Arc;

use omniassist_axum::core::transcript::{ToolCall, ToolResult};
use omniassist_axum::core::{JsonText, ToolExample};
use serde_json::json;

use super::*;

fn tool(name: &str, description: &str, schema: Value, examples: &[(&str, Value)]) -> Arc<ToolSpec> {
    let mut spec = ToolSpec::new(name, description, schema);
    let example = |(request, arguments): &(&str, Value)| ToolExample {
        request: (*request).into(),
        arguments: arguments.clone(),
    };
    spec.examples = examples.iter().map(example).collect();
    Arc::new(spec)
}

/// Tools of another application, since the rules must not depend on the tools of this one.
fn house() -> LlmPayload {
    let mut payload = LlmPayload::default();
    let lamp = json!({
        "type": "object",
        "required": ["room", "level"],
        "properties": {
            "level": {"type": "integer"},
            "room": {"type": "string"},
            "colour": {"enum": ["warm", "cold", "very-cold"]}
        }
    });
    let weather = json!({
        "type": "object",
        "properties": {"city": {"type": ["string", "null"]}, "days": {"type": "integer"}}
    });
    payload.tools = Arc::new([
        tool(
            "set_lamp",
            "Dim a lamp",
            lamp,
            &[("Dim the lamp in Attic to 40", json!({"room": "Attic", "level": 40}))],
        ),
        tool(
            "get_weather",
            "Weather forecast of a city",
            weather,
            &[("How is the weather in Oslo over 3 days?", json!({"city": "Oslo", "days": 3}))],
        ),
    ]);
    payload
}

fn ask(question: &str) -> Vec<LlmEvent> {
    let mut payload = house();
    payload.transcript = Arc::new([TranscriptItem::user(question)]);
    answer(&payload)
}

fn calls(events: &[LlmEvent]) -> Vec<(String, Value)> {
    let name = |wanted: u32| {
        events.iter().find_map(|event| match event {
            LlmEvent::ToolCallStart { call, name, .. } if *call == wanted => Some(name.to_string()),
            _ => None,
        })
    };
    let end = |event: &LlmEvent| match event {
        LlmEvent::ToolCallEnd { call, arguments, .. } => {
            Some((name(*call).unwrap(), serde_json::from_str(arguments).unwrap()))
        }
        _ => None,
    };
    events.iter().filter_map(end).collect()
}

fn text(events: &[LlmEvent]) -> String {
    let delta = |event: &LlmEvent| match event {
        LlmEvent::TextDelta { delta, .. } => Some(delta.to_string()),
        _ => None,
    };
    events.iter().filter_map(delta).collect()
}

#[test]
fn questions_become_calls() {
    for (question, name, arguments) in [
        (
            "please dim the lamp in Hall to 7, very cold",
            "set_lamp",
            json!({"room": "Hall", "level": 7, "colour": "very-cold"}),
        ),
        ("What's the weather in New York?", "get_weather", json!({"city": "New York"})),
        ("weather forecast over 5 days", "get_weather", json!({"days": 5})),
    ] {
        let events = ask(question);
        assert_eq!(calls(&events), [(name.to_owned(), arguments)], "{question}");
    }
}

#[test]
fn several_requests_become_several_calls() {
    let events = ask("Dim the lamp in Hall to 7 and tell me the weather in Oslo");
    let names: Vec<_> = calls(&events).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["set_lamp", "get_weather"]);
    assert!(matches!(events.last(), Some(LlmEvent::Finish { reason: FinishReason::ToolCalls, .. })));
    let quoted = ask("Dim the lamp in \"Salt and weather\" to 7");
    assert_eq!(calls(&quoted), [("set_lamp".to_owned(), json!({"room": "Salt and weather", "level": 7}))]);
}

#[test]
fn objects_come_from_the_nearest_example() {
    let mut payload = house();
    let schema = json!({
        "type": "object",
        "required": ["plan"],
        "properties": {"plan": {"type": "object"}}
    });
    let plans = [
        ("Plan a party in the garden", json!({"plan": {"place": "garden"}})),
        ("Plan a quiet evening", json!({"plan": {"place": "sofa"}})),
    ];
    let planner = tool("make_plan", "Plans", schema, &plans);
    payload.tools = payload.tools.iter().cloned().chain([planner]).collect();
    payload.transcript = Arc::new([TranscriptItem::user("plan the evening")]);
    let made = calls(&answer(&payload));
    assert_eq!(made, [("make_plan".to_owned(), json!({"plan": {"place": "sofa"}}))]);
}

#[test]
fn a_question_without_a_tool_is_answered_with_the_list_of_tools() {
    let events = ask("Hello there");
    assert!(calls(&events).is_empty());
    assert!(text(&events).contains("Dim a lamp") && text(&events).contains("Oslo"), "{}", text(&events));
    let events = ask("Dim the lamp in Hall");
    assert!(calls(&events).is_empty());
    assert!(text(&events).contains("Please tell me: level"), "{}", text(&events));
    let mut none = house();
    none.transcript = Arc::new([TranscriptItem::user("weather in Oslo")]);
    none.tool_choice = ToolChoice::None;
    assert!(calls(&answer(&none)).is_empty());
}

#[test]
fn results_and_errors_are_reported_in_words() {
    let call = |id: &str, name: &str| {
        TranscriptItem::Call(ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: JsonText::EMPTY_OBJECT,
            kind: CallKind::Function,
            metadata: None,
        })
    };
    let result = |id: &str, output: Value, is_error| {
        TranscriptItem::Result(ToolResult {
            call_id: id.into(),
            output: JsonText::from_value(&output),
            is_error,
        })
    };
    let list: Vec<_> = (1..=12).map(|day| json!({"day": day, "high_c": 3})).collect();
    let mut payload = house();
    payload.transcript = Arc::new([
        TranscriptItem::user("earlier"),
        call("demo-0", "set_lamp"),
        result("demo-0", json!("not this"), false),
        TranscriptItem::user("now"),
        call("demo-1", "get_weather"),
        call("demo-2", "set_lamp"),
        result("demo-1", json!({"city": "Oslo", "forecast": list}), false),
        result("demo-2", json!("The fuse is out."), true),
    ]);
    let said = text(&answer(&payload));
    for part in [
        "city: Oslo",
        "- day: 1, high c: 3\n",
        "- and 2 more",
        "The tool **set lamp** failed: The fuse is out.",
        "demo",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("day: 11") && !said.contains("not this"), "{said}");
    assert_eq!(answer(&payload).iter().filter(|event| matches!(event, LlmEvent::Finish { .. })).count(), 1);
}

#[test]
fn call_ids_do_not_repeat_in_a_conversation() {
    let mut payload = house();
    let earlier = ask("weather in Oslo");
    let id = |events: &[LlmEvent]| {
        events.iter().find_map(|event| match event {
            LlmEvent::ToolCallStart { id, .. } => Some(id.clone()),
            _ => None,
        })
    };
    let call = ToolCall {
        id: id(&earlier).unwrap(),
        name: "get_weather".into(),
        arguments: JsonText::EMPTY_OBJECT,
        kind: CallKind::Function,
        metadata: None,
    };
    let result = ToolResult { call_id: call.id.clone(), output: JsonText::NULL, is_error: false };
    payload.transcript = Arc::new([
        TranscriptItem::user("weather in Oslo"),
        TranscriptItem::Call(call.clone()),
        TranscriptItem::Result(result),
        TranscriptItem::user("weather in Bergen"),
    ]);
    assert_ne!(id(&answer(&payload)).unwrap(), call.id);
}

#[tokio::test(start_paused = true)]
async fn the_stream_keeps_its_pace_and_has_no_error() {
    let mut payload = house();
    payload.transcript = Arc::new([TranscriptItem::user("Hello there")]);
    let start = tokio::time::Instant::now();
    let events: Vec<_> = Demo { pace: Duration::from_millis(10) }.stream(payload.clone()).collect().await;
    assert_eq!(start.elapsed(), Duration::from_millis(10) * u32::try_from(events.len()).unwrap());
    let events: Vec<_> = events.into_iter().map(Result::unwrap).collect();
    assert_eq!(events, answer(&payload));
    assert!(events.iter().any(|event| matches!(event, LlmEvent::ReasoningDelta { .. })));
}
