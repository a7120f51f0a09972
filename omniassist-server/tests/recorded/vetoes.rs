//! Recordings whose answer is said to have been cut, by a decoder that ends the last call all the same: the veto of
//! that call is the run loop's own, whatever a provider says.

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use omniassist_server::core::{EventBuf, LlmEvent, RunEvent, RunRequest};
use omniassist_server::provider::from_fn;

use super::library::{Recording, recordings};
use super::report;
use super::stage::{Executions, assistant, says, sorted, wanted_executions};

/// The events of a recording; its last call is ended with what arrived of it, and the turn is cut.
fn careless(recording: &Recording) -> Vec<LlmEvent> {
    let mut decoder = (recording.api.decoder)();
    let mut buffer = EventBuf::new();
    decoder.feed(Bytes::copy_from_slice(&recording.bytes), &mut buffer).unwrap();
    decoder.finish(&mut buffer).unwrap();
    let (mut events, mut last, mut arrived, mut ended) = (Vec::new(), None, String::new(), false);
    for event in buffer.drain() {
        match event {
            LlmEvent::ToolCallStart { call, .. } => {
                (last, ended) = (Some(call), false);
                arrived.clear();
            }
            LlmEvent::ToolCallDelta { call, ref delta } if last == Some(call) => arrived.push_str(delta),
            LlmEvent::ToolCallEnd { call, .. } if last == Some(call) => ended = true,
            LlmEvent::Finish { reason, raw, .. } => {
                if let Some(call) = last.filter(|_| !ended) {
                    let arguments = std::mem::take(&mut arrived).into();
                    events.push(LlmEvent::ToolCallEnd { call, arguments, metadata: None });
                }
                events.push(LlmEvent::Finish { reason, raw, truncated: true });
                continue;
            }
            _ => {}
        }
        events.push(event);
    }
    events
}

async fn check(recording: &Recording) -> Option<String> {
    let executions = Executions::default();
    let events = careless(recording);
    let answered = std::sync::atomic::AtomicBool::new(false);
    let model = from_fn("careless", move |_| {
        if answered.swap(true, std::sync::atomic::Ordering::Relaxed) {
            return says("Done.");
        }
        Box::pin(stream::iter(events.clone().into_iter().map(Ok)))
    });
    let run = assistant(model, recording, &executions).run(RunRequest::prompt("Go on."));
    let events: Vec<RunEvent> = run.collect().await;
    let refused = events.iter().filter(|event| matches!(event, RunEvent::ToolInputError { .. })).count();
    let mut wanted = wanted_executions(recording);
    let last = recording.calls().last()?;
    if last["complete"] == true && last["kind"] != "custom" {
        wanted.pop();
    }
    let (made, wanted) = (sorted(executions.take()), sorted(wanted));
    let terminal = events.iter().filter(|event| event.is_terminal()).count();
    let right = made == wanted && refused > 0 && terminal == 1;
    (!right).then(|| {
        let path = &recording.path;
        format!("{path}: ran {made:?}, expected {wanted:?}; {refused} refused, {terminal} terminal events")
    })
}

#[tokio::test]
async fn the_last_call_of_a_cut_turn_is_vetoed_whatever_the_decoder_says() {
    let Some((recordings, _)) = recordings() else { return };
    let mut failures = Vec::new();
    let mut checked = 0;
    for recording in recordings.iter().filter(|recording| !recording.calls().is_empty()) {
        checked += 1;
        failures.extend(check(recording).await);
    }
    report(&format!("vetoes: {checked} recordings with calls"), &failures);
}
