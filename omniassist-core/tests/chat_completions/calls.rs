//! Tests of the streamed arguments of the caller's tool calls.

use std::collections::BTreeMap;

use omniassist_core::{JsonText, RunEvent};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::stream::{encoder, stream};
use super::{available, begins, piece, unusable};

/// Returns the streamed arguments of each call, by its index.
fn arguments(events: &[RunEvent]) -> BTreeMap<u64, String> {
    let mut arguments: BTreeMap<u64, String> = BTreeMap::new();
    for chunk in stream(encoder(), events).0 {
        for call in chunk["choices"][0]["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let part = call["function"]["arguments"].as_str().unwrap();
            arguments.entry(call["index"].as_u64().unwrap()).or_default().push_str(part);
        }
    }
    arguments
}

/// Returns the arguments streamed before and after the call is completed.
fn streamed(pieces: &[&str]) -> (String, String) {
    let mut events = vec![begins("c", "show")];
    events.extend(pieces.iter().filter(|delta| !delta.is_empty()).map(|delta| piece("c", delta)));
    let before = arguments(&events)[&0].clone();
    let whole = pieces.concat();
    let input = JsonText::parse(if whole.trim().is_empty() { "{}" } else { &whole }).unwrap();
    events.push(available("c", "show", &input.to_value()));
    let all = arguments(&events)[&0].clone();
    let after = all.strip_prefix(&before).unwrap().to_owned();
    (before, after)
}

#[test]
fn the_end_of_the_arguments_is_held_back() {
    assert_eq!(streamed(&["{\"a\":", "1}"]), ("{\"a\":1".into(), "}".into()));
    assert_eq!(streamed(&["{\"a\":{}", "}", "\n", " "]), ("{\"a\":{}".into(), "}\n ".into()));
    assert_eq!(streamed(&["{\"a\":\"}", " ", "}\"", "}"]), ("{\"a\":\"} }\"".into(), "}".into()));
    assert_eq!(streamed(&["{}"]), ("{".into(), "}".into()));
}

#[test]
fn a_call_without_deltas_receives_its_arguments_at_the_end() {
    assert_eq!(streamed(&[]), (String::new(), "{}".into()));
    assert_eq!(streamed(&[" "]), (String::new(), "{}".into()));
}

#[test]
fn a_call_whose_arguments_are_null_receives_an_empty_object() {
    for pieces in [&["nu", "ll"][..], &["null"], &[" \"nul", "l\" "]] {
        let mut events = vec![begins("c", "show")];
        events.extend(pieces.iter().map(|delta| piece("c", delta)));
        assert_eq!(arguments(&events)[&0], "", "{pieces:?}");
        events.push(available("c", "show", &json!({})));
        assert_eq!(arguments(&events)[&0], "{}", "{pieces:?}");
    }
    let events = [begins("c", "show"), piece("c", "nu"), piece("c", "mber")];
    assert_eq!(arguments(&events)[&0], "number");
}

#[test]
fn one_call_is_streamed_at_a_time() {
    let mut events = vec![begins("a", "show"), begins("b", "show"), piece("a", "{\"x\":1"), piece("b", "{}")];
    events.extend([piece("a", "}"), piece("none", "{")]);
    assert_eq!(arguments(&events), BTreeMap::from([(0, "{\"x\":1".to_owned())]));
    events.extend([available("a", "show", &json!({"x": 1})), available("b", "show", &json!({}))]);
    let whole = BTreeMap::from([(0, "{\"x\":1}".to_owned()), (1, "{}".to_owned())]);
    assert_eq!(arguments(&events), whole);
}

#[test]
fn an_invalid_call_allows_the_next_one_to_stream() {
    let events = [begins("a", "show"), unusable("a", "show"), begins("b", "show"), piece("b", "{\"y\"")];
    assert_eq!(arguments(&events), BTreeMap::from([(0, String::new()), (1, "{\"y\"".to_owned())]));
}

fn object() -> impl Strategy<Value = String> {
    let leaf =
        prop_oneof!["[{}\\[\\]\"\\\\ a]{0,6}".prop_map(Value::from), any::<i32>().prop_map(Value::from)];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop::collection::btree_map("[{}a]{0,3}", inner, 0..3)
            .prop_map(|map| Value::Object(map.into_iter().collect()))
    });
    (prop::collection::btree_map("[{}a]{0,3}", value, 0..3), any::<bool>()).prop_map(|(map, pretty)| {
        let value = Value::Object(map.into_iter().collect());
        if pretty { format!(" {value:#}\n\n") } else { value.to_string() }
    })
}

proptest! {
    #[test]
    fn arguments_parse_only_when_complete(json in object(), cuts in prop::collection::vec(0..40_usize, 0..12)) {
        let mut pieces = Vec::new();
        let mut rest = json.as_str();
        for cut in cuts {
            if let Some((piece, tail)) = rest.split_at_checked(cut) {
                pieces.push(piece);
                rest = tail;
            }
        }
        pieces.push(rest);
        let (before, after) = streamed(&pieces);
        prop_assert_eq!(format!("{before}{after}"), json);
        prop_assert!(serde_json::from_str::<Value>(&before).is_err());
    }
}
