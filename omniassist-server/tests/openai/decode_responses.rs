//! Tests of the Responses decoder with handwritten streams.

use omniassist_server::ProviderErrorKind;
use omniassist_server::core::event::{CallKind, Source};
use omniassist_server::core::{FinishReason, LlmEvent};
use serde_json::{Value, json};

use super::harness::{Api, decode, whole};
use super::streams::{
    added, arguments, completed, created, cut_second_call, done, function_call, incomplete,
    reasoning_and_calls, responses, rotating_ids, without_indexes,
};
use crate::recordings::{Said, fold};

fn said(bytes: &[u8]) -> Said {
    let decoded = whole(Api::Responses, bytes);
    assert!(decoded.end.is_ok(), "{:?}", decoded.end);
    let events = decoded.events;
    assert_eq!(decode(Api::Responses, bytes.chunks(1)).events, events);
    fold(&events)
}

fn ended(said: &Said) -> Vec<Option<&str>> {
    said.calls.iter().map(|call| call.ended.as_deref()).collect()
}

#[test]
fn parallel_calls_text_and_sealed_reasoning() {
    let bytes = reasoning_and_calls();
    let said = said(&bytes);
    assert_eq!(said.reasoning, "First thought.Second \"thought\"\nwith é and 🦀.");
    assert_eq!(said.text, "Let me look.");
    assert_eq!(ended(&said), [Some("{\"city\":\"Zürich\"}"), Some("{\"zone\":\"CET\"}")]);
    assert_eq!(said.finish, Some((FinishReason::ToolCalls, Some("completed".to_owned()), false)));
    let usage = said.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.cached_input_tokens, usage.reasoning_tokens),
        (Some(10), Some(4), Some(2))
    );

    let events = whole(Api::Responses, &bytes).events;
    let state: Vec<Value> = events
        .iter()
        .filter_map(|event| match event {
            LlmEvent::ReasoningEnd { metadata, .. }
            | LlmEvent::TextEnd { metadata, .. }
            | LlmEvent::ToolCallEnd { metadata, .. } => Some(json!(metadata)),
            _ => None,
        })
        .collect();
    assert_eq!(
        state,
        [
            json!({"openai": {"itemId": "rs_1"}}),
            json!({"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "gAAAA+/sealed=="}}),
            json!({"openai": {"itemId": "msg_1", "phase": "commentary"}}),
            json!({"openai": {"itemId": "fc_1"}}),
            json!({"openai": {"itemId": "fc_2"}}),
        ]
    );
    assert!(!format!("{events:?}").contains("secret instructions"));
}

#[test]
fn reasoning_without_visible_text_keeps_its_state() {
    let bytes = responses(&[
        created(),
        added(0, json!({"type": "reasoning", "id": "rs_1", "summary": []})),
        done(0, json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"})),
        completed(),
    ]);
    let events = whole(Api::Responses, &bytes).events;
    let ends =
        events.iter().filter(|event| matches!(event, LlmEvent::ReasoningEnd { metadata: Some(_), .. }));
    assert_eq!(ends.count(), 1);
}

#[test]
fn items_are_identified_by_index_despite_changing_ids() {
    let said = said(&rotating_ids());
    assert_eq!(said.text, "On it.");
    assert_eq!(ended(&said), [Some("{\"city\":\"Bern\"}")]);
}

#[test]
fn items_are_identified_by_id_without_indexes() {
    let said = said(&without_indexes());
    assert_eq!(ended(&said), [Some("{\"city\": \"Bern\"}"), Some("{}")]);
    assert_eq!(said.calls[0].streamed, "{\"city\":\"Bern\"}");
    assert_eq!(said.calls[1].id, "call_b");
}

#[test]
fn items_on_one_index_are_kept_apart() {
    let bytes = responses(&[
        created(),
        done(0, function_call("fc_1", "call_a", "weather", "{}", "completed")),
        done(0, function_call("fc_2", "call_b", "weather", "{\"a\":1}", "completed")),
        completed(),
    ]);
    assert_eq!(ended(&said(&bytes)), [Some("{}"), Some("{\"a\":1}")]);
}

#[test]
fn a_cut_call_does_not_end_and_a_finished_call_does() {
    let said = said(&cut_second_call());
    assert_eq!(ended(&said), [Some("{\"city\":\"Bern\"}"), None]);
    assert_eq!(said.finish, Some((FinishReason::Length, Some("max_output_tokens".to_owned()), true)));
}

#[test]
fn a_response_that_is_cut_after_a_call_drops_that_call() {
    let bytes = responses(&[
        created(),
        added(0, function_call("fc_1", "call_a", "report", "", "in_progress")),
        done(0, function_call("fc_1", "call_a", "report", "{}", "completed")),
        incomplete("content_filter"),
    ]);
    let said = said(&bytes);
    assert_eq!(said.runnable(), [false]);
    assert_eq!(said.finish.unwrap().0, FinishReason::ContentFilter);
}

/// Covers fault 33.
#[test]
fn a_call_without_an_end_event_needs_complete_json_and_a_completed_response() {
    let call = |piece: &str, end: Value| {
        let bytes = responses(&[
            created(),
            added(0, function_call("fc_1", "call_a", "report", "", "in_progress")),
            arguments(0, "fc_1", piece),
            end,
        ]);
        said(&bytes)
    };
    let healthy = call("{\"a\":1}", completed());
    assert_eq!(ended(&healthy), [Some("{\"a\":1}")]);
    assert!(!healthy.finish.unwrap().2);
    let cut = call("{\"a\":", completed());
    assert_eq!((ended(&cut), cut.finish.as_ref().unwrap().2), (vec![None], true));
    assert_eq!(ended(&call("{\"a\":1}", incomplete("max_output_tokens"))), [None]);
    assert_eq!(ended(&call("", completed())), [None]);
}

#[test]
fn the_items_of_the_last_event_replace_lost_events() {
    let output = json!([
        {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "Hello"}]},
        function_call("fc_1", "call_a", "weather", "{\"a\":1}", "completed"),
        function_call("fc_2", "call_b", "weather", "{\"a\":1}", "incomplete"),
    ]);
    let mut end = completed();
    end["response"]["output"] = output;
    let said = said(&responses(&[created(), end]));
    assert_eq!(said.text, "Hello");
    assert_eq!(ended(&said), [Some("{\"a\":1}"), None]);
}

#[test]
fn text_of_a_done_item_is_emitted_once_if_it_was_not_streamed() {
    let message = json!({"type": "message", "id": "msg_1", "content": [
        {"type": "output_text", "text": "Hello", "annotations": [{"type": "file_citation", "file_id": "f1", "filename": "a.pdf"}]},
        {"type": "refusal", "refusal": "No."},
    ]});
    let events = [
        created(),
        json!({"type": "response.output_text.done", "output_index": 0, "item_id": "msg_1", "content_index": 0, "text": "Hello"}),
        done(0, message.clone()),
        done(0, message),
        completed(),
    ];
    assert_eq!(said(&responses(&events)).text, "Hello");
    let said = said(&responses(&[created(), events[2].clone(), completed()]));
    assert_eq!((said.text.as_str(), said.refusal.as_str(), said.citations), ("Hello", "No.", 1));
}

#[test]
fn custom_calls_have_text_and_provider_items_are_shown() {
    let bytes = responses(&[
        created(),
        added(
            0,
            json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_c", "name": "sql", "input": ""}),
        ),
        json!({"type": "response.custom_tool_call_input.delta", "output_index": 0, "item_id": "ctc_1", "delta": "select 1"}),
        json!({"type": "response.custom_tool_call_input.done", "output_index": 0, "item_id": "ctc_1", "input": "select 1"}),
        done(
            0,
            json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_c", "name": "sql", "input": "select 1", "status": "completed"}),
        ),
        json!({"type": "response.web_search_call.searching", "output_index": 1, "item_id": "ws_1"}),
        done(1, json!({"type": "web_search_call", "id": "ws_1", "status": "completed"})),
        done(2, json!({"type": "mcp_call", "id": "mcp_1", "name": "shorten", "output": "x"})),
        done(
            3,
            json!({"type": "image_generation_call", "id": "ig_1", "output_format": "webp", "result": "QUJD"}),
        ),
        json!({"type": "response.output_text.annotation.added", "output_index": 4, "item_id": "msg_1",
               "annotation": {"type": "url_citation", "url": "https://example.com/", "title": "E"}}),
        json!({"type": "keepalive", "sequence_number": 4}),
        completed(),
    ]);
    let said = said(&bytes);
    assert_eq!((said.calls[0].kind, ended(&said)), (CallKind::Custom, vec![Some("select 1")]));
    assert_eq!((said.builtin, said.files, said.citations), (3, 1, 1));
    let events = whole(Api::Responses, &bytes).events;
    let file = events.iter().find_map(|event| match event {
        LlmEvent::File { url, .. } => Some(url.as_str()),
        _ => None,
    });
    assert_eq!(file, Some("data:image/webp;base64,QUJD"));
    for event in &events {
        match event {
            LlmEvent::ProviderTool { id, kind, name, item, replay_to } => {
                assert!(["web_search", "mcp", "image_generation"].contains(&kind.as_str()), "{kind}");
                assert_eq!(name.is_some(), kind == "mcp");
                assert_eq!(replay_to.is_some(), kind != "image_generation");
                assert!(!item.as_str().contains("QUJD") && item.as_str().contains(id.as_str()));
            }
            LlmEvent::Source(Source::Url { url, .. }) => assert_eq!(url, "https://example.com/"),
            LlmEvent::Unknown { kind, .. } => assert_eq!(kind, "keepalive"),
            _ => {}
        }
    }
}

#[test]
fn errors_in_the_stream_in_every_shape() {
    let start = [
        created(),
        json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "m", "delta": "Hal"}),
    ];
    let cases = [
        (
            json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow down", "param": null}),
            ProviderErrorKind::RateLimited,
            Some("rate_limit_exceeded"),
        ),
        (
            json!({"type": "error", "error": {"type": "server_error", "code": null, "message": "oops"}}),
            ProviderErrorKind::Unavailable,
            Some("server_error"),
        ),
        (
            json!({"type": "error", "error": {"type": "invalid_request_error", "code": "context_length_exceeded", "message": "m"}}),
            ProviderErrorKind::ContextOverflow,
            Some("context_length_exceeded"),
        ),
        (
            json!({"type": "response.failed", "response": {"id": "resp_1", "status": "failed", "error": {"code": "server_error", "message": "m"}, "usage": {"input_tokens": 3}}}),
            ProviderErrorKind::Unavailable,
            Some("server_error"),
        ),
        (
            json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "invalid_prompt", "message": "m"}}}),
            ProviderErrorKind::Response,
            Some("invalid_prompt"),
        ),
    ];
    for (event, kind, code) in cases {
        let failed = json!({"type": "response.failed", "response": {"error": {"code": "other"}}});
        let mut events = start.to_vec();
        events.extend([event.clone(), failed]);
        let decoded = decode(Api::Responses, responses(&events).chunks(11));
        let error = decoded.end.unwrap_err();
        assert_eq!((error.provider_kind(), error.code()), (Some(kind), code), "{event}");
        let said = fold(&decoded.events);
        assert_eq!((said.text.as_str(), said.finish), ("Hal", None));
    }
}

#[test]
fn unknown_events_are_ignored_and_invalid_json_is_an_error() {
    let mut bytes =
        b"\xef\xbb\xbf: hello\n\ndata: : keepalive\n\ndata:\n\nevent: ping\n\ndata: [DONE]\n\n".to_vec();
    bytes.extend(responses(&[
        created(),
        json!({"type": "response.output_text.delta", "output_index": null, "item_id": null, "content_index": "0", "delta": "Hi"}),
        json!({"type": "response.output_text.delta", "delta": null}),
        json!({"type": "response.brand_new.thing", "delta": {"a": 1}}),
        completed(),
        json!({"type": "response.output_text.delta", "delta": "late"}),
    ]));
    assert_eq!(said(&bytes).text, "Hi");
    let broken = whole(Api::Responses, b"data: {\"type\":\n\n").end.unwrap_err();
    assert_eq!(broken.provider_kind(), Some(ProviderErrorKind::Protocol));
}

#[test]
fn a_refusal_is_the_reason_of_its_finish() {
    let delta =
        json!({"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "No."});
    let item = json!({"id": "m1", "type": "message", "content": [{"type": "refusal", "refusal": "No."}]});
    for events in [vec![created(), delta], vec![created(), done(0, item)]] {
        let end = json!({"type": "response.completed", "response": {"id": "resp_1", "status": "completed"}});
        let said = said(&responses(&[events, vec![end]].concat()));
        assert_eq!(said.refusal, "No.");
        assert_eq!(said.finish.unwrap(), (FinishReason::Refusal, Some("completed".to_owned()), false));
    }
}
