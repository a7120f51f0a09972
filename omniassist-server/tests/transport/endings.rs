//! Tests of answers whose last word has arrived, but not the end of their body.

use omniassist_server::core::{FinishReason, LlmEvent};
use omniassist_server::{AnthropicProvider, GeminiProvider, OpenAiChatProvider};

use super::*;
use crate::recordings::{Said, fold};

#[derive(Debug, Clone, Copy)]
enum Api {
    Chat,
    Anthropic,
    Gemini,
}

const APIS: [Api; 3] = [Api::Chat, Api::Anthropic, Api::Gemini];

/// Returns the events of an answer with a text and a call up to its last word, and the bytes that follow.
fn answer(api: Api) -> (String, &'static str) {
    let (events, rest): (Vec<Value>, _) = match api {
        Api::Chat => {
            let call = json!({"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{}"}});
            let events = vec![
                json!({"choices": [{"delta": {"content": "hello"}}]}),
                json!({"choices": [{"delta": {"tool_calls": [call]}}]}),
                json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
                json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
            ];
            (events, "data: [DONE]\n\n")
        }
        Api::Anthropic => {
            let call = json!({"type": "tool_use", "id": "a", "name": "weather", "input": {}});
            let events = vec![
                json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 3}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "hello"}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "content_block_start", "index": 1, "content_block": call}),
                json!({"type": "content_block_stop", "index": 1}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}}),
            ];
            (events, "data: {\"type\":\"message_stop\"}\n\n")
        }
        Api::Gemini => {
            let call = json!({"functionCall": {"name": "weather", "args": {}}});
            let parts = json!([{"text": "hello"}, call]);
            let usage = json!({"promptTokenCount": 3, "candidatesTokenCount": 2});
            let events = vec![
                json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}], "usageMetadata": usage}),
            ];
            (events, ": the end\n\n")
        }
    };
    (events.iter().map(|event| format!("data: {event}\n\n")).collect(), rest)
}

async fn listen(api: Api, reply: Reply, limits: Limits) -> (Said, Option<Error>, Duration) {
    let server = serve([reply]).await;
    let (url, host) = (server.base_url(), server.base_url().trim_end_matches("/v1").to_owned());
    let stream = match api {
        Api::Chat => {
            OpenAiChatProvider::builder().base_url(url).limits(limits).build().unwrap().stream(hello())
        }
        Api::Anthropic => {
            let builder = AnthropicProvider::builder().api_key(KEY).base_url(host).limits(limits);
            builder.build().unwrap().stream(hello())
        }
        Api::Gemini => {
            let builder = GeminiProvider::builder().api_key(KEY).base_url(host).limits(limits);
            builder.build().unwrap().stream(hello())
        }
    };
    let start = Instant::now();
    let (events, failures): (Vec<LlmEvent>, Vec<Error>) = stream.collect::<Vec<_>>().await.into_iter().fold(
        Default::default(),
        |(mut events, mut failures), item| {
            match item {
                Ok(event) => events.push(event),
                Err(failure) => failures.push(failure),
            }
            (events, failures)
        },
    );
    (fold(&events), failures.into_iter().next(), start.elapsed())
}

#[tokio::test]
async fn an_answer_with_its_last_word_is_complete_without_the_end_of_its_body() {
    for api in APIS {
        let (said, rest) = answer(api);
        let whole = said.clone() + rest;
        // The reply is sent in pieces, so that a reset cannot overtake the bytes before it.
        let paced = |reply: Reply| reply.chunked_by(said.len()).pace(Duration::from_millis(20));
        for reply in [
            Reply::sse(whole.clone()).stall_after(said.len()),
            Reply::sse(whole.clone()).cut_after(said.len() + 1),
            paced(Reply::sse(whole.clone()).reset_after(said.len() + 1)),
        ] {
            let (said, error, took) = listen(api, reply.clone(), once()).await;
            assert!(error.is_none(), "{api:?} {reply:?}: {error:?}");
            assert_eq!((said.text.as_str(), said.calls.len()), ("hello", 1), "{api:?}");
            assert!(said.calls[0].ended.is_some(), "{api:?}: the call runs");
            assert_eq!(said.finish.unwrap().0, FinishReason::ToolCalls, "{api:?}");
            assert_eq!(said.usage.unwrap().output_tokens, Some(2), "{api:?}");
            assert!(took < Duration::from_secs(4), "{api:?}: {took:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_without_its_last_word_is_interrupted() {
    for api in [Api::Chat, Api::Anthropic] {
        let (said, _) = answer(api);
        let last = match api {
            Api::Chat => said.find("finish_reason").unwrap(),
            _ => said.find("message_delta").unwrap(),
        };
        let (said, error, _) = listen(api, Reply::sse(said).cut_after(last), once()).await;
        assert_eq!(
            error.and_then(|error| error.provider_kind()),
            Some(ProviderErrorKind::Interrupted),
            "{api:?}"
        );
        assert_eq!((said.text.as_str(), said.finish), ("hello", None), "{api:?}");
    }
}

/// The model goes on after a finish reason: it reads the result of its code, or a gateway writes `STOP` on each event.
#[tokio::test(start_paused = true)]
async fn an_answer_of_gemini_goes_on_after_a_pause() {
    let event = |part: Value| {
        let candidate = json!({"content": {"parts": [part]}, "finishReason": "STOP"});
        let event = format!("data: {}", json!({"candidates": [candidate]}));
        format!("{event:254}\n\n")
    };
    let code = || json!({"executableCode": {"language": "PYTHON", "code": "print(1)"}});
    let result = || json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}});
    let text = |text: &str| json!({"text": text});
    for parts in [
        vec![code(), result(), text("hello")],
        vec![text("hel"), text("lo")],
        vec![text("hel"), code(), result(), text("lo")],
        vec![text(""), text("hello")],
        vec![json!({"text": "Hm.", "thought": true}), text("hello")],
    ] {
        let body: String = parts.into_iter().map(event).collect();
        let reply = Reply::sse(body).chunked_by(256).pace(Duration::from_secs(3));
        let mut limits = once();
        limits.idle_timeout = Duration::from_secs(30);
        let (said, error, _) = listen(Api::Gemini, reply.clone(), limits.clone()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(said.text, "hello");
        // A connection that breaks after a finish reason is still the end.
        let (said, error, _) = listen(Api::Gemini, reply.cut_after(256), limits).await;
        assert!(error.is_none() && said.finish.is_some(), "{error:?}");
    }
}
