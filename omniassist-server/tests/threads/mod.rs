//! Tests of stored conversations: the routes below `/threads`, and the interface for the application.

mod entries;
mod lossless;
mod owners;
mod retention;
mod routes;
mod written;

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::http::AssistantService;
use omniassist_server::store::{MemoryStore, RunStore, Scope, Which};
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::{Assistant, AssistantBuilder, Principal};
use serde_json::{Value, json};

/// An assistant with a store, and its user.
struct Site {
    store: MemoryStore,
    assistant: Assistant,
    user: Principal,
}

/// A whole answer. Two of them are equal if a client cannot tell them apart.
#[derive(Debug, PartialEq)]
struct Answer {
    status: StatusCode,
    headers: Vec<(String, String)>,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }
}

impl Site {
    fn new() -> Self {
        Self::with(ScriptedProvider::new().otherwise(|_| text("In Kiel.")), |builder| builder)
    }

    fn with(model: ScriptedProvider, set: impl FnOnce(AssistantBuilder) -> AssistantBuilder) -> Self {
        let store = MemoryStore::new();
        let assistant = set(Assistant::builder(model).store(store.clone())).build().unwrap();
        Self { store, assistant, user: Principal::new("ada") }
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        self.send_as(self.user.clone(), method, path, body).await
    }

    async fn send_as(&self, user: Principal, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        request.extensions_mut().unwrap().insert(user);
        let body = Full::<Bytes>::from(body.map(Value::to_string).unwrap_or_default());
        let response =
            AssistantService::new(self.assistant.clone()).handle(request.body(body).unwrap()).await;
        let (parts, body) = response.into_parts();
        let headers = parts.headers.iter();
        let mut headers: Vec<_> =
            headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
        headers.sort_unstable();
        let body = String::from_utf8(body.collect().await.unwrap().to_bytes().into()).unwrap();
        Answer { status: parts.status, headers, body }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::PATCH, path, Some(body)).await
    }

    async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    /// Posts the last message of a chat, and waits for the end of its run.
    async fn ask(&self, chat: &str, id: &str, text: &str) -> Answer {
        let message = json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": text }] });
        let answer = self.send(Method::POST, "/", Some(&json!({ "id": chat, "message": message }))).await;
        self.settled(chat).await;
        answer
    }

    async fn settled(&self, chat: &str) {
        let scope = Scope::of(&self.user).unwrap();
        while let Some(run) = self.store.find(&scope, Which::Chat(chat)).await.unwrap()
            && !run.state.is_ended()
        {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
}
