//! Tests of recordings that are cut after every event: the run of the engine, and its next request.

use bytes::Bytes;
use futures_util::StreamExt;
use omniassist_server::Assistant;
use omniassist_server::core::dialect::ai_sdk::read_request;
use omniassist_server::core::message::MessageCollector;
use omniassist_server::core::{Limits, LlmPayload, RunEvent, RunRequest};
use serde_json::{Value, json};

use super::apis::APIS;
use super::library::{Recording, recordings};
use super::report;
use super::stage::{Executions, assistant, model, sorted, wanted_executions};

/// The maximum number of events of a recording that is cut after each of them. A longer recording is cut at about this
/// many evenly spaced events and after each of its last [`LAST_EVENTS`] events.
const MOST_CUTS: usize = 30;
const LAST_EVENTS: usize = 15;

/// Returns the positions of the cuts of a recording: before its first event and after the chosen events.
fn cuts(recording: &Recording) -> Vec<usize> {
    let mut boundaries = recording.boundaries();
    let count = boundaries.len();
    if count > MOST_CUTS {
        let every = count.div_ceil(MOST_CUTS);
        let mut at = 0;
        boundaries.retain(|_| {
            at += 1;
            at % every == 0 || at + LAST_EVENTS > count
        });
    }
    boundaries.insert(0, 0);
    boundaries
}

/// Returns the faults of the requests to each provider.
fn judge(payloads: &[LlmPayload]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (payload, api) in payloads.iter().flat_map(|payload| APIS.iter().map(move |api| (payload, api))) {
        let body: Value = serde_json::from_slice(&(api.request)(payload)).unwrap();
        let faults = (api.faults)(&body);
        if !faults.is_empty() {
            wrong.push(format!("illegal for {}: {faults:?}", api.name));
        }
    }
    wrong
}

#[derive(Default)]
struct Tally {
    cuts: usize,
    /// Cuts before the event that ends the answer.
    before_the_end: usize,
    executions: usize,
    judged: usize,
}

async fn collect(assistant: &Assistant, request: RunRequest) -> (Value, Vec<RunEvent>) {
    let events: Vec<RunEvent> = assistant.run(request).collect().await;
    let mut collector = MessageCollector::new();
    for event in &events {
        collector.apply(event);
    }
    (serde_json::to_value(collector.into_message()).unwrap(), events)
}

async fn check(recording: &Recording, cut: usize, tally: &mut Tally) -> Vec<String> {
    let prefix = &recording.bytes[..cut];
    let executions = Executions::default();
    let (model, asked) = model(recording.api, vec![Bytes::copy_from_slice(prefix)]);
    let assistant = assistant(model, recording, &executions);
    let (message, events) = collect(&assistant, RunRequest::prompt("Go on.")).await;
    let mut wrong = Vec::new();

    let terminal: Vec<&RunEvent> = events.iter().filter(|event| event.is_terminal()).collect();
    let ended = recording.api.has_end(prefix);
    let right = match terminal[..] {
        [RunEvent::Finish { .. }] => ended,
        [RunEvent::Error { .. }] => !ended,
        _ => false,
    };
    if !right || !events.last().is_some_and(RunEvent::is_terminal) {
        wrong.push(format!("terminal events: {terminal:?}, with its end seen: {ended}"));
    }
    // Each call that was started must be completed or fail.
    let settled = |id: &str| {
        events.iter().any(|event| match event {
            RunEvent::ToolInputAvailable { call_id, .. } | RunEvent::ToolInputError { call_id, .. } => {
                call_id == id
            }
            _ => false,
        })
    };
    let begun = events.iter().filter_map(|event| match event {
        RunEvent::ToolInputStart { call_id, .. } => Some(call_id),
        _ => None,
    });
    let forgotten: Vec<_> = begun.filter(|id| !settled(id)).collect();
    if !forgotten.is_empty() {
        wrong.push(format!("calls that were started but neither completed nor failed: {forgotten:?}"));
    }
    // Only completed calls of a complete answer run. Some providers mark the end in several events, so the cut can
    // remove calls between them.
    let made = sorted(executions.take());
    let wanted = if ended { sorted(wanted_executions(recording)) } else { Vec::new() };
    let said_again = ended && recording.api.has_end(&recording.bytes[cut..]);
    let right = if said_again { is_part_of(&made, &wanted) } else { made == wanted };
    if !right {
        wrong.push(format!("executions: found {made:?}, expected {wanted:?}"));
    }

    // The client posts the message that it received and a new question.
    let mut body = json!({"messages": [
        {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Go on."}]},
        message,
        {"id": "m3", "role": "user", "parts": [{"type": "text", "text": "And now?"}]},
    ]});
    if body["messages"][1]["parts"] == json!([]) {
        body["messages"].as_array_mut().unwrap().remove(1);
    }
    let request = read_request(body.to_string().into(), &Limits::default()).unwrap();
    collect(&assistant, request).await;
    let payloads = std::mem::take(&mut *asked.lock().unwrap());
    wrong.extend(judge(&payloads));
    if !executions.take().is_empty() {
        wrong.push("a call was run again".to_owned());
    }

    tally.cuts += 1;
    tally.before_the_end += usize::from(!ended);
    tally.executions += made.len();
    tally.judged += payloads.len() * APIS.len();
    wrong
}

/// Returns `true` if each execution is among the wanted executions. Duplicates count separately.
fn is_part_of(made: &[(String, Value)], wanted: &[(String, Value)]) -> bool {
    let mut wanted = wanted.to_vec();
    made.iter().all(|call| {
        wanted.iter().position(|wanted| wanted == call).map(|at| wanted.swap_remove(at)).is_some()
    })
}

#[tokio::test]
async fn recordings_can_end_after_any_event() {
    let Some((recordings, others)) = recordings() else { return };
    let mut failures = Vec::new();
    let mut tally = Tally::default();
    let mut events = 0;
    for recording in &recordings {
        events += recording.boundaries().len();
        for cut in cuts(recording) {
            let wrong = check(recording, cut, &mut tally).await;
            let path = &recording.path;
            failures.extend(wrong.into_iter().map(|wrong| format!("{path} cut at {cut}: {wrong}")));
        }
    }
    let Tally { cuts, before_the_end, executions, judged } = tally;
    report(
        &format!(
            "cuts: {cuts} of {} recordings ({others} without a decoder) with {events} events, {before_the_end} before \
             the answer's end; {executions} executions, all of complete calls; {judged} requests judged",
            recordings.len()
        ),
        &failures,
    );
}
