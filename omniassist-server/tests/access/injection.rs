//! Tests of hostile strings at every place of every request. They must not cause a request, or forge a header or an
//! event.

use std::sync::{Arc, Mutex};

use http::{Request, header};
use http_body_util::Full;
use omniassist_server::core::TranscriptItem;
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::{Assistant, ObjectEndpoint};
use serde_json::Value;

use super::bodies::{self, Step, at, places};
use super::payloads::{BREAKS, Canary, urls};
use super::routes;
use super::{Answer, Invoice, answer};

/// The headers that a response can have, each with at most one value.
const HEADERS: [&str; 11] = [
    "allow",
    "cache-control",
    "content-encoding",
    "content-length",
    "content-type",
    "cross-origin-resource-policy",
    "x-accel-buffering",
    "x-content-type-options",
    "x-request-id",
    "x-should-retry",
    "x-vercel-ai-ui-message-stream",
];

/// Returns a service whose model repeats the tried string as text, reasoning and a call.
fn echoing() -> (AssistantService, Arc<Mutex<String>>) {
    let said = Arc::new(Mutex::new(String::new()));
    let says = Arc::clone(&said);
    let model = ScriptedProvider::new().otherwise(move |payload| {
        let said = says.lock().unwrap().clone();
        if matches!(payload.transcript.last(), Some(TranscriptItem::Result(_))) {
            return text(said);
        }
        let called = serde_json::json!({"page": said, said.as_str(): 1});
        Turn::reasoning(said.clone())
            .then(text(said.clone()))
            .then(Turn::call_with_id(said.clone(), "show", called.clone()))
            .then(Turn::call(said.clone(), called))
    });
    let invoice = ObjectEndpoint::new::<Invoice>("invoice", "Read the invoice.");
    let assistant = Assistant::builder(model).allow_anonymous().object(invoice).build().unwrap();
    (AssistantService::new(assistant), said)
}

/// Checks that the answer has no header or event that the server did not write.
fn check(what: impl Fn() -> String, answer: &Answer) {
    for (name, value) in &answer.headers {
        assert!(HEADERS.contains(&name.as_str()), "{}: a header `{name}`", what());
        assert!(!value.to_str().unwrap().contains("forged"), "{}: {name}: {value:?}", what());
        assert_eq!(answer.headers.get_all(name).iter().count(), 1, "{}: {name} twice", what());
    }
    match answer.header("content-type").unwrap_or_default() {
        "application/json" => {
            assert!(serde_json::from_str::<Value>(&answer.body).is_ok(), "{}: {}", what(), answer.body);
        }
        kind if kind.starts_with("text/event-stream") => check_events(&what, &answer.body),
        // The body is the text of the model.
        "text/plain; charset=utf-8" => {}
        kind => assert!(answer.status == 204 && kind.is_empty(), "{}: {kind}", what()),
    }
}

/// Reads a stream as browsers do: a line ends with a line feed, a carriage return or both.
fn check_events(what: &impl Fn() -> String, body: &str) {
    let lines = body.replace("\r\n", "\n").replace('\r', "\n");
    for line in lines.split('\n').filter(|line| !line.is_empty()) {
        let known = match line.split_once(": ") {
            Some(("data", "[DONE]")) => true,
            Some(("data", data)) => {
                serde_json::from_str::<Value>(data).is_ok_and(|event| event["type"] != "forged")
            }
            Some(("id", id)) => id.bytes().all(|byte| byte.is_ascii_digit()),
            Some(("", comment)) => comment == "keep-alive",
            _ => false,
        };
        assert!(known, "{}: {line:?} in {body}", what());
    }
    let done = lines.matches("\ndata: [DONE]\n").count() + usize::from(lines.starts_with("data: [DONE]\n"));
    assert!(done <= 1, "{}: {body}", what());
}

/// Returns copies of the value in which the payload replaces the value at this place or, for an entry of an object, its
/// key. Keys are never used as addresses, so they contain only line breaks.
fn changed(body: &Value, place: &[Step], payload: &str) -> Vec<Value> {
    let mut replaced = body.clone();
    *at(&mut replaced, place) = payload.into();
    let mut changed = vec![replaced];
    if let Some((Step::Key(key), above)) = place.split_last().filter(|_| BREAKS.contains(&payload)) {
        let mut renamed = body.clone();
        let object = at(&mut renamed, above).as_object_mut().unwrap();
        let value = object.remove(key).unwrap();
        object.insert(payload.to_owned(), value);
        changed.push(renamed);
    }
    changed
}

#[tokio::test]
async fn hostile_strings_at_every_place_of_every_request() {
    let canary = Canary::listen().await;
    let urls = urls(&canary);
    // Each place gets all breaks and every third URL, and the next place the next third.
    let mut thirds = [0, 1, 2].map(|third| -> Vec<&str> {
        urls.iter().skip(third).step_by(3).map(String::as_str).chain(BREAKS).collect()
    });
    let (mut tried, mut accepted, mut streamed) = (0, 0, 0);
    for route in bodies::distinct() {
        let (service, said) = echoing();
        let body = route.body.clone().unwrap();
        for place in places(&body) {
            thirds.rotate_left(1);
            for payload in &thirds[0] {
                *said.lock().unwrap() = String::from(*payload);
                for body in changed(&body, &place, payload) {
                    let mut request = route.request();
                    *request.body_mut() = Full::from(body.to_string());
                    let answer = answer(&service, request).await;
                    check(|| format!("{} {place:?} {payload:?}", route.name()), &answer);
                    assert!([200, 400, 404].contains(&answer.status), "{}: {}", answer.status, answer.body);
                    tried += 1;
                    accepted += usize::from(answer.status == 200);
                    streamed +=
                        usize::from(answer.body.starts_with("id: ") || answer.body.starts_with("data: "));
                }
            }
        }
    }
    println!("{tried} requests, {accepted} accepted, {streamed} answered by events");
    assert!(accepted > tried / 3 && streamed > tried / 4, "most requests must be accepted");
    canary.heard_nobody().await;
}

#[tokio::test]
async fn hostile_strings_in_paths_queries_and_headers() {
    let canary = Canary::listen().await;
    let (service, said) = echoing();
    let urls = urls(&canary);
    let mut tried = 0;
    for payload in urls.iter().map(String::as_str).chain(BREAKS) {
        *said.lock().unwrap() = payload.to_owned();
        let encoded: String = payload.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let paths = [
            ("POST", format!("/{encoded}/stop")),
            ("GET", format!("/{encoded}/stream")),
            ("POST", format!("/object/{encoded}")),
            ("GET", format!("/v1/models/{encoded}")),
            ("GET", format!("/v1/{encoded}")),
            ("POST", format!("/copilotkit/agent/{encoded}/run")),
            ("POST", format!("/copilotkit/agent/default/stop/{encoded}")),
            ("GET", format!("/copilotkit/{encoded}")),
            ("GET", format!("/{encoded}")),
            ("POST", format!("/?protocol={encoded}&ai-sdk={encoded}")),
            ("POST", format!("/completion?protocol={encoded}")),
        ];
        for (method, path) in paths {
            let request =
                Request::builder().method(method).uri(&path).header(header::CONTENT_TYPE, "application/json");
            let answer = answer(&service, request.body(Full::from("{}")).unwrap()).await;
            check(|| path.clone(), &answer);
            tried += 1;
        }
        // The characters that a header can contain. All ignored headers get them at once, the others separately.
        let line: String = payload.chars().filter(|letter| (' '..='~').contains(letter)).collect();
        let unheard = [
            "forwarded",
            "last-event-id",
            "referer",
            "user-agent",
            "traceparent",
            "x-forwarded-for",
            "x-forwarded-host",
            "x-forwarded-proto",
            "x-http-method-override",
            "x-original-url",
            "x-request-id",
            "x-rewrite-url",
            "idempotency-key",
            "openai-organization",
        ];
        let heard = ["accept", "content-type", "origin", "sec-fetch-site", "authorization"];
        for names in std::iter::once(&unheard[..]).chain(heard.chunks(1)) {
            for route in routes::all() {
                let mut request = route.request();
                for name in names {
                    request.headers_mut().insert(*name, line.parse().unwrap());
                }
                check(|| format!("{} {names:?}: {line}", route.name()), &answer(&service, request).await);
                tried += 1;
            }
        }
    }
    println!("{tried} requests");
    canary.heard_nobody().await;
}
