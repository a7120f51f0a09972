//! Posts that take the place of the question before.

use super::*;

/// Returns the parents of the stored questions, by what they say.
async fn parents(store: &MemoryStore) -> Vec<(String, Option<String>)> {
    let mut window = Window::default();
    window.branch = Branch::All;
    let stored = store.load(&scope(), "c", &window).await.unwrap().unwrap().messages;
    let questions = stored.into_iter().filter(|message| message.id.starts_with('u'));
    questions.map(|message| (message.id.to_string(), message.parent.map(|id| id.to_string()))).collect()
}

async fn discarded(second: impl Fn(&str) -> Value) {
    let store = MemoryStore::new();
    let (assistant, model) = server(&store, WhenBusy::Discard);
    read(send(&assistant, &ask("u0", "Zero"), None).await).await;
    let before = messages(&store).await[1].id.to_string();
    let first = send(&assistant, &ask("u1", "One"), None).await;
    let answer = format!("msg_{}", run_of(&first).to_string().replace('-', ""));
    sleep(Duration::from_secs(1)).await;
    let second = send(&assistant, &second(&answer), None).await;
    assert!(read(first).await.contains("\"abort\""));
    assert!(read(second).await.contains("Answer 3"));

    assert_eq!(said(&store).await, ["Zero", "Answer 1 done", "Two", "Answer 3 done"]);
    let sent = last_sent(&model);
    assert!(sent.contains("Zero") && sent.contains("Two"), "{sent}");
    assert!(!sent.contains("One") && !sent.contains("Answer 2"), "{sent}");
    let of = |id: &str, parent: Option<&str>| (id.to_owned(), parent.map(str::to_owned));
    let siblings = [of("u0", None), of("u1", Some(&before)), of("u2", Some(&before))];
    assert_eq!(parents(&store).await, siblings);
    let mut window = Window::default();
    window.branch = Branch::Leaf(answer.into());
    let other = store.load(&scope(), "c", &window).await.unwrap().unwrap().messages;
    assert_eq!(other.len(), 4, "what was written is kept on its own branch");
}

#[tokio::test(start_paused = true)]
async fn the_new_question_of_a_client_takes_the_place_of_the_last() {
    discarded(|_| ask("u2", "Two")).await;
}

#[tokio::test(start_paused = true)]
async fn the_new_question_of_a_page_takes_the_place_of_the_last() {
    discarded(|answer| {
        let shown = [("u1", "user", "One"), (answer, "assistant", "Answer 2 "), ("u2", "user", "Two")];
        page(&shown)
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_first_question_of_a_chat_is_discarded() {
    let store = MemoryStore::new();
    let (assistant, model) = server(&store, WhenBusy::Discard);
    let first = send(&assistant, &ask("u1", "One"), None).await;
    let second = send(&assistant, &ask("u2", "Two"), None).await;
    tokio::join!(read(first), read(second));
    assert_eq!(said(&store).await, ["Two", "Answer 2 done"]);
    assert!(!last_sent(&model).contains("One"));
    // The page still shows what was discarded.
    let answer = messages(&store).await[1].id.to_string();
    let shown =
        [("u1", "user", "One"), ("u2", "user", "Two"), (&answer, "assistant", "…"), ("u3", "user", "Three")];
    read(send(&assistant, &page(&shown), None).await).await;
    assert_eq!(said(&store).await[2..], ["Three", "Answer 3 done"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_waits_for_an_approval_is_discarded() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().turn(call("refund", json!({}))).turn(text("Hello."));
    let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("refunded") })
        .requires_approval(Approval::always());
    let assistant = Assistant::builder(model.clone()).tool(refund).store(store.clone());
    let assistant = assistant.when_busy(WhenBusy::Discard).build().unwrap();
    read(send(&assistant, &ask("u1", "Refund it"), None).await).await;
    settled(&store).await;
    read(send(&assistant, &ask("u2", "Hi"), None).await).await;
    assert_eq!(said(&store).await, ["Hi", "Hello."]);
    assert!(!last_sent(&model).contains("refund it") && !last_sent(&model).contains("Refund it"));
}

#[tokio::test(start_paused = true)]
async fn a_question_after_the_end_of_a_run_discards_nothing() {
    let store = MemoryStore::new();
    let (assistant, _) = server(&store, WhenBusy::Discard);
    read(send(&assistant, &ask("u1", "One"), None).await).await;
    read(send(&assistant, &ask("u2", "Two"), None).await).await;
    assert_eq!(said(&store).await, ["One", "Answer 1 done", "Two", "Answer 2 done"]);
}
