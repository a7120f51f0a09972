//! Tests with recorded streams and with streams that are cut at every byte.

use super::streams::with_calls;
use super::{decoder, whole};
use crate::recordings::{self, check_chunkings, check_cuts, fold};

fn with_lf(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|byte| *byte != b'\r').collect()
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
