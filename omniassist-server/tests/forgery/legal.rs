//! Tests that every post of an honest client is accepted without loss.

use omniassist_server::core::message::{Approval, Message, Part, ToolState};
use omniassist_server::core::{Text, TrustHistory};
use omniassist_server::seal::SealKeys;

use super::chat::Chat;
use super::dice::Dice;
use super::json::{plain, plain_state};
use super::post::{Post, unproved};
use super::{OTHER_SECRET, keys};

/// Returns a conversation in a form that does not depend on its spelling.
fn plainly(messages: &[Message]) -> Vec<String> {
    let describe = |part: &Part| match part {
        Part::Text(text) => format!("text {:?} {}", text.text, plain_state(text.metadata.as_ref())),
        Part::Reasoning(text) => format!("reasoning {:?} {}", text.text, plain_state(text.metadata.as_ref())),
        Part::Tool(tool) => {
            let input = tool.state.input().map(|input| plain(input, true));
            let state = match &tool.state {
                ToolState::OutputAvailable { output, preliminary, .. } => {
                    format!("gave {} {preliminary}", plain(output, true))
                }
                ToolState::OutputError { error_text, .. } => format!("failed {error_text:?}"),
                ToolState::ApprovalResponded { approval, .. } => format!("answered {approval:?}"),
                ToolState::ApprovalRequested { approval, .. } => format!("asked {approval:?}"),
                ToolState::OutputDenied { approval, .. } => format!("denied {approval:?}"),
                ToolState::InputAvailable { .. } => "called".to_owned(),
                _ => "calling".to_owned(),
            };
            let metadata = plain_state(tool.metadata.as_ref());
            format!("{} {} {input:?} {state} {metadata} {}", tool.call_id, tool.name, tool.provider_executed)
        }
        other => format!("{other:?}"),
    };
    let describe = |message: &Message| {
        let parts: Vec<_> = message.parts.iter().map(describe).collect();
        format!("{} {:?} {parts:?}", message.id, message.role)
    };
    messages.iter().map(describe).collect()
}

/// Changes the chat like its user before a post. Returns the name of the change.
fn change(dice: &mut Dice, chat: &mut Chat) -> &'static str {
    let user =
        |chat: &Chat, at: usize| chat.messages[at].role == omniassist_server::core::message::Role::User;
    let count = chat.messages.len();
    match dice.below(6) {
        0 => {
            let at = dice.below(count);
            if user(chat, at) {
                chat.messages.truncate(at);
                chat.say(dice);
            }
            "edited"
        }
        1 => {
            let last = (0..count).rev().find(|at| user(chat, *at)).unwrap();
            chat.messages.truncate(last + 1);
            "regenerated"
        }
        2 => {
            chat.messages.drain(..dice.below(count));
            "front cut off"
        }
        3 => {
            chat.messages.truncate(dice.below(count) + 1);
            chat.say(dice);
            "branched"
        }
        4 => {
            let (from, to) = (dice.below(count), dice.below(count));
            chat.messages.drain(from.min(to)..from.max(to));
            "middle left out"
        }
        _ => "as it is",
    }
}

#[test]
fn honest_conversations_are_accepted_without_loss() {
    let mut dice = Dice::new(1);
    let mut counts = std::collections::BTreeMap::<_, usize>::new();
    let (mut outputs, mut states, mut approvals) = (0, 0, 0);
    let rotated =
        SealKeys::new("2026-12", OTHER_SECRET).unwrap().with_previous_key("2026-11", super::SECRET).unwrap();
    for round in 0..2_100 {
        let keys = keys();
        let mut chat = match round % 4 {
            0 => Chat::answered(&keys, &mut dice),
            1 => Chat::approved(&keys, &mut dice),
            _ => Chat::settled(&keys, &mut dice),
        };
        if dice.one_in(8) {
            chat = honest_without_names(&keys, &mut dice);
        }
        *counts.entry(change(&mut dice, &mut chat)).or_default() += 1;
        let mut post = Post::of(&chat, &mut dice);
        if dice.one_in(4) {
            post.keys = rotated.clone();
        }
        let request = post.read(&mut dice).unwrap_or_else(|error| panic!("round {round}: {error}"));
        let mut expected = post.verified(request.clone(), &TrustHistory).unwrap().messages;
        // An approval in an older message is superseded by the next user message.
        let last = expected.len() - 1;
        for message in &mut expected[..last] {
            message.parts.iter_mut().for_each(ask_again);
        }
        post.strict = dice.one_in(2);
        let taken = post.verified(request, &post.verifier());
        let taken = taken.unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert_eq!(plainly(&taken.messages), plainly(&expected), "round {round}");
        assert!(unproved(&taken.messages, &chat.ledger, post.now_ms, true).is_empty());
        for part in expected.iter().flat_map(|message| &message.parts) {
            match part {
                Part::Tool(tool) => {
                    outputs += usize::from(tool.state.is_answered());
                    states += usize::from(tool.metadata.is_some());
                    approvals += usize::from(matches!(&tool.state, ToolState::ApprovalResponded { .. }));
                }
                Part::Text(text) => states += usize::from(text.metadata.is_some()),
                Part::Reasoning(text) => states += usize::from(text.metadata.is_some()),
                _ => {}
            }
        }
    }
    assert!(outputs > 2_000 && states > 2_000 && approvals > 500, "{outputs} {states} {approvals}");
    println!(
        "legal: {} conversations {counts:?}: 0 refused; {outputs} results, {states} states and {approvals} answered \
         approvals: 0 lost",
        counts.values().sum::<usize>()
    );
}

/// Makes a chat of an anonymous caller without a chat id.
fn honest_without_names(keys: &SealKeys, dice: &mut Dice) -> Chat {
    let mut chat = Chat::new(keys, None, omniassist_server::Principal::anonymous());
    chat.turns(dice);
    chat
}

fn ask_again(part: &mut Part) {
    if let Part::Tool(tool) = part
        && let ToolState::ApprovalResponded { input, approval } = &tool.state
        && approval.is_approved()
    {
        let approval = Approval::new(approval.id.clone());
        tool.state = ToolState::ApprovalRequested { input: input.clone(), approval };
    }
}

#[test]
fn a_chat_with_seals_of_a_removed_key_continues() {
    let mut dice = Dice::new(2);
    let gone = SealKeys::random().unwrap();
    for _ in 0..200 {
        let chat = Chat::answered(&gone, &mut dice);
        let mut post = Post::of(&chat, &mut dice);
        post.keys = keys();
        let request = post.read(&mut dice).unwrap();
        let texts = |messages: &[Message]| messages.iter().map(Message::text).collect::<Vec<_>>();
        let before = texts(&request.messages);
        let taken = post.verified(request, &post.verifier()).unwrap();
        assert_eq!(texts(&taken.messages), before, "texts are kept");
        assert!(unproved(&taken.messages, &super::chat::Ledger::default(), post.now_ms, false).is_empty());
    }
}

#[test]
fn a_client_that_loses_all_metadata_can_continue() {
    let mut dice = Dice::new(3);
    for _ in 0..200 {
        let chat = Chat::answered(&keys(), &mut dice);
        let mut post = Post::of(&chat, &mut dice);
        for message in &mut post.messages {
            message.as_object_mut().unwrap().remove("metadata");
        }
        for part in post.parts_mut() {
            let part = part.as_object_mut().unwrap();
            for key in ["providerMetadata", "callProviderMetadata", "resultProviderMetadata"] {
                part.remove(key);
            }
            if let Some(approval) = part.get_mut("approval") {
                approval.as_object_mut().unwrap().remove("signature");
            }
        }
        let request = post.read(&mut dice).unwrap();
        let taken = post.verified(request, &post.verifier()).unwrap();
        assert!(unproved(&taken.messages, &super::chat::Ledger::default(), post.now_ms, false).is_empty());
    }
}

#[test]
fn a_text_without_a_seal_is_accepted_or_refused() {
    let mut request = omniassist_server::core::RunRequest::new(vec![
        Message::assistant("m1", "I said so."),
        Message::user("m2", "Did you?"),
    ]);
    request.chat_id = Some(Text::from_static("chat-1"));
    let mut dice = Dice::new(4);
    let mut post = Post::of(&Chat::settled(&keys(), &mut dice), &mut dice);
    let taken = post.verified(request.clone(), &post.verifier()).unwrap();
    assert_eq!(taken.messages[0].text(), "I said so.");
    post.strict = true;
    let error = post.verified(request.clone(), &post.verifier()).unwrap_err();
    assert_eq!((error.code().as_str(), error.path()), ("seal_invalid", Some("messages[0].parts[0]")));
    request.messages[0].parts = vec![Part::text("")];
    assert!(post.verified(request, &post.verifier()).is_ok(), "an empty text needs no proof");
}
