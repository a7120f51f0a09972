//! The cost of proving a conversation: a turn with 1 KB of text, and a call with 1 KB of arguments and output.

use std::hint::black_box;

use omniassist_core::event::BlockId;
use omniassist_core::message::MessageCollector;
use omniassist_core::run::NoTools;
use omniassist_core::verify::{self, Poster};
use omniassist_core::{JsonText, Message, RunEvent, RunRequest, Text, canonical};
use omniassist_server::Principal;
use omniassist_server::seal::{SealKeys, SealVerifier, Sealer};

use super::Outcome;

const KB: usize = 1024;
const ID: BlockId = BlockId(0);

pub(crate) fn keys() -> Outcome<SealKeys> {
    Ok(SealKeys::new("2026-11", b"thirty-two bytes that are secret")?)
}

fn sealer(keys: &SealKeys) -> Sealer {
    Sealer::new(
        keys,
        Some("chat-0123456789".into()),
        &Principal::new("user-7"),
        "msg_0123456789abcdef".into(),
    )
}

/// Returns records as a tool returns them: numbers and words on two levels, with unsorted keys.
pub(super) fn records(bytes: usize) -> Outcome<JsonText> {
    let record = r#"{"status":"shipped","id":1042,"total":18.5,"lines":[{"sku":"A-17","count":2}],"note":"left \u0022here\u0022"}"#;
    let count = bytes / record.len();
    Ok(JsonText::parse(format!("{{\"orders\":[{}]}}", vec![record; count.max(1)].join(",")))?)
}

pub(super) fn canonical(events: usize) -> Outcome<usize> {
    let json = records(KB)?;
    let mut out = Vec::new();
    let mut count = 0;
    for _ in 0..events {
        out.clear();
        count += usize::from(canonical::append(black_box(&json), &mut out).is_some());
        black_box(&out);
    }
    Ok(count)
}

pub(super) fn delta(events: usize) -> Outcome<usize> {
    let mut sealer = sealer(&keys()?);
    sealer.seal(&mut RunEvent::TextStart { id: ID }, &NoTools, || 0);
    let mut delta = RunEvent::TextDelta { id: ID, delta: Text::from_static(" token") };
    let mut count = 0;
    for _ in 0..events {
        count += usize::from(sealer.seal(black_box(&mut delta), &NoTools, || 0).is_none());
    }
    Ok(count)
}

/// Returns the events of a text in one delta.
fn text() -> Vec<RunEvent> {
    let text = "It was sent on Monday. ".repeat(KB / 23);
    vec![
        RunEvent::TextStart { id: ID },
        RunEvent::TextDelta { id: ID, delta: text.into() },
        RunEvent::TextEnd { id: ID, metadata: None },
    ]
}

/// Returns the events of a turn: a text, and a call with its output.
fn events() -> Outcome<Vec<RunEvent>> {
    let call_id = Text::from_static("call_0123456789abcdef01234567");
    let call = [
        RunEvent::ToolInputAvailable {
            call_id: call_id.clone(),
            name: Text::from_static("orders"),
            input: records(KB)?,
            provider_executed: false,
            metadata: None,
        },
        RunEvent::ToolOutput { call_id, output: records(KB)?, preliminary: false, provider_executed: false },
    ];
    Ok(text().into_iter().chain(call).collect())
}

pub(super) fn seal_text(events: usize) -> Outcome<usize> {
    seal(&text(), events)
}

pub(super) fn seal_turn(events_wanted: usize) -> Outcome<usize> {
    seal(&events()?, events_wanted)
}

fn seal(turn: &[RunEvent], events_wanted: usize) -> Outcome<usize> {
    let keys = keys()?;
    let mut count = 0;
    for _ in 0..events_wanted {
        let (mut sealer, mut sealed) = (sealer(&keys), false);
        for event in turn {
            let mut event = event.clone();
            let seal = sealer.seal(&mut event, &NoTools, || 0);
            sealed |= seal.is_some() || matches!(event, RunEvent::TextEnd { metadata: Some(_), .. });
            black_box(event);
        }
        count += usize::from(sealed);
    }
    Ok(count)
}

pub(super) fn verify_text(events: usize) -> Outcome<usize> {
    verify(text(), events)
}

pub(super) fn verify_turn(events_wanted: usize) -> Outcome<usize> {
    verify(events()?, events_wanted)
}

fn verify(turn: Vec<RunEvent>, events_wanted: usize) -> Outcome<usize> {
    let keys = keys()?;
    let mut sealer = sealer(&keys);
    let mut collector = MessageCollector::new();
    let start = RunEvent::Start { message_id: Text::from_static("msg_0123456789abcdef"), metadata: None };
    for mut event in std::iter::once(start).chain(turn) {
        let seal = sealer.seal(&mut event, &NoTools, || 0);
        collector.apply(&event);
        seal.iter().for_each(|seal| collector.apply(seal));
    }
    let mut posted = RunRequest::new(vec![collector.into_message(), Message::user("m3", "And then?")]);
    posted.chat_id = Some(Text::from_static("chat-0123456789"));

    let verifier = SealVerifier::new(keys);
    let mut count = 0;
    for _ in 0..events_wanted {
        let mut request = posted.clone();
        verify::history(&mut request, Poster::known("user-7", 0), &NoTools, &verifier)?;
        count += 1;
        black_box(request);
    }
    Ok(count)
}
