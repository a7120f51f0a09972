//! Tests of the whole engine with recordings in one process.

use bytes::Bytes;
use futures_util::StreamExt;
use omniassist_server::core::message::MessageCollector;
use omniassist_server::core::{RunEvent, RunRequest};

use super::library::{Recording, recordings, with_other_line_ends};
use super::report;
use super::seen::{Layer, Seen, differences, from_message, reason_word, usage_fields};
use super::stage::{Executions, assistant, model, sorted, wanted_executions};
use crate::recordings::chunks;

/// Runs the recording and returns its view, or the differences from the expected one.
async fn check(recording: &Recording, pieces: Vec<Bytes>) -> Result<Seen, Vec<String>> {
    let executions = Executions::default();
    let (model, asked) = model(recording.api, pieces);
    let assistant = assistant(model, recording, &executions);
    let events: Vec<RunEvent> = assistant.run(RunRequest::prompt("Go on.")).collect().await;

    let mut collector = MessageCollector::new();
    let mut step = None;
    for event in &events {
        collector.apply(event);
        if let RunEvent::StepFinish { reason, usage } = event {
            step.get_or_insert_with(|| (reason.clone(), *usage));
        }
    }
    let mut seen = from_message(&collector.into_message());
    if let Some((reason, usage)) = step {
        seen.finish = Some(reason_word(&reason));
        seen.usage = Some(usage_fields(&usage));
    }
    let mut wrong = differences(&seen, recording, Layer::Engine);
    let terminal = events.iter().filter(|event| event.is_terminal()).count();
    if terminal != 1 || !events.last().is_some_and(|event| matches!(event, RunEvent::Finish { .. })) {
        wrong.push(format!("{terminal} terminal events, the last is {:?}", events.last()));
    }
    let (made, wanted) = (sorted(executions.take()), sorted(wanted_executions(recording)));
    if made != wanted {
        wrong.push(format!("executions: found {made:?}, expected {wanted:?}"));
    }
    let refused = seen.calls.iter().any(|call| !call.runs && !call.input.is_null());
    let custom = recording.calls().iter().any(|call| call["kind"] == "custom");
    let requests = asked.lock().unwrap().len();
    if requests != 1 + usize::from(!wanted.is_empty() || (refused && custom)) {
        wrong.push(format!("{requests} model calls"));
    }
    if wrong.is_empty() { Ok(seen) } else { Err(wrong) }
}

fn copies(pieces: Vec<&[u8]>) -> Vec<Bytes> {
    pieces.into_iter().map(Bytes::copy_from_slice).collect()
}

#[tokio::test]
async fn recordings_pass_through_the_engine_in_every_chunking() {
    let Some((recordings, others)) = recordings() else { return };
    let mut failures = Vec::new();
    let (mut chunkings, mut tools) = (0, 0);
    for recording in &recordings {
        tools += wanted_executions(recording).len();
        let bytes = &recording.bytes[..];
        let other = with_other_line_ends(bytes);
        let mut ways = vec![
            ("whole".to_owned(), vec![bytes]),
            ("byte by byte".to_owned(), bytes.chunks(1).collect()),
            ("with other line ends".to_owned(), vec![&other[..]]),
            ("with other line ends, in random pieces".to_owned(), chunks(&other, 1)),
        ];
        ways.extend((0..4).map(|seed| (format!("by seed {seed}"), chunks(bytes, seed))));
        for (how, pieces) in ways {
            chunkings += 1;
            // A long stream has many pieces, so they are copied for one run at a time.
            if let Err(wrong) = check(recording, copies(pieces)).await {
                failures.extend(wrong.into_iter().map(|wrong| format!("{} {how}: {wrong}", recording.path)));
                break;
            }
        }
    }
    let count = recordings.len();
    report(
        &format!(
            "engine: {count} recordings ({others} without a decoder), {chunkings} runs, {tools} tool calls run in each way"
        ),
        &failures,
    );
}
