//! Tests of the decoders with recordings.

use bytes::Bytes;
use omniassist_server::core::{EventBuf, LlmEvent};
use serde_json::Value;

use super::library::{Recording, recordings, with_other_line_ends};
use super::report;
use crate::recordings::{Said, chunks, differences, fold};

fn decode<'a>(
    recording: &Recording,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<LlmEvent>, String> {
    let mut decoder = (recording.api.decoder)();
    let mut events = EventBuf::new();
    for piece in pieces {
        decoder.feed(Bytes::copy_from_slice(piece), &mut events).map_err(|error| format!("{error:?}"))?;
    }
    decoder.finish(&mut events).map_err(|error| format!("{error:?}"))?;
    Ok(events.drain().collect())
}

/// Returns the expected result. For Gemini it gets the generated ids and the text of the arguments: a recording has neither,
/// because this API sends arguments as objects.
fn completed(recording: &Recording, said: &Said) -> Value {
    let mut expected = recording.expected.clone();
    if recording.api.name != "gemini" {
        return expected;
    }
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

#[test]
fn recordings_decode_as_expected_in_every_chunking() {
    let Some((recordings, others)) = recordings() else { return };
    let mut failures = Vec::new();
    let mut chunkings = 0;
    for recording in &recordings {
        let path = &recording.path;
        let reference = match decode(recording, [&recording.bytes[..]]) {
            Ok(events) => events,
            Err(error) => {
                failures.push(format!("{path}: {error}"));
                continue;
            }
        };
        let said = fold(&reference);
        let wrong = differences(&said, &completed(recording, &said));
        failures.extend(wrong.into_iter().map(|wrong| format!("{path}: {wrong}")));

        let mut same = |how: &str, pieces: Vec<&[u8]>| {
            chunkings += 1;
            if decode(recording, pieces).as_ref() != Ok(&reference) {
                failures.push(format!("{path}: differs {how}"));
            }
        };
        same("byte by byte", recording.bytes.chunks(1).collect());
        for seed in 0..6 {
            same(&format!("by seed {seed}"), chunks(&recording.bytes, seed));
        }
        let other = with_other_line_ends(&recording.bytes);
        same("with other line ends", vec![&other]);
        same("with other line ends, byte by byte", other.chunks(1).collect());
    }
    let count = recordings.len();
    report(
        &format!("decoders: {count} recordings ({others} without a decoder), {chunkings} further chunkings"),
        &failures,
    );
}
