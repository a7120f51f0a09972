//! Random runs for the official clients. The expected conversation is that of [`Client`], which the tests in
//! [`super::random`] read back.

use omniassist_core::RunEvent;
use omniassist_core::dialect::ag_ui::Version;
use omniassist_core::message::Message;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::client::Client;
use super::random::run;
use super::{encode_bytes, encoder, frames, read, snapshot, with};
use crate::official::write;

/// The number of answers for each version of the client.
const ANSWERS: usize = 1_000;

/// The number of runs with snapshots for each version of the client.
const SNAPSHOTS: usize = 100;

#[test]
fn random_runs() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, b"the seed of two thousand answers");
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = (run(""), run("again-"));
    let mut lines = Vec::new();
    for (name, version) in [("0.0.59", Version::V0), ("1.0.0", Version::V1)] {
        for _ in 0..ANSWERS {
            let (first, second) = strategy.new_tree(&mut runner).unwrap().current();
            let mut client = Client::with(&[json!({"id": "u1", "role": "user", "content": "Hi"})]);
            let mut runs = vec![told(&mut client, &encode_bytes(&mut encoder(version), &first))];
            // After a run without interrupts, another run continues the answer.
            if !first.iter().any(asks) {
                let mut body = with(json!({ "messages": client.messages }));
                if version == Version::V1 {
                    body["protocolVersion"] = "1.0".into();
                }
                let posted = read(&body).unwrap();
                assert_eq!(posted.version, version);
                runs.push(told(&mut client, &encode_bytes(&mut posted.encoder(), &second)));
            }
            lines.push(json!({ "client": name, "runs": runs }).to_string());
        }
    }
    write("ag-ui-runs.jsonl", &lines);
}

#[test]
fn snapshots() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, b"the seed of all of the snapshots");
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = (run(""), any::<usize>());
    let mut lines = Vec::new();
    for (name, version) in [("0.0.59", Version::V0), ("1.0.0", Version::V1)] {
        for _ in 0..SNAPSHOTS {
            let (events, place) = strategy.new_tree(&mut runner).unwrap().current();
            let asked = [Message::user("u1", "Hi")];
            let reset = snapshot::withdrawn(events.clone(), place, true);
            let late = snapshot::caught_up(version, &events, place % events.len());
            for body in [encode_bytes(&mut encoder(version).copying(&asked), &reset), late] {
                let mut client = Client::with(&[json!({"id": "u1", "role": "user", "content": "Hi"})]);
                lines.push(json!({ "client": name, "runs": [told(&mut client, &body)] }).to_string());
            }
        }
    }
    write("ag-ui-snapshots.jsonl", &lines);
}

fn told(client: &mut Client, body: &str) -> Value {
    client.apply_all(&frames(body));
    json!({ "body": body, "messages": client.messages })
}

fn asks(event: &RunEvent) -> bool {
    matches!(event, RunEvent::ToolApprovalRequest(_) | RunEvent::InputRequest(_))
}
