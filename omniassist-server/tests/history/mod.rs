//! Tests of the parts of long conversations that are sent to the model.

#[cfg(all(feature = "anthropic", feature = "openai"))]
mod compaction;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod legal;
mod summary;
mod window;

use futures_util::StreamExt;
use http::Extensions;
use omniassist_server::core::message::{Message, MessageCollector};
use omniassist_server::core::transcript::UserContent;
use omniassist_server::core::{LlmPayload, RunEvent, RunRequest, TranscriptItem};
use omniassist_server::{Assistant, Principal};

/// Returns a conversation of `turns` turns, without the last question.
fn talk(turns: usize) -> Vec<Message> {
    (0..turns).flat_map(talk_at).collect()
}

/// Returns one turn of such a conversation.
fn talk_at(turn: usize) -> [Message; 2] {
    let asked = Message::user(format!("u{turn}"), format!("Question {turn}: {}", "where ".repeat(20)));
    [asked, Message::assistant(format!("a{turn}"), format!("Answer {turn}: {}", "there ".repeat(30)))]
}

/// Sends a question in a chat. Returns the conversation that the client then holds, and the events.
async fn ask(
    assistant: &Assistant,
    user: &str,
    mut messages: Vec<Message>,
    question: &str,
) -> (Vec<Message>, Vec<RunEvent>) {
    messages.push(Message::user(format!("q{}", messages.len()), question));
    let mut request = RunRequest::new(messages.clone());
    request.chat_id = Some("chat".into());
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new(user));
    let events: Vec<_> = assistant.try_run(request, extensions).await.unwrap().collect().await;
    let mut collector = MessageCollector::new();
    events.iter().for_each(|event| collector.apply(event));
    messages.push(collector.into_message());
    (messages, events)
}

/// Returns the texts of a request to a model in order.
fn texts(payload: &LlmPayload) -> Vec<&str> {
    fn of(item: &TranscriptItem) -> Vec<&str> {
        match item {
            TranscriptItem::User { content } => content.iter().filter_map(said).collect(),
            TranscriptItem::Text { text, .. } => vec![text],
            _ => Vec::new(),
        }
    }
    fn said(content: &UserContent) -> Option<&str> {
        match content {
            UserContent::Text { text } => Some(text),
            _ => None,
        }
    }
    payload.transcript.iter().flat_map(of).collect()
}
