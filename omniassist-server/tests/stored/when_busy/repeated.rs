//! Posts with one `Idempotency-Key` at the same moment.

use std::sync::atomic::Ordering;

use omniassist_server::store::Retention;
use tokio::time::Instant;

use super::*;
use crate::stored::outage::Unsteady;

async fn post(assistant: &Assistant, id: &str) -> Response<AssistantBody> {
    say(assistant, id, id).await
}

async fn say(assistant: &Assistant, id: &str, text: &str) -> Response<AssistantBody> {
    let mut posted = request(&ask(id, text));
    posted.headers_mut().insert("idempotency-key", "k-1".parse().unwrap());
    AssistantService::new(assistant.clone()).handle(posted).await
}

#[tokio::test(start_paused = true)]
async fn both_get_the_same_run() {
    for when_busy in [WhenBusy::Supersede, WhenBusy::Reject, WhenBusy::Enqueue, WhenBusy::Discard] {
        for is_elsewhere in [false, true] {
            let store = MemoryStore::new();
            let (first, model) = server(&store, when_busy);
            let (other, other_model) = server(&store, when_busy);
            let second = if is_elsewhere { &other } else { &first };
            let (one, two, three) = tokio::join!(post(&first, "u1"), post(second, "u1"), post(second, "u1"));
            for response in [&one, &two, &three] {
                assert_eq!(response.status(), StatusCode::OK, "{when_busy:?} {is_elsewhere}");
            }
            assert_eq!(run_of(&one), run_of(&two), "{when_busy:?} {is_elsewhere}");
            assert_eq!(run_of(&one), run_of(&three), "{when_busy:?} {is_elsewhere}");
            if !is_elsewhere {
                let (one, two) = tokio::join!(read(one), read(two));
                assert!(one.contains("Answer 1 ") && one == two, "{one}{two}");
            }
            settled(&store).await;
            assert_eq!(said(&store).await, ["u1", "Answer 1 done"]);
            assert_eq!(model.payloads().len() + other_model.payloads().len(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn both_get_the_same_queued_run() {
    let store = MemoryStore::new();
    let (assistant, model) = server(&store, WhenBusy::Enqueue);
    let first = send(&assistant, &ask("u0", "Zero"), None).await;
    let (one, two) = tokio::join!(post(&assistant, "u1"), post(&assistant, "u1"));
    assert_eq!(run_of(&one), run_of(&two));
    let later = post(&assistant, "u1").await;
    assert_eq!(run_of(&one), run_of(&later));
    read(first).await;
    let (one, two, later) = tokio::join!(read(one), read(two), read(later));
    assert!(one.contains("Answer 2 ") && one == two && two == later, "{one}{two}{later}");
    assert_eq!(model.payloads().len(), 2);
}

/// The run of a post begins at another server, after the search for it and before the chat is found to be busy.
#[tokio::test(start_paused = true)]
async fn a_repeated_post_does_not_end_the_run_that_it_began() {
    for when_busy in [WhenBusy::Supersede, WhenBusy::Reject, WhenBusy::Discard] {
        let store = Unsteady::default();
        let model = ScriptedProvider::new().otherwise(|_| slow("Answer"));
        let server = || {
            let builder = Assistant::builder(model.clone()).store(store.clone()).when_busy(when_busy);
            builder.build().unwrap()
        };
        let (first, other) = (server(), server());
        store.find_ms.store(50, Ordering::SeqCst);
        let began = async {
            sleep(Duration::from_millis(1)).await;
            post(&first, "u1").await
        };
        let (repeated, began) = tokio::join!(post(&other, "u1"), began);
        for response in [&repeated, &began] {
            assert_eq!(response.status(), StatusCode::OK, "{when_busy:?}");
        }
        assert_eq!(run_of(&repeated), run_of(&began), "{when_busy:?}");
        assert!(read(began).await.contains("done"), "{when_busy:?}");
        assert_eq!(settled(&store.store).await, RunState::Finished);
        assert_eq!(said(&store.store).await, ["u1", "Answer done"]);
        assert_eq!(model.payloads().len(), 1);
    }
}

/// A client that makes the id of a message anew with each try, such as after a double click.
#[tokio::test(start_paused = true)]
async fn posts_with_other_ids_get_the_same_run() {
    for when_busy in [WhenBusy::Supersede, WhenBusy::Reject, WhenBusy::Enqueue, WhenBusy::Discard] {
        for has_own_store in [false, true] {
            let (runs, own) = (MemoryStore::new(), super::super::own_store::Own::default());
            let chats = if has_own_store { own.store.clone() } else { runs.clone() };
            let model = ScriptedProvider::new().otherwise(|_| slow("Answer"));
            let mut builder = Assistant::builder(model.clone()).store(runs.clone()).when_busy(when_busy);
            if has_own_store {
                builder = builder.conversations(own);
            }
            let assistant = builder.build().unwrap();
            let posts = ["u1", "u2", "u3"].map(|id| say(&assistant, id, "Hello"));
            let responses = futures_util::future::join_all(posts).await;
            let runs_begun: Vec<_> = responses.iter().map(run_of).collect();
            assert!(runs_begun.iter().all(|run| *run == runs_begun[0]), "{when_busy:?} {has_own_store}");
            for response in responses {
                let answer = read(response).await;
                assert!(answer.contains("done") && !answer.contains("abort"), "{when_busy:?}: {answer}");
            }
            settled(&runs).await;
            assert_eq!(said(&chats).await, ["Hello", "Answer done"], "{when_busy:?} {has_own_store}");
            let mut all = Window::default();
            all.branch = Branch::All;
            let stored = chats.load(&scope(), "c", &all).await.unwrap().unwrap().messages;
            assert_eq!(stored.len(), 2, "{when_busy:?} {has_own_store}");
            assert_eq!(model.payloads().len(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_is_not_taken_for_another_message() {
    let refused = async |response: Response<AssistantBody>| {
        assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let error = json_of(response).await["error"].clone();
        assert_eq!(
            (&error["code"], &error["path"]),
            (&json!("idempotency_key_reused"), &json!("Idempotency-Key"))
        );
    };
    let store = MemoryStore::new();
    let (assistant, model) = server(&store, WhenBusy::Supersede);
    let first = say(&assistant, "u1", "Hello").await;
    let run = run_of(&first);
    // While the run goes on, after its end, and after the next one.
    refused(say(&assistant, "u2", "Another").await).await;
    assert_eq!(run_of(&say(&assistant, "u3", "Hello").await), run);
    let answer = read(first).await;
    settled(&store).await;
    refused(say(&assistant, "u2", "Another").await).await;
    assert_eq!(read(say(&assistant, "u3", "Hello").await).await, answer);
    read(send(&assistant, &ask("u4", "Next"), None).await).await;
    settled(&store).await;
    refused(say(&assistant, "u2", "Another").await).await;
    assert_eq!(run_of(&say(&assistant, "u1", "Hello").await), run);
    assert_eq!(said(&store).await, ["Hello", "Answer 1 done", "Next", "Answer 2 done"]);
    assert_eq!(model.payloads().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_post_whose_answer_is_no_longer_kept_is_refused_at_once() {
    let store = Unsteady::default();
    let model = ScriptedProvider::new().otherwise(|_| slow("Answer"));
    let assistant = Assistant::builder(model.clone()).store(store.clone()).build().unwrap();
    read(post(&assistant, "u1").await).await;
    settled(&store.store).await;
    let mut retention = Retention::default();
    retention.journals = Duration::ZERO;
    assert_eq!(store.store.sweep(&retention, 10).await.unwrap().journals, 1);

    let (asked, since) = (store.asked.load(Ordering::SeqCst), Instant::now());
    let refused = post(&assistant, "u1").await;
    assert_eq!(refused.status(), StatusCode::GONE);
    assert_eq!(json_of(refused).await["error"]["code"], "events_expired");
    assert_eq!(since.elapsed(), Duration::ZERO);
    let asked = store.asked.load(Ordering::SeqCst) - asked;
    assert!(asked <= 3, "{asked} questions");
    assert_eq!(model.payloads().len(), 1);
}
