//! The suite for stores of conversations, and the messages of an assistant.

use std::time::Duration;

use http_body_util::BodyExt;
use omniassist_axum::http::AssistantService;
use omniassist_axum::store::{ConversationStore, MemoryStore, Scope, Window};
use omniassist_axum::testing::store::{Factory, conversations};
use omniassist_axum::testing::{ScriptedProvider, text};
use omniassist_axum::{Assistant, Principal};
use own_tables::OwnTables;

struct Desk;

impl Factory for Desk {
    type Store = OwnTables;

    async fn create(&self) -> OwnTables {
        OwnTables::open(":memory:").expect("a database in memory")
    }

    /// Moves the time by which tickets are listed back, instead of the clock forward.
    async fn advance(&self, store: &OwnTables, by: Duration) {
        let sql = format!("update ticket set changed = changed - {}", by.as_millis());
        let moved = store.transact(move |tables| {
            tables.execute_batch(&sql)?;
            tables.commit()
        });
        moved.await.expect("the tables are there");
    }
}

#[tokio::test]
async fn the_tables_pass_the_suite() {
    conversations::all(&Desk).await;
}

#[tokio::test]
async fn questions_and_answers_are_in_the_tables() {
    let desk = Desk.create().await;
    let model = ScriptedProvider::new().turn(text("On its way."));
    let assistant = Assistant::builder(model).store(MemoryStore::new()).conversations(desk.clone()).build();
    let service = AssistantService::new(assistant.expect("an assistant"));
    let question = r#"{"id": "c", "message": {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Where is it?"}]}}"#;
    let request = http::Request::post("/").header("content-type", "application/json");
    let request = request.extension(Principal::new("ann")).body(question.to_owned());
    service.handle(request.expect("a request")).await.into_body().collect().await.expect("an answer");

    let stored = desk.load(&Scope::new("ann"), "c", &Window::default()).await.expect("the tables are there");
    let messages = stored.expect("a conversation").messages;
    let bodies: Vec<_> = messages.iter().map(|message| String::from_utf8_lossy(&message.body)).collect();
    assert_eq!(bodies.len(), 2);
    assert!(bodies[0].contains("Where is it?") && bodies[1].contains("On its way."), "{bodies:?}");
}
