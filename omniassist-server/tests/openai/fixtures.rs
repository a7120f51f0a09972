//! Tests with recorded streams of OpenAI and of compatible servers.

use super::harness::{Api, decode, whole};
use super::streams::Stream;
use crate::recordings::{self, Recording, check_chunkings, differences, fold};

fn api(recording: &Recording) -> Api {
    if recording.folder() == "responses" { Api::Responses } else { Api::Chat }
}

/// Returns the recordings with tool calls that are short enough to be cut at each byte.
pub(crate) fn with_calls() -> Option<Vec<Stream>> {
    let recordings = recordings::recordings(&["responses", "chat", "compat"])?;
    let short = recordings
        .into_iter()
        .filter(|recording| recording.bytes.len() <= 4_000 && recording.has_calls())
        .map(|recording| {
            let api = api(&recording);
            Stream { name: recording.path.leak(), api, bytes: recording.bytes }
        });
    Some(short.collect())
}

fn check_whole(recording: &Recording) -> Vec<String> {
    let decoded = whole(api(recording), &recording.bytes);
    let mut wrong = differences(&fold(&decoded.events), &recording.expected);
    if let Err(error) = decoded.end {
        wrong.push(format!("ended with {error:?}"));
    }
    wrong
}

#[test]
fn openai_recordings_decode_as_expected_in_every_chunking() {
    let Some(recordings) = recordings::recordings(&["responses", "chat"]) else { return };
    let mut failures = Vec::new();
    let mut chunkings = 0;
    for recording in &recordings {
        let wrong = check_whole(recording);
        failures.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", recording.path)));
        chunkings += check_chunkings(&recording.path, || api(recording).decoder(), &recording.bytes);
    }
    eprintln!(
        "recorded streams: {} checked against their expected results, {chunkings} further chunkings, {} differences",
        recordings.len(),
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(recordings.len() >= 107);
}

#[test]
fn recordings_of_compatible_servers_decode_as_expected() {
    let Some(recordings) = recordings::recordings(&["compat"]) else { return };
    let mut equal = 0;
    let mut failures = Vec::new();
    for recording in &recordings {
        let wrong = check_whole(recording);
        equal += usize::from(wrong.is_empty());
        failures.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", recording.path)));
        let api = api(recording);
        let bytewise = decode(api, recording.bytes.chunks(1)).events;
        assert_eq!(bytewise, whole(api, &recording.bytes).events, "{}", recording.path);
    }
    eprintln!("compatible servers: {equal} of {} recordings equal their expected results", recordings.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
