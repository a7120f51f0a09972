//! Tests of the run loop with a faulty decoder. The run loop itself decides which calls run.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use omniassist_server::core::{EventBuf, LlmEvent, RunEvent, RunRequest};
use omniassist_server::provider::from_fn;
use serde_json::Value;

use super::library::{Recording, recordings};
use super::report;
use super::stage::{Executions, assistant, says, sorted, wanted_executions};

/// A fault of a decoder.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    /// The turn was cut, and the last call ends with its partial arguments.
    EndsWhatWasCut,
    /// The last call never ends, and the turn is reported as complete.
    ForgetsAnEnd,
    /// The stream ends without a finish.
    ForgetsTheFinish,
}

/// Returns the events of a recording from a decoder with this fault.
fn careless(recording: &Recording, fault: Fault) -> Vec<LlmEvent> {
    let mut decoder = (recording.api.decoder)();
    let mut buffer = EventBuf::new();
    decoder.feed(Bytes::copy_from_slice(&recording.bytes), &mut buffer).unwrap();
    decoder.finish(&mut buffer).unwrap();
    let mut events: Vec<LlmEvent> = buffer.drain().collect();
    let last = events.iter().filter_map(|event| match event {
        LlmEvent::ToolCallStart { call, .. } => Some(*call),
        _ => None,
    });
    let last = last.max().unwrap();
    let is_end = |event: &LlmEvent| matches!(event, LlmEvent::ToolCallEnd { call, .. } if *call == last);
    let is_finish = |event: &LlmEvent| matches!(event, LlmEvent::Finish { .. });
    match fault {
        Fault::EndsWhatWasCut => {
            let arrived = events.iter().filter_map(|event| match event {
                LlmEvent::ToolCallDelta { call, delta } if *call == last => Some(delta.as_str()),
                _ => None,
            });
            let arguments = arrived.collect::<String>().into();
            if !events.iter().any(is_end) {
                let at = events.iter().position(is_finish).unwrap();
                events.insert(at, LlmEvent::ToolCallEnd { call: last, arguments, metadata: None });
            }
        }
        Fault::ForgetsAnEnd => events.retain(|event| !is_end(event)),
        Fault::ForgetsTheFinish => events.retain(|event| !is_finish(event)),
    }
    for event in &mut events {
        if let LlmEvent::Finish { truncated, .. } = event {
            *truncated = fault == Fault::EndsWhatWasCut;
        }
    }
    events
}

/// Returns the executions of a recording without its last call.
fn without_the_last(recording: &Recording) -> Vec<(String, Value)> {
    let mut wanted = wanted_executions(recording);
    let last = recording.calls().last().unwrap();
    if last["complete"] == true && last["kind"] != "custom" {
        wanted.pop();
    }
    wanted
}

async fn check(recording: &Recording, fault: Fault) -> Option<String> {
    let executions = Executions::default();
    let events = careless(recording, fault);
    let answered = AtomicBool::new(false);
    let model = from_fn("careless", move |_| {
        if answered.swap(true, Ordering::Relaxed) {
            return says("Done.");
        }
        Box::pin(stream::iter(events.clone().into_iter().map(Ok)))
    });
    let run = assistant(model, recording, &executions).run(RunRequest::prompt("Go on."));
    let events: Vec<RunEvent> = run.collect().await;
    let refused = events.iter().filter(|event| matches!(event, RunEvent::ToolInputError { .. })).count();
    let terminal = events.iter().filter(|event| event.is_terminal()).count();
    let failed = matches!(events.last(), Some(RunEvent::Error { .. }));
    let nothing = fault == Fault::ForgetsTheFinish;
    let wanted = if nothing { Vec::new() } else { sorted(without_the_last(recording)) };
    let made = sorted(executions.take());
    let right = made == wanted && refused > 0 && terminal == 1 && failed == nothing;
    (!right).then(|| {
        let path = &recording.path;
        format!("{path}, {fault:?}: ran {made:?}, expected {wanted:?}; {refused} refused, {terminal} terminal events")
    })
}

#[tokio::test]
async fn a_faulty_decoder_does_not_cause_executions() {
    let Some((recordings, _)) = recordings() else { return };
    let mut failures = Vec::new();
    let mut checked = 0;
    for recording in recordings.iter().filter(|recording| !recording.calls().is_empty()) {
        for fault in [Fault::EndsWhatWasCut, Fault::ForgetsAnEnd, Fault::ForgetsTheFinish] {
            checked += 1;
            failures.extend(check(recording, fault).await);
        }
    }
    report(&format!("vetoes: {checked} careless answers"), &failures);
}
