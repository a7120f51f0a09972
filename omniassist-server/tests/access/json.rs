//! Tests of JSON that two parsers can read differently.

use bytes::Bytes;
use http::{Request, header};
use http_body_util::Full;
use serde_json::{Value, json};

use super::bodies::{self, Step, at, places, with_entry, written};
use super::routes::{Reads, Route};
use super::{Answer, answer, builder, serve};

fn post(route: &Route, body: String) -> Request<Full<Bytes>> {
    Request::post(route.path)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(body.into()))
        .unwrap()
}

/// Returns the code and the path of a refusal.
fn refusal(route: &Route, answer: &Answer) -> (String, String) {
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    let (code, path) = match route.reads {
        Reads::Own => (&body["error"]["code"], &body["error"]["path"]),
        Reads::OpenAi => (&body["error"]["code"], &body["error"]["param"]),
        Reads::CopilotKit => (&body["details"]["code"], &body["details"]["path"]),
    };
    (code.as_str().unwrap().to_owned(), path.as_str().unwrap().to_owned())
}

/// Returns a key whose first letter is a numeric escape.
fn escaped(key: &str) -> String {
    let mut letters = key.chars();
    let first = letters.next().unwrap();
    format!("\"\\u{:04x}{}\"", u32::from(first), letters.as_str())
}

#[tokio::test]
async fn duplicate_keys_are_refused_at_every_level_of_every_body() {
    let (model, builder) = builder();
    let service = serve(builder.allow_anonymous());
    let (mut tried, mut objects) = (0, 0);
    for route in bodies::full() {
        let body = route.body.clone().unwrap();
        for place in places(&body) {
            let Value::Object(object) = at(&mut body.clone(), &place).clone() else { continue };
            objects += 1;
            for (key, value) in &object {
                for (spelled, value) in
                    [(Value::from(key.as_str()).to_string(), value.clone()), (escaped(key), json!("another"))]
                {
                    let text = with_entry(&body, &place, &spelled, &value);
                    let answer = answer(&service, post(&route, text.clone())).await;
                    let path = written(&[&place[..], &[Step::Key(key.clone())]].concat());
                    assert_eq!(answer.status, 400, "{} {path}: {}", route.name(), answer.body);
                    assert_eq!(refusal(&route, &answer), ("invalid_request".to_owned(), path), "{text}");
                    tried += 1;
                }
            }
        }
    }
    println!("{tried} requests with a key twice, in {objects} objects");
    assert!(model.payloads().is_empty());
}

#[tokio::test]
async fn tools_with_names_that_objects_inherit_are_refused() {
    let (model, builder) = builder();
    let service = serve(builder.allow_anonymous());
    for route in bodies::full() {
        let mut body = route.body.clone().unwrap();
        let place = places(&body).into_iter().find(|place| {
            written(place).ends_with("tools[0].name") || written(place).ends_with("tools[0].function.name")
        });
        let Some(place) = place.filter(|_| !route.name().contains("connect")) else { continue };
        if matches!(body["method"].as_str(), Some("info" | "resource/request")) {
            continue;
        }
        for name in ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"] {
            *at(&mut body, &place) = name.into();
            let answer = answer(&service, post(&route, body.to_string())).await;
            assert_eq!(answer.status, 400, "{} {name}: {}", route.name(), answer.body);
            assert_eq!(refusal(&route, &answer).0, "invalid_tool");
        }
        *at(&mut body, &place) = "Constructor".into();
        assert_eq!(answer(&service, post(&route, body.to_string())).await.status, 200, "{}", route.name());
    }
    assert!(model.payloads().len() >= 4, "the test must call the routes that run a model");
}

#[tokio::test]
async fn ids_that_could_be_paths_headers_or_fields_are_refused() {
    let (model, builder) = builder();
    let service = serve(builder.allow_anonymous());
    let long = "x".repeat(257);
    let ids = [
        "../../etc/passwd",
        "..",
        ".",
        "/etc/passwd",
        "C:\\x",
        "a/b",
        "a\\b",
        "a\"b",
        "a'b",
        "a`b",
        "a\nb",
        "a\r\nx: y",
        "a\u{0}b",
        "a\u{7f}b",
        "a\u{2028}b",
        "a\u{2215}b",
        "é",
        "\u{202e}a",
        &long,
    ];
    // Ids of chats and runs are used in paths. Ids of messages and context entries can be any text without control
    // characters.
    let chosen: [(&str, &[&str], &[&str]); 3] = [
        ("/", &["id"], &["messageId", "messages[0].id", "messages[1].id", "context[0].id"]),
        ("/ag-ui", &["threadId", "runId", "parentRunId"], &["messages[0].id", "messages[1].id"]),
        ("/copilotkit/agent/default/run", &["threadId", "runId"], &["messages[0].id"]),
    ];
    for (path, strict, lenient) in chosen {
        let route = bodies::full().into_iter().find(|route| route.path == path).unwrap();
        let body = route.body.clone().unwrap();
        for field in strict.iter().chain(lenient) {
            let place = places(&body).into_iter().find(|place| written(place) == *field).unwrap();
            let send = async |id: &str| {
                let mut body = body.clone();
                *at(&mut body, &place) = id.into();
                answer(&service, post(&route, body.to_string())).await
            };
            for id in ids {
                let answer = send(id).await;
                let is_refused = strict.contains(field) || id.len() > 256 || id.chars().any(char::is_control);
                let status = if is_refused { 400 } else { 200 };
                assert_eq!(answer.status, status, "{path} {field} {id:?}: {}", answer.body);
                if is_refused {
                    assert_eq!(refusal(&route, &answer).1, *field);
                    assert!(!answer.body.contains("passwd"), "the answer must not repeat a refused id");
                }
            }
            for id in ["a".repeat(256).as_str(), "a b", "a%2e%2e", "chat:1", "<b>", "{}"] {
                let answer = send(id).await;
                assert_eq!(answer.status, 200, "{path} {field} {id:?}: {}", answer.body);
            }
        }
    }
    drop(model);
}
