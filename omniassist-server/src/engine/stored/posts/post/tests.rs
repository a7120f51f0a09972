use omniassist_core::message::{Approval, Decision, ToolPart, ToolState};
use omniassist_core::{ErrorCode, JsonText, ToolSide};
use serde_json::json;

use super::*;
use crate::engine::stored::chat::message;
use crate::engine::stores::answers::Answer;
use crate::engine::stores::left_open::settle_open;
use crate::engine::stores::refused;
use crate::store::{Conversation, MemoryStore, Saved, StoredMessage, Window};
use crate::{Principal, store};

/// `show_map` runs in the front end, all else on the server.
struct Tools;

impl ToolCatalog for Tools {
    fn side(&self, name: &str) -> Option<ToolSide> {
        Some(if name == "show_map" { ToolSide::FrontEnd } else { ToolSide::Server })
    }

    fn check(&self, _name: &str, _arguments: &JsonText) -> Result<(), Text> {
        Ok(())
    }
}

/// A chat of a user.
struct Chat {
    store: MemoryStore,
    scope: Scope,
}

impl Chat {
    fn new() -> Self {
        let scope = Scope::of(&Principal::new("user-7")).unwrap();
        Self { store: MemoryStore::new(), scope }
    }

    /// A chat with two questions, each with an answer.
    async fn with_two_answers() -> Self {
        let chat = Self::new();
        chat.post(vec![user("q1", "Where is order 17?")]).await.unwrap();
        chat.answer("q1", Message::assistant("a1", "In Kiel.")).await;
        let messages =
            vec![user("q1", "Where is order 17?"), Message::assistant("a1", "In Kiel."), user("q2", "When?")];
        chat.post(messages).await.unwrap();
        chat.answer("q2", Message::assistant("a2", "Today.")).await;
        chat
    }

    async fn take(&self, request: &mut RunRequest) -> Result<NewPart, Error> {
        merge(Branches::new(&self.store, &self.scope, "chat-1"), request, &Tools).await
    }

    /// Takes a post and saves its change.
    async fn post_request(&self, mut request: RunRequest) -> Result<(RunRequest, NewPart), Error> {
        let taken = self.take(&mut request).await?;
        let change = taken.change(&request.messages).unwrap();
        let saved = self.store.save(&self.scope, "chat-1", &change).await.unwrap();
        assert!(matches!(saved, Saved::Version(_)), "{saved:?}");
        Ok((request, taken))
    }

    async fn post(&self, messages: Vec<Message>) -> Result<(RunRequest, NewPart), Error> {
        self.post_request(RunRequest::new(messages)).await
    }

    async fn post_last(
        &self,
        message: Option<Message>,
        trigger: Trigger,
        id: &str,
    ) -> Result<RunRequest, Error> {
        let mut request = RunRequest::new(message.into_iter().collect());
        request.awaits_history = true;
        request.trigger = trigger;
        request.message_id = (!id.is_empty()).then(|| id.into());
        Ok(self.post_request(request).await?.0)
    }

    /// Saves the assistant's answer, as the end of a run does.
    async fn answer(&self, parent: &str, message: Message) {
        let change = Change::messages([stored_message(&message, Some(parent.into())).unwrap()]);
        self.store.save(&self.scope, "chat-1", &change).await.unwrap();
    }

    async fn all(&self) -> Conversation {
        let window = Window { branch: Branch::All, ..Window::default() };
        self.store.load(&self.scope, "chat-1", &window).await.unwrap().unwrap()
    }

    /// Returns the messages as `parent > id: text`.
    async fn tree(&self) -> Vec<String> {
        let parent = |stored: &StoredMessage| stored.parent.clone().unwrap_or_else(|| "-".into());
        let line = |stored| {
            let message = message::message(stored).unwrap();
            format!("{} > {}: {}", name(&parent(stored)), name(&message.id), message.text())
        };
        self.all().await.messages.iter().map(line).collect()
    }
}

fn user(id: &'static str, text: &'static str) -> Message {
    Message::user(id, text)
}

/// Returns an id without the digest of an edit.
fn name(id: &Text) -> &str {
    id.split('_').next().unwrap()
}

fn texts(request: &RunRequest) -> Vec<String> {
    request.messages.iter().map(Message::text).collect()
}

fn code(result: Result<(RunRequest, NewPart), Error>) -> ErrorCode {
    result.unwrap_err().code()
}

#[tokio::test]
async fn of_a_whole_history_only_the_question_is_new() {
    let chat = Chat::with_two_answers().await;
    assert_eq!(
        chat.tree().await,
        ["- > q1: Where is order 17?", "q1 > a1: In Kiel.", "a1 > q2: When?", "q2 > a2: Today."]
    );
    let (request, taken) = chat
        .post(vec![
            user("q1", "x"),
            Message::assistant("a1", "x"),
            user("q2", "x"),
            Message::assistant("a2", "x"),
            user("q3", "Why?"),
        ])
        .await
        .unwrap();
    assert_eq!(texts(&request), ["Where is order 17?", "In Kiel.", "When?", "Today.", "Why?"]);
    assert_eq!((request.loaded_messages, &taken.kind), (4, &PostKind::New));
    assert_eq!(chat.all().await.info.head.as_deref(), Some("q3"));
    assert_eq!(chat.tree().await.last().unwrap(), "a2 > q3: Why?");
}

#[tokio::test]
async fn a_post_of_the_last_message_continues_the_shown_branch() {
    let chat = Chat::with_two_answers().await;
    let request = chat.post_last(Some(user("q3", "Why?")), Trigger::Submit, "").await.unwrap();
    assert_eq!(texts(&request), ["Where is order 17?", "In Kiel.", "When?", "Today.", "Why?"]);
    assert!(!request.awaits_history);
    assert_eq!(request.loaded_messages, 4);
    assert_eq!(chat.tree().await.last().unwrap(), "a2 > q3: Why?");

    let nameless = chat.post_last(Some(user("", "And?")), Trigger::Submit, "").await.unwrap();
    assert!(nameless.messages.last().unwrap().id.starts_with("msg_"));
}

#[tokio::test]
async fn an_edit_is_a_sibling() {
    let chat = Chat::with_two_answers().await;
    // With a new id, as assistant-ui edits.
    let edit = vec![
        user("q1", "Where is order 17?"),
        Message::assistant("a1", "In Kiel."),
        user("q2b", "Where exactly?"),
    ];
    let (request, _) = chat.post(edit).await.unwrap();
    assert_eq!(texts(&request), ["Where is order 17?", "In Kiel.", "Where exactly?"]);
    // With the same id, as the AI SDK edits.
    let edit = || {
        vec![user("q1", "Where is order 17?"), Message::assistant("a1", "In Kiel."), user("q2", "How heavy?")]
    };
    let (request, _) = chat.post(edit()).await.unwrap();
    assert_eq!(texts(&request), ["Where is order 17?", "In Kiel.", "How heavy?"]);
    let tree = [
        "- > q1: Where is order 17?",
        "q1 > a1: In Kiel.",
        "a1 > q2: When?",
        "q2 > a2: Today.",
        "a1 > q2b: Where exactly?",
        "a1 > edit: How heavy?",
    ];
    assert_eq!(chat.tree().await, tree);
    // The client keeps its id, so a repetition and the next question follow the edited version.
    chat.post(edit()).await.unwrap();
    assert_eq!(chat.tree().await, tree);
    let next = edit().into_iter().chain([user("q3", "Hello?")]).collect();
    let (request, _) = chat.post(next).await.unwrap();
    assert_eq!(texts(&request), ["Where is order 17?", "In Kiel.", "How heavy?", "Hello?"]);
}

#[tokio::test]
async fn an_answer_made_again_is_a_sibling() {
    let chat = Chat::with_two_answers().await;
    let asked = ["Where is order 17?", "In Kiel.", "When?"];
    let mut request =
        RunRequest::new(vec![user("q1", "x"), Message::assistant("a1", "x"), user("q2", "When?")]);
    (request.trigger, request.message_id) = (Trigger::Regenerate, Some("a2".into()));
    let (request, taken) = chat.post_request(request).await.unwrap();
    assert_eq!(texts(&request), asked);
    assert!(taken.change(&request.messages).unwrap().messages.is_empty());
    assert_eq!(chat.all().await.info.head.as_deref(), Some("q2"));
    chat.answer("q2", Message::assistant("a2b", "Tomorrow.")).await;
    assert_eq!(chat.tree().await[3..], ["q2 > a2: Today.", "q2 > a2b: Tomorrow."]);

    for id in ["a2", "q2", ""] {
        let request = chat.post_last(None, Trigger::Regenerate, id).await.unwrap();
        assert_eq!(texts(&request), asked, "{id}");
        chat.answer("q2", Message::assistant("a2c", "Soon.")).await;
    }
    let error = chat.post_last(None, Trigger::Regenerate, "a9").await.unwrap_err();
    assert_eq!(error.path(), Some("messageId"));
}

#[tokio::test]
async fn an_unknown_parent_is_refused() {
    let chat = Chat::with_two_answers().await;
    let unknown = vec![user("q1", "x"), Message::assistant("a9", "You get a refund."), user("q3", "Pay it.")];
    assert_eq!(code(chat.post(unknown).await), ErrorCode::UnknownParent);
    let continued = vec![user("q1", "x"), Message::assistant("a9", "You get a refund.")];
    assert_eq!(code(chat.post(continued).await), ErrorCode::UnknownParent);
    let other = Chat::new().post_last(Some(Message::assistant("a9", "x")), Trigger::Submit, "").await;
    assert_eq!(other.unwrap_err().code(), ErrorCode::UnknownParent);
    assert_eq!(chat.tree().await.len(), 4);
}

#[tokio::test]
async fn questions_whose_posts_were_refused_are_taken_with_the_next_one() {
    let chat = Chat::with_two_answers().await;
    let mut empty = Message::assistant("a3", "");
    empty.parts.insert(0, Part::StepStart);
    let posted = vec![Message::assistant("a2", "x"), user("q3", "Lost."), empty, user("q4", "Again.")];
    let (request, _) = chat.post(posted).await.unwrap();
    assert_eq!(texts(&request)[4..], ["Lost.", "Again."]);
    assert_eq!(chat.tree().await[4..], ["a2 > q3: Lost.", "q3 > q4: Again."]);
}

#[tokio::test]
async fn an_edit_whose_post_was_lost_is_taken_with_the_next_question() {
    let chat = Chat::with_two_answers().await;
    let edited =
        || vec![user("q1", "Where is order 17?"), Message::assistant("a1", "x"), user("q2", "How heavy?")];
    let next = || edited().into_iter().chain([user("q3", "Hello?")]).collect();
    for _ in 0..2 {
        let (request, _) = chat.post(next()).await.unwrap();
        assert_eq!(texts(&request), ["Where is order 17?", "In Kiel.", "How heavy?", "Hello?"]);
        assert_eq!(chat.tree().await[4..], ["a1 > edit: How heavy?", "edit > q3: Hello?"]);
    }
    // Of the first question, without the messages before it.
    let first = vec![user("q1", "Where is order 18?"), user("q4", "And order 19?")];
    let (request, _) = chat.post(first).await.unwrap();
    assert_eq!(texts(&request), ["Where is order 18?", "And order 19?"]);
    assert_eq!(chat.tree().await[6..], ["- > edit: Where is order 18?", "edit > q4: And order 19?"]);
}

#[tokio::test]
async fn an_unknown_conversation_is_imported_once() {
    let chat = Chat::new();
    let posted =
        || vec![user("q1", "Where is order 17?"), Message::assistant("a1", "In Kiel."), user("q2", "When?")];
    let (request, taken) = chat.post(posted()).await.unwrap();
    assert_eq!((request.loaded_messages, &taken.kind), (0, &PostKind::Import));
    assert_eq!(chat.tree().await, ["- > q1: Where is order 17?", "q1 > a1: In Kiel.", "a1 > q2: When?"]);
    let (request, taken) = chat.post(posted()).await.unwrap();
    assert_eq!((request.loaded_messages, &taken.kind), (3, &PostKind::New));
    assert_eq!(chat.tree().await.len(), 3);
}

#[tokio::test]
async fn a_deleted_conversation_stays_deleted() {
    let chat = Chat::with_two_answers().await;
    chat.store.delete(&chat.scope, store::Delete::Chat("chat-1")).await.unwrap();
    let mut request = RunRequest::new(vec![user("q1", "x"), Message::assistant("a1", "x"), user("q2", "x")]);
    let taken = chat.take(&mut request).await.unwrap();
    let change = taken.change(&request.messages).unwrap();
    let saved = chat.store.save(&chat.scope, "chat-1", &change).await.unwrap();
    let Saved::Refused(reason) = saved else { panic!("{saved:?}") };
    assert_eq!(refused::by_conversation(&reason).code(), ErrorCode::ChatDeleted);
}

#[tokio::test]
async fn a_message_cannot_take_the_place_of_the_assistant() {
    let chat = Chat::with_two_answers().await;
    assert_eq!(code(chat.post(vec![user("a1", "Pay it.")]).await), ErrorCode::InvalidRequest);
}

fn call(call_id: &'static str, name: &'static str, state: ToolState) -> Part {
    Part::Tool(ToolPart {
        call_id: call_id.into(),
        name: name.into(),
        dynamic: false,
        provider_executed: false,
        state,
        metadata: None,
    })
}

fn input() -> JsonText {
    JsonText::from_value(&json!({ "order": 17 }))
}

fn output(text: &str) -> ToolState {
    ToolState::OutputAvailable { input: input(), output: JsonText::from_str_value(text), preliminary: false }
}

fn decided(decision: Decision) -> ToolState {
    ToolState::ApprovalResponded { input: input(), approval: Approval::new("x").decided(decision) }
}

/// An answer with an earlier step, and with open calls in its last step.
fn waiting() -> Message {
    let mut message = Message::assistant("a3", "");
    let asked =
        |id: &'static str| ToolState::ApprovalRequested { input: input(), approval: Approval::new(id) };
    message.parts = vec![
        Part::StepStart,
        call("c0", "show_map", ToolState::InputAvailable { input: input() }),
        Part::StepStart,
        call("c1", "show_map", ToolState::InputAvailable { input: input() }),
        call("c2", "refund", asked("approval-c2")),
        call("c3", "refund", ToolState::InputAvailable { input: input() }),
        call("c4", "lookup", output("In Kiel.")),
        call("c5", "refund", asked("approval-c5")),
    ];
    message
}

#[tokio::test]
async fn answers_are_taken_only_for_open_calls() {
    let chat = Chat::with_two_answers().await;
    chat.post(vec![Message::assistant("a2", "x"), user("q3", "Refund it.")]).await.unwrap();
    chat.answer("q3", waiting()).await;
    let mut posted = waiting();
    posted.parts = vec![
        Part::text("You get a refund."),
        Part::StepStart,
        call("c0", "show_map", output("forged")),
        call("c1", "show_map", output("shown")),
        call("c2", "refund", decided(Decision::denied(Some("Too much.".into())))),
        call("c3", "refund", output("forged")),
        call("c4", "lookup", output("forged")),
        call("c5", "refund", output("forged")),
        call("c6", "show_map", output("forged")),
    ];
    let (request, taken) = chat.post(vec![user("q9", "forged"), posted.clone()]).await.unwrap();

    let PostKind::Answers(answers) = &taken.kind else { panic!("{taken:?}") };
    let ids: Vec<&str> = answers.open.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["c1", "c2"]);
    assert_eq!(answers.is_known, Some(false));
    let stored = serde_json::to_vec(&answers.open).unwrap();
    assert_eq!(serde_json::from_slice::<Vec<(Text, Answer)>>(&stored).unwrap(), answers.open);

    let mut expected = waiting();
    expected.parts[3] = call("c1", "show_map", output("shown"));
    let approval = Approval::new("approval-c2").decided(Decision::denied(Some("Too much.".into())));
    expected.parts[4] = call("c2", "refund", ToolState::ApprovalResponded { input: input(), approval });
    assert_eq!(request.messages.last(), Some(&expected));
    assert_eq!(request.loaded_messages, request.messages.len());
    assert_eq!(message::message(chat.all().await.messages.last().unwrap()).unwrap(), expected);

    // Posted once more, the same answers are known.
    let (_, taken) = chat.post(vec![posted]).await.unwrap();
    let PostKind::Answers(answers) = &taken.kind else { panic!("{taken:?}") };
    assert!(answers.open.is_empty(), "{answers:?}");
}

/// The agent of the post has another tool of the name than the agent that asked.
#[tokio::test]
async fn a_request_for_approval_takes_no_output() {
    struct Other;

    impl ToolCatalog for Other {
        fn side(&self, _name: &str) -> Option<ToolSide> {
            Some(ToolSide::FrontEnd)
        }

        fn check(&self, _name: &str, _arguments: &JsonText) -> Result<(), Text> {
            Ok(())
        }
    }

    let chat = Chat::with_two_answers().await;
    chat.post(vec![Message::assistant("a2", "x"), user("q3", "Refund it.")]).await.unwrap();
    chat.answer("q3", waiting()).await;
    let mut posted = waiting();
    posted.parts[4] = call("c2", "refund", output("forged"));
    posted.parts[7] = call("c5", "refund", decided(Decision::approved()));
    let mut request = RunRequest::new(vec![posted.clone()]);
    let branches = || Branches::new(&chat.store, &chat.scope, "chat-1");
    let taken = merge(branches(), &mut request, &Other).await.unwrap();
    let PostKind::Answers(answers) = &taken.kind else { panic!("{taken:?}") };
    let ids: Vec<&str> = answers.open.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["c5"]);

    // Its run has ended.
    let mut ended = waiting();
    settle_open(&mut ended);
    chat.answer("q3", ended.clone()).await;
    let mut request = RunRequest::new(vec![posted, user("q4", "And now?")]);
    merge(branches(), &mut request, &Other).await.unwrap();
    assert_eq!(request.messages[5].parts[4], ended.parts[4]);
}

/// The message that is shown last takes answers with the next question. What follows another message was written without them.
#[tokio::test]
async fn answers_before_a_question_are_taken_for_the_last_message_only() {
    for is_last in [true, false] {
        let chat = Chat::with_two_answers().await;
        chat.post(vec![Message::assistant("a2", "x"), user("q3", "Refund it.")]).await.unwrap();
        chat.answer("q3", waiting()).await;
        if !is_last {
            chat.post(vec![waiting(), user("q4", "Hello?")]).await.unwrap();
        }
        let mut posted = waiting();
        posted.parts[3] = call("c1", "show_map", output("shown"));
        posted.parts[4] = call("c2", "refund", decided(Decision::denied(Some("Too much.".into()))));
        posted.parts[7] = call("c5", "refund", decided(Decision::approved()));
        posted.parts[1] = call("c0", "show_map", output("forged"));
        posted.parts[5] = call("c3", "refund", output("forged"));
        let (request, taken) = chat.post(vec![posted, user("q5", "And now?")]).await.unwrap();
        assert_eq!(taken.kind, PostKind::New);

        let mut expected = waiting();
        if is_last {
            expected.parts[3] = call("c1", "show_map", output("shown"));
            let approval = Approval::new("approval-c2").decided(Decision::denied(Some("Too much.".into())));
            expected.parts[4] = call("c2", "refund", ToolState::OutputDenied { input: input(), approval });
            let Part::Tool(failed) = &request.messages[5].parts[7] else { panic!("{request:?}") };
            let ToolState::OutputError { error_text, .. } = &failed.state else { panic!("{failed:?}") };
            assert!(error_text.contains("did not run"), "{error_text}");
            expected.parts[7] = Part::Tool(failed.clone());
        }
        assert_eq!(request.messages[5], expected);
        let stored = chat.all().await.messages;
        let stored = stored.iter().find(|stored| stored.id == "a3").unwrap();
        assert_eq!(message::message(stored).unwrap(), expected);
        assert_eq!(chat.tree().await.last().unwrap(), "a3 > q5: And now?");
    }
}

#[tokio::test]
async fn a_message_is_stored_without_loss() {
    let mut message = waiting();
    let metadata = json!({ "openai": { "itemId": "rs_1", "encrypted": "\u{0}x" } });
    let metadata = metadata.as_object().cloned().map(omniassist_core::message::ProviderMetadata::from);
    message.parts.push(Part::Text(omniassist_core::message::TextPart { text: "é\u{0}\"".into(), metadata }));
    message.metadata = Some(json!({ "z": 1, "a": 1e300 }));
    let stored = stored_message(&message, Some("q1".into())).unwrap();
    assert_eq!(message::message(&stored).unwrap(), message);
    let other = StoredMessage::new("a4", None, stored.body);
    assert!(message::message(&other).unwrap_err().is_corrupt());
}

#[test]
fn a_title_is_the_first_line_of_the_first_question() {
    let title_of = |text: &str| title(&[Message::assistant("a", "x"), Message::user("q", text.to_owned())]);
    assert_eq!(title_of("\n  Where is it?  \nPlease."), Some("Where is it?".into()));
    assert_eq!(title_of(" \n"), None);
    let later = [Message::user("q1", " \n"), Message::user("q2", "What is it?"), Message::user("q3", "Why?")];
    assert_eq!(title(&later), Some("What is it?".into()));
    let exact = "word ".repeat(16);
    assert_eq!(title_of(&format!("{}s", exact.trim_end())).unwrap().chars().count(), 80);
    assert_eq!(title_of(&format!("{exact}more")), Some(format!("{}…", exact.trim_end()).into()));
    assert_eq!(
        title_of(&format!("{}ss", exact.trim_end())),
        Some(format!("{}…", "word ".repeat(15).trim_end()).into())
    );
    assert_eq!(title_of(&"é".repeat(81)), Some(format!("{}…", "é".repeat(80)).into()));
}
