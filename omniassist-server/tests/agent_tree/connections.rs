//! The number of WebSockets, and their time.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http::StatusCode;
use http_body_util::{BodyExt, Full};
use omniassist_server::agents::Explore;
use omniassist_server::core::Limits;
use omniassist_server::http::{AssistantService, SocketUpgrade};
use omniassist_server::testing::{Turn, text};
use omniassist_server::{Assistant, Principal};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};
use tokio_tungstenite::tungstenite::Message;

use super::{Call, Client, builder, model, request};

const MINUTE: Duration = Duration::from_secs(60);

fn assistant(limits: Limits) -> Assistant {
    let model = model(|call, task, _| {
        (call == Call::Work && task.starts_with("Wait"))
            .then(|| text("begun").then(Turn::delay(14 * MINUTE)).then(text("done")))
    });
    builder(&model).limits(limits).explore(Explore::new().asks(false)).build().unwrap()
}

fn counted(of_principal: usize, of_all: usize) -> Limits {
    let mut limits = Limits::default();
    (limits.max_sockets_per_principal, limits.max_sockets) = (of_principal, of_all);
    limits
}

async fn open(assistant: &Assistant, user: &str) -> Result<Client, StatusCode> {
    Client::with(assistant, request("/ws").extension(Principal::new(user))).await
}

/// Waits until the server has noticed that a client is gone.
async fn open_again(assistant: &Assistant, user: &str) -> Client {
    let opened = async {
        loop {
            match open(assistant, user).await {
                Ok(client) => return client,
                Err(_) => sleep(Duration::from_millis(5)).await,
            }
        }
    };
    timeout(MINUTE, opened).await.expect("a place")
}

/// Reads until the server closes the connection. Returns the code and the seconds since `since`.
async fn closed(client: &mut Client, since: Instant) -> (u16, u64) {
    let closed = async {
        loop {
            match client.socket.next().await {
                Some(Ok(Message::Close(Some(frame)))) => return frame.code.into(),
                Some(Ok(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    };
    (timeout(240 * MINUTE, closed).await.expect("an end in time"), since.elapsed().as_secs())
}

/// Reads for this long.
async fn reads(client: &mut Client, time: Duration) {
    let read = async {
        loop {
            match client.socket.next().await {
                Some(Ok(Message::Close(_)) | Err(_)) | None => panic!("the connection is closed"),
                Some(Ok(_)) => {}
            }
        }
    };
    assert!(timeout(time, read).await.is_err());
}

#[test]
fn the_defaults_are_8_and_10_000_sockets_10_frames_a_second_10_minutes_and_an_hour() {
    let limits = Limits::default();
    assert_eq!((limits.max_sockets_per_principal, limits.max_sockets), (8, 10_000));
    assert_eq!(limits.max_socket_frames_per_second, 10);
    assert_eq!((limits.socket_idle_timeout, limits.socket_lifetime), (10 * MINUTE, 60 * MINUTE));
}

#[tokio::test(start_paused = true)]
async fn one_socket_too_many_of_a_principal_is_refused() {
    let assistant = assistant(counted(2, 10_000));
    let one = open(&assistant, "ada").await.unwrap();
    let _two = open(&assistant, "ada").await.unwrap();
    let (_ours, theirs) = tokio::io::duplex(1024);
    let third = request("/ws").extension(Principal::new("ada")).extension(SocketUpgrade::new(theirs));
    let third = third.body(Full::<bytes::Bytes>::default()).unwrap();
    let refused = AssistantService::new(assistant.clone()).handle(third).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()["retry-after"], "1");
    let body = refused.into_body().collect().await.unwrap().to_bytes();
    let error = serde_json::from_slice::<Value>(&body).unwrap()["error"].take();
    assert_eq!(
        error,
        json!({
            "code": "too_many_sockets", "message": "2 WebSockets are already open; close one of them.",
            "limit": { "name": "max_sockets_per_principal", "value": 2 },
        })
    );
    let _other = open(&assistant, "vera").await.unwrap();
    // Nobody counts together who is not known.
    let mut anonymous = Vec::new();
    for _ in 0..3 {
        anonymous.push(Client::open(&assistant).await);
    }
    drop(one);
    open_again(&assistant, "ada").await;
}

#[tokio::test(start_paused = true)]
async fn one_socket_too_many_of_all_is_refused() {
    let assistant = assistant(counted(8, 2));
    let one = Client::open(&assistant).await;
    let _two = open(&assistant, "ada").await.unwrap();
    assert_eq!(open(&assistant, "vera").await.err(), Some(StatusCode::SERVICE_UNAVAILABLE));
    assert_eq!(Client::with(&assistant, request("/ws")).await.err(), Some(StatusCode::SERVICE_UNAVAILABLE));
    // A refused request, and one that is none for a WebSocket, take no place.
    drop(one);
    open_again(&assistant, "vera").await;
}

#[tokio::test(start_paused = true)]
async fn an_idle_socket_is_closed_after_10_minutes() {
    let assistant = assistant(Limits::default());
    let mut client = Client::open(&assistant).await;
    assert_eq!(closed(&mut client, Instant::now()).await, (1001, 600));

    // A message, and the end of a tree, begin the time anew. A tree at work is not idle.
    let mut client = Client::open(&assistant).await;
    reads(&mut client, 10 * MINUTE - Duration::from_secs(1)).await;
    client.start("Wait").await;
    client.until("agent-completed").await;
    assert_eq!(closed(&mut client, Instant::now()).await, (1001, 600));
}

#[tokio::test(start_paused = true)]
async fn a_socket_lives_for_an_hour() {
    let assistant = assistant(Limits::default());
    let (mut client, since) = (Client::open(&assistant).await, Instant::now());
    for _ in 0..6 {
        reads(&mut client, 9 * MINUTE).await;
        client.send(&json!({ "type": "get-agent-tree" })).await;
    }
    assert_eq!(closed(&mut client, since).await, (1001, 3600));
}

#[tokio::test(start_paused = true)]
async fn a_tree_that_works_after_an_hour_ends_before_its_socket() {
    let assistant = assistant(Limits::default());
    for begins_another in [false, true] {
        let (mut client, since) = (Client::open(&assistant).await, Instant::now());
        for _ in 0..5 {
            reads(&mut client, 9 * MINUTE).await;
            client.send(&json!({ "type": "get-agent-tree" })).await;
        }
        reads(&mut client, 9 * MINUTE).await;
        client.start("Wait").await;
        reads(&mut client, 7 * MINUTE).await;
        if begins_another {
            client.start("Wait again").await;
            assert_eq!(closed(&mut client, since).await, (1001, 61 * 60));
        } else {
            client.until("agent-completed").await;
            assert_eq!(closed(&mut client, since).await, (1001, 68 * 60));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_sends_10_frames_a_second_and_20_at_once() {
    let assistant = assistant(Limits::default());
    let tree = json!({ "type": "get-agent-tree" });
    for one_too_many in [false, true] {
        let mut client = Client::open(&assistant).await;
        for _ in 0..20 {
            client.send(&tree).await;
        }
        for _ in 0..30 {
            sleep(Duration::from_millis(100)).await;
            client.send(&tree).await;
        }
        if one_too_many {
            client.socket.send(Message::Ping(Default::default())).await.unwrap();
            let last = async {
                loop {
                    match client.socket.next().await {
                        Some(Ok(Message::Close(Some(frame)))) => return frame,
                        Some(Ok(_)) => {}
                        other => panic!("{other:?}"),
                    }
                }
            };
            let closed = timeout(MINUTE, last).await.expect("an end in time");
            let reason =
                "At most 10 frames a second, and twice as many at once (max_socket_frames_per_second).";
            assert_eq!((u16::from(closed.code), closed.reason.as_str()), (1008, reason));
        } else {
            for _ in 0..50 {
                assert_eq!(client.next().await["type"], "agent-tree");
            }
        }
    }
}
