//! Tests with streams that are cut at every byte. A call that the provider did not finish must not end.

use super::streams::{Stream, with_calls};
use crate::recordings::check_cuts;

fn check(streams: &[Stream]) -> usize {
    streams.iter().map(|stream| check_cuts(stream.name, || stream.api.decoder(), &stream.bytes)).sum()
}

#[test]
fn no_cut_completes_a_call() {
    let streams = with_calls();
    let cuts = check(&streams);
    eprintln!("{cuts} cuts of {} streams with tool calls", streams.len());
    assert!(cuts > 5_000);
}

#[test]
fn no_cut_of_a_recording_completes_a_call() {
    let Some(streams) = super::fixtures::with_calls() else { return };
    let cuts = check(&streams);
    eprintln!("{cuts} cuts of {} recorded streams with tool calls", streams.len());
    assert!(cuts > 0);
}
