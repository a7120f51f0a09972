//! The next request of a conversation, by the rules of the four APIs.

use omniassist_server::core::LlmPayload;
use omniassist_server::http::AssistantService;
use omniassist_server::{AnthropicProvider, Assistant, GeminiProvider, OpenAiChatProvider, OpenAiProvider};
use serde_json::Value;

use crate::child::{CHAT, post, question, request};
use crate::legal;
use crate::shape::{self, Tempo};
use crate::store::Store;

/// Asks the next question of a chat, and returns the faults of the request that each provider would send.
pub(crate) async fn faults<S: Store>(store: &S, ledger: &str) -> Vec<String> {
    let model = shape::model(Tempo::FAST);
    let builder = Assistant::builder(model.clone()).store(store.clone());
    let builder = shape::equip(builder, ledger, Some("next"), Tempo::FAST);
    let service = AssistantService::new(builder.build().unwrap());
    let status = post(&service, request(&question(CHAT, "next", "Is that all?")), |_| {}).await;
    let payloads = model.payloads();
    let Some(payload) = payloads.last().filter(|_| status.is_success()) else {
        return vec![format!("the next post ends with {status}, and {} requests", payloads.len())];
    };
    requests(payload)
}

/// A server that is never reached.
const NOWHERE: &str = "http://127.0.0.1:1";

fn requests(payload: &LlmPayload) -> Vec<String> {
    let openai = OpenAiProvider::builder().base_url(NOWHERE).build().unwrap().request_body(payload);
    let chat = OpenAiChatProvider::builder().base_url(NOWHERE).build().unwrap().request_body(payload);
    let anthropic = AnthropicProvider::builder().base_url(NOWHERE).build().unwrap().request_body(payload);
    let gemini = GeminiProvider::builder().base_url(NOWHERE).build().unwrap().request_body(payload);
    let read = |body: &[u8]| serde_json::from_slice::<Value>(body).unwrap();
    let found = [
        ("responses", openai.map(|body| legal::responses::faults(&read(&body)))),
        ("chat", chat.map(|body| legal::chat::faults(&read(&body)))),
        ("anthropic", anthropic.map(|body| legal::anthropic::faults(&read(&body)))),
        ("gemini", gemini.map(|body| legal::gemini::faults(&read(&body)))),
    ];
    found
        .into_iter()
        .flat_map(|(api, faults)| {
            let faults = faults.unwrap_or_else(|error| vec![error.to_string()]);
            faults.into_iter().map(move |fault| format!("the next request is illegal for {api}: {fault}"))
        })
        .collect()
}
