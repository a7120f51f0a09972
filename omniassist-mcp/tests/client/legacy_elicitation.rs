//! Questions of servers of version 2025-11-25, which hold the call open.

use std::time::Duration;

use omniassist_mcp::client::McpServer;
use omniassist_server::AssistantBuilder;
use serde_json::{Value, json};

use super::chat::{Chat, keyed};
use super::{Desk, open, stdio_server};

async fn desk(server: McpServer) -> Desk {
    Desk::with([open(server)], keyed).ready().await
}

fn server(tools: &str) -> McpServer {
    McpServer::stdio("proc", &stdio_server::command(tools))
}

/// Returns the number of messages of this method that the server has received.
async fn received(desk: &Desk, method: &str) -> usize {
    desk.call("proc_received").await.to_string().matches(method).count()
}

#[tokio::test]
async fn a_question_becomes_a_form_and_the_same_call_goes_on() {
    let desk = desk(server("ask,received")).await;
    let mut chat = Chat::new("ann");
    chat.say(&desk, "proc_ask").await;
    let (message, schema) = chat.form();
    assert_eq!(message, "The server “proc” asks:\nWho are you?");
    assert_eq!(schema["properties"], json!({"name": {"type": "string", "title": "Name"}}));
    chat.fill(&json!({"name": "Ann"}));
    chat.post(&desk).await;
    let told = chat.told();
    assert!(told.contains("accept") && told.contains("Ann") && told.contains("untrusted_data_of"), "{told}");
    // This one, and the one that asks for the number.
    assert_eq!(received(&desk, "tools/call").await, 2);
}

#[tokio::test]
async fn a_question_can_be_declined_and_be_followed_by_another() {
    let desk = desk(server("ask_twice")).await;
    let mut chat = Chat::new("ann");
    chat.say(&desk, "proc_ask_twice").await;
    chat.fill(&json!({"name": "Ann"}));
    chat.post(&desk).await;
    assert!(chat.has_form(), "the second question");
    chat.decline();
    chat.post(&desk).await;
    assert!(chat.told().contains("decline"), "{}", chat.told());
}

#[tokio::test]
async fn a_page_is_shown_with_its_host_and_only_if_it_is_safe() {
    let desk = desk(server("ask_page,ask_plain")).await;
    let mut chat = Chat::new("ann");
    chat.say(&desk, "proc_ask_page").await;
    let (message, schema) = chat.form();
    let expected =
        "The server “proc” asks you to open a page of id.example:\nhttps://id.example/a\n\nSign in";
    assert_eq!((message.as_str(), &schema["properties"]), (expected, &json!({})));
    chat.fill(&json!({}));
    chat.post(&desk).await;
    let told = chat.told();
    assert!(told.contains("accept") && !told.contains("content"), "{told}");

    chat.say(&desk, "proc_ask_plain").await;
    assert!(!chat.has_form() && chat.told().contains("the URL"), "{}", chat.told());
}

#[tokio::test]
async fn another_server_cannot_go_on_with_a_call_that_may_not_be_repeated() {
    let (one, two) = (desk(server("ask")).await, desk(server("ask")).await);
    let mut chat = Chat::new("ann");
    chat.say(&one, "proc_ask").await;
    chat.fill(&json!({"name": "Ann"}));
    chat.post(&two).await;
    let told = chat.told();
    assert!(told.contains("may or may not have acted") && !told.contains("answered"), "{told}");
}

#[tokio::test]
async fn another_server_repeats_a_call_that_is_safe_and_answers_its_question() {
    let read_only = |tool: &str| -> Value {
        json!({"name": tool, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}})
    };
    let server = || {
        let definitions = json!([read_only("ask"), read_only("ask_twice")]).to_string();
        let mut command = stdio_server::command("ask,ask_twice");
        command.env(stdio_server::DEFINITIONS, definitions);
        McpServer::stdio("proc", &command).trust_annotations(true)
    };
    let (one, two) = (desk(server()).await, desk(server()).await);
    let mut chat = Chat::new("ann");
    chat.say(&one, "proc_ask").await;
    chat.fill(&json!({"name": "Ann"}));
    chat.post(&two).await;
    assert!(chat.told().contains("accept") && chat.told().contains("Ann"), "{}", chat.told());
}

#[tokio::test]
async fn a_question_never_reaches_another_user() {
    let desk = desk(server("ask,look")).await;
    let (mut ann, mut bob) = (Chat::new("ann"), Chat::new("bob"));
    ann.say(&desk, "proc_ask").await;
    assert!(ann.has_form());
    // One process serves both, and its protocol does not tell whose question it is.
    bob.say(&desk, "proc_ask").await;
    assert!(!bob.has_form() && bob.told().contains("decline"), "{}", bob.told());
    ann.fill(&json!({"name": "Ann"}));
    ann.post(&desk).await;
    assert!(ann.told().contains("accept"), "{}", ann.told());
}

#[tokio::test]
async fn a_call_without_an_answer_declines_the_questions_of_others_for_a_time() {
    let desk = desk(server("ask,never").call_timeout(Duration::from_secs(2))).await;
    let left = desk.call_as("ann", "proc_never").await.to_string();
    assert!(left.contains("did not answer in time"), "{left}");
    let mut bob = Chat::new("bob");
    bob.say(&desk, "proc_ask").await;
    assert!(!bob.has_form() && bob.told().contains("decline"), "{}", bob.told());
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(301)).await;
    tokio::time::resume();
    let mut bob = Chat::new("bob");
    bob.say(&desk, "proc_ask").await;
    assert!(bob.has_form(), "{}", bob.told());
}

#[tokio::test]
async fn a_call_whose_user_cannot_be_asked_declines_and_goes_on() {
    let without_seals = |builder: AssistantBuilder| builder.trust_client_history();
    let without_seals = Desk::with([open(server("ask,received"))], without_seals).ready().await;
    for (desk, mut chat) in
        [(desk(server("ask,received")).await, Chat::without_forms("ann")), (without_seals, Chat::new("ann"))]
    {
        chat.say(&desk, "proc_ask").await;
        assert!(!chat.has_form() && chat.told().contains("decline"), "{}", chat.told());
        assert_eq!(received(&desk, "notifications/cancelled").await, 0);
    }
}
