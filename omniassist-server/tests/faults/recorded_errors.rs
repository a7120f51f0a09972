//! Tests of the recorded error replies of providers: the class of each, and the text that a browser receives.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::Assistant;
use omniassist_server::core::event::RunErrorCode;
use omniassist_server::http::AssistantService;
use omniassist_server::provider::error_from_response;
use omniassist_server::testing::{FakeProvider, Reply};
use serde::Deserialize;
use serde_json::{Value, json};

use super::ask::{Api, limits, provider};
use crate::recordings::root;

#[derive(Deserialize)]
struct Recorded {
    provider: String,
    status: u16,
    content_type: Option<String>,
    body: String,
}

fn recorded() -> Option<Vec<Recorded>> {
    let lines = std::fs::read_to_string(root()?.join("http_errors.jsonl")).unwrap();
    Some(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Returns the expected class of a reply.
fn class(recorded: &Recorded) -> RunErrorCode {
    let body = recorded.body.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| body.contains(word));
    if says(&["maximum context length", "exceeds the available context", "prompt is too long"]) {
        RunErrorCode::ContextOverflow
    } else if matches!(recorded.status, 401 | 403) || says(&["api key"]) {
        RunErrorCode::ProviderAuth
    } else if matches!(recorded.status, 402 | 429) {
        RunErrorCode::RateLimited
    } else if recorded.status >= 500 && recorded.status != 501 {
        RunErrorCode::ProviderUnavailable
    } else {
        RunErrorCode::ProviderError
    }
}

fn post() -> Request<Full<Bytes>> {
    let body = json!({"messages": [{"id": "m1", "role": "user", "content": "hi"}]}).to_string();
    Request::post("/").header(header::CONTENT_TYPE, "application/json").body(Full::new(body.into())).unwrap()
}

/// Returns the strings in the body that are too long to match by chance.
fn strings(body: &str) -> Vec<String> {
    fn collect(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::String(text) => into.push(text.clone()),
            Value::Array(values) => values.iter().for_each(|value| collect(value, into)),
            Value::Object(fields) => fields.values().for_each(|value| collect(value, into)),
            _ => {}
        }
    }
    let mut strings = vec![body.to_owned()];
    if let Ok(value) = serde_json::from_str(body) {
        collect(&value, &mut strings);
    }
    strings.retain(|text| text.len() >= 12);
    strings
}

#[tokio::test]
async fn each_recorded_error_has_its_class_and_none_of_its_words_reach_a_browser() {
    let Some(recorded) = recorded() else { return };
    let mut table = BTreeMap::<(&str, u16, &str), usize>::new();
    let mut limits = limits();
    limits.max_retries = 0;
    for error in &recorded {
        let code = class(error);
        assert_eq!(
            error_from_response(error.status, error.body.as_bytes()).run_code(),
            code,
            "{}",
            error.body
        );
        *table.entry((&error.provider, error.status, code.as_str())).or_default() += 1;
        for api in [Api::Chat, Api::Responses] {
            let server = FakeProvider::start().await.unwrap();
            let reply = Reply::html(error.status, error.body.clone());
            server.reply(reply.header("content-type", error.content_type.clone().unwrap_or_default()));
            let model = provider(api, &server.base_url(), limits.clone());
            let service = AssistantService::new(Assistant::builder(model).allow_anonymous().build().unwrap());
            let sent = service.handle(post()).await.into_body().collect().await.unwrap().to_bytes();
            let sent = String::from_utf8(sent.into()).unwrap();
            for text in strings(&error.body) {
                assert!(!sent.contains(&text), "{text:?} in {sent}");
            }
            let errors: Vec<Value> = sent
                .lines()
                .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
                .filter(|chunk: &Value| chunk["type"] == "error")
                .collect();
            assert_eq!(errors.len(), 1, "{sent}");
            assert!(errors[0]["errorText"].as_str().unwrap().contains(code.safe_message()), "{sent}");
        }
    }
    for ((provider, status, code), count) in &table {
        eprintln!("{count:>3}  {provider:<12} {status}  {code}");
    }
    eprintln!("{} recorded error replies, each through both APIs", recorded.len());
    assert!(recorded.len() >= 44);
}
