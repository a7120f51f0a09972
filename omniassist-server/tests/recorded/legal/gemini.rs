//! Google Gemini: `contents`.
//!
//! <https://ai.google.dev/api/caching#Content>, <https://ai.google.dev/gemini-api/docs/function-calling>,
//! <https://ai.google.dev/gemini-api/docs/thought-signatures>.

use serde_json::Value;

use super::{Faults, is_filled, is_name, items};

/// The data fields of a part. Each part has exactly one of them.
const DATA: [&str; 7] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
];

/// Returns the faults of a request.
pub(crate) fn faults(body: &Value) -> Vec<String> {
    let mut faults = Faults::default();
    let contents = items(&body["contents"]);
    faults.check(!contents.is_empty(), "contents", "no contents");
    faults.check(
        contents.first().is_some_and(|first| first["role"] == "user"),
        "contents",
        "the first turn must be a user turn",
    );
    faults.check(
        contents.last().is_some_and(|last| last["role"] == "user"),
        "contents",
        "no user turn to answer",
    );
    let instructions = &body["systemInstruction"];
    if !instructions.is_null() {
        let parts = items(&instructions["parts"]);
        let said = !parts.is_empty() && parts.iter().all(|part| is_filled(&part["text"]));
        faults.check(said, "systemInstruction", "empty");
    }
    let mut calls: Vec<&Value> = Vec::new();
    let mut before = "";
    for (at, content) in contents.iter().enumerate() {
        let codes = |part: &Value| !part["executableCode"].is_null();
        let behind_code = items(&content["parts"])
            .iter()
            .scan(false, |before, part| Some((std::mem::replace(before, codes(part)), part)))
            .all(|(code, part)| part["codeExecutionResult"].is_null() || code);
        faults.check(behind_code, &format!("contents[{at}]"), "a code execution result without its code");
        let place = format!("contents[{at}]");
        let role = content["role"].as_str().unwrap_or_default();
        faults.check(matches!(role, "user" | "model"), &place, "an unknown role");
        let parts = items(&content["parts"]);
        faults.check(!parts.is_empty(), &place, "no parts");
        for part in parts {
            check_part(&mut faults, &place, part);
        }
        let of =
            |field: &'static str| parts.iter().map(move |part| &part[field]).filter(|value| !value.is_null());
        let responses: Vec<&Value> = of("functionResponse").collect();
        let fits = responses.len() == calls.len()
            && responses.iter().zip(&calls).all(|(response, call)| {
                let same_id = call["id"].is_null() || response["id"] == call["id"];
                response["name"] == call["name"] && same_id
            });
        faults.check(fits, &place, "responses that do not match the calls directly before them");
        let first = parts.iter().take(responses.len()).all(|part| !part["functionResponse"].is_null());
        faults.check(first, &place, "a function response after other parts");
        calls = of("functionCall").collect();
        faults.check(calls.is_empty() || role == "model", &place, "a call outside a model turn");
        faults.check(responses.is_empty() || role == "user", &place, "a response outside a user turn");
        faults.check(
            calls.is_empty() || before == "user",
            &place,
            "calls without a user turn directly before them",
        );
        before = role;
    }
    faults.check(calls.is_empty(), "contents", "a call without a response");
    faults.0
}

fn check_part(faults: &mut Faults, place: &str, part: &Value) {
    let data: Vec<&str> = DATA.into_iter().filter(|field| !part[*field].is_null()).collect();
    faults.check(data.len() == 1, place, "a part without exactly one data field");
    match data.first() {
        // A signature can have an empty text and is returned unchanged.
        Some(&"text") => {
            let signed = is_filled(&part["thoughtSignature"]);
            faults.check(is_filled(&part["text"]) || signed, place, "an empty text");
        }
        Some(&"functionCall") => {
            let call = &part["functionCall"];
            faults.check(is_name(&call["name"], 64), place, "an invalid name");
            let fits = call["args"].is_null() || call["args"].is_object();
            faults.check(fits, place, "arguments that are not an object");
        }
        Some(&"functionResponse") => {
            let response = &part["functionResponse"];
            faults.check(is_name(&response["name"], 64), place, "an invalid name");
            faults.check(response["response"].is_object(), place, "a response that is not an object");
        }
        _ => {}
    }
}

#[test]
fn invalid_requests_are_detected() {
    use serde_json::json;
    let user = || json!({"role": "user", "parts": [{"text": "a"}]});
    let calls = |names: &[&str]| {
        let parts: Vec<Value> =
            names.iter().map(|name| json!({"functionCall": {"name": name, "args": {}}})).collect();
        json!({"role": "model", "parts": parts})
    };
    let answers = |names: &[&str]| {
        let parts: Vec<Value> =
            names.iter().map(|name| json!({"functionResponse": {"name": name, "response": {}}})).collect();
        json!({"role": "user", "parts": parts})
    };
    let with = |contents: Vec<Value>| faults(&json!({"contents": contents}));
    assert_eq!(with(vec![user(), calls(&["a", "a"]), answers(&["a", "a"]), user()]), [""; 0]);
    let wrong = [
        vec![],
        vec![calls(&["a"]), answers(&["a"])],
        vec![user(), calls(&["a", "b"]), answers(&["a"])],
        vec![user(), calls(&["a", "b"]), answers(&["b", "a"])],
        vec![user(), calls(&["a"]), user(), answers(&["a"])],
        vec![user(), calls(&["a"]), answers(&["a", "a"])],
        vec![user(), calls(&["a"])],
        vec![user(), json!({"role": "model", "parts": []}), user()],
        vec![user(), json!({"role": "model", "parts": [{"text": ""}]}), user()],
        vec![user(), json!({"role": "model", "parts": [{"thoughtSignature": "s"}]}), user()],
        vec![user(), json!({"role": "model", "parts": [{"text": "a"}]}), calls(&["a"]), answers(&["a"])],
    ];
    for contents in wrong {
        assert!(!with(contents.clone()).is_empty(), "{contents:?}");
    }
}
