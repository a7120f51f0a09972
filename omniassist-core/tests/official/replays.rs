//! Random runs and their replays, from which the official clients must assemble the same parts.

use omniassist_core::RunEvent;
use omniassist_core::journal::{self, Replay, SegmentWriter};
use proptest::strategy::{Strategy, ValueTree};
use serde_json::json;

use super::answers::{bodies, runner};
use super::write;
use crate::strategies;

/// The number of runs.
const RUNS: usize = 150;

fn has_result(run: &[RunEvent], call: &str) -> bool {
    run.iter().any(|event| match event {
        RunEvent::ToolOutput { call_id, preliminary: false, .. } | RunEvent::ToolError { call_id, .. } => {
            call_id == call
        }
        _ => false,
    })
}

#[test]
fn random_replays() {
    let mut runner = runner(b"the seed of one hundred replays!");
    let strategy = strategies::run();
    let mut lines = Vec::new();
    while lines.len() < RUNS {
        let mut run = strategy.new_tree(&mut runner).unwrap().current();
        // A run has ended after its calls did, except for those of front-end tools, which a replay leaves open.
        let ended = run.clone();
        run.retain(|event| match event {
            RunEvent::ToolInputStart { call_id, .. }
            | RunEvent::ToolInputDelta { call_id, .. }
            | RunEvent::ToolInputAvailable { call_id, .. }
            | RunEvent::ToolOutput { call_id, .. } => has_result(&ended, call_id),
            _ => true,
        });
        let mut writer = SegmentWriter::new();
        run.iter().for_each(|event| writer.event(event).unwrap());
        let records = journal::read(&writer.take().unwrap().bytes).unwrap();
        let replay = Replay::new().quiet_calls(true).events(&records);
        lines.push(json!({ "live": bodies(&run), "replay": bodies(&replay) }).to_string());
    }
    write("ai-sdk-replays.jsonl", &lines);
}
