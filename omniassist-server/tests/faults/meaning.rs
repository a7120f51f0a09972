//! Tests of faults 23-46: the meaning of a stream, and invalid conclusions from it.

use omniassist_server::core::RunEvent;
use omniassist_server::core::message::Part;
use omniassist_server::testing::{Reply, chat_sse, responses_sse};
use serde_json::{Value, json};

use super::ask::{Api, ask, ask_with, limits};
use crate::openai::harness::whole;
use crate::openai::streams::{
    added, arguments, chat_done, chat_interleaved, completed, created, delta, done, finish, function_call,
    incomplete, responses, rotating_ids, tool,
};
use crate::recordings::fold;

const APIS: [Api; 2] = [Api::Responses, Api::Chat];

/// Returns the answer after the tools have run.
fn thanks(api: Api) -> Reply {
    Reply::sse(match api {
        Api::Responses => responses_sse::text("Done."),
        Api::Chat => chat_sse::text("Done."),
    })
}

fn weather_call(api: Api, arguments: &str) -> omniassist_server::testing::SseBody {
    match api {
        Api::Responses => responses_sse::empty().raw_call("call_1", "weather", arguments),
        Api::Chat => chat_sse::empty().raw_call("call_1", "weather", arguments),
    }
}

fn chat_call(index: u32, id: &str, name: &str, arguments: &str) -> Value {
    tool(
        json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}),
    )
}

/// Returns the tools that run after these chunks of Chat Completions. A text answer follows.
async fn chat_runs(chunks: &[Value]) -> Vec<String> {
    let told = ask(Api::Chat, [Reply::sse(chat_done(chunks)), thanks(Api::Chat)]).await;
    assert_eq!((told.text().as_str(), told.end().as_str()), ("Done.", "Stop"));
    told.ran
}

#[tokio::test]
async fn fault_23_an_end_within_the_text_is_an_error_and_the_text_is_kept() {
    for api in APIS {
        let body: Vec<u8> = match api {
            Api::Responses => responses_sse::text("Hello, world"),
            Api::Chat => chat_sse::text("Hello, world"),
        }
        .into_bytes()
        .into();
        let at = body.windows(3).position(|part| part == b"wor").unwrap();
        for reply in [Reply::sse(body[..at].to_vec()), Reply::sse(body.clone()).cut_after(at)] {
            let told = ask(api, [reply]).await;
            assert_eq!(told.end(), "stream_interrupted");
            assert!("Hello, world".starts_with(&told.text()) && !told.text().is_empty());
            assert_eq!(told.message.text(), told.text(), "the client keeps the text");
        }
    }
}

#[tokio::test]
async fn fault_24_an_end_within_a_call_runs_nothing_wherever_it_is() {
    for api in APIS {
        let body = weather_call(api, "{\"city\":\"Bern\"}").into_bytes();
        let text = std::str::from_utf8(&body).unwrap();
        let ends: Vec<_> = text.match_indices("\n\n").map(|(at, _)| at + 2).collect();
        let (mut cuts, mut ran) = (0, 0);
        for end in ends {
            for at in [end, end.saturating_sub(9)] {
                let mut limits = limits();
                limits.max_retries = 0;
                let cut = Reply::sse(body.slice(..at));
                let finished = fold(&whole(api, &body[..at]).events).finish.is_some();
                let told = if finished {
                    ask_with(api, [cut, thanks(api)], limits).await
                } else {
                    ask_with(api, [cut], limits).await
                };
                cuts += 1;
                ran += told.ran.len();
                assert_eq!(told.ran.len(), usize::from(finished), "{at}");
                assert_eq!(told.end(), if finished { "Stop" } else { "stream_interrupted" });
            }
        }
        assert!(cuts > 8 && ran >= 1, "{cuts} {ran}");
    }
}

#[tokio::test]
async fn fault_25_at_the_token_limit_the_last_call_never_runs() {
    let weather = |arguments| chat_call(1, "b", "weather", arguments);
    let sibling = chat_call(0, "a", "time", "{}");
    // The cases are cut JSON, an empty text, which would read as an empty object, and a prefix that parses. They also
    // apply to a regular finish reason.
    for cut in ["{\"city\":\"Be", "", "{\"city\":\"Bern\"}"] {
        let openrouter = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls",
                                             "native_finish_reason": "length"}]});
        for end in [finish("length"), openrouter] {
            let told = ask(Api::Chat, [Reply::sse(chat_done(&[weather(cut), end.clone()]))]).await;
            assert!(told.ran.is_empty(), "{cut}: {:?}", told.ran);
            assert_eq!(told.call_errors().len(), 1);
            let both = chat_done(&[sibling.clone(), weather(cut), end]);
            let told = ask(Api::Chat, [Reply::sse(both), thanks(Api::Chat)]).await;
            assert_eq!(told.ran, ["time here"], "the complete call runs");
        }
        let call = |status| function_call("f", "c", "weather", cut, status);
        let body = responses(&[
            created(),
            added(0, call("in_progress")),
            arguments(0, "f", cut),
            done(0, call("incomplete")),
            incomplete("max_output_tokens"),
        ]);
        let told = ask(Api::Responses, [Reply::sse(body)]).await;
        assert!(told.ran.is_empty() && told.call_errors().len() == 1, "{told:?}");
    }
}

#[tokio::test]
async fn fault_26_broken_arguments_of_a_finished_call_go_back_to_the_model() {
    for api in APIS {
        for broken in ["{\"city\":\"Bern\",}", "}{", "Bern", "{\"city\":NaN}", "[\"Bern\"]", "{\"city\":7}"] {
            let call = || Reply::sse(weather_call(api, broken));
            let told = ask(api, [call(), thanks(api)]).await;
            assert!(told.ran.is_empty());
            assert_eq!((told.text().as_str(), told.call_errors().len()), ("Done.", 1), "{broken}");
            let results = told.results(1);
            assert!(
                results.len() == 1 && results[0].len() > 10,
                "the model receives the reason: {results:?}"
            );
            // The model has two turns to correct the call.
            let told = ask(api, [call(), call(), call()]).await;
            assert_eq!((told.end().as_str(), told.ran.len()), ("invalid_tool_calls", 0), "{broken}");
        }
    }
}

#[tokio::test]
async fn fault_27_no_arguments_are_an_empty_object() {
    for api in APIS {
        let call = match api {
            Api::Responses => responses_sse::empty().raw_call("c", "time", ""),
            Api::Chat => chat_sse::empty().raw_call("c", "time", ""),
        };
        let told = ask(api, [Reply::sse(call), thanks(api)]).await;
        assert_eq!(told.ran, ["time here"]);
    }
    let absent = tool(json!({"index": 0, "id": "c", "function": {"name": "time"}}));
    assert_eq!(chat_runs(&[absent, finish("tool_calls")]).await, ["time here"]);
}

#[tokio::test]
async fn fault_28_arguments_as_an_object_are_accepted() {
    let object =
        tool(json!({"index": 0, "id": "c", "function": {"name": "weather", "arguments": {"city": "Bern"}}}));
    assert_eq!(chat_runs(&[object, finish("tool_calls")]).await, ["weather Bern"]);
}

#[tokio::test]
async fn fault_29_interleaved_deltas_of_parallel_calls_are_separated() {
    let told = ask(Api::Chat, [Reply::sse(chat_interleaved()).chunked_by(11), thanks(Api::Chat)]).await;
    let mut ran = told.ran.clone();
    ran.sort();
    assert_eq!(ran, ["time CET", "weather Zürich"]);
    assert_eq!(told.results(1), ["sunny in Zürich", "noon"], "results have the order of the calls");
    let call = |id: &str, call_id: &str, name: &str, args: &str, status| {
        function_call(id, call_id, name, args, status)
    };
    let body = responses(&[
        created(),
        added(0, call("f", "a", "weather", "", "in_progress")),
        added(1, call("g", "b", "time", "", "in_progress")),
        arguments(0, "f", "{\"city\":"),
        arguments(1, "g", "{\"zone\":"),
        arguments(0, "f", "\"Bern\"}"),
        arguments(1, "g", "\"CET\"}"),
        done(1, call("g", "b", "time", "{\"zone\":\"CET\"}", "completed")),
        done(0, call("f", "a", "weather", "{\"city\":\"Bern\"}", "completed")),
        completed(),
    ]);
    let told = ask(Api::Responses, [Reply::sse(body), thanks(Api::Responses)]).await;
    assert_eq!(told.results(1), ["sunny in Bern", "noon"]);
}

#[tokio::test]
async fn fault_30_calls_with_one_index_or_none_are_distinguished() {
    let end = || finish("tool_calls");
    let all_zero =
        [chat_call(0, "a", "weather", "{\"city\":\"Bern\"}"), chat_call(0, "b", "time", "{}"), end()];
    let no_index = |id: &str, name: &str, arguments: &str| {
        tool(json!({"id": id, "function": {"name": name, "arguments": arguments}}))
    };
    let none = [no_index("a", "weather", "{\"city\":\"Bern\"}"), no_index("b", "time", "{}"), end()];
    let tail = [
        chat_call(0, "a", "weather", "{\"city\":\"Bern\"}"),
        chat_call(0, "b", "time", ""),
        tool(json!({"index": 1, "function": {"arguments": "{\"zone\":\"CET\"}"}})),
        end(),
    ];
    for (chunks, time) in [(&all_zero[..], "time here"), (&none, "time here"), (&tail, "time CET")] {
        let mut ran = chat_runs(chunks).await;
        ran.sort();
        assert_eq!(ran, [time, "weather Bern"]);
    }
}

#[tokio::test]
async fn fault_31_ids_and_names_can_be_missing_late_or_repeated() {
    let piece = |call: Value| tool(call);
    let end = || finish("tool_calls");
    let missing = [
        piece(json!({"index": 0, "function": {"name": "weather", "arguments": "{\"city\":\"Bern\"}"}})),
        end(),
    ];
    let late = [
        piece(json!({"index": 0, "function": {"name": "weather", "arguments": ""}})),
        piece(json!({"index": 0, "id": "late", "function": {"arguments": "{\"city\":\"Bern\"}"}})),
        end(),
    ];
    let repeated =
        [chat_call(0, "a", "weather", "{\"city\":"), chat_call(0, "a", "weather", "\"Bern\"}"), end()];
    for chunks in [&missing[..], &late, &repeated] {
        assert_eq!(chat_runs(chunks).await, ["weather Bern"]);
    }
}

#[tokio::test]
async fn fault_32_item_ids_that_rotate_do_not_matter() {
    let told = ask(Api::Responses, [Reply::sse(rotating_ids()), thanks(Api::Responses)]).await;
    assert_eq!(
        (told.ran.as_slice(), told.text().as_str()),
        (&["weather Bern".to_owned()][..], "On it.Done.")
    );
}

#[tokio::test]
async fn fault_33_a_call_without_its_end_runs_only_if_the_rest_is_complete() {
    let head = |arguments_: &str| {
        let call = function_call("f", "c", "weather", "", "in_progress");
        vec![created(), added(0, call), arguments(0, "f", arguments_)]
    };
    let with = |arguments: &str, end: Value| {
        let mut events = head(arguments);
        events.push(end);
        Reply::sse(responses(&events))
    };
    let whole = "{\"city\":\"Bern\"}";
    let told = ask(Api::Responses, [with(whole, completed()), thanks(Api::Responses)]).await;
    assert_eq!(told.ran, ["weather Bern"]);
    let told = ask(Api::Responses, [with(whole, incomplete("max_output_tokens"))]).await;
    assert!(told.ran.is_empty(), "the terminal event is missing");
    let told = ask(Api::Responses, [with("{\"city\":\"Be", completed())]).await;
    assert!(told.ran.is_empty(), "the JSON is incomplete");
}

#[test]
fn fault_35_deltas_of_unknown_items_are_ignored() {
    let stray = [
        created(),
        arguments(7, "nobody", "{}"),
        done(5, json!({"type": "message", "id": "late", "content": []})),
        json!({"type": "response.output_text.delta", "output_index": 9, "item_id": "x", "content_index": 0, "delta": ""}),
        json!({"type": "response.content_part.done", "output_index": 9, "item_id": "x", "content_index": 4}),
        completed(),
    ];
    let said = fold(&whole(Api::Responses, &responses(&stray)).events);
    assert!(said.calls.is_empty() && said.text.is_empty() && said.finish.is_some());
    let stray = [tool(json!({"index": 4, "function": {"arguments": "{}"}})), finish("stop")];
    assert!(fold(&whole(Api::Chat, &chat_done(&stray)).events).calls.is_empty());
}

#[tokio::test]
async fn fault_38_the_finish_reason_and_the_calls_can_disagree() {
    let call = chat_call(0, "a", "weather", "{\"city\":\"Bern\"}");
    assert_eq!(chat_runs(&[call, finish("stop")]).await, ["weather Bern"]);
    let told =
        ask(Api::Chat, [Reply::sse(chat_done(&[delta(json!({"content": "Hm."})), finish("tool_calls")]))])
            .await;
    assert_eq!((told.end().as_str(), told.requests.len()), ("Stop", 1), "the run does not loop");
}

#[tokio::test]
async fn fault_39_empty_and_role_only_deltas_give_no_events() {
    let empty = json!({"choices": [], "usage": null});
    let body = chat_done(&[
        delta(json!({"role": "assistant"})),
        delta(json!({"content": ""})),
        delta(json!({"content": "Hello"})),
        empty,
        delta(json!({})),
        delta(json!({"content": "", "tool_calls": []})),
        finish("stop"),
        json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}}),
    ]);
    let told = ask(Api::Chat, [Reply::sse(body)]).await;
    let deltas = told.events.iter().filter(|event| matches!(event, RunEvent::TextDelta { .. })).count();
    assert_eq!((deltas, told.text().as_str()), (1, "Hello"));
    assert_eq!(told.usage().total_tokens, Some(12));
}

#[tokio::test]
async fn fault_40_one_finish_counts_and_the_last_usage_and_missing_usage_is_not_0() {
    let usage = |total: u64| json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": total}});
    let hello = || delta(json!({"content": "Hello"}));
    let mut last = finish("stop");
    last["usage"] = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
    let mut no_total = finish("stop");
    no_total["usage"] = json!({"prompt_tokens": 1, "completion_tokens": 2});
    for (chunks, total) in [
        (vec![hello(), finish("stop"), finish("stop")], None),
        (vec![usage(5), hello(), usage(6), finish("stop"), usage(7)], Some(7)),
        (vec![hello(), last], Some(3)),
        (vec![hello(), no_total], None),
    ] {
        let told = ask(Api::Chat, [Reply::sse(chat_done(&chunks))]).await;
        assert_eq!((told.end().as_str(), told.usage().total_tokens), ("Stop", total));
        assert_eq!(told.usage().cached_input_tokens, None);
    }
}

#[tokio::test]
async fn fault_41_empty_turns_have_their_own_outcomes() {
    let ended = |delta_: Value, word: &str| Reply::sse(chat_done(&[delta(delta_), finish(word)]));
    let told = ask(Api::Chat, [ended(json!({"reasoning_content": "Hm"}), "length")]).await;
    assert_eq!((told.end().as_str(), told.text().as_str()), ("Length", ""));
    let told = ask(Api::Chat, [ended(json!({}), "content_filter")]).await;
    assert_eq!(told.end(), "ContentFilter");
    let told = ask(Api::Chat, [ended(json!({"refusal": "I'd rather not."}), "stop")]).await;
    assert_eq!(told.text(), "I'd rather not.", "a refusal is shown as text and is not an error");
    assert!(matches!(told.events.last(), Some(RunEvent::Finish { .. })));
    let told = ask(Api::Responses, [Reply::sse(responses(&[created(), incomplete("content_filter")]))]).await;
    assert_eq!(told.end(), "ContentFilter");
}

#[tokio::test]
async fn fault_42_only_the_first_candidate_counts() {
    let second = json!({"choices": [{"index": 1, "delta": {"content": "NO"}, "finish_reason": "length"}]});
    let both = json!({"choices": [
        {"index": 1, "delta": {"content": "NO"}, "finish_reason": null},
        {"index": 0, "delta": {"content": "lo"}, "finish_reason": null}]});
    let body = chat_done(&[delta(json!({"content": "Hel"})), second, both, finish("stop")]);
    let told = ask(Api::Chat, [Reply::sse(body)]).await;
    assert_eq!((told.text().as_str(), told.end().as_str()), ("Hello", "Stop"));
}

#[tokio::test]
async fn fault_43_sealed_reasoning_is_returned_byte_for_byte() {
    let sealed = "gAAAA+/é\\\"sealed\u{2028}==";
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": sealed, "summary": []});
    let call = |status| function_call("f", "c", "weather", "{\"city\":\"Bern\"}", status);
    let body = responses(&[
        created(),
        added(0, json!({"type": "reasoning", "id": "rs_1", "summary": []})),
        done(0, reasoning),
        added(1, call("in_progress")),
        done(1, call("completed")),
        completed(),
    ]);
    let told = ask(Api::Responses, [Reply::sse(body), thanks(Api::Responses)]).await;
    let sent = told.requests[1].json();
    let items = sent["input"].as_array().unwrap();
    let back: Vec<_> = items.iter().filter(|item| item["type"] == "reasoning").collect();
    assert_eq!(back.len(), 1, "{items:?}");
    assert_eq!(back[0]["encrypted_content"], sealed);
    let kept = told
        .message
        .parts
        .iter()
        .any(|part| matches!(part, Part::Reasoning(part) if part.metadata.is_some()));
    assert!(kept, "the client can post it back: {:?}", told.message.parts);
}

#[tokio::test]
async fn fault_44_calls_that_the_provider_runs_are_shown_and_not_run_here() {
    let item = |status: &str| {
        json!({"type": "web_search_call", "id": "ws_1", "status": status,
                                     "action": {"type": "search", "query": "Bern"}})
    };
    let body =
        responses(&[created(), added(0, item("in_progress")), done(0, item("completed")), completed()]);
    let told = ask(Api::Responses, [Reply::sse(body)]).await;
    assert_eq!((told.end().as_str(), told.requests.len()), ("Stop", 1));
    assert!(told.ran.is_empty());
    let shown = told
        .events
        .iter()
        .any(|event| matches!(event, RunEvent::ToolInputAvailable { provider_executed: true, .. }));
    assert!(shown, "{:?}", told.events);
}

#[tokio::test]
async fn fault_45_an_unknown_tool_is_an_error_for_the_model() {
    for name in ["forecast", "__proto__", "constructor", "Weather", "weather ", "toString"] {
        let call = chat_call(0, "a", name, "{\"city\":\"Bern\"}");
        let body = chat_done(&[call, finish("tool_calls")]);
        let told = ask(Api::Chat, [Reply::sse(body), thanks(Api::Chat)]).await;
        assert!(told.ran.is_empty(), "{name}");
        assert_eq!((told.call_errors().len(), told.text().as_str()), (1, "Done."));
        assert_eq!(told.results(1).len(), 1);
    }
}

#[tokio::test]
async fn fault_46_an_endless_loop_ends_at_the_limit_of_steps() {
    for api in APIS {
        for steps in [1, 5] {
            let mut limits = limits();
            limits.max_steps = steps;
            let call = || Reply::sse(weather_call(api, "{\"city\":\"Bern\"}"));
            let told = ask_with(api, (0..steps).map(|_| call()), limits).await;
            assert_eq!((told.end().as_str(), told.requests.len()), ("max_steps", steps as usize));
            assert_eq!(told.ran.len(), steps as usize);
        }
    }
}
