//! Tests of conversations that the host stores for clients that post only the last message.

mod deferred;
mod limited;
mod refused;
mod round_trip;
mod saving;
mod trust;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use http::{Request, Response, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::core::message::{Message, MessageCollector, Role, read};
use omniassist_server::core::{Limits, RunEvent, RunRequest, Text};
use omniassist_server::http::{AssistantBody, AssistantService, PostedRun};
use omniassist_server::observe::FinishedRun;
use omniassist_server::tool::ChatId;
use omniassist_server::{Assistant, AssistantBuilder, Principal, Refusal, State};
use serde_json::{Value, json};

type Posted = Request<Full<bytes::Bytes>>;

/// The host's table with the messages of each chat as JSON.
#[derive(Clone, Default)]
struct Table(Arc<Mutex<HashMap<(String, Text), String>>>);

impl Table {
    fn row(&self, chat: &str) -> String {
        let row = self.0.lock().unwrap().get(&("ada".to_owned(), chat.into())).cloned();
        row.unwrap_or_else(|| "[]".to_owned())
    }

    fn put(&self, chat: &str, json: impl Into<String>) {
        self.0.lock().unwrap().insert(("ada".to_owned(), chat.into()), json.into());
    }

    async fn load(
        ChatId(chat): ChatId,
        user: Principal,
        State(table): State<Self>,
    ) -> Result<Vec<Message>, Refusal> {
        assert_eq!(user.id(), "ada");
        Ok(read::messages(&table.row(&chat).into(), &Limits::default())?)
    }

    /// Builds an assistant that loads from this table and saves to it.
    fn of(&self, builder: AssistantBuilder) -> Assistant {
        let table = self.clone();
        let save = move |run: FinishedRun| {
            let table = table.clone();
            async move {
                tokio::task::yield_now().await;
                table.put(run.context.chat_id().unwrap(), serde_json::to_string(&run.messages()).unwrap());
                Ok::<_, std::io::Error>(())
            }
        };
        builder.state(self.clone()).history_loader(Self::load).on_finish(save).build().unwrap()
    }
}

fn request(body: &Value) -> Posted {
    let mut request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    request.body(Full::from(body.to_string())).unwrap()
}

/// Returns the body of a client that posts only its last message.
fn last(messages: &[Message], trigger: &str, message_id: Option<&str>) -> Value {
    json!({"id": "c", "message": messages.last(), "trigger": trigger, "messageId": message_id})
}

async fn respond(assistant: &Assistant, body: &Value) -> (u16, String) {
    let response = AssistantService::new(assistant.clone()).handle(request(body)).await;
    read_response(response).await
}

async fn read_response(response: Response<AssistantBody>) -> (u16, String) {
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.into()).unwrap())
}

/// Reads a body like the route of the assistant.
async fn complete(assistant: &Assistant, body: &Value) -> RunRequest {
    match PostedRun::read_for(request(body), assistant).await {
        Ok(posted) => posted.request,
        Err(response) => panic!("{:?}", read_response(response).await),
    }
}

/// Posts a body and adds the answer to the messages of the client.
async fn post(assistant: &Assistant, body: &Value, messages: &mut Vec<Message>) -> Vec<RunEvent> {
    let mut extensions = http::Extensions::new();
    extensions.insert(Principal::new("ada"));
    let request = complete(assistant, body).await;
    let events: Vec<_> = assistant.try_run(request, extensions).await.unwrap().collect().await;
    let continued = messages.pop_if(|last| last.role == Role::Assistant);
    let mut collector = continued.map_or_else(MessageCollector::new, MessageCollector::continuing);
    events.iter().for_each(|event| collector.apply(event));
    messages.push(collector.into_message());
    events
}
