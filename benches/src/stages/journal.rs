//! The journal of a stored run.

use std::hint::black_box;

use bytes::Bytes;
use omniassist_core::event::{BlockId, FinishReason};
use omniassist_core::journal::{self, Content, SegmentWriter};
use omniassist_core::run::{Input, NoTools, Recovered, RunConfig, RunMachine};
use omniassist_core::{EventBuf, LlmEvent, RunEvent, RunRequest, TranscriptItem};

use super::{BURST, DELTA, Outcome};

/// The number of deltas in a segment: those of 100 ms at 50 tokens a second.
const SEGMENT: usize = 5;

/// The number of deltas of a run that is read.
const RUN: usize = BURST;

/// Measures writing deltas into segments.
pub(super) fn write(events: usize) -> Outcome<usize> {
    // The text is on the heap like a decoder's views.
    let delta = RunEvent::TextDelta { id: BlockId(0), delta: DELTA.as_str().to_owned().into() };
    let mut writer = SegmentWriter::new();
    let mut written = 0;
    for number in 1..=events {
        writer.event(black_box(&delta))?;
        if number.is_multiple_of(SEGMENT) || number == events {
            written += writer.take().map_or(0, |segment| black_box(segment).events);
        }
    }
    Ok(usize::try_from(written)?)
}

/// Measures reading the segments of runs, and folding them to the state of the run.
pub(super) fn read(events: usize) -> Outcome<usize> {
    let segments = run()?;
    let mut count = 0;
    for _ in 0..events / RUN {
        let mut records = Vec::new();
        for segment in black_box(&segments) {
            records.append(&mut journal::read(segment)?);
        }
        let Recovered { machine, .. } = journal::fold(begun(&mut EventBuf::new()), records)?;
        let Some(TranscriptItem::Text { text, .. }) = machine.transcript().last() else {
            return Err("the answer is not in the state of the run".into());
        };
        count += text.len() / DELTA.len();
        black_box(machine);
    }
    Ok(count)
}

/// Returns the machine of a run whose journal is kept.
fn begun(events: &mut EventBuf<RunEvent>) -> RunMachine {
    let mut config = RunConfig::new("msg-2");
    config.journaled = true;
    RunMachine::start(&RunRequest::prompt("Hello"), config, &NoTools, events)
}

/// Returns the segments of a run that has ended.
fn run() -> Outcome<Vec<Bytes>> {
    let mut events = EventBuf::new();
    let mut machine = begun(&mut events);
    machine.next_action();
    let deltas = (0..RUN).map(|_| LlmEvent::TextDelta { block: 0, delta: DELTA });
    let finish = LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false };
    let inputs = deltas.chain([finish]).map(Input::Model).chain([Input::ModelEnd]);
    let (mut writer, mut segments) = (SegmentWriter::new(), Vec::new());
    for (number, input) in inputs.enumerate() {
        machine.step(input, &NoTools, &mut events);
        for event in events.drain() {
            writer.event(&event)?;
        }
        if let Some(turn) = machine.take_record() {
            writer.record(&Content::Turn(turn).into())?;
        }
        if (number + 1).is_multiple_of(SEGMENT) {
            segments.extend(writer.take().map(|segment| segment.bytes));
        }
    }
    segments.extend(writer.take().map(|segment| segment.bytes));
    Ok(segments)
}
