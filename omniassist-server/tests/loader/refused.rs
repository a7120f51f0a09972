use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use omniassist_server::core::Message;
use omniassist_server::core::event::RunErrorCode;
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::{Assistant, Extension, Refusal, State};
use serde_json::{Value, json};

use super::{Table, complete, last, respond};

fn posted() -> Value {
    last(&[Message::user("q1", "Hello")], "submit-message", None)
}

fn error(answer: &str) -> Value {
    serde_json::from_str::<Value>(answer).unwrap()["error"].clone()
}

#[tokio::test]
async fn the_host_refuses_a_chat_with_its_own_status() {
    let model = ScriptedProvider::new();
    for path in ["/", "/?protocol=text"] {
        let refuse = async || {
            let refusal =
                Refusal::new("no_such_chat", "There is no such chat.").status(StatusCode::NOT_FOUND);
            Err::<Vec<Message>, _>(refusal.retry_after(Duration::from_secs(3)))
        };
        let assistant = Assistant::builder(model.clone()).history_loader(refuse).build().unwrap();
        let mut request = super::request(&posted());
        *request.uri_mut() = path.parse().unwrap();
        let response = omniassist_server::http::AssistantService::new(assistant).handle(request).await;
        assert_eq!(response.headers()["retry-after"], "3");
        let (status, answer) = super::read_response(response).await;
        assert_eq!(status, 404);
        let error = error(&answer);
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!("no_such_chat"), &json!("There is no such chat."))
        );
    }
    assert!(model.payloads().is_empty(), "the model must receive no request");
}

#[tokio::test(start_paused = true)]
async fn a_failing_loader_is_status_500_without_its_text() {
    let model = ScriptedProvider::new();
    let builder = || Assistant::builder(model.clone());
    let fails =
        async || -> Result<Vec<Message>, Refusal> { Err(std::io::Error::other("the secret address").into()) };
    let panics = async || -> Result<Vec<Message>, Refusal> { panic!("the secret address") };
    let extracts = async |Extension(_): Extension<u8>| Ok(Vec::<Message>::new());
    let never = async || -> Result<Vec<Message>, Refusal> { std::future::pending().await };
    for assistant in [
        builder().history_loader(fails),
        builder().history_loader(panics),
        builder().history_loader(extracts),
        builder().history_loader(never),
    ] {
        let (status, answer) = respond(&assistant.build().unwrap(), &posted()).await;
        assert_eq!((status, error(&answer)["code"].as_str()), (500, Some("internal")), "{answer}");
        assert!(!answer.contains("secret"), "{answer}");
    }
    assert!(model.payloads().is_empty());
}

#[test]
fn a_loader_that_needs_state_is_refused_without_it() {
    let load = async |State(_): State<u64>| Ok(Vec::<Message>::new());
    let error = Assistant::builder(ScriptedProvider::new()).history_loader(load).build().unwrap_err();
    assert!(error.is_configuration() && error.to_string().contains("State<u64>"), "{error}");
}

#[tokio::test]
async fn the_last_message_alone_is_refused_without_a_loader() {
    let model = ScriptedProvider::new();
    let assistant = Assistant::builder(model.clone()).build().unwrap();
    let (status, answer) = respond(&assistant, &posted()).await;
    let error = error(&answer);
    assert_eq!((status, &error["path"]), (400, &json!("messages")), "{answer}");
    assert!(error["expected"].as_str().unwrap().contains("no history loader"), "{answer}");
    let request = complete(&assistant, &posted()).await;
    let failure = assistant.run(request).text().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::InvalidRequest));
    assert!(model.payloads().is_empty());
}

#[tokio::test]
async fn a_request_that_cannot_be_completed_is_refused() {
    let table = Table::default();
    let model = ScriptedProvider::new();
    let assistant = table.of(Assistant::builder(model.clone()));
    table.put(
        "c",
        serde_json::to_string(&[Message::user("q1", "Hi"), Message::assistant("a1", "Hi")]).unwrap(),
    );
    for (body, path) in [
        (json!({"message": posted()["message"]}), "id"),
        (json!({"id": "c"}), "messages"),
        (json!({"id": "c", "trigger": "regenerate-message", "messageId": "a9"}), "messageId"),
        (json!({"id": "other", "trigger": "regenerate-message"}), "messageId"),
        (json!({"id": "c", "message": "Hi"}), "message"),
        (json!({"id": "c", "message": {"id": "q2", "role": "user", "parts": []}}), "message"),
    ] {
        let (status, answer) = respond(&assistant, &body).await;
        assert_eq!((status, error(&answer)["path"].as_str()), (400, Some(path)), "{body} {answer}");
    }
    assert!(model.payloads().is_empty());
}

#[tokio::test]
async fn the_loader_is_called_for_the_last_message_only() {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    let load = move || {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok(Vec::<Message>::new()) }
    };
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let assistant = Assistant::builder(model).history_loader(load).build().unwrap();
    let message = json!({"id": "q1", "role": "user", "content": "Hi"});
    let all = json!({"id": "c", "messages": [message], "message": message});
    let ag_ui = json!({"threadId": "c", "runId": "r", "state": {}, "messages": [message], "tools": [], "context": [],
        "forwardedProps": {}});
    let openai = json!({"model": "omniassist", "messages": [{"role": "user", "content": "Hi"}]});
    for (path, body) in [
        ("/", &all),
        ("/ag-ui", &ag_ui),
        ("/v1/chat/completions", &openai),
        ("/completion", &json!({"prompt": "Hi"})),
    ] {
        let mut request = super::request(body);
        *request.uri_mut() = path.parse().unwrap();
        let service = omniassist_server::http::AssistantService::new(assistant.clone());
        let (status, answer) = super::read_response(service.handle(request).await).await;
        assert_eq!((status, calls.load(Ordering::SeqCst)), (200, 0), "{path} {answer}");
    }
    let (status, _) = respond(&assistant, &posted()).await;
    assert_eq!((status, calls.load(Ordering::SeqCst)), (200, 1));
}
