//! Tests with recorded streams of OpenAI and of compatible servers.

use super::harness::Api;
use super::streams::Stream;
use crate::recordings::{self, Recording};

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
