use omniassist_server::core::TranscriptItem;
use omniassist_server::core::message::{Message, Part, ToolState};
use omniassist_server::testing::{ScriptedProvider, call, reasoning, text};
use omniassist_server::tool::Approval;
use omniassist_server::{Assistant, AssistantBuilder, Tool, ToolError};
use serde_json::{Value, json};

use super::{Table, last, post};
use crate::approvals::{answer, refund};

/// Returns a model with turns of each kind.
fn script() -> ScriptedProvider {
    ScriptedProvider::new()
        .turn(reasoning("I look it up.").then(call("order", json!({"id": 17}))))
        .turn(text("It is in Kiel."))
        .turn(text("I open the page.").then(call("navigate", json!({"to": "/orders/17"}))))
        .turn(text("There it is."))
        // The canonical form of these arguments has another order of keys and another number.
        .turn(call("refund", json!({"reason": "late", "cents": 5.0})))
        .turn(text("Done."))
        .turn(text("Done, again."))
        .turn(text("No, it is not."))
        .otherwise(|_| text("That is all."))
}

fn build(model: &ScriptedProvider) -> AssistantBuilder {
    let order = Tool::from_fn_with_schema("order", "Looks it up", json!({"type": "object"}), |_, _| async {
        Ok::<_, ToolError>(json!({"place": "Kiel", "weight": 1.0}))
    });
    let navigate = Tool::front_end_with_schema("navigate", "Opens a page", json!({"type": "object"}));
    let (refund, _) = refund(Approval::always());
    Assistant::builder(model.clone()).tool(order).tool(navigate).tool(refund).refuse_unsealed_text(true)
}

/// The client's side of a conversation.
struct Client {
    assistant: Assistant,
    /// `true` for a client that posts all messages.
    posts_all: bool,
    messages: Vec<Message>,
}

impl Client {
    async fn post(&mut self, trigger: &str, message_id: Option<&str>) {
        let mut body = last(&self.messages, trigger, message_id);
        if self.posts_all {
            body = json!({"id": "c", "messages": self.messages, "trigger": trigger, "messageId": message_id});
        }
        post(&self.assistant, &body, &mut self.messages).await;
    }

    async fn ask(&mut self, id: &str, question: &str) {
        self.messages.push(Message::user(id, question));
        self.post("submit-message", None).await;
    }

    /// Answers the call of a front-end tool and posts the answer.
    async fn answer_call(&mut self, output: Value) {
        for part in &mut self.messages.last_mut().unwrap().parts {
            if let Part::Tool(tool) = part
                && let ToolState::InputAvailable { input } = &tool.state
            {
                let output = serde_json::from_value(output.clone()).unwrap();
                tool.state = ToolState::OutputAvailable { input: input.clone(), output, preliminary: false };
            }
        }
        self.post_answer().await;
    }

    async fn post_answer(&mut self) {
        let id = self.messages.last().unwrap().id.to_string();
        self.post("submit-message", Some(&id)).await;
    }

    async fn regenerate(&mut self) {
        let answer = self.messages.pop().unwrap();
        self.post("regenerate-message", Some(&answer.id)).await;
    }

    async fn edit(&mut self, at: usize, question: &str) {
        self.messages.truncate(at + 1);
        let id = self.messages[at].id.to_string();
        self.messages[at] = Message::user(id.as_str(), question);
        self.post("submit-message", Some(&id)).await;
    }
}

/// Runs a conversation and returns the client's messages after each step.
async fn converse(client: &mut Client) -> Vec<Vec<Message>> {
    let mut seen = Vec::new();
    client.ask("q1", "Where is order 17?").await;
    seen.push(client.messages.clone());
    client.ask("q2", "Show it to me.").await;
    seen.push(client.messages.clone());
    client.answer_call(json!({"shown": true})).await;
    seen.push(client.messages.clone());
    client.ask("q3", "Refund 5.").await;
    seen.push(client.messages.clone());
    answer(&mut client.messages, true);
    client.post_answer().await;
    seen.push(client.messages.clone());
    client.regenerate().await;
    seen.push(client.messages.clone());
    let question = client.messages.iter().position(|message| message.id == "q3").unwrap();
    client.edit(question, "Is it late?").await;
    seen.push(client.messages.clone());
    client.ask("q4", "What else?").await;
    seen.push(client.messages.clone());
    seen
}

fn transcripts(model: &ScriptedProvider) -> Vec<Vec<TranscriptItem>> {
    model.payloads().iter().map(|payload| payload.transcript.to_vec()).collect()
}

#[tokio::test]
async fn the_model_receives_the_same_as_from_a_client_that_posts_all_messages() {
    let (all, some) = (script(), script());
    let table = Table::default();
    let mut posts_all = Client { assistant: build(&all).build().unwrap(), posts_all: true, messages: vec![] };
    let mut posts_last = Client { assistant: table.of(build(&some)), posts_all: false, messages: vec![] };
    converse(&mut posts_all).await;
    let seen = converse(&mut posts_last).await;
    let (all, some) = (transcripts(&all), transcripts(&some));
    assert_eq!(all.len(), 9, "the model must use all turns");
    for (index, (all, some)) in all.iter().zip(&some).enumerate() {
        assert_eq!(some, all, "model call {index}");
    }
    assert_eq!(some.len(), all.len());
    assert_eq!(seen.len(), 8);
}

#[tokio::test]
async fn the_stored_conversation_equals_the_clients_byte_for_byte() {
    let table = Table::default();
    let mut client = Client { assistant: table.of(build(&script())), posts_all: false, messages: vec![] };
    let mut rows = Vec::new();
    client.ask("q1", "Where is order 17?").await;
    rows.push(client.messages.clone());
    client.ask("q2", "Show it to me.").await;
    client.answer_call(json!({"shown": true})).await;
    client.ask("q3", "Refund 5.").await;
    answer(&mut client.messages, true);
    client.post_answer().await;
    client.assistant.shutdown().await;
    let stored: Vec<Value> = serde_json::from_str(&table.row("c")).unwrap();
    assert_eq!(stored.len(), 6);
    assert_eq!(table.row("c"), serde_json::to_string(&client.messages).unwrap());
    let first = serde_json::to_string(&rows[0]).unwrap();
    assert!(table.row("c").starts_with(first.trim_end_matches(']')), "{first}\n{}", table.row("c"));
}
