//! Requests to every route that begins a run, and the parsing of its refusals and failures.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::core::RunEvent;
use omniassist_server::http::{AssistantBody, AssistantService};
use omniassist_server::{ObjectEndpoint, Principal};
use serde_json::{Value, json};

/// The answer format of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Sse,
    Ndjson,
    Text,
    AgUi,
    CopilotKit,
    OpenAi,
    OpenAiWhole,
}

/// A route that begins a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) shape: Shape,
}

pub(crate) const ROUTES: [Route; 10] = [
    Route { path: "/", shape: Shape::Sse },
    Route { path: "/", shape: Shape::Ndjson },
    Route { path: "/?protocol=text", shape: Shape::Text },
    Route { path: "/completion", shape: Shape::Sse },
    Route { path: "/completion?protocol=text", shape: Shape::Text },
    Route { path: "/object", shape: Shape::Text },
    Route { path: "/ag-ui", shape: Shape::AgUi },
    Route { path: "/copilotkit/agent/default/run", shape: Shape::CopilotKit },
    Route { path: "/v1/chat/completions", shape: Shape::OpenAi },
    Route { path: "/v1/chat/completions", shape: Shape::OpenAiWhole },
];

#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct Note {
    text: String,
}

/// Returns the endpoint of the object that `/object` generates.
pub(crate) fn note() -> ObjectEndpoint {
    ObjectEndpoint::new::<Note>("note", "Write a note.")
}

impl Route {
    /// Returns a post of this principal that begins a run.
    pub(crate) fn request(self, principal: Principal) -> Request<Full<Bytes>> {
        let body = match self.path {
            "/" | "/?protocol=text" => json!({"messages": [{"id": "m1", "role": "user", "content": "Hi"}]}),
            "/completion" | "/completion?protocol=text" => json!({"prompt": "Hi"}),
            "/object" => json!("Hi"),
            "/v1/chat/completions" => json!({"model": "omniassist", "stream": self.shape == Shape::OpenAi,
                "messages": [{"role": "user", "content": "Hi"}]}),
            // A thread is a chat, so each post uses its own.
            _ => json!({"threadId": thread(), "runId": "r",
                "messages": [{"id": "m1", "role": "user", "content": "Hi"}]}),
        };
        let mut request = Request::post(self.path)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::from(body.to_string()))
            .unwrap();
        if self.shape == Shape::Ndjson {
            request.headers_mut().insert(header::ACCEPT, "application/x-ndjson".parse().unwrap());
        }
        request.extensions_mut().insert(principal);
        request
    }

    pub(crate) async fn ask(self, service: &AssistantService) -> Response<AssistantBody> {
        service.handle(self.request(Principal::anonymous())).await
    }

    /// Returns the stable code and the sentence of a refusal on this route.
    pub(crate) async fn refusal(self, response: Response<AssistantBody>) -> Refused {
        let (status, headers) = (response.status(), response.headers().clone());
        assert_eq!(headers["content-type"], "application/json", "{self:?}");
        let body: Value = serde_json::from_str(&read(response.into_body()).await).unwrap();
        let (code, message, kind) = match self.shape {
            Shape::CopilotKit => {
                assert!(body["error"].is_string(), "{body}");
                (&body["code"], &body["message"], &Value::Null)
            }
            Shape::OpenAi | Shape::OpenAiWhole => {
                (&body["error"]["code"], &body["error"]["message"], &body["error"]["type"])
            }
            _ => (&body["error"]["code"], &body["error"]["message"], &Value::Null),
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Refused { status, headers, code: text(code), message: text(message), kind: text(kind) }
    }

    /// Returns the code and the sentence of a failed run. Returns `None` for plain text, which is cut without an error.
    pub(crate) async fn failure(self, response: Response<AssistantBody>) -> Option<(String, String)> {
        // An OpenAI stream begins with its first chunk; an earlier failure has a status.
        let is_unopened = self.shape == Shape::OpenAi && response.status() != StatusCode::OK;
        if self.shape == Shape::OpenAiWhole || is_unopened {
            let refused = self.refusal(response).await;
            return Some((refused.code, refused.message));
        }
        assert_eq!(response.status(), StatusCode::OK, "{self:?}");
        if self.shape == Shape::Text {
            let mut body = response.into_body();
            while let Some(frame) = body.frame().await {
                if frame.is_err() {
                    return None;
                }
            }
            panic!("{self:?}: the text looks whole");
        }
        let body = read(response.into_body()).await;
        let json = |line: &str| -> Value { serde_json::from_str(line).expect(line) };
        let events: Vec<Value> = match self.shape {
            Shape::Ndjson => body.lines().map(json).collect(),
            _ => {
                let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
                data.filter(|data| *data != "[DONE]").map(json).collect()
            }
        };
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let last = events.last().expect("events");
        Some(match self.shape {
            Shape::Sse | Shape::Ndjson => {
                assert_eq!(last["type"], "error", "{body}");
                let told = events.iter().rev().find_map(|event| event.pointer("/messageMetadata/error/code"));
                (text(told.expect("must have a code")), text(&last["errorText"]))
            }
            Shape::AgUi | Shape::CopilotKit => {
                assert_eq!(last["type"], "RUN_ERROR", "{body}");
                (text(&last["code"]), text(&last["message"]))
            }
            _ => {
                assert!(!body.contains("[DONE]"), "{body}");
                (text(&last["error"]["code"]), text(&last["error"]["message"]))
            }
        })
    }
}

/// The content of a refusal.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) code: String,
    pub(crate) message: String,
    /// The error type of the OpenAI API; empty on other routes.
    pub(crate) kind: String,
}

impl Refused {
    pub(crate) fn retry_after(&self) -> u64 {
        self.headers[header::RETRY_AFTER].to_str().unwrap().parse().unwrap()
    }
}

fn thread() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("thread-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

pub(crate) async fn read(body: AssistantBody) -> String {
    String::from_utf8(body.collect().await.unwrap().to_bytes().into()).unwrap()
}

/// Reads a body until it contains this text.
pub(crate) async fn read_until(body: &mut AssistantBody, wanted: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(wanted) {
        let frame = body.frame().await.expect("the body must continue").unwrap();
        seen.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
    }
    seen
}

/// Returns the terminal event of a run.
pub(crate) fn terminal(events: &[RunEvent]) -> &RunEvent {
    let ends = events.iter().filter(|event| event.is_terminal()).count();
    assert_eq!(ends, 1, "{events:?}");
    events.last().unwrap()
}
