//! Tests of the decoders with recordings.

use bytes::Bytes;
use omniassist_server::core::{EventBuf, LlmEvent};

use super::library::{Recording, recordings, with_other_line_ends};
use super::report;
use super::seen::{Layer, differences, from_events};
use crate::recordings::chunks;

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
        let wrong = differences(&from_events(&reference), recording, Layer::Decoder);
        failures.extend(wrong.into_iter().map(|wrong| format!("{path}: {wrong}")));

        let mut same = |how: &str, pieces: Vec<&[u8]>| {
            chunkings += 1;
            if decode(recording, pieces).as_ref() != Ok(&reference) {
                failures.push(format!("{path}: differs {how}"));
            }
        };
        same("byte by byte", recording.bytes.chunks(1).collect());
        for seed in 0..20 {
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
