//! Posts whose conversation changes while they are opened.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use omniassist_server::throttle::{Attempt, LimitFuture, RateDecision, RateLimit};

use super::*;
use crate::stored::outage::Unsteady;

/// Posts to a server while the run of another one ends: after the conversation was loaded, and before the run is looked for.
async fn post_at_the_end_of_a_run(second: impl FnOnce(RunId) -> Value) -> (StatusCode, Vec<String>) {
    let store = Unsteady::default();
    let model = ScriptedProvider::new().turn(slow("In Kiel,")).turn(text("Tomorrow."));
    let server = || Assistant::builder(model.clone()).store(store.clone()).build().unwrap();
    let (first, other) = (server(), server());
    let answer = send(&first, &ask("u1", "Where?"), None).await;
    sleep(Duration::from_millis(9_950)).await;
    store.chat_ms.store(100, Ordering::SeqCst);
    let response = send(&other, &second(run_of(&answer)), None).await;
    let status = response.status();
    if status == StatusCode::OK {
        read(response).await;
    }
    read(answer).await;
    settled(&store.store).await;
    (status, said(&store.store).await)
}

#[tokio::test(start_paused = true)]
async fn the_question_follows_an_answer_that_was_stored_meanwhile() {
    let (status, said) = post_at_the_end_of_a_run(|_| ask("u2", "When?")).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(said, ["Where?", "In Kiel, done", "When?", "Tomorrow."]);
}

#[tokio::test(start_paused = true)]
async fn a_page_with_a_part_of_that_answer_is_not_refused() {
    let post = |run: RunId| {
        let answer = format!("msg_{}", run.to_string().replace('-', ""));
        page(&[("u1", "user", "Where?"), (&answer, "assistant", "In Kiel,"), ("u2", "user", "When?")])
    };
    let (status, said) = post_at_the_end_of_a_run(post).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(said, ["Where?", "In Kiel, done", "When?", "Tomorrow."]);
}

/// A rate limit that counts its checks.
#[derive(Clone, Default)]
struct Counted(Arc<AtomicUsize>);

impl RateLimit for Counted {
    fn check<'a>(&'a self, _: &'a Attempt<'a>) -> LimitFuture<'a, RateDecision> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(RateDecision::Allow) })
    }
}

/// The post is opened again, since the conversation has changed.
#[tokio::test(start_paused = true)]
async fn a_post_counts_once_however_often_it_is_opened() {
    let (store, rate) = (Unsteady::default(), Counted::default());
    let model = ScriptedProvider::new().otherwise(|_| text("In Kiel."));
    let builder = Assistant::builder(model.clone()).store(store.clone());
    let assistant = builder.rate_limit(rate.clone()).build().unwrap();
    read(send(&assistant, &ask("u1", "Where?"), None).await).await;
    settled(&store.store).await;
    assert_eq!(rate.0.load(Ordering::SeqCst), 1);

    store.begins_late(100);
    let rename = async {
        sleep(Duration::from_millis(50)).await;
        let chats = assistant.conversations().unwrap();
        assert!(chats.rename(&Principal::new("ada"), "c", "Order 17").await.unwrap());
    };
    let question = ask("u2", "When?");
    let (answer, ()) = tokio::join!(send(&assistant, &question, None), rename);
    assert!(read(answer).await.contains("In Kiel."));
    assert_eq!(rate.0.load(Ordering::SeqCst), 2);
}
