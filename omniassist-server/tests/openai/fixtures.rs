//! Recorded provider streams, with what a correct client must have understood from each. They are not part of the
//! repository: `OMNIASSIST_FIXTURES` says where they are.

use std::path::PathBuf;

use omniassist_server::core::FinishReason;
use omniassist_server::core::event::CallKind;
use serde_json::Value;

use super::harness::{Api, Said, chunks, decode, fold, whole, with_crlf};
use super::streams::Stream;

struct Fixture {
    path: String,
    api: Api,
    bytes: Vec<u8>,
    expected: Value,
}

fn fixtures(folders: &[&str]) -> Option<Vec<Fixture>> {
    let Some(root) = std::env::var_os("OMNIASSIST_FIXTURES").map(PathBuf::from) else {
        eprintln!(
            "OMNIASSIST_FIXTURES is not set: recorded streams are not checked, the repository's own are"
        );
        return None;
    };
    let expected = std::fs::read_to_string(root.join("EXPECTED.jsonl")).unwrap();
    let fixtures = expected.lines().filter_map(|line| {
        let expected: Value = serde_json::from_str(line).unwrap();
        let path = expected["path"].as_str().unwrap().to_owned();
        let folder = path.split('/').next().unwrap();
        let api = if folder == "responses" { Api::Responses } else { Api::Chat };
        folders.contains(&folder).then(|| {
            let bytes = std::fs::read(root.join(&path)).unwrap();
            Fixture { path, api, bytes, expected }
        })
    });
    Some(fixtures.collect())
}

/// The recordings with tool calls that are short enough to be cut at each byte.
pub(crate) fn with_calls() -> Option<Vec<Stream>> {
    let fixtures = fixtures(&["responses", "chat", "compat"])?;
    let streams = fixtures.into_iter().filter(|fixture| {
        fixture.bytes.len() <= 4_000
            && fixture.expected["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty())
    });
    Some(
        streams
            .map(|fixture| Stream { name: fixture.path.leak(), api: fixture.api, bytes: fixture.bytes })
            .collect(),
    )
}

/// What differs from EXPECTED.
fn differences(said: &Said, expected: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |what: &str, found: Value, wanted: Value| {
        if found != wanted {
            let short = |value: &Value| value.to_string().chars().take(300).collect::<String>();
            wrong.push(format!("{what}: found {}, expected {}", short(&found), short(&wanted)));
        }
    };
    compare("text", said.text.clone().into(), expected["text"].clone());
    compare("reasoning", said.reasoning.clone().into(), expected["reasoning"].clone());
    compare("refusal", said.refusal.clone().into(), expected["refusal"].clone());
    let runnable = said.runnable();
    let calls: Vec<Value> = said
        .calls
        .iter()
        .zip(&runnable)
        .map(|(call, complete)| {
            let arguments = if *complete { call.ended.as_ref().unwrap() } else { &call.streamed };
            let kind = if call.kind == CallKind::Custom { "custom" } else { "function" };
            serde_json::json!([call.id, call.name, arguments, kind, complete])
        })
        .collect();
    let wanted: Vec<Value> = expected["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| {
            serde_json::json!([
                call["id"],
                call["name"],
                call["arguments_raw"],
                call["kind"],
                call["complete"]
            ])
        })
        .collect();
    compare("calls", calls.into(), wanted.into());
    let (reason, raw, _) = said.finish.clone().unwrap_or((FinishReason::Error, None, true));
    let reason = match reason {
        FinishReason::Other(word) => format!("other:{word}"),
        known => serde_json::to_value(known).unwrap().as_str().unwrap().replace('-', "_"),
    };
    compare("finish", reason.into(), expected["finish"].clone());
    compare("finish_raw", raw.into(), expected["finish_raw"].clone());
    let usage = said.usage.map(|usage| {
        serde_json::json!({
            "input": usage.input_tokens, "output": usage.output_tokens, "total": usage.total_tokens,
            "cached_input": usage.cached_input_tokens, "reasoning": usage.reasoning_tokens,
        })
    });
    compare("usage", usage.into(), expected["usage"].clone());
    compare("builtin", said.builtin.into(), expected["builtin"].as_array().unwrap().len().into());
    compare("citations", said.citations.into(), expected["citations"].clone());
    wrong
}

fn check_whole(fixture: &Fixture) -> Vec<String> {
    let decoded = whole(fixture.api, &fixture.bytes);
    let mut wrong = differences(&fold(&decoded.events), &fixture.expected);
    if let Err(error) = decoded.end {
        wrong.push(format!("ended with {error:?}"));
    }
    wrong
}

#[test]
fn openai_recordings_give_what_is_expected_in_every_chunking() {
    let Some(fixtures) = fixtures(&["responses", "chat"]) else { return };
    let mut failures = Vec::new();
    let mut chunkings = 0;
    for fixture in &fixtures {
        let wrong = check_whole(fixture);
        failures.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", fixture.path)));

        let reference = whole(fixture.api, &fixture.bytes).events;
        let mut same = |bytes: &[u8], how: String, pieces: Vec<&[u8]>| {
            let decoded = decode(fixture.api, pieces);
            assert!(decoded.end.is_ok() && decoded.events == reference, "{} {how}", fixture.path);
            assert!(!bytes.is_empty());
            chunkings += 1;
        };
        same(&fixture.bytes, "byte by byte".to_owned(), fixture.bytes.chunks(1).collect());
        for seed in 0..20 {
            same(&fixture.bytes, format!("seed {seed}"), chunks(&fixture.bytes, seed));
        }
        let crlf = with_crlf(&fixture.bytes);
        same(&crlf, "with CRLF".to_owned(), vec![&crlf]);
        same(&crlf, "with CRLF, byte by byte".to_owned(), crlf.chunks(1).collect());
    }
    eprintln!(
        "recorded streams: {} checked against their expected results, {chunkings} further chunkings, {} differences",
        fixtures.len(),
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(fixtures.len() >= 107);
}

#[test]
fn compatible_servers_recordings_give_what_is_expected() {
    let Some(fixtures) = fixtures(&["compat"]) else { return };
    let mut equal = 0;
    let mut failures = Vec::new();
    for fixture in &fixtures {
        let wrong = check_whole(fixture);
        equal += usize::from(wrong.is_empty());
        failures.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", fixture.path)));
        let bytewise = decode(fixture.api, fixture.bytes.chunks(1)).events;
        assert_eq!(bytewise, whole(fixture.api, &fixture.bytes).events, "{}", fixture.path);
    }
    eprintln!("compatible servers: {equal} of {} recordings equal their expected results", fixtures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
