//! Tests of arguments that are streamed in pieces.

use serde_json::{Value, json};

use super::streams::{last, parts, sse};
use super::whole;
use crate::recordings::fold;

/// Returns the arguments of a call that is streamed in these pieces, if it is complete. With `ended`, a last chunk
/// marks the end of the call.
fn arguments(pieces: &[Value], ended: bool) -> Option<Value> {
    let mut chunks = vec![parts(
        json!([{"functionCall": {"name": "weather", "partialArgs": pieces, "willContinue": true}}]),
    )];
    if ended {
        chunks.push(parts(json!([{"functionCall": {}}])));
    }
    chunks.push(last(json!([]), "STOP"));
    let decoded = whole(&sse(&chunks));
    assert!(decoded.end.is_ok(), "{:?}", decoded.end);
    let call = fold(&decoded.events).calls.remove(0);
    call.ended.map(|arguments| serde_json::from_str(&arguments).unwrap())
}

#[test]
fn pieces_are_placed_by_their_paths() {
    let pieces = [
        json!({"jsonPath": "$.a.b[0].c", "stringValue": "x", "willContinue": true}),
        json!({"jsonPath": "$.a.b[0].c", "stringValue": "y"}),
        json!({"jsonPath": "$.a.b[1]", "numberValue": 3.0}),
        json!({"jsonPath": "$['odd.na\\'me'][\"q]\"]", "boolValue": true}),
        json!({"jsonPath": "$.none", "nullValue": "NULL_VALUE"}),
        json!({"jsonPath": "$.half", "numberValue": 0.5}),
    ];
    let expected =
        json!({"a": {"b": [{"c": "xy"}, 3]}, "odd.na'me": {"q]": true}, "none": null, "half": 0.5});
    assert_eq!(arguments(&pieces, false), Some(expected));
}

#[test]
fn a_piece_with_an_invalid_path_leaves_the_call_incomplete() {
    for path in
        ["", "a", "$.", "$.a[4000000000]", "$.a[x]", "$..a", "$.*", "$['a", "$.s.t", &"[0]".repeat(100)]
    {
        let text = json!({"jsonPath": "$.s", "stringValue": "text"});
        assert_eq!(arguments(&[text, json!({"jsonPath": path, "stringValue": "x"})], true), None, "{path}");
    }
    assert_eq!(arguments(&[json!({"jsonPath": "$.a", "numberValue": "Infinity"})], true), None);
    let open = [json!({"jsonPath": "$.s", "stringValue": "te", "willContinue": true})];
    assert_eq!(arguments(&open, false), None);
    assert_eq!(arguments(&open, true), Some(json!({"s": "te"})));
}
