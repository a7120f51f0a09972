//! Tests of faults 1-22: bytes, frames, and errors under a good status.

use omniassist_server::core::RunEvent;
use omniassist_server::testing::{Reply, chat_sse, responses_sse};
use serde_json::{Value, json};

use super::ask::{Api, Told, ask, ask_once, ask_with, limits};
use crate::openai::harness::{decode, whole};
use crate::openai::streams::{
    added, chat, chat_done, completed, created, delta, done, finish, function_call, responses, tool,
};
use crate::recordings::{chunks, fold, with_crlf};

const APIS: [Api; 2] = [Api::Responses, Api::Chat];
const SAID: &str = "Zürich 🦀 \u{2028} e\u{301} — “ok”";

fn says(api: Api, text: &str) -> Vec<u8> {
    match api {
        Api::Responses => responses_sse::text(text).into_bytes().into(),
        Api::Chat => chat_sse::text(text).into_bytes().into(),
    }
}

/// Returns a call of `weather` with this city.
fn calls(api: Api, city: &str) -> Vec<u8> {
    let arguments = json!({ "city": city });
    match api {
        Api::Responses => responses_sse::call("call_1", "weather", arguments).into_bytes().into(),
        Api::Chat => chat_sse::call("call_1", "weather", arguments).into_bytes().into(),
    }
}

/// Checks that the stream has the same events as its original: as a whole, byte by byte and in random pieces.
fn same(api: Api, bytes: &[u8], text: &str) {
    let seeds = (0..8).map(|seed| chunks(bytes, seed));
    for pieces in seeds.chain([vec![bytes], bytes.chunks(1).collect()]) {
        let decoded = decode(api, pieces);
        assert!(decoded.end.is_ok(), "{:?}", decoded.end);
        let said = fold(&decoded.events);
        assert_eq!(said.text, text);
        assert!(said.finish.is_some());
    }
}

/// Returns the stream with an insertion between its lines.
fn between(bytes: &[u8], inserted: &str) -> Vec<u8> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    text.split_inclusive("\n\n").flat_map(|event| [inserted, event]).collect::<String>().into_bytes()
}

fn replace(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    String::from_utf8(bytes.to_vec()).unwrap().replace(from, to).into_bytes()
}

#[tokio::test]
async fn fault_01_each_split_even_within_a_character_has_the_same_events() {
    for api in APIS {
        let bytes = says(api, SAID);
        let original = whole(api, &bytes).events;
        for cut in 0..bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(decode(api, [head, tail]).events.len(), original.len(), "{cut}");
        }
        same(api, &bytes, SAID);
        for size in 1..=4 {
            let told = ask(api, [Reply::sse(bytes.clone()).chunked_by(size)]).await;
            assert_eq!((told.text().as_str(), told.end().as_str()), (SAID, "Stop"));
        }
    }
}

#[tokio::test]
async fn fault_02_a_line_end_split_between_cr_and_lf_is_one() {
    for api in APIS {
        let bytes = with_crlf(&says(api, SAID));
        // Every piece ends with a CR, and its LF begins the next.
        let pieces = bytes.split_inclusive(|byte| *byte == b'\r');
        let decoded = decode(api, pieces);
        assert!(decoded.end.is_ok());
        assert_eq!(fold(&decoded.events).text, SAID);
        let told = ask(api, [Reply::sse(bytes).chunked_by(1)]).await;
        assert_eq!(told.text(), SAID);
    }
}

#[test]
fn fault_03_crlf_lone_cr_and_a_mixture_end_lines() {
    for api in APIS {
        let bytes = says(api, "Hello");
        let lone_cr = replace(&bytes, "\n", "\r");
        let mixed: Vec<u8> = {
            let mut ends = ["\n", "\r", "\r\n"].iter().cycle();
            let text = String::from_utf8(bytes.clone()).unwrap();
            text.split('\n').flat_map(|line| [line, ends.next().unwrap()]).collect::<String>().into_bytes()
        };
        for stream in [with_crlf(&bytes), lone_cr, mixed] {
            same(api, &stream, "Hello");
        }
        // Several lines of data belong to one event.
        let lines = replace(&bytes, "data: {", "data: {\ndata: ");
        for stream in [with_crlf(&lines), replace(&lines, "\n", "\r")] {
            same(api, &stream, "Hello");
        }
    }
}

#[tokio::test]
async fn fault_04_a_byte_order_mark_is_skipped_once() {
    for api in APIS {
        let bytes = ["\u{feff}".as_bytes(), &says(api, "\u{feff}Hello")].concat();
        same(api, &bytes, "\u{feff}Hello");
        let told = ask(api, [Reply::sse(bytes).chunked_by(1)]).await;
        assert_eq!(told.text(), "\u{feff}Hello");
    }
}

#[test]
fn fault_05_fields_are_read_as_in_the_standard() {
    for api in APIS {
        let bytes = says(api, "Hello");
        same(api, &replace(&bytes, "data: ", "data:"), "Hello");
        same(api, &between(&bytes, "id: 7\nretry: 10\nx-unknown: y\ndata\n\n"), "Hello");
        same(api, &between(&bytes, "id: 7\nretry: 10\nx-unknown: y\n"), "Hello");
    }
}

#[test]
fn fault_06_data_lines_of_one_event_are_joined() {
    for api in APIS {
        let bytes = replace(&says(api, "Hello"), "data: {", "data: {\ndata: ");
        same(api, &bytes, "Hello");
    }
}

#[tokio::test]
async fn fault_07_comments_are_not_content_but_keep_the_stream_alive() {
    for api in APIS {
        let bytes = between(&says(api, "Hello"), ": OPENROUTER PROCESSING\n\n");
        same(api, &bytes, "Hello");
        // The stream is longer than the idle deadline, with regular comments.
        let mut limits = limits();
        limits.idle_timeout = std::time::Duration::from_millis(400);
        let answer = says(api, "Hello");
        let comments = format!(":{}\n", "-".repeat(answer.len() - 2)).repeat(8);
        let slow = Reply::sse([comments.as_bytes(), &answer].concat()).chunked_by(answer.len());
        let told = ask_with(api, [slow.pace(std::time::Duration::from_millis(100))], limits).await;
        assert_eq!(told.text(), "Hello");
        // The stream had no event, so the request can be repeated.
        let told = ask(api, [Reply::sse(": wait\n\n").close(), Reply::sse(says(api, "Hello"))]).await;
        assert_eq!((told.text().as_str(), told.requests.len()), ("Hello", 2));
    }
}

#[tokio::test]
async fn fault_08_malformed_keep_alives_are_ignored() {
    for api in APIS {
        for junk in
            ["data: : keepalive\n\n", "data:\n\n", "data: \n\n", "event: keepalive\n\n", "data: ping\n\n"]
        {
            let bytes = between(&says(api, "Hello"), junk);
            same(api, &bytes, "Hello");
            assert_eq!(ask(api, [Reply::sse(bytes)]).await.end(), "Stop", "{junk:?}");
        }
    }
}

#[tokio::test]
async fn fault_09_undocumented_events_are_ignored() {
    for unknown in [
        "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":3}\n\n",
        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        "event: response.new_thing.delta\ndata: {\"type\":\"response.new_thing.delta\",\"delta\":{\"a\":[1]}}\n\n",
    ] {
        let bytes = between(&says(Api::Responses, "Hello"), unknown);
        same(Api::Responses, &bytes, "Hello");
        assert_eq!(ask(Api::Responses, [Reply::sse(bytes)]).await.end(), "Stop");
        let bytes = between(&says(Api::Chat, "Hello"), unknown);
        same(Api::Chat, &bytes, "Hello");
    }
}

#[test]
fn fault_10_unknown_words_nulls_and_further_fields_are_tolerated() {
    let odd = chat_done(&[
        json!({"id": null, "model": null, "choices": [{"index": 0, "finish_reason": "", "new": [1],
               "delta": {"role": null, "content": "Hel", "refusal": null, "tool_calls": null, "mood": {}}}]}),
        delta(json!({"content": "lo", "reasoning_content": null})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "vibes", "logprobs": null}], "usage": null}),
    ]);
    same(Api::Chat, &odd, "Hello");
    let (reason, raw, _) = fold(&whole(Api::Chat, &odd).events).finish.unwrap();
    assert_eq!((format!("{reason:?}").contains("vibes"), raw.as_deref()), (true, Some("vibes")));
    let item = json!({"type": "message", "id": "m", "status": "mellow", "phase": null, "content": []});
    let text = json!({"type": "response.output_text.delta", "output_index": 0, "item_id": null, "content_index": null,
                      "delta": "Hello", "logprobs": null, "obfuscation": "x"});
    same(
        Api::Responses,
        &responses(&[created(), added(0, item.clone()), text, done(0, item), completed()]),
        "Hello",
    );
}

#[test]
fn fault_11_the_protocols_finish_counts_and_done_is_a_hint() {
    let said = [delta(json!({"content": "Hello"})), finish("stop")];
    let (bare, marked) = (chat(&said), chat_done(&said));
    let after = |tail: &str| [&marked[..], tail.as_bytes()].concat();
    for stream in [
        bare,
        replace(&marked, "data: [DONE]", "data:[DONE]"),
        after("data: [DONE]\n\n"),
        after(&format!("data: {}\n\n", delta(json!({"content": "never"})))),
    ] {
        same(Api::Chat, &stream, "Hello");
    }
    // `[DONE]` alone does not end the answer.
    let cut = chat_done(&said[..1]);
    assert!(whole(Api::Chat, &cut).end.is_err());
}

#[tokio::test]
async fn fault_12_a_last_event_without_its_blank_line_counts_if_it_ends_the_answer() {
    for api in APIS {
        let bytes = says(api, "Hello");
        let ends = String::from_utf8(bytes.clone()).unwrap();
        let terminal = ends.trim_end_matches("data: [DONE]\n\n").trim_end();
        let told = ask(api, [Reply::sse(terminal.to_owned())]).await;
        assert_eq!((told.text().as_str(), told.end().as_str()), ("Hello", "Stop"));
        // An incomplete event does not count, and neither does one that is not terminal.
        let told = ask_once(api, Reply::sse(terminal.as_bytes()[..terminal.len() - 4].to_vec())).await;
        assert_eq!(told.end(), "stream_interrupted");
        let last_text = ends.rfind("lo").unwrap();
        let told = ask_once(api, Reply::sse([&bytes[..last_text + 2], b"\"}}]}"].concat())).await;
        assert_eq!(told.end(), "stream_interrupted");
    }
}

#[tokio::test]
async fn fault_15_invalid_utf8_is_an_error_with_its_offset() {
    for api in APIS {
        let bytes = says(api, "Hello");
        for junk in [&b"\xff"[..], b"\xc3(", b"\xed\xa0\x80", b"\xf0\x9f\xa6"] {
            let at = bytes.windows(2).position(|pair| pair == b"lo").unwrap();
            let broken = [&bytes[..at], junk, &bytes[at..]].concat();
            for pieces in [vec![&broken[..]], broken.chunks(1).collect()] {
                let error = decode(api, pieces).end.unwrap_err();
                let source = std::error::Error::source(&error).expect("the error has the offset").to_string();
                assert!(source.chars().any(|character| character.is_ascii_digit()), "{source}");
            }
            let told = ask_once(api, Reply::sse(broken).chunked_by(9)).await;
            assert_eq!(told.end(), "provider_error");
            assert!(!told.text().contains('\u{fffd}'));
        }
    }
}

#[tokio::test]
async fn fault_16_a_body_that_a_gateway_compressed_is_read_as_it_arrives() {
    use std::io::Write;
    for api in APIS {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&says(api, SAID)).unwrap();
        let bytes = encoder.finish().unwrap();
        let reply = || Reply::sse(bytes.clone()).header("content-encoding", "gzip");
        for size in [1, 10, 10_000] {
            assert_eq!(ask(api, [reply().chunked_by(size)]).await.text(), SAID);
        }
        assert_eq!(ask_once(api, reply().cut_after(bytes.len() / 2)).await.end(), "stream_interrupted");
        let brotli = Reply::sse("x").header("content-encoding", "br");
        assert_eq!(ask_once(api, brotli).await.end(), "provider_error");
    }
}

/// Asserts that the client received no text of the provider.
fn assert_silent_about(told: &Told, secret: &str) {
    assert!(!format!("{:?}", told.events).contains(secret), "{:?}", told.events);
}

#[tokio::test]
async fn fault_17_a_page_under_a_good_status_is_an_error() {
    for api in APIS {
        let page = "<!doctype html><title>Sign in to the airport</title>";
        for reply in [Reply::html(200, page), Reply::sse(page)] {
            let told = ask(api, [reply]).await;
            assert_eq!((told.end().as_str(), told.requests.len()), ("provider_error", 1));
            assert_silent_about(&told, "airport");
        }
    }
}

#[tokio::test]
async fn fault_18_json_under_a_good_status_is_the_error_it_carries() {
    for api in APIS {
        for (error, code) in [
            (json!({"message": "secret", "code": "invalid_api_key"}), "provider_auth"),
            (json!({"message": "secret", "code": 503}), "provider_unavailable"),
            (json!({"message": "secret", "type": "invalid_request_error"}), "provider_error"),
            (json!({"message": "secret", "code": "context_length_exceeded"}), "context_overflow"),
        ] {
            let body = json!({ "error": error });
            for reply in [Reply::json(200, &body), Reply::sse(body.to_string())] {
                let told = ask_once(api, reply).await;
                assert_eq!(told.end(), code, "{body}");
                assert_silent_about(&told, "secret");
            }
        }
    }
}

/// Returns an error as an event of the stream in the formats of real servers.
fn in_band(api: Api, error: &Value) -> Vec<String> {
    let mut flat = error.clone();
    flat["type"] = json!("error");
    match api {
        Api::Chat => vec![format!("data: {}\n\n", json!({ "error": error }))],
        Api::Responses => vec![
            format!("event: error\ndata: {flat}\n\n"),
            format!("event: error\ndata: {}\n\n", json!({"type": "error", "error": error})),
            format!(
                "data: {}\n\n",
                json!({"type": "response.failed", "response": {"status": "failed", "error": error}})
            ),
        ],
    }
}

#[tokio::test]
async fn fault_19_an_error_as_the_first_event_is_the_status_it_carries() {
    for api in APIS {
        for code in ["rate_limit_exceeded", "server_is_overloaded", "server_error"] {
            for event in in_band(api, &json!({"code": code, "message": "secret"})) {
                let told = ask(api, [Reply::sse(event.clone()), Reply::sse(says(api, "Hello"))]).await;
                assert_eq!((told.text().as_str(), told.requests.len()), ("Hello", 2), "{event}");
                assert_silent_about(&told, "secret");
            }
        }
        for event in in_band(api, &json!({"code": "insufficient_quota", "message": "secret"})) {
            assert_eq!(
                ask(api, [Reply::sse(event)]).await.end(),
                "rate_limited",
                "the request is not repeated"
            );
        }
    }
}

#[tokio::test]
async fn fault_20_an_error_after_content_keeps_the_text_and_runs_nothing() {
    for api in APIS {
        for error in in_band(api, &json!({"code": "server_error", "message": "secret"})) {
            let (text, call) = unfinished(api);
            for body in [&text, &[text.as_slice(), &call].concat()] {
                let told = ask(api, [Reply::sse([body, error.as_bytes()].concat())]).await;
                assert_eq!(
                    (told.text().as_str(), told.end().as_str()),
                    ("Let me look.", "provider_unavailable")
                );
                assert!(told.ran.is_empty());
                assert_eq!(told.requests.len(), 1, "the request is not repeated");
                assert_silent_about(&told, "secret");
            }
        }
    }
}

/// Returns text, and a call with complete arguments, in an answer without an end.
fn unfinished(api: Api) -> (Vec<u8>, Vec<u8>) {
    let arguments = "{\"city\":\"Bern\"}";
    match api {
        Api::Chat => {
            let call =
                json!({"index": 0, "id": "c", "function": {"name": "weather", "arguments": arguments}});
            (chat(&[delta(json!({"content": "Let me look."}))]), chat(&[tool(call)]))
        }
        Api::Responses => {
            let text = json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "m",
                              "content_index": 0, "delta": "Let me look."});
            let message = json!({"type": "message", "id": "m", "content": []});
            let call = |status| function_call("f", "c", "weather", arguments, status);
            (
                responses(&[created(), added(0, message), text]),
                responses(&[added(1, call("in_progress")), done(1, call("completed"))]),
            )
        }
    }
}

#[tokio::test]
async fn fault_21_one_error_in_two_events_is_one_error() {
    let error = json!({"code": "server_error", "message": "secret"});
    let shapes = in_band(Api::Responses, &error);
    for both in [[&shapes[0], &shapes[2]], [&shapes[1], &shapes[2]]] {
        let told = ask_once(Api::Responses, Reply::sse(both.map(String::as_str).concat())).await;
        assert_eq!(told.end(), "provider_unavailable");
        let errors = told.events.iter().filter(|event| matches!(event, RunEvent::Error { .. }));
        assert_eq!(errors.count(), 1);
    }
}

#[tokio::test]
async fn fault_22_an_error_chunk_before_done_is_not_an_empty_answer() {
    let error = json!({"error": {"message": "secret", "type": "server_error"}});
    let told = ask_once(Api::Chat, Reply::sse(chat_done(&[error]))).await;
    assert_eq!(told.end(), "provider_unavailable");
    assert_silent_about(&told, "secret");
    let in_choice =
        json!({"choices": [{"index": 0, "delta": {}, "error": {"message": "secret", "code": 502}}]});
    assert_eq!(ask_once(Api::Chat, Reply::sse(chat_done(&[in_choice]))).await.end(), "provider_unavailable");
}

/// The streams of this file must be valid without their fault.
#[tokio::test]
async fn the_streams_of_these_tests_are_healthy_without_their_fault() {
    for api in APIS {
        let told = ask(api, [Reply::sse(calls(api, "Bern")), Reply::sse(says(api, "Sunny."))]).await;
        assert_eq!((told.ran.as_slice(), told.text().as_str()), (&["weather Bern".to_owned()][..], "Sunny."));
    }
}
