//! Tests of a conversation that is too long for the model. The request is repeated once with less content.

use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::{Limits, Message, RunRequest};
use omniassist_server::testing::{FakeProvider, Reply, chat_sse, responses_sse};
use omniassist_server::{Assistant, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ask::{Api, limits, provider};

const OLD: &str = "the oldest question";

fn overflow() -> Reply {
    Reply::json(400, &json!({"error": {"message": "secret", "code": "context_length_exceeded"}}))
}

fn says(api: Api, text: &str) -> Reply {
    Reply::sse(match api {
        Api::Responses => responses_sse::text(text),
        Api::Chat => chat_sse::text(text),
    })
}

fn long() -> RunRequest {
    let mut request = RunRequest::prompt("And now?");
    let question = Message::user("u0", format!("{OLD} {}", "x".repeat(4_000)));
    let middle = Message::user("u1", format!("a later question {}", "y".repeat(1_000)));
    request.messages.splice(0..0, [question, middle]);
    request
}

async fn assistant(api: Api, replies: impl IntoIterator<Item = Reply>) -> (Assistant, FakeProvider) {
    #[derive(Deserialize, JsonSchema)]
    struct Nothing {}
    async fn dump(_: omniassist_server::Args<Nothing>) -> Result<String, ToolError> {
        Ok(format!("first {} last", "z".repeat(40_000)))
    }
    let server = FakeProvider::start().await.unwrap();
    for reply in replies {
        server.reply(reply);
    }
    let assistant = Assistant::builder(provider(api, &server.base_url(), limits()))
        .system_prompt("You help.")
        .tool(Tool::new("dump", "A large table", dump))
        .build()
        .unwrap();
    (assistant, server)
}

fn sent(server: &FakeProvider, request: usize) -> String {
    server.requests()[request].json().to_string()
}

#[tokio::test]
async fn an_overflow_is_repeated_once_without_the_oldest_messages() {
    for api in [Api::Chat, Api::Responses] {
        let (assistant, server) = assistant(api, [overflow(), says(api, "Here.")]).await;
        assert_eq!(assistant.run(long()).text().await.unwrap(), "Here.");
        let (first, second) = (sent(&server, 0), sent(&server, 1));
        assert!(first.contains(OLD) && !first.contains("left out"));
        assert!(!second.contains(OLD) && second.contains("left out"), "{second}");
        for kept in ["You help.", "a later question", "And now?"] {
            assert!(second.contains(kept), "{kept}: {second}");
        }
    }
}

#[tokio::test]
async fn a_second_overflow_ends_the_run() {
    let (assistant, server) = assistant(Api::Chat, [overflow(), overflow()]).await;
    let failure = assistant.run(long()).text().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::ContextOverflow));
    assert_eq!((server.requests().len(), server.replies_left()), (2, 0));
}

#[tokio::test]
async fn a_conversation_that_cannot_be_shortened_is_not_repeated() {
    let (assistant, server) = assistant(Api::Chat, [overflow()]).await;
    let failure = assistant.run(RunRequest::prompt("x".repeat(9_000))).text().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::ContextOverflow));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_overflow_after_text_is_not_repeated() {
    let error = json!({"error": {"message": "secret", "code": "context_length_exceeded"}});
    let body =
        format!("data: {}\n\ndata: {error}\n\n", crate::openai::streams::delta(json!({"content": "Well"})));
    let (assistant, server) = assistant(Api::Chat, [Reply::sse(body)]).await;
    let failure = assistant.run(long()).text().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::ContextOverflow));
    assert_eq!((server.requests().len(), failure.into_partial().text().as_str()), (1, "Well"));
}

#[tokio::test]
async fn an_output_that_is_too_large_for_the_next_step_loses_its_middle() {
    for api in [Api::Chat, Api::Responses] {
        let call = match api {
            Api::Responses => responses_sse::call("c1", "dump", json!({})),
            Api::Chat => chat_sse::call("c1", "dump", json!({})),
        };
        let (assistant, server) = assistant(api, [Reply::sse(call), overflow(), says(api, "Large.")]).await;
        let text = assistant.run(RunRequest::prompt("Show me.")).text().await.unwrap();
        assert_eq!(text, "Large.");
        let (before, after) = (sent(&server, 1), sent(&server, 2));
        assert!(before.len() > 40_000 && after.len() < 30_000, "{} {}", before.len(), after.len());
        assert!(after.contains("first z") && after.contains("z last") && after.contains("cut: the whole"));
        let answered: Value = server.requests()[2].json();
        assert!(answered.to_string().contains("Show me."));
    }
}

#[tokio::test]
async fn the_refused_request_does_not_count_as_a_step() {
    let mut limits = Limits::default();
    limits.max_steps = 1;
    let server = FakeProvider::start().await.unwrap();
    server.reply(overflow()).reply(says(Api::Chat, "Here."));
    let model = provider(Api::Chat, &server.base_url(), limits.clone());
    let assistant = Assistant::builder(model).limits(limits).build().unwrap();
    assert_eq!(assistant.run(long()).text().await.unwrap(), "Here.");
}
