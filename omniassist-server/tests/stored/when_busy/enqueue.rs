//! Runs that wait for their turn.

use std::sync::atomic::Ordering;

use omniassist_server::store::{Ending, InstanceId, NewRun, Segment, SegmentKind, Settled};
use tokio::time::Instant;

use super::*;
use crate::stored::outage::Unsteady;

#[tokio::test(start_paused = true)]
async fn a_queued_run_begins_after_the_one_before() {
    let store = MemoryStore::new();
    let (assistant, model) = server(&store, WhenBusy::Enqueue);
    let first = send(&assistant, &ask("u1", "One"), None).await;
    sleep(Duration::from_secs(1)).await;
    let second = send(&assistant, &ask("u2", "Two"), None).await;
    let (first_run, second_run) = (run_of(&first), run_of(&second));
    assert_eq!(head(&store, second_run).await.state, RunState::Queued);
    assert_eq!(said(&store).await, ["One"], "a queued question is not part of the conversation");
    let about = json_of(get(&assistant, &format!("/runs/{second_run}")).await).await;
    assert_eq!(about["state"], "queued");

    let (first, second) = tokio::join!(read(first), read(second));
    assert!(first.contains("Answer 1") && second.contains("Answer 2"), "{first}{second}");
    assert!(second.contains("id: 1.1\n") && second.ends_with("data: [DONE]\n\n"), "{second}");
    assert_eq!(said(&store).await, ["One", "Answer 1 done", "Two", "Answer 2 done"]);
    let sent = last_sent(&model);
    assert!(sent.contains("Answer 1") && sent.contains("Two"), "{sent}");
    let (first, second) = (head(&store, first_run).await, head(&store, second_run).await);
    assert_eq!((first.state, second.state), (RunState::Finished, RunState::Finished));
    assert_eq!(model.payloads().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_stream_of_a_queued_run_is_kept_alive() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new()
        .turn(Turn::text("One").then(Turn::delay(Duration::from_secs(60))).then(text(".")))
        .turn(text("Two"));
    let assistant =
        Assistant::builder(model).store(store.clone()).when_busy(WhenBusy::Enqueue).build().unwrap();
    let first = send(&assistant, &ask("u1", "One"), None).await;
    let mut second = send(&assistant, &ask("u2", "Two"), None).await.into_body();
    for _ in 0..2 {
        let frame = second.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(frame.starts_with(b":"), "{frame:?}");
    }
    assert!(read(first).await.contains("[DONE]"));
    let rest = second.collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&rest).contains("Two"));
}

#[tokio::test(start_paused = true)]
async fn eight_runs_wait_and_the_ninth_is_refused() {
    let store = MemoryStore::new();
    let (assistant, _) = server(&store, WhenBusy::Enqueue);
    let live = send(&assistant, &ask("u0", "0"), None).await;
    let mut queued = Vec::new();
    for number in 1..=8 {
        let response = send(&assistant, &ask(&format!("u{number}"), &number.to_string()), None).await;
        assert_eq!(response.status(), StatusCode::OK, "{number}");
        queued.push(response);
    }
    let ninth = send(&assistant, &ask("u9", "9"), None).await;
    assert_eq!(ninth.status(), StatusCode::CONFLICT);
    let error = json_of(ninth).await["error"].clone();
    assert_eq!((&error["code"], &error["limit"]["value"]), (&json!("queue_full"), &json!(8)));

    read(live).await;
    for (number, response) in queued.into_iter().enumerate() {
        let answer = read(response).await;
        assert!(answer.contains(&format!("Answer {}", number + 2)), "{answer}");
    }
    let asked: Vec<_> = said(&store).await.into_iter().step_by(2).collect();
    assert_eq!(asked, ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
    assert_eq!(send(&assistant, &ask("u9", "9"), None).await.status(), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_queued_run_can_be_stopped() {
    let store = MemoryStore::new();
    let (assistant, model) = server(&store, WhenBusy::Enqueue);
    let first = send(&assistant, &ask("u1", "One"), None).await;
    let second = send(&assistant, &ask("u2", "Two"), None).await;
    let third = send(&assistant, &ask("u3", "Three"), None).await;
    let fourth = send(&assistant, &ask("u4", "Four"), None).await;
    let (second_run, third_run) = (run_of(&second), run_of(&third));

    let stopped = stop(&assistant, &format!("/runs/{second_run}/stop"), &json!({})).await;
    assert_eq!(stopped, json!({"stopped": true, "state": "stopped"}));
    let stopped = stop(&assistant, "/c/stop", &json!({"runId": third_run.to_string()})).await;
    assert_eq!(stopped, json!({"stopped": true, "state": "stopped"}));
    for response in [second, third] {
        let end = read(response).await;
        assert!(end.contains("\"abort\"") && end.ends_with("data: [DONE]\n\n"), "{end}");
    }
    assert_eq!(head(&store, second_run).await.state, RunState::Stopped);
    let events = get(&assistant, &format!("/runs/{second_run}/events")).await;
    assert_eq!(events.status(), StatusCode::NO_CONTENT);

    tokio::join!(read(first), read(fourth));
    assert_eq!(said(&store).await, ["One", "Answer 1 done", "Four", "Answer 2 done"]);
    assert!(!format!("{:?}", model.payloads()).contains("Two"));
}

#[tokio::test(start_paused = true)]
async fn a_stop_of_the_chat_ends_the_run_in_progress_and_the_next_begins() {
    let store = MemoryStore::new();
    let (assistant, _) = server(&store, WhenBusy::Enqueue);
    let first = send(&assistant, &ask("u1", "One"), None).await;
    let second = send(&assistant, &ask("u2", "Two"), None).await;
    sleep(Duration::from_secs(1)).await;
    let stopped = stop(&assistant, "/c/stop", &json!({})).await;
    assert_eq!(stopped, json!({"stopped": true, "state": "stopped"}));
    assert!(read(first).await.contains("\"abort\""));
    assert!(read(second).await.contains("Answer 2"));
    assert_eq!(said(&store).await, ["One", "Answer 1 ", "Two", "Answer 2 done"]);
}

/// A server whose model asks for an approval first, and a post that waits behind the question for an hour.
struct Owed {
    store: Unsteady,
    assistant: Assistant,
    model: ScriptedProvider,
    queued: Response<AssistantBody>,
}

impl Owed {
    async fn begin() -> Self {
        let store = Unsteady::default();
        assert!(store.hints().is_none());
        let model = ScriptedProvider::new()
            .turn(call("refund", json!({})))
            .turn(text("Refunded."))
            .otherwise(|_| text("You are welcome."));
        let assistant = Self::server(&store, &model);
        read(send(&assistant, &ask("u1", "Refund it"), None).await).await;
        assert_eq!(settled(&store.store).await, RunState::Waiting);
        let queued = send(&assistant, &ask("u2", "Thanks"), None).await;
        sleep(Duration::from_secs(3_600)).await;
        assert_eq!(head(&store.store, run_of(&queued)).await.state, RunState::Queued);
        assert_eq!(model.payloads().len(), 1);
        Self { store, assistant, model, queued }
    }

    fn server(store: &Unsteady, model: &ScriptedProvider) -> Assistant {
        let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("refunded") })
            .requires_approval(Approval::always());
        let assistant = Assistant::builder(model.clone()).tool(refund).store(store.clone());
        assistant.when_busy(WhenBusy::Enqueue).build().unwrap()
    }

    /// Approves at a server.
    async fn approve(&self, assistant: &Assistant) {
        let waiting = self.store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
        let uri = format!("/runs/{}/obligations/{}", waiting.run, waiting.obligations[0].call);
        stop(assistant, &uri, &json!({"approved": true})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_queued_run_waits_while_something_is_owed() {
    let owed = Owed::begin().await;
    let asked = owed.store.asked.load(Ordering::SeqCst);
    assert!(asked < 300, "{asked} questions in an hour");
    let since = Instant::now();
    owed.approve(&owed.assistant).await;
    assert!(read(owed.queued).await.contains("You are welcome."));
    assert!(since.elapsed() < Duration::from_millis(100), "{:?}", since.elapsed());
    let said = said(&owed.store.store).await;
    assert_eq!(said[1..], ["Refunded.", "Thanks", "You are welcome."]);
}

#[tokio::test(start_paused = true)]
async fn a_queued_run_begins_soon_after_an_answer_to_another_server() {
    let owed = Owed::begin().await;
    let other = Owed::server(&owed.store, &owed.model);
    let since = Instant::now();
    owed.approve(&other).await;
    read(owed.queued).await;
    assert!(since.elapsed() < Duration::from_secs(4), "{:?}", since.elapsed());
    assert_eq!(said(&owed.store.store).await[1..], ["Refunded.", "Thanks", "You are welcome."]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_queued_run_while_something_is_owed() {
    for is_elsewhere in [false, true] {
        let owed = Owed::begin().await;
        let other = Owed::server(&owed.store, &owed.model);
        let run = run_of(&owed.queued);
        let at = if is_elsewhere { &other } else { &owed.assistant };
        let since = Instant::now();
        let stopped = stop(at, &format!("/runs/{run}/stop"), &json!({})).await;
        assert_eq!(stopped, json!({"stopped": true, "state": "stopped"}));
        assert!(read(owed.queued).await.contains("\"abort\""));
        // Without hints, the other server learns of it with its next beat.
        let soon = if is_elsewhere { 2_100 } else { 100 };
        assert!(since.elapsed() < Duration::from_millis(soon), "{:?}", since.elapsed());
        assert_eq!(state(&owed.store.store).await, RunState::Waiting);
    }
}

/// A page posts all of its messages, with the part of the answer that it has.
#[tokio::test(start_paused = true)]
async fn the_question_of_a_page_follows_the_whole_answer() {
    let store = MemoryStore::new();
    let (assistant, model) = server(&store, WhenBusy::Enqueue);
    let first = send(&assistant, &page(&[("u1", "user", "One")]), None).await;
    let answer = format!("msg_{}", run_of(&first).to_string().replace('-', ""));
    sleep(Duration::from_secs(1)).await;
    let shown = [("u1", "user", "One"), (answer.as_str(), "assistant", "Answer 1 "), ("u2", "user", "Two")];
    let second = send(&assistant, &page(&shown), None).await;
    let more = [shown.as_slice(), &[("u3", "user", "Three")]].concat();
    let third = send(&assistant, &page(&more), None).await;
    tokio::join!(read(first), read(second), read(third));
    let expected = ["One", "Answer 1 done", "Two", "Answer 2 done", "Three", "Answer 3 done"];
    assert_eq!(said(&store).await, expected);
    assert!(last_sent(&model).contains("Answer 2"));
}

#[tokio::test(start_paused = true)]
async fn an_edit_in_the_queue_is_a_branch() {
    let store = MemoryStore::new();
    let (assistant, model) = server(&store, WhenBusy::Enqueue);
    let first = send(&assistant, &page(&[("u1", "user", "One")]), None).await;
    let edited = send(&assistant, &page(&[("u1", "user", "Uno")]), None).await;
    tokio::join!(read(first), read(edited));
    assert_eq!(said(&store).await, ["Uno", "Answer 2 done"]);
    assert!(!last_sent(&model).contains("One"));
}

#[tokio::test(start_paused = true)]
async fn a_post_that_does_not_fit_is_refused_before_it_is_queued() {
    let store = MemoryStore::new();
    let (assistant, _) = server(&store, WhenBusy::Enqueue);
    let _first = send(&assistant, &ask("u1", "One"), None).await;
    let body = page(&[("x1", "user", "?"), ("x2", "assistant", "An invention"), ("x3", "user", "Go on")]);
    let refused = send(&assistant, &body, None).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    assert_eq!(json_of(refused).await["error"]["code"], "unknown_parent");
}

#[tokio::test(start_paused = true)]
async fn posts_to_two_servers_at_the_same_moment_stop_no_run() {
    let store = MemoryStore::new();
    let ((first, _), (second, _)) = (server(&store, WhenBusy::Enqueue), server(&store, WhenBusy::Enqueue));
    let (one, two) = (ask("u1", "One"), ask("u2", "Two"));
    let (one, two) = tokio::join!(send(&first, &one, None), send(&second, &two, None));
    for run in [run_of(&one), run_of(&two)] {
        while !head(&store, run).await.state.is_ended() {
            sleep(Duration::from_secs(1)).await;
        }
        assert_eq!(head(&store, run).await.state, RunState::Finished);
    }
    assert_eq!(said(&store).await.len(), 4);
}

/// Begins a run of another server, which is settled by hand.
async fn begin_elsewhere(store: &MemoryStore) -> Settled {
    let me = InstanceId::random();
    store.beat(me, Duration::from_secs(3_600), 0).await.unwrap();
    let new = NewRun::new(RunId::random(), scope(), "c", me);
    let omniassist_server::store::Begun::Started(writer) = store.begin(&new).await.unwrap() else {
        panic!("the chat is busy")
    };
    Settled::new(Segment::new(writer, 2, SegmentKind::End, 0, ""), Ending::Finished)
}

#[tokio::test(start_paused = true)]
async fn clients_that_come_back_follow_a_queued_run() {
    let store = MemoryStore::new();
    let (assistant, _) = server(&store, WhenBusy::Enqueue);
    let end = begin_elsewhere(&store).await;
    let posted = send(&assistant, &ask("u1", "One"), None).await;
    let run = run_of(&posted);
    drop(posted);
    store.settle(&end).await.unwrap();

    let uris = ["/c/stream".to_owned(), format!("/runs/{run}/events"), format!("/{run}/stream?startIndex=0")];
    let mut followed = Vec::new();
    for uri in &uris {
        let response = get(&assistant, uri).await;
        assert_eq!((response.status(), run_of(&response)), (StatusCode::OK, run), "{uri}");
        followed.push(response);
    }
    assert_eq!(head(&store, run).await.state, RunState::Queued);
    for response in followed {
        let stream = read(response).await;
        assert!(stream.contains("\"start\"") && stream.contains("Answer 1"), "{stream}");
    }
    assert_eq!(said(&store).await, ["One", "Answer 1 done"], "it goes on without the client that posted");
}

#[tokio::test(start_paused = true)]
async fn a_background_run_can_be_queued() {
    let store = MemoryStore::new();
    let (assistant, _) = server(&store, WhenBusy::Enqueue);
    let first = send(&assistant, &ask("u1", "One"), None).await;
    let mut posted = request(&ask("u2", "Two"));
    posted.headers_mut().insert("prefer", "respond-async".parse().unwrap());
    let accepted = AssistantService::new(assistant.clone()).handle(posted).await;
    assert_eq!(accepted.status(), StatusCode::ACCEPTED);
    let run = run_of(&accepted);
    read(first).await;
    while !head(&store, run).await.state.is_ended() {
        sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(said(&store).await.last().unwrap(), "Answer 2 done");
}

#[tokio::test(start_paused = true)]
async fn a_queued_run_ends_with_its_client_if_runs_do() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().otherwise(|_| slow("Answer"));
    let assistant = Assistant::builder(model).store(store.clone()).when_busy(WhenBusy::Enqueue);
    let assistant = assistant.on_disconnect(OnDisconnect::Cancel).build().unwrap();
    let first = send(&assistant, &ask("u1", "One"), None).await;
    let second = send(&assistant, &ask("u2", "Two"), None).await;
    let third = send(&assistant, &ask("u3", "Three"), None).await;
    let run = run_of(&second);
    drop(second);
    read(first).await;
    assert!(read(third).await.contains("done"));
    assert_eq!(head(&store, run).await.state, RunState::Stopped);
}

#[tokio::test(start_paused = true)]
async fn posts_at_the_same_moment_are_answered_one_after_the_other() {
    let store = MemoryStore::new();
    let (assistant, model) = server(&store, WhenBusy::Enqueue);
    let posts = [ask("u1", "One"), ask("u2", "Two"), ask("u3", "Three")];
    let answers = posts.iter().map(|post| async { read(send(&assistant, post, None).await).await });
    for answer in futures_util::future::join_all(answers).await {
        assert!(answer.contains("done") && !answer.contains("abort"), "{answer}");
    }
    assert_eq!(said(&store).await.len(), 6);
    assert_eq!(model.payloads().len(), 3);
}
