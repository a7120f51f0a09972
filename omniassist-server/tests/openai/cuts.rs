//! Streams cut at every byte: no call may end that the provider had not finished.

use omniassist_server::ProviderErrorKind;

use super::harness::{decode, fold, whole};
use super::streams::{Stream, with_calls};

/// Checks every prefix. A call may have ended only with the very arguments that it ends with in the whole stream.
fn check(stream: &Stream) -> usize {
    let reference = fold(&whole(stream.api, &stream.bytes).events);
    for cut in 0..stream.bytes.len() {
        let prefix = &stream.bytes[..cut];
        let decoded = decode(stream.api, prefix.chunks(cut % 61 + 1));
        let said = fold(&decoded.events);
        for (call, whole) in said.calls.iter().zip(&reference.calls) {
            if call.ended.is_some() {
                assert_eq!(call.ended, whole.ended, "{} cut at {cut}: {}", stream.name, call.name);
            }
            assert!(whole.ended.is_some() || call.ended.is_none());
        }
        match decoded.end {
            Ok(()) => {
                // The terminal event was whole, if perhaps without its blank line.
                assert!(
                    said.finish.is_some() && said.runnable() == reference.runnable(),
                    "{} at {cut}",
                    stream.name
                );
            }
            Err(error) => {
                assert_eq!(
                    error.provider_kind(),
                    Some(ProviderErrorKind::Interrupted),
                    "{} at {cut}",
                    stream.name
                );
                assert!(said.finish.is_none());
            }
        }
    }
    stream.bytes.len()
}

#[test]
fn no_cut_completes_a_call() {
    let streams = with_calls();
    let cuts: usize = streams.iter().map(check).sum();
    eprintln!("{cuts} cuts of {} streams with tool calls", streams.len());
    assert!(cuts > 5_000);
}

#[test]
fn no_cut_of_a_recording_completes_a_call() {
    let Some(streams) = super::fixtures::with_calls() else { return };
    let cuts: usize = streams.iter().map(check).sum();
    eprintln!("{cuts} cuts of {} recorded streams with tool calls", streams.len());
    assert!(cuts > 0);
}
