//! Items 30 to 36: props that stream.

use omniassist_server::component::{
    ComponentPropsError, ComponentRegistry, ComponentStreamCoordinator, PartialKind,
};
use omniassist_server::core::event::BlockId;
use omniassist_server::core::partial_json::{Growing, Status};
use omniassist_server::{Tool, ToolError};
use proptest::prelude::*;

use super::*;

/// The answer of a coordinator to an event.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    Text(String),
    Props { call: String, name: String, props: Value, complete: bool, valid: bool, errors: usize },
    Failed(String),
}

fn coordinator() -> ComponentStreamCoordinator {
    ComponentStreamCoordinator::new(ComponentRegistry::from_iter([dashboard()]))
}

fn steps<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Vec<Step> {
    let mut coordinator = coordinator();
    let mut steps = Vec::new();
    for event in events {
        let step = match coordinator.push(event) {
            Ok(None) => continue,
            Ok(Some(part)) if part.kind == PartialKind::Text => Step::Text(part.content.unwrap().to_owned()),
            Ok(Some(part)) => Step::Props {
                call: part.call_id.unwrap().to_owned(),
                name: part.component_name.unwrap().to_owned(),
                props: part.props.unwrap().into_owned(),
                complete: part.is_complete,
                valid: part.is_valid,
                errors: part.validation_errors.len(),
            },
            Err(error) => Step::Failed(error.to_string()),
        };
        steps.push(step);
    }
    steps
}

fn begin(call: &str) -> RunEvent {
    RunEvent::ToolInputStart { call_id: call.into(), name: "ui_Dashboard".into(), title: None, app: None }
}

fn delta(call: &str, delta: &str) -> RunEvent {
    RunEvent::ToolInputDelta { call_id: call.into(), delta: delta.into() }
}

/// The events of a run in which the model makes one call.
async fn events_of(turn: omniassist_server::testing::Turn) -> Vec<RunEvent> {
    let other = Tool::new("other", "Is another tool", async || Ok::<_, ToolError>(1));
    let model = ScriptedProvider::new().turn(turn).turn(text("There."));
    let agent = UiAgent::for_web(options(&model, &in_memory()).skills([other])).unwrap();
    ask(&agent, question()).await.1
}

fn props(steps: &[Step]) -> Vec<&Value> {
    let props = steps.iter().filter_map(|step| match step {
        Step::Props { props, .. } => Some(props),
        _ => None,
    });
    props.collect()
}

#[tokio::test]
async fn contract_002_30_text_is_passed_on() {
    let steps = steps(&events_of(call("other", json!({ "title": "Sales" }))).await);
    let texts = steps.iter().map(|step| match step {
        Step::Text(text) => text.as_str(),
        step => panic!("calls of other tools are not shown: {step:?}"),
    });
    assert_eq!(texts.collect::<String>(), "There.");
}

/// Merges a value into another one, as the document does after each delta.
fn deep_merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                deep_merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

#[tokio::test]
async fn contract_002_31_the_arguments_are_accumulated() {
    let events = events_of(call("ui_Dashboard", sales())).await;
    let steps = steps(&events);
    // The value that grows is the one that the document merges.
    let (mut json, mut merged, mut expected) = (String::new(), json!({}), Vec::new());
    for event in &events {
        let RunEvent::ToolInputDelta { delta, .. } = event else { continue };
        json.push_str(delta);
        let mut growing = Growing::new();
        let _ = growing.push(&json);
        if let Some(value) = growing.value() {
            deep_merge(&mut merged, value);
            expected.push(merged.clone());
        }
    }
    let found: Vec<_> = props(&steps).into_iter().cloned().collect();
    assert!(expected.len() > 3, "{json}");
    assert_eq!(found[..expected.len()], expected);
}

#[tokio::test]
async fn contract_002_32_each_step_has_the_props_so_far() {
    let steps =
        steps(&events_of(call("ui_Dashboard", json!({ "panels": ["North", 7], "title": "Sales" }))).await);
    let growing: Vec<_> =
        steps.iter().filter(|step| matches!(step, Step::Props { complete: false, .. })).collect();
    assert!(growing.len() > 3, "{steps:?}");
    let validity = growing.iter().map(|step| match step {
        Step::Props { name, valid, errors, .. } => {
            assert_eq!((name.as_str(), *valid), ("Dashboard", *errors == 0));
            *valid
        }
        _ => unreachable!(),
    });
    let mut validity: Vec<_> = validity.collect();
    validity.dedup();
    assert_eq!(validity, [true, false], "what is open is not checked, what is closed is");

    let mut coordinator = coordinator();
    coordinator.push(&begin("1")).unwrap();
    let event = delta("1", r#"{"title": "Sales", "panels": ["No"#);
    let part = coordinator.push(&event).unwrap().unwrap();
    let status = ["/title", "/panels", "/panels/0", "/panels/1"].map(|path| part.status(path));
    assert_eq!(status, [Status::Done, Status::Streaming, Status::Streaming, Status::Pending]);
}

#[tokio::test]
async fn contract_002_33_what_cannot_be_parsed_yet_is_awaited() {
    assert_eq!(steps(&[begin("1"), delta("1", " "), delta("2", "{}")]), []);
    let raw = omniassist_server::testing::Turn::raw_call("ui_Dashboard", r#"{"title": "Sal}} nonsense"#);
    let steps = steps(&events_of(raw).await);
    let failed = steps.iter().filter(|step| matches!(step, Step::Failed(_))).count();
    assert_eq!(failed, 1, "the error comes at the end: {steps:?}");
    assert!(props(&steps).last().unwrap()["title"].as_str().unwrap().starts_with("Sal"));
}

#[tokio::test]
async fn contract_002_34_complete_props_are_valid_or_an_error() {
    let steps_of = async |props: Value| steps(&events_of(call("ui_Dashboard", props)).await);
    let valid = steps_of(json!({ "title": "Sales" })).await;
    let complete = valid.iter().find(|step| matches!(step, Step::Props { complete: true, .. })).unwrap();
    let Step::Props { props, valid, errors, .. } = complete else { unreachable!() };
    assert_eq!(
        (props, *valid, *errors),
        (&json!({ "title": "Sales", "panels": [] }), true, 0),
        "with defaults"
    );

    let invalid = steps_of(json!({ "panels": ["North"] })).await;
    let failed: Vec<_> = invalid.iter().filter(|step| matches!(step, Step::Failed(_))).collect();
    let [Step::Failed(error)] = failed[..] else { panic!("{invalid:?}") };
    assert!(error.starts_with("Component props validation failed: "), "{error}");
    assert!(error.contains("title"), "{error}");
    assert!(!invalid.iter().any(|step| matches!(step, Step::Props { complete: true, .. })));
}

/// Returns `true` if `later` is `earlier`, or more of it.
fn has_grown(earlier: &Value, later: &Value) -> bool {
    match (earlier, later) {
        (Value::String(earlier), Value::String(later)) => later.starts_with(earlier.as_str()),
        (Value::Array(earlier), Value::Array(later)) => {
            later.len() >= earlier.len()
                && earlier.iter().zip(later).all(|(earlier, later)| has_grown(earlier, later))
        }
        (Value::Object(earlier), Value::Object(later)) => {
            earlier.iter().all(|(key, earlier)| later.get(key).is_some_and(|later| has_grown(earlier, later)))
        }
        (earlier, later) => earlier == later,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn contract_002_35_unclosed_values_grow_and_never_panic(
        title in ".{0,20}", panels in prop::collection::vec(".{0,8}", 0..5), cuts in prop::collection::vec(1_usize..7, 1..40),
    ) {
        let json = json!({ "panels": panels, "title": title }).to_string();
        let mut events = vec![begin("1")];
        let mut rest: Vec<char> = json.chars().collect();
        for cut in cuts {
            let piece: String = rest.drain(..cut.min(rest.len())).collect();
            events.push(delta("1", &piece));
        }
        let steps = steps(&events);
        let found = props(&steps);
        for pair in found.windows(2) {
            prop_assert!(has_grown(pair[0], pair[1]), "{:?}", pair);
        }
        if let (true, Some(last)) = (rest.is_empty(), found.last()) {
            prop_assert_eq!(*last, &serde_json::from_str::<Value>(&json).unwrap());
        }
    }
}

#[test]
fn contract_002_36_calls_can_grow_at_the_same_time() {
    let (first, second) = (r#"{"title": "First"}"#, r#"{"title": "Second"}"#);
    let mut events = vec![begin("1"), begin("2")];
    for (left, right) in first.chars().zip(second.chars()) {
        events.extend([delta("1", &left.to_string()), delta("2", &right.to_string())]);
    }
    events.push(RunEvent::TextDelta { id: BlockId(0), delta: "!".into() });
    let input = |json: &str| omniassist_server::core::JsonText::parse(json.to_owned()).unwrap();
    for (call, json) in [("2", second), ("1", first)] {
        let (call_id, name) = (call.into(), "ui_Dashboard".into());
        let (provider_executed, metadata) = (false, None);
        events.push(RunEvent::ToolInputAvailable {
            call_id,
            name,
            input: input(json),
            provider_executed,
            metadata,
        });
    }
    let steps = steps(&events);
    for (id, title) in [("1", "First"), ("2", "Second")] {
        let own: Vec<_> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Props { call, props, complete, .. } if call == id => {
                    Some((props["title"].as_str(), *complete))
                }
                _ => None,
            })
            .collect();
        assert!(own.iter().all(|(found, _)| found.is_none_or(|found| title.starts_with(found))), "{own:?}");
        assert_eq!(own.last(), Some(&(Some(title), true)));
    }
    let _: fn(&ComponentPropsError) -> &Text = ComponentPropsError::call_id;
}
