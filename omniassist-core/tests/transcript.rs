//! Tests of the conversion of conversations into legal transcripts.

use omniassist_core::event::CallKind;
use omniassist_core::message::{Approval, Message, Part, Role, TextPart, ToolPart, ToolState};
use omniassist_core::transcript::{
    ToolCall, ToolResult, TranscriptItem, UserContent, from_messages, is_legal, repair,
};
use omniassist_core::{JsonText, Text};
use proptest::prelude::*;

fn call(id: &str) -> TranscriptItem {
    TranscriptItem::Call(ToolCall {
        id: id.into(),
        name: "look".into(),
        arguments: JsonText::EMPTY_OBJECT,
        kind: CallKind::Function,
        metadata: None,
    })
}

fn result(id: &str, output: &str) -> TranscriptItem {
    let output = JsonText::from_str_value(output);
    TranscriptItem::Result(ToolResult { call_id: id.into(), output, is_error: false })
}

fn said(text: &str) -> TranscriptItem {
    TranscriptItem::Text { text: text.into(), metadata: None }
}

fn thought(text: &str) -> TranscriptItem {
    TranscriptItem::Reasoning { text: text.into(), metadata: None }
}

#[test]
fn a_legal_transcript_is_unchanged() {
    let items = vec![
        TranscriptItem::user("hi"),
        thought("hm"),
        call("a"),
        call("b"),
        result("a", "1"),
        result("b", "2"),
        said("done"),
    ];
    assert!(is_legal(&items));
    assert_eq!(repair(items.clone()), items);
}

#[test]
fn illegal_transcripts_are_detected() {
    for items in [
        vec![call("a")],
        vec![result("a", "1")],
        vec![call("a"), result("a", "1"), result("a", "1")],
        vec![call("a"), TranscriptItem::user("hi"), result("a", "1")],
        vec![call("a"), call("b"), result("b", "2"), result("a", "1")],
        vec![call("a"), result("a", "1"), call("a"), result("a", "1")],
        vec![thought("hm")],
        vec![said("")],
        vec![TranscriptItem::User { content: vec![] }],
    ] {
        assert!(!is_legal(&items), "{items:?}");
        assert!(is_legal(&repair(items)));
    }
}

#[test]
fn results_move_after_their_calls_in_order() {
    let items = vec![
        call("a"),
        call("b"),
        TranscriptItem::user("never mind"),
        result("b", "2"),
        result("a", "1"),
        result("x", "?"),
    ];
    let expected =
        vec![call("a"), call("b"), result("a", "1"), result("b", "2"), TranscriptItem::user("never mind")];
    assert_eq!(repair(items), expected);
}

#[test]
fn an_unanswered_call_gets_an_error_result() {
    let repaired = repair(vec![call("a"), TranscriptItem::user("hi")]);
    let Some(TranscriptItem::Result(result)) = repaired.get(1) else { panic!("{repaired:?}") };
    assert!(result.is_error);
    assert_eq!(result.call_id, "a");
}

#[test]
fn broken_arguments_become_an_empty_object() {
    let broken = TranscriptItem::Call(ToolCall {
        id: "a".into(),
        name: "look".into(),
        arguments: JsonText::from_str_value("{\"city"),
        kind: CallKind::Function,
        metadata: None,
    });
    assert_eq!(repair(vec![broken, result("a", "1")]), vec![call("a"), result("a", "1")]);
}

#[test]
fn steps_of_one_message_keep_their_order() {
    let tool = |id: &str, output: Option<&str>| {
        Part::Tool(ToolPart {
            call_id: id.into(),
            name: "look".into(),
            dynamic: false,
            provider_executed: false,
            state: match output {
                Some(output) => ToolState::OutputAvailable {
                    input: JsonText::EMPTY_OBJECT,
                    output: JsonText::from_str_value(output),
                    preliminary: false,
                },
                None => ToolState::InputStreaming,
            },
            metadata: None,
        })
    };
    let message = Message {
        id: "m2".into(),
        role: Role::Assistant,
        parts: vec![
            Part::StepStart,
            Part::text("first"),
            tool("a", Some("1")),
            tool("cut", None),
            Part::StepStart,
            tool("b", Some("2")),
            Part::StepStart,
            Part::text("last"),
        ],
        metadata: None,
    };
    let items = from_messages(&[Message::user("m1", "hi"), message]);
    let expected = vec![
        TranscriptItem::user("hi"),
        said("first"),
        call("a"),
        result("a", "1"),
        call("b"),
        result("b", "2"),
        said("last"),
    ];
    assert_eq!(items, expected);
}

#[test]
fn a_provider_executed_call_is_omitted_from_the_transcript() {
    let state = ToolState::OutputAvailable {
        input: JsonText::EMPTY_OBJECT,
        output: JsonText::NULL,
        preliminary: false,
    };
    let (call_id, name, provider_executed) = ("s".into(), "web_search".into(), true);
    let search =
        Part::Tool(ToolPart { call_id, name, dynamic: false, provider_executed, state, metadata: None });
    let (id, role) = ("m2".into(), Role::Assistant);
    let message = Message { id, role, parts: vec![search, Part::text("found")], metadata: None };
    let items = from_messages(&[Message::user("m1", "hi"), message]);
    assert_eq!(items, [TranscriptItem::user("hi"), said("found")]);
}

#[test]
fn a_call_whose_approval_was_not_given_did_not_run() {
    let state = ToolState::ApprovalRequested { input: JsonText::EMPTY_OBJECT, approval: Approval::new("a") };
    let (call_id, name) = ("c".into(), "look".into());
    let waiting = Part::Tool(ToolPart {
        call_id,
        name,
        dynamic: false,
        provider_executed: false,
        state,
        metadata: None,
    });
    let message = Message { id: "m2".into(), role: Role::Assistant, parts: vec![waiting], metadata: None };
    let items = from_messages(&[Message::user("m1", "hi"), message, Message::user("m3", "never mind")]);
    let [_, asked, TranscriptItem::Result(outcome), _] = items.as_slice() else { panic!("{items:?}") };
    assert_eq!(*asked, call("c"));
    assert!(outcome.is_error && outcome.output.as_str().contains("the call was not run"), "{outcome:?}");
}

#[test]
fn a_system_message_of_the_client_is_not_an_instruction() {
    let message = Message {
        id: "s".into(),
        role: Role::System,
        parts: vec![Part::Text(TextPart { text: "Obey".into(), metadata: None })],
        metadata: None,
    };
    let items = from_messages(&[message]);
    let [TranscriptItem::User { content }] = items.as_slice() else { panic!("{items:?}") };
    assert_eq!(content.last(), Some(&UserContent::Text { text: Text::from("Obey") }));
}

fn any_item() -> impl Strategy<Value = TranscriptItem> {
    let id = prop::sample::select(vec!["a", "b", "c", "d", "e"]);
    let words = prop::sample::select(vec!["", "x", "some words"]);
    prop_oneof![
        words.clone().prop_map(TranscriptItem::user),
        words.clone().prop_map(said),
        words.prop_map(thought),
        id.clone().prop_map(call),
        id.clone().prop_map(|id| {
            TranscriptItem::Call(ToolCall {
                id: id.into(),
                name: "look".into(),
                arguments: JsonText::from_str_value("{\"cut"),
                kind: CallKind::Function,
                metadata: None,
            })
        }),
        id.prop_map(|id| result(id, "out")),
        prop::sample::select(vec!["{\"id\":1}", "null"]).prop_map(ran),
    ]
}

fn ran(item: &str) -> TranscriptItem {
    TranscriptItem::ProviderItem { provider: "p".into(), item: JsonText::parse(item.to_owned()).unwrap() }
}

/// Returns a legal conversation.
fn healthy() -> impl Strategy<Value = Vec<TranscriptItem>> {
    prop::collection::vec((0_usize..4, any::<bool>(), any::<bool>()), 0..6).prop_map(|turns| {
        let mut items = Vec::new();
        for (turn, (calls, thinks, speaks)) in turns.into_iter().enumerate() {
            items.push(TranscriptItem::user(format!("question {turn}")));
            if thinks && (calls > 0 || speaks) {
                items.push(thought("hm"));
            }
            if speaks {
                items.extend([ran("{\"id\":1}"), said("answer")]);
            }
            let ids: Vec<String> = (0..calls).map(|n| format!("call-{turn}-{n}")).collect();
            items.extend(ids.iter().map(|id| call(id)));
            items.extend(ids.iter().map(|id| result(id, "out")));
        }
        items
    })
}

#[derive(Debug, Clone)]
enum Mutation {
    Cut(prop::sample::Index),
    Drop(prop::sample::Index),
    Duplicate(prop::sample::Index, prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Replace(prop::sample::Index, TranscriptItem),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        index().prop_map(Mutation::Cut),
        index().prop_map(Mutation::Drop),
        (index(), index()).prop_map(|(from, to)| Mutation::Duplicate(from, to)),
        (index(), index()).prop_map(|(a, b)| Mutation::Swap(a, b)),
        (index(), any_item()).prop_map(|(at, item)| Mutation::Replace(at, item)),
    ]
}

fn apply(items: &mut Vec<TranscriptItem>, mutation: Mutation) {
    if items.is_empty() {
        return;
    }
    let len = items.len();
    match mutation {
        Mutation::Cut(at) => items.truncate(at.index(len)),
        Mutation::Drop(at) => drop(items.remove(at.index(len))),
        Mutation::Duplicate(from, to) => items.insert(to.index(len), items[from.index(len)].clone()),
        Mutation::Swap(a, b) => items.swap(a.index(len), b.index(len)),
        Mutation::Replace(at, item) => items[at.index(len)] = item,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn any_edited_conversation_can_be_repaired(
        mut items in healthy(),
        mutations in prop::collection::vec(mutation(), 0..8),
    ) {
        prop_assert!(is_legal(&items));
        let untouched = mutations.is_empty();
        let before = items.clone();
        for mutation in mutations {
            apply(&mut items, mutation);
        }
        let repaired = repair(items);
        prop_assert!(is_legal(&repaired), "{repaired:#?}");
        prop_assert!(!untouched || repaired == before);
        prop_assert_eq!(repair(repaired.clone()), repaired);
    }

    #[test]
    fn random_items_can_be_made_legal(items in prop::collection::vec(any_item(), 0..24)) {
        let calls: std::collections::BTreeSet<_> = items.iter().filter_map(id_of_call).collect();
        let answered: std::collections::BTreeSet<_> = items.iter().filter_map(id_of_result).collect();
        let repaired = repair(items);
        prop_assert!(is_legal(&repaired), "{repaired:#?}");
        let kept: Vec<_> = repaired.iter().filter_map(id_of_call).collect();
        prop_assert_eq!(kept.len(), calls.len(), "every distinct call must be kept once");
        let results = repaired.iter().filter(|item| matches!(item, TranscriptItem::Result(_))).count();
        prop_assert_eq!(results, calls.len());
        for item in &repaired {
            let TranscriptItem::Result(result) = item else { continue };
            let made_up = result.is_error;
            prop_assert_eq!(made_up, !answered.contains(result.call_id.as_str()), "an existing result must be kept");
        }
    }
}

fn id_of_result(item: &TranscriptItem) -> Option<String> {
    match item {
        TranscriptItem::Result(result) => Some(result.call_id.to_string()),
        _ => None,
    }
}

fn id_of_call(item: &TranscriptItem) -> Option<String> {
    match item {
        TranscriptItem::Call(call) => Some(call.id.to_string()),
        _ => None,
    }
}
