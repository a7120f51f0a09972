//! Every route, and a request that it accepts.

use bytes::Bytes;
use http::{Method, Request, header};
use http_body_util::Full;
use serde_json::{Value, json};

use super::Answer;
use crate::ag_ui::{input, user};

/// The kind of client that reads the errors of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    Own,
    OpenAi,
    CopilotKit,
}

/// An acceptable request.
#[derive(Debug, Clone)]
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) body: Option<Value>,
    pub(super) status: u16,
    pub(super) reads: Reads,
}

impl Route {
    pub(super) fn name(&self) -> String {
        let method = self.body.as_ref().and_then(|body| body["method"].as_str());
        let method = method.map(|method| format!(" ({method})")).unwrap_or_default();
        format!("{} {}{method}", self.method, self.path)
    }

    /// Returns `true` if the request calls the model and has its own reader.
    pub(super) fn runs(&self) -> bool {
        let asked = self.body.as_ref().and_then(|body| body["method"].as_str());
        let is_copilotkit = self.reads == Reads::CopilotKit;
        self.body.is_some() && (!is_copilotkit || asked == Some("agent/run"))
    }

    pub(super) fn body(&self) -> Bytes {
        self.body.as_ref().map(|body| Bytes::from(body.to_string())).unwrap_or_default()
    }

    /// Returns the request for a call in process.
    pub(super) fn request(&self) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(self.method.clone()).uri(self.path);
        if self.body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        request.body(Full::new(self.body())).unwrap()
    }

    /// Returns the code of an error in the format of this route.
    pub(super) fn code(&self, answer: &Answer) -> String {
        let body: Value = serde_json::from_str(&answer.body)
            .unwrap_or_else(|_| panic!("{}: no JSON: {answer:?}", self.name()));
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let code = match self.reads {
            Reads::Own => {
                assert!(body["error"]["message"].is_string(), "{body}");
                &body["error"]["code"]
            }
            Reads::OpenAi => {
                assert_eq!(keys(&body["error"]), ["code", "message", "param", "type"], "{body}");
                &body["error"]["code"]
            }
            Reads::CopilotKit => {
                assert!(body["error"].is_string() && body["message"].is_string(), "{body}");
                &body["code"]
            }
        };
        code.as_str().unwrap_or_else(|| panic!("{}: no code: {body}", self.name())).to_owned()
    }
}

/// Returns all routes. `/object` without a name needs a single object.
pub(super) fn all() -> Vec<Route> {
    let post = |path: &'static str, body: Option<Value>, reads: Reads| Route {
        method: Method::POST,
        path,
        body,
        status: 200,
        reads,
    };
    let get = |path: &'static str, status: u16, reads: Reads| Route {
        method: Method::GET,
        path,
        body: None,
        status,
        reads,
    };
    let own = |path, body| post(path, Some(body), Reads::Own);
    let copilot = |path, body| post(path, Some(body), Reads::CopilotKit);
    let posted = json!({"id": "chat-1", "messages": [user("hi")]});
    let asked = json!({"model": "omniassist", "messages": [{"role": "user", "content": "Hi"}]});
    let ag_ui = input(&[user("hi")]);
    let parameters = json!({"type": "object", "properties": {"suggestions": {"type": "string"}}});
    let mut suggest = ag_ui.clone();
    suggest["tools"] =
        json!([{"name": "copilotkitSuggest", "description": "Suggest", "parameters": parameters}]);
    let envelope = |method: &str, body: &Value| {
        let params = json!({"agentId": "default", "threadId": "thread-1"});
        json!({"method": method, "params": params, "body": body})
    };
    vec![
        own("/", posted),
        own("/completion", json!({"prompt": "hi"})),
        own("/object", json!("hi")),
        own("/object/invoice", json!({"text": "hi"})),
        own("/ag-ui", ag_ui.clone()),
        post("/chat-1/stop", None, Reads::Own),
        get("/chat-1/stream", 204, Reads::Own),
        get("/manifest.json", 200, Reads::Own),
        get("/types.d.ts", 200, Reads::Own),
        get("/nowhere", 404, Reads::Own),
        post("/v1/chat/completions", Some(asked), Reads::OpenAi),
        get("/v1/models", 200, Reads::OpenAi),
        get("/v1/models/omniassist", 200, Reads::OpenAi),
        get("/v1/nowhere", 404, Reads::OpenAi),
        get("/copilotkit/info", 200, Reads::CopilotKit),
        get("/copilotkit/threads", 200, Reads::CopilotKit),
        copilot("/copilotkit/agent/default/run", ag_ui.clone()),
        copilot("/copilotkit/agent/default/connect", ag_ui.clone()),
        copilot("/copilotkit/agent/default/suggest", suggest.clone()),
        copilot("/copilotkit/agent/default/stop/thread-1", json!({})),
        copilot("/copilotkit", json!({"method": "info"})),
        copilot("/copilotkit", envelope("agent/run", &ag_ui)),
        copilot("/copilotkit", envelope("agent/connect", &ag_ui)),
        copilot("/copilotkit", envelope("agent/suggest", &suggest)),
        copilot("/copilotkit", envelope("agent/stop", &json!({}))),
    ]
}
