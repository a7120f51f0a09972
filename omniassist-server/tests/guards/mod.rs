//! Tests of text filters, input guards, tool hooks and provider layers.

mod approval;
mod audit;
mod filters;
mod input;
mod layers;
mod tools;

use futures_util::StreamExt;
use omniassist_server::Run;
use omniassist_server::core::RunEvent;
use omniassist_server::core::event::RunErrorCode;
use tokio::time::{Duration, Instant};

/// Returns the events of a run, each with the time since the start of the run.
async fn timed(mut run: Run) -> Vec<(Duration, RunEvent)> {
    let began = Instant::now();
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push((began.elapsed(), event));
    }
    events
}

fn deltas(events: &[(Duration, RunEvent)]) -> Vec<(u64, String)> {
    let delta = |(at, event): &(Duration, RunEvent)| match event {
        RunEvent::TextDelta { delta, .. } => Some((at.as_millis() as u64, delta.to_string())),
        _ => None,
    };
    events.iter().filter_map(delta).collect()
}

/// Returns the code and the message of a failed run.
fn failure(events: &[(Duration, RunEvent)]) -> Option<(RunErrorCode, String)> {
    match events.last() {
        Some((_, RunEvent::Error { code, message })) => Some((*code, message.to_string())),
        _ => None,
    }
}
