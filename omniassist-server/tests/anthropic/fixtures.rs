//! Tests with recorded streams and errors of Anthropic.

use omniassist_server::ProviderErrorKind;
use omniassist_server::provider::error_from_response;
use serde_json::Value;

use super::decoder;
use crate::recordings::{self, check_cuts};

#[test]
fn no_cut_of_a_recording_completes_a_call() {
    let Some(recordings) = recordings::recordings(&["anthropic"]) else { return };
    let short = recordings.iter().filter(|recording| recording.bytes.len() <= 4_000 && recording.has_calls());
    let cuts: Vec<usize> =
        short.map(|recording| check_cuts(&recording.path, decoder, &recording.bytes)).collect();
    eprintln!("{} cuts of {} recorded streams with tool calls", cuts.iter().sum::<usize>(), cuts.len());
    assert!(!cuts.is_empty());
}

#[test]
fn recorded_errors_have_the_right_kind() {
    let Some(root) = recordings::root() else { return };
    let recorded = std::fs::read_to_string(root.join("http_errors.jsonl")).unwrap();
    let mut count = 0;
    for line in recorded.lines() {
        let recorded: Value = serde_json::from_str(line).unwrap();
        if recorded["provider"] != "anthropic" {
            continue;
        }
        count += 1;
        let status = u16::try_from(recorded["status"].as_u64().unwrap()).unwrap();
        let body: Value = serde_json::from_str(recorded["body"].as_str().unwrap()).unwrap();
        let error = error_from_response(status, body.to_string().as_bytes());
        assert_eq!(error.provider_kind(), Some(ProviderErrorKind::Response), "{line}");
        assert_eq!(error.code(), body["error"]["type"].as_str(), "{line}");
        assert_eq!(error.detail(), body["error"]["message"].as_str(), "{line}");
        assert!(!error.is_retryable());
    }
    eprintln!("{count} recorded errors");
    assert!(count >= 8);
}
