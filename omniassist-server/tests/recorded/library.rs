//! The recordings, read from `OMNIASSIST_FIXTURES`.

use serde_json::Value;

use super::apis::{APIS, Api};
use crate::recordings::{correct, root};

/// A recorded stream and the view of it that a correct client must have.
pub(crate) struct Recording {
    pub(crate) path: String,
    pub(crate) api: &'static Api,
    pub(crate) bytes: Vec<u8>,
    pub(crate) expected: Value,
}

impl Recording {
    /// Returns the calls that a client must find.
    pub(crate) fn calls(&self) -> &[Value] {
        self.expected["tool_calls"].as_array().unwrap()
    }

    /// Returns the ends of events: after each blank line that follows at least one other line.
    pub(crate) fn boundaries(&self) -> Vec<usize> {
        let mut boundaries = Vec::new();
        let (mut at, mut lines) = (0, 0);
        for line in self.bytes.split_inclusive(|byte| *byte == b'\n') {
            at += line.len();
            if !matches!(line, b"\n" | b"\r\n") {
                lines += 1;
            } else if lines > 0 {
                boundaries.push(at);
                lines = 0;
            }
        }
        boundaries
    }
}

/// Returns all recordings of APIs with a decoder, and the number of other recordings. Returns `None` if the recordings
/// are missing. `OMNIASSIST_RECORDINGS` selects the recordings whose path contains this text.
pub(crate) fn recordings() -> Option<(Vec<Recording>, usize)> {
    let root = root()?;
    let expected = std::fs::read_to_string(root.join("EXPECTED.jsonl")).unwrap();
    let wanted = std::env::var("OMNIASSIST_RECORDINGS").unwrap_or_default();
    let mut recordings = Vec::new();
    let mut others = 0;
    for line in expected.lines() {
        let mut expected: Value = serde_json::from_str(line).unwrap();
        correct(&mut expected);
        let path = expected["path"].as_str().unwrap().to_owned();
        if !path.contains(&wanted) {
            continue;
        }
        let folder = path.split('/').next().unwrap();
        let Some(api) = APIS.iter().find(|api| api.folders.contains(&folder)) else {
            others += 1;
            continue;
        };
        let bytes = std::fs::read(root.join(&path)).unwrap();
        recordings.push(Recording { path, api, bytes, expected });
    }
    assert!(!recordings.is_empty() || !wanted.is_empty());
    Some((recordings, others))
}

/// Returns the same stream with the other kind of line ends.
pub(crate) fn with_other_line_ends(bytes: &[u8]) -> Vec<u8> {
    let crlf = bytes.windows(2).any(|pair| pair == b"\r\n");
    let mut out = Vec::with_capacity(bytes.len() * 2);
    for byte in bytes {
        match (byte, crlf) {
            (b'\n', false) => out.extend_from_slice(b"\r\n"),
            (b'\r', true) => {}
            _ => out.push(*byte),
        }
    }
    out
}
