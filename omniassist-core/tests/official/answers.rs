//! Random answers of two runs each, with the message that the official clients must assemble.

use bytes::BytesMut;
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::ai_sdk::{Encoder, Framing};
use omniassist_core::event::ApprovalRequest;
use omniassist_core::message::{Decision, Message, MessageCollector, Part, ToolState};
use omniassist_core::{JsonText, RunEvent, Text};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::chunks::VERSIONS;
use super::write;
use crate::strategies;

/// The number of answers. More than 2,000 of them have no approvals, so clients of version 5 can read them.
const ANSWERS: usize = 2_200;

/// An answer: the events of a run, the user's decisions, and the events of the next run.
#[derive(Debug)]
struct Answer {
    first: Vec<RunEvent>,
    given: Vec<Given>,
    second: Vec<RunEvent>,
}

/// The decision about an approval.
#[derive(Debug)]
struct Given {
    approval: Text,
    approved: bool,
    reason: Option<Text>,
}

/// The result of a call that [`strategies::run`] leaves open.
#[derive(Debug, Clone)]
enum Open {
    /// The page runs the call.
    Left,
    Refused(Text),
    /// The call is approved and has an output or an error, or it is denied with or without a reason.
    Asked(Result<JsonText, Text>),
    Denied(Option<Text>),
}

fn open() -> impl Strategy<Value = Open> {
    prop_oneof![
        Just(Open::Left),
        strategies::text().prop_map(Open::Refused),
        strategies::json_text().prop_map(|output| Open::Asked(Ok(output))),
        strategies::text().prop_map(|error| Open::Asked(Err(error))),
        proptest::option::of(strategies::text()).prop_map(Open::Denied),
    ]
}

fn answers() -> impl Strategy<Value = Answer> {
    let seals = vec(any::<bool>(), 1..6);
    (strategies::run(), vec(open(), 1..6), seals, strategies::run()).prop_map(|(run, open, seals, next)| {
        let (mut given, mut outcomes) = (Vec::new(), Vec::new());
        let first = first_run(run, &open, &seals, &mut given, &mut outcomes);
        let id = match &first[0] {
            RunEvent::Start { message_id, .. } => message_id.clone(),
            _ => unreachable!("a run begins with its start"),
        };
        Answer { first, given, second: second_run(next, &id, outcomes) }
    })
}

/// Adds seals, approval requests and refusals to a run.
fn first_run(
    run: Vec<RunEvent>,
    open: &[Open],
    seals: &[bool],
    given: &mut Vec<Given>,
    outcomes: &mut Vec<RunEvent>,
) -> Vec<RunEvent> {
    let has_result = |call: &Text| {
        run.iter().any(|event| match event {
            RunEvent::ToolOutput { call_id, .. } | RunEvent::ToolError { call_id, .. } => call_id == call,
            _ => false,
        })
    };
    let (mut open, mut seals) = (open.iter().cycle(), seals.iter().cycle());
    let mut events = Vec::new();
    for event in &run {
        events.push(event.clone());
        match event {
            RunEvent::ToolOutput { call_id, preliminary: false, .. }
            | RunEvent::ToolError { call_id, .. }
                if *seals.next().unwrap() =>
            {
                let seal = Text::from(format!("v1.k.0.{call_id}"));
                events.push(RunEvent::OutputSeal { call_id: call_id.clone(), seal });
            }
            RunEvent::ToolInputAvailable { call_id, name, input, provider_executed: false, .. }
                if !has_result(call_id) =>
            {
                let call = (call_id, name, input);
                events.extend(settle(call, open.next().unwrap().clone(), given, outcomes));
            }
            _ => {}
        }
    }
    events
}

/// Writes the approval request or refusal of a call, and records the decision and its result.
fn settle(
    (call_id, name, input): (&Text, &Text, &JsonText),
    open: Open,
    given: &mut Vec<Given>,
    outcomes: &mut Vec<RunEvent>,
) -> Option<RunEvent> {
    let call_id = call_id.clone();
    let mut request = ApprovalRequest::new(call_id.clone(), name.clone(), input.clone());
    request.message = Some("Really?".into());
    request.signature = Some(format!("v1.k.1.{call_id}").into());
    let approval = request.id.clone();
    match open {
        Open::Left => return None,
        Open::Refused(reason) => return Some(RunEvent::ToolRefused { call_id, reason }),
        Open::Asked(result) => {
            given.push(Given { approval, approved: true, reason: None });
            let provider_executed = false;
            outcomes.push(match result {
                Ok(output) => RunEvent::ToolOutput { call_id, output, preliminary: false, provider_executed },
                Err(error_text) => RunEvent::ToolError { call_id, error_text, provider_executed },
            });
        }
        Open::Denied(reason) => {
            given.push(Given { approval, approved: false, reason: reason.clone() });
            outcomes.push(RunEvent::ToolDenied { call_id, reason });
        }
    }
    Some(RunEvent::ToolApprovalRequest(request))
}

/// Returns a run that continues the message: first the results of decided calls, then further events.
fn second_run(run: Vec<RunEvent>, id: &Text, outcomes: Vec<RunEvent>) -> Vec<RunEvent> {
    let mut events = run.into_iter();
    let mut start = events.next().unwrap();
    if let RunEvent::Start { message_id, .. } = &mut start {
        *message_id = id.clone();
    }
    let rest = events.map(|mut event| {
        if let RunEvent::ToolInputStart { call_id, .. }
        | RunEvent::ToolInputDelta { call_id, .. }
        | RunEvent::ToolInputAvailable { call_id, .. }
        | RunEvent::ToolInputError { call_id, .. }
        | RunEvent::ToolOutput { call_id, .. }
        | RunEvent::ToolError { call_id, .. } = &mut event
        {
            *call_id = format!("again-{call_id}").into();
        }
        event
    });
    std::iter::once(start).chain(outcomes).chain(rest).collect()
}

/// Returns the message after the first and the second run.
fn expected(answer: &Answer) -> (Message, Message) {
    let mut collector = MessageCollector::new();
    answer.first.iter().for_each(|event| collector.apply(event));
    let first = collector.into_message();
    let mut message = first.clone();
    for part in &mut message.parts {
        let Part::Tool(tool) = part else { continue };
        let ToolState::ApprovalRequested { input, approval } = &tool.state else { continue };
        let Some(given) = answer.given.iter().find(|given| approval.id == given.approval.as_str()) else {
            continue;
        };
        let reason = given.reason.as_deref().map(Text::from);
        let approval = approval.clone().decided(Decision { approved: given.approved, reason });
        tool.state = ToolState::ApprovalResponded { input: input.clone(), approval };
    }
    let mut collector = MessageCollector::continuing(message);
    answer.second.iter().for_each(|event| collector.apply(event));
    (first, collector.into_message())
}

/// Returns a generator of random values with a fixed seed.
pub(super) fn runner(seed: &[u8; 32]) -> TestRunner {
    TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, seed))
}

/// Returns the end of a run.
pub(super) fn end(events: &[RunEvent]) -> Value {
    match events.last() {
        Some(RunEvent::Finish { reason, .. }) => {
            let name: String =
                format!("{reason:?}").chars().take_while(char::is_ascii_alphanumeric).collect();
            json!({ "finish": name })
        }
        Some(RunEvent::Error { message, .. }) => json!({ "error": message }),
        Some(RunEvent::Abort { .. }) => json!({ "abort": true }),
        other => unreachable!("a run ends with {other:?}"),
    }
}

pub(super) fn bodies(events: &[RunEvent]) -> Value {
    let body = |version| {
        let mut encoder = Encoder::new(Framing::Sse).version(version);
        let mut out = BytesMut::new();
        events.iter().for_each(|event| encoder.encode(event, &mut out));
        encoder.finish(&mut out);
        Value::from(std::str::from_utf8(&out).unwrap())
    };
    let entry = |(number, version): (u8, _)| (number.to_string(), body(version));
    Value::Object(VERSIONS.map(entry).into_iter().collect())
}

#[test]
fn random_answers() {
    let mut runner = runner(b"the seed of two thousand answers");
    let strategy = answers();
    let mut lines = Vec::new();
    for _ in 0..ANSWERS {
        let answer = strategy.new_tree(&mut runner).unwrap().current();
        let (first, second) = expected(&answer);
        let given = |given: &Given| json!({ "id": given.approval, "approved": given.approved, "reason": given.reason });
        let run = |events: &[RunEvent], message: &Message| json!({ "bodies": bodies(events), "end": end(events), "message": message });
        let line = json!({
            "first": run(&answer.first, &first),
            "given": answer.given.iter().map(given).collect::<Vec<_>>(),
            "second": run(&answer.second, &second),
        });
        lines.push(line.to_string());
    }
    write("ai-sdk-answers.jsonl", &lines);
}
