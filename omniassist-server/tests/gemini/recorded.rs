//! Tests with recorded streams and with streams that are cut at every byte.

use serde_json::Value;

use super::streams::with_calls;
use super::{decoder, whole};
use crate::recordings::{self, Said, check_chunkings, check_cuts, differences, fold};

/// Adds generated ids and the text of the arguments to `expected`. A recording has neither, because this API sends
/// arguments as objects.
fn completed(expected: &Value, said: &Said) -> Value {
    let mut expected = expected.clone();
    let wanted = expected["tool_calls"].as_array_mut().unwrap();
    for (wanted, found) in wanted.iter_mut().zip(&said.calls) {
        if wanted["id"].is_null() && found.id.starts_with("gemini_test_") {
            wanted["id"] = found.id.as_str().into();
        }
        let text = found.ended.as_ref().unwrap_or(&found.streamed);
        if serde_json::from_str::<Value>(text).is_ok_and(|arguments| arguments == wanted["arguments"]) {
            wanted["arguments_raw"] = text.as_str().into();
        }
    }
    expected
}

fn with_lf(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|byte| *byte != b'\r').collect()
}

#[test]
fn recordings_decode_as_expected_in_every_chunking() {
    let Some(recordings) = recordings::recordings(&["gemini"]) else { return };
    let mut failures = Vec::new();
    let mut chunkings = 0;
    for recording in &recordings {
        let decoded = whole(&recording.bytes);
        let said = fold(&decoded.events);
        let wrong = differences(&said, &completed(&recording.expected, &said));
        failures.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", recording.path)));
        if let Err(error) = decoded.end {
            failures.push(format!("{} ended with {error:?}", recording.path));
        }
        chunkings += check_chunkings(&recording.path, decoder, &recording.bytes);
        let lf = with_lf(&recording.bytes);
        assert_eq!(whole(&lf).events, decoded.events, "{} with LF", recording.path);
        chunkings += check_chunkings(&recording.path, decoder, &lf);
    }
    let count = recordings.len();
    eprintln!("gemini: {count} recordings, {chunkings} chunkings, {} differences", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count >= 48);
}

#[test]
fn handwritten_streams_in_every_chunking() {
    for (name, bytes) in with_calls() {
        check_chunkings(name, decoder, &bytes);
        assert_eq!(whole(&with_lf(&bytes)).events, whole(&bytes).events, "{name}");
    }
}

#[test]
fn no_cut_completes_a_call() {
    let mut streams: Vec<(String, Vec<u8>)> =
        with_calls().into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    let recordings = recordings::recordings(&["gemini"]).unwrap_or_default().into_iter();
    streams.extend(
        recordings.filter(|one| one.bytes.len() <= 4_000 && one.has_calls()).map(|one| (one.path, one.bytes)),
    );
    let cuts: usize = streams.iter().map(|(name, bytes)| check_cuts(name, decoder, bytes)).sum();
    eprintln!("{cuts} cuts of {} streams with calls", streams.len());
    assert!(cuts > 2_000);
}

/// Replaces random bytes of a stream. The decoder must not panic and must finish at most once.
#[test]
fn random_bytes_cause_no_panic() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize % below
    };
    for (_, bytes) in with_calls() {
        for _ in 0..2_000 {
            let mut bytes = bytes.clone();
            for _ in 0..=random(3) {
                let at = random(bytes.len());
                bytes[at] = b"{}[]\",:\\\n0$.x\xff"[random(14)];
            }
            let decoded = whole(&bytes);
            assert_eq!(decoded.end.is_ok(), fold(&decoded.events).finish.is_some());
        }
    }
}
