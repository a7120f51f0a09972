//! Random answers in OpenAI's Chat Completions API, streamed and complete.

use bytes::BytesMut;
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::chat_completions::{AnswerHead, Completion, Encoder};
use omniassist_core::message::MessageCollector;
use omniassist_core::{JsonText, RunEvent, Text};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::json;

use super::answers::{end, runner};
use super::write;
use crate::strategies;

const ANSWERS: usize = 2_000;

/// Returns a run with distinct names for the caller's tools, and with streamed arguments for every call.
fn run() -> impl Strategy<Value = Vec<RunEvent>> {
    strategies::run().prop_map(|mut events| {
        // The caller runs every other call.
        events.retain(|event| match event {
            RunEvent::ToolOutput { call_id, .. } | RunEvent::ToolError { call_id, .. } => {
                call_id.ends_with(['1', '3', '5', '7', '9'])
            }
            _ => true,
        });
        let calls = |event: &RunEvent| match event {
            RunEvent::ToolOutput { call_id, .. } | RunEvent::ToolError { call_id, .. } => Some(call_id.clone()),
            RunEvent::ToolInputAvailable { call_id, provider_executed: true, .. } => Some(call_id.clone()),
            _ => None,
        };
        let servers: Vec<Text> = events.iter().filter_map(calls).collect();
        let name_of = |call_id: &Text| {
            let side = if servers.contains(call_id) { "server" } else { "caller" };
            Text::from(format!("{side}-{call_id}"))
        };
        let mut out = Vec::new();
        for mut event in events {
            match &mut event {
                RunEvent::ToolInputStart { call_id, name, .. } => *name = name_of(call_id),
                RunEvent::ToolInputAvailable { call_id, name, input, .. } => {
                    *name = name_of(call_id);
                    *input = JsonText::parse(format!("{{\"of\":{}}}", input.as_str())).unwrap();
                    out.retain(|event| !is_piece_of(event, call_id));
                    // Inserts the arguments in two deltas after the start of the call.
                    let starts = |event: &RunEvent| matches!(event, RunEvent::ToolInputStart { call_id: id, .. } if id == call_id);
                    let at = out.iter().position(starts).unwrap() + 1;
                    let whole = input.as_str();
                    let cut = whole.char_indices().nth(whole.chars().count() / 2).map_or(0, |(at, _)| at);
                    let piece = |delta: &str| RunEvent::ToolInputDelta { call_id: call_id.clone(), delta: delta.into() };
                    out.splice(at..at, [piece(&whole[..cut]), piece(&whole[cut..])]);
                }
                RunEvent::ToolInputError { call_id, name, .. } => *name = name_of(call_id),
                _ => {}
            }
            out.push(event);
        }
        out
    })
}

fn is_piece_of(event: &RunEvent, call: &Text) -> bool {
    matches!(event, RunEvent::ToolInputDelta { call_id, .. } if call_id == call)
}

#[test]
fn random_completions() {
    let mut runner = runner(b"the seed of the OpenAI's answers");
    let strategy = run();
    let mut lines = Vec::new();
    for _ in 0..ANSWERS {
        let events = strategy.new_tree(&mut runner).unwrap().current();
        let head = AnswerHead::new("chatcmpl-1", 1_763_700_000, "omniassist");
        let tools: Vec<Text> = events
            .iter()
            .filter_map(|event| match event {
                RunEvent::ToolInputStart { name, .. } if name.starts_with("caller-") => Some(name.clone()),
                _ => None,
            })
            .collect();
        let mut encoder = Encoder::new(&head, tools.clone()).usage(true).reasoning(true);
        let mut completion = Completion::new(tools).reasoning(true);
        let mut collector = MessageCollector::new();
        let mut body = BytesMut::new();
        for event in &events {
            encoder.encode(event, &mut body);
            completion.apply(event);
            collector.apply(event);
        }
        encoder.finish(&mut body);
        let mut whole = BytesMut::new();
        completion.write(&head, &mut whole);
        let line = json!({
            "stream": std::str::from_utf8(&body).unwrap(),
            "whole": std::str::from_utf8(&whole).unwrap(),
            "message": collector.into_message(),
            "end": end(&events),
        });
        lines.push(line.to_string());
    }
    write("completions.jsonl", &lines);
}
