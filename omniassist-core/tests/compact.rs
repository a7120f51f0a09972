//! Tests of the compaction of long conversations, and of its use by a run.

use omniassist_core::event::{CallKind, RunErrorCode};
use omniassist_core::message::{Part, Role, ToolPart, ToolState};
use omniassist_core::run::{Action, Input, NoTools, RunConfig, RunMachine, RunState};
use omniassist_core::transcript::{ToolCall, ToolResult, compact, is_legal, size};
use omniassist_core::{
    EventBuf, FinishReason, JsonText, LlmEvent, Message, RunEvent, RunRequest, TranscriptItem,
};
use proptest::prelude::*;

fn user(text: &str) -> TranscriptItem {
    TranscriptItem::user(text.to_owned())
}

fn said(text: &str) -> TranscriptItem {
    TranscriptItem::Text { text: text.into(), metadata: None }
}

fn step(id: &str, output: &str) -> [TranscriptItem; 2] {
    let (arguments, kind) = (JsonText::EMPTY_OBJECT, CallKind::Function);
    let call = ToolCall { id: id.into(), name: "look".into(), arguments, kind, metadata: None };
    let output = JsonText::from_str_value(output);
    let result = ToolResult { call_id: id.into(), output, is_error: false };
    [TranscriptItem::Call(call), TranscriptItem::Result(result)]
}

fn text(items: &[TranscriptItem]) -> String {
    serde_json::to_string(items).unwrap()
}

#[test]
fn the_oldest_exchanges_are_removed_first_and_a_note_replaces_them() {
    let mut items = vec![user("alpha"), said(&"a".repeat(500)), user("beta"), said(&"b".repeat(100))];
    items.extend([user("gamma"), said("c")]);
    let short = compact(&items, 200).unwrap();
    assert!(is_legal(&short));
    let shown = text(&short);
    assert!(!shown.contains("alpha") && shown.contains("beta") && shown.contains("gamma"), "{shown}");
    assert_eq!(shown.matches("left out").count(), 1);
    let shorter = compact(&short, 120).unwrap();
    let shown = text(&shorter);
    assert!(!shown.contains("beta") && shown.contains("gamma"), "{shown}");
    assert_eq!(shown.matches("left out").count(), 1, "{shown}");
}

#[test]
fn the_oldest_large_outputs_are_shortened_first() {
    let mut items = vec![user("go")];
    items.extend(step("a", &format!("HEAD{}TAIL", "é".repeat(3_000))));
    items.extend(step("b", &format!("head{}tail", "x".repeat(3_000))));
    let short = compact(&items, size(&items) - 2_000).unwrap();
    assert!(is_legal(&short) && size(&short) < size(&items));
    let shown = text(&short);
    for kept in ["HEAD", "TAIL", "head", "tail"] {
        assert!(shown.contains(kept), "{kept}");
    }
    assert_eq!(shown.matches("cut: the whole").count(), 1, "the second output must stay whole");
}

#[test]
fn the_last_step_and_the_last_user_message_are_kept() {
    let mut items = vec![user("go")];
    for id in ["a", "b", "c"] {
        items.extend(step(id, &"y".repeat(900)));
    }
    let short = compact(&items, 100).unwrap();
    assert!(is_legal(&short));
    assert_eq!(short.len(), 3);
    let shown = text(&short);
    assert!(shown.contains("go") && shown.contains("left out") && shown.contains("\"c\""), "{shown}");
}

#[test]
fn an_incompressible_conversation_is_unchanged() {
    assert_eq!(compact(&[user(&"x".repeat(5_000))], 10), None);
    assert_eq!(compact(&[user("a"), said("b")], 1_000), None, "the conversation fits");
    assert_eq!(compact(&[], 0), None);
}

#[test]
fn the_size_includes_ids_names_texts_and_state() {
    let state = serde_json::from_value(serde_json::json!({ "p": {} })).ok();
    assert_eq!(size(&[user("four"), said("six of")]), 4 + 6);
    assert_eq!(size(&[TranscriptItem::Reasoning { text: "why".into(), metadata: state.clone() }]), 3 + 8);
    let [TranscriptItem::Call(mut call), result] = step("ab", "x") else { panic!() };
    call.metadata = state;
    assert_eq!(size(&[TranscriptItem::Call(call), result]), (2 + 4 + 2 + 8) + (2 + 3));
    let item = TranscriptItem::ProviderItem { provider: "openai".into(), item: JsonText::EMPTY_OBJECT };
    assert_eq!(size(&[item]), 6 + 2);
}

fn conversation() -> impl Strategy<Value = Vec<TranscriptItem>> {
    let exchange = (1..400_usize, prop::collection::vec(0..6_000_usize, 0..4));
    prop::collection::vec(exchange, 1..6).prop_map(|exchanges| {
        let mut items = Vec::new();
        for (n, (asked, outputs)) in exchanges.into_iter().enumerate() {
            items.push(user(&"q".repeat(asked)));
            for (m, output) in outputs.into_iter().enumerate() {
                items.extend(step(&format!("{n}-{m}"), &"\u{1f980}\n".repeat(output / 5)));
            }
            items.push(said("answer"));
        }
        items
    })
}

proptest! {
    #[test]
    fn a_compacted_conversation_is_legal_shorter_and_deterministic(
        items in conversation(), percent in 1..100_usize,
    ) {
        let target = size(&items) * percent / 100;
        let short = compact(&items, target);
        prop_assert_eq!(&short, &compact(&items, target));
        if let Some(short) = short {
            prop_assert!(is_legal(&short));
            prop_assert!(size(&short) < size(&items));
            let last = |items: &[TranscriptItem]| {
                items.iter().rposition(|item| matches!(item, TranscriptItem::User { .. }))
            };
            let asked = |items: &[TranscriptItem]| match last(items).map(|at| items[at].clone()) {
                Some(TranscriptItem::User { content }) => content.last().cloned(),
                _ => None,
            };
            prop_assert_eq!(asked(&short), asked(&items));
        }
    }
}

struct Driven(RunMachine, EventBuf<RunEvent>);

impl Driven {
    fn new(max_steps: u32) -> Self {
        let mut request = RunRequest::prompt("And now?");
        request.messages.insert(0, Message::user("u0", "x".repeat(4_000)));
        let mut config = RunConfig::new("m");
        config.max_steps = max_steps;
        let mut events = EventBuf::new();
        Self(RunMachine::start(&request, config, &NoTools, &mut events), events)
    }

    fn called_with(&mut self) -> Option<usize> {
        match self.0.next_action()? {
            Action::CallModel { transcript } => Some(size(&transcript)),
            other => panic!("{other:?}"),
        }
    }

    fn feed(&mut self, input: Input) {
        let state = serde_json::to_string(self.0.state()).unwrap();
        assert_eq!(&serde_json::from_str::<RunState>(&state).unwrap(), self.0.state());
        self.0.step(input, &NoTools, &mut self.1);
    }

    fn end(&mut self) -> String {
        let events: Vec<_> = self.1.drain().collect();
        assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1);
        assert!(events.iter().filter(|event| matches!(event, RunEvent::StepStart)).count() <= 1);
        match events.last() {
            Some(RunEvent::Error { code, .. }) => code.as_str().to_owned(),
            other => format!("{other:?}"),
        }
    }
}

fn finish() -> LlmEvent {
    LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false }
}

#[test]
fn an_overflow_repeats_the_step_once() {
    let mut run = Driven::new(1);
    assert!(run.called_with().unwrap() > 4_000);
    run.feed(Input::Model(LlmEvent::Start { id: None, model: None }));
    run.feed(Input::ContextOverflow);
    assert!(run.called_with().unwrap() < 200);
    run.feed(Input::Model(LlmEvent::TextDelta { block: 0, delta: "ok".into() }));
    run.feed(Input::Model(finish()));
    run.feed(Input::ModelEnd);
    assert!(run.end().contains("Finish"));
}

#[test]
fn an_overflow_keeps_the_newer_half() {
    let message = |number: usize| match number % 2 {
        0 => Message::user(format!("u{number}"), "x".repeat(400)),
        _ => Message::assistant(format!("a{number}"), "x".repeat(400)),
    };
    let request = RunRequest::new((0..9).map(message).collect());
    let mut events = EventBuf::new();
    let machine = RunMachine::start(&request, RunConfig::new("m"), &NoTools, &mut events);
    let mut run = Driven(machine, events);
    let before = run.called_with().unwrap();
    run.feed(Input::ContextOverflow);
    let after = run.called_with().unwrap();
    assert!((before / 4..=before / 2).contains(&after), "{after} of {before}");
}

/// The client's conversation still contains the removed calls.
#[test]
fn ids_of_removed_calls_are_not_reused() {
    let (call_id, name) = ("c".into(), "look".into());
    let state = ToolState::OutputAvailable {
        input: JsonText::EMPTY_OBJECT,
        output: JsonText::from_str_value(&"x".repeat(4_000)),
        preliminary: false,
    };
    let look = ToolPart { call_id, name, dynamic: false, provider_executed: false, state, metadata: None };
    let answer =
        Message { id: "a".into(), role: Role::Assistant, parts: vec![Part::Tool(look)], metadata: None };
    let messages = vec![Message::user("u0", "x".repeat(4_000)), answer, Message::user("u1", "And now?")];
    let mut events = EventBuf::new();
    let request = RunRequest::new(messages);
    let machine = RunMachine::start(&request, RunConfig::new("m"), &NoTools, &mut events);
    let mut run = Driven(machine, events);
    run.called_with().unwrap();
    run.feed(Input::ContextOverflow);
    assert!(run.called_with().unwrap() < 200);
    let (id, name, kind) = ("c".into(), "look".into(), CallKind::Function);
    run.feed(Input::Model(LlmEvent::ToolCallStart { call: 0, id, name, kind }));
    let begun =
        |event: &RunEvent| matches!(event, RunEvent::ToolInputStart { call_id, .. } if call_id == "c-2");
    assert!(run.1.drain().any(|event| begun(&event)));
}

#[test]
fn a_second_overflow_and_an_overflow_after_text_fail_the_run() {
    let overflow = RunErrorCode::ContextOverflow.as_str();
    let mut twice = Driven::new(9);
    twice.called_with().unwrap();
    twice.feed(Input::ContextOverflow);
    twice.called_with().unwrap();
    twice.feed(Input::ContextOverflow);
    assert_eq!((twice.called_with(), twice.end().as_str()), (None, overflow));
    let mut late = Driven::new(9);
    late.called_with().unwrap();
    late.feed(Input::Model(LlmEvent::TextDelta { block: 0, delta: "well".into() }));
    late.feed(Input::ContextOverflow);
    assert_eq!((late.called_with(), late.end().as_str()), (None, overflow));
    let mut finished = Driven::new(9);
    finished.called_with().unwrap();
    finished.feed(Input::Model(finish()));
    finished.feed(Input::ContextOverflow);
    assert!(finished.end().contains("Finish"));
}
