//! Every chunk that an encoder can write.

use bytes::BytesMut;
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::ai_sdk::{ClientVersion, Encoder, Framing};
use serde_json::json;

use super::{catalogue, write};

pub(super) const VERSIONS: [(u8, ClientVersion); 3] =
    [(5, ClientVersion::V5), (6, ClientVersion::V6), (7, ClientVersion::V7)];

#[test]
fn every_chunk_of_the_ai_sdk_is_written() {
    let mut lines = Vec::new();
    for (number, version) in VERSIONS {
        for event in catalogue::events() {
            let mut out = BytesMut::new();
            Encoder::new(Framing::Ndjson).version(version).encode(&event, &mut out);
            for chunk in std::str::from_utf8(&out).unwrap().lines() {
                let event = json!(format!("{event:?}"));
                lines.push(format!(r#"{{"version":{number},"event":{event},"chunk":{chunk}}}"#));
            }
        }
    }
    assert!(lines.len() > 600, "{}", lines.len());
    write("ai-sdk-chunks.jsonl", &lines);
}
