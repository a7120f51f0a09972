//! Queued runs whose server stops.

use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

use super::*;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

/// Waits until a chat has no run that goes on or is queued.
async fn all_ended(store: &MemoryStore) {
    while !state(store).await.is_ended() {
        sleep(Duration::from_millis(100)).await;
    }
}

#[test]
fn queued_runs_survive_a_server_that_stops_without_a_word() {
    let store = MemoryStore::new();
    let server_of_posts = runtime();
    server_of_posts.block_on(async {
        let (assistant, _) = server(&store, WhenBusy::Enqueue);
        for id in ["u1", "u2", "u3"] {
            let response = send(&assistant, &ask(id, id), None).await;
            assert_eq!(response.status(), StatusCode::OK);
            sleep(Duration::from_secs(1)).await;
        }
    });
    drop(server_of_posts);

    let model = ScriptedProvider::new().otherwise(|payload| {
        let asked = payload.transcript.len().div_ceil(2);
        text(format!("Answer {asked}"))
    });
    let assistant = Assistant::builder(model.clone()).store(store.clone()).build().unwrap();
    runtime().block_on(async {
        tokio::time::advance(Duration::from_secs(10)).await;
        let (other, at) = (json!({"id": "other", "message": ask("m1", "Hello")["message"]}), Instant::now());
        read(send(&assistant, &other, None).await).await;
        all_ended(&store).await;
        // A queue does not wait for the sign of life of the process, which is given every 2 s.
        assert!(at.elapsed() < Duration::from_secs(1), "{:?}", at.elapsed());
        assert_eq!(said(&store).await, ["u1", "Answer 1", "u2", "Answer 2", "u3", "Answer 3"]);
    });
    assert_eq!(model.payloads().len(), 4, "each question and that of the other chat are asked once");
}

#[tokio::test(start_paused = true)]
async fn queued_runs_go_on_after_a_drain() {
    let store = MemoryStore::new();
    let (first, _) = server(&store, WhenBusy::Enqueue);
    let _live = send(&first, &ask("u1", "One"), None).await;
    let queued = send(&first, &ask("u2", "Two"), None).await;
    let run = run_of(&queued);
    let body = tokio::spawn(async move { queued.into_body().collect().await.is_ok() });
    sleep(Duration::from_secs(1)).await;
    let drained = first.drain(Duration::from_secs(1)).await;
    assert_eq!((drained.released, first.live_runs()), (1, 0));
    assert!(!body.await.unwrap(), "the viewer must come back, so its response is cut");
    assert_eq!(head(&store, run).await.state, RunState::Queued);

    let (second, _) = server(&store, WhenBusy::Enqueue);
    let stream = get(&second, &format!("/runs/{run}/events")).await;
    assert!(read(stream).await.contains("Answer 2"));
    assert_eq!(said(&store).await, ["One", "Answer 1 done", "Two", "Answer 2 done"]);
}

/// The server stops after it has claimed a queued run, before anything of it is written.
#[tokio::test(start_paused = true)]
async fn a_queued_run_that_was_claimed_begins_at_the_next_server() {
    use omniassist_server::store::{Claim, InstanceId};

    let store = MemoryStore::new();
    let (first, _) = server(&store, WhenBusy::Enqueue);
    let _live = send(&first, &ask("u1", "One"), None).await;
    let run = run_of(&send(&first, &ask("u2", "Two"), None).await);
    first.drain(Duration::ZERO).await;
    let (live, dead) = (store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap(), InstanceId::random());
    store.beat(dead, Duration::from_secs(1), 0).await.unwrap();
    let claimed = store.claim(live.run, dead, Claim::Force).await.unwrap().unwrap();
    let last = omniassist_server::store::Segment::new(
        claimed.writer,
        claimed.head.head + 1,
        omniassist_server::store::SegmentKind::End,
        0,
        "",
    );
    let end = omniassist_server::store::Settled::new(last, omniassist_server::store::Ending::Stopped);
    store.settle(&end).await.unwrap();
    store.claim(run, dead, Claim::IfFree).await.unwrap().expect("it is free");

    sleep(Duration::from_secs(2)).await;
    let (second, model) = server(&store, WhenBusy::Enqueue);
    let other = json!({"id": "other", "message": ask("m1", "Hello")["message"]});
    read(send(&second, &other, None).await).await;
    all_ended(&store).await;
    assert!(said(&store).await.contains(&"Two".to_owned()));
    // The model is asked for both runs, in either order.
    assert!(model.payloads().iter().any(|payload| format!("{:?}", payload.transcript).contains("Two")));
}
