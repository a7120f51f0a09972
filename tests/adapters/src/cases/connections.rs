//! Several requests on a connection, simultaneous connections, and slow requests.

use std::time::Duration;

use omniassist_server::core::Limits;
use omniassist_server::testing::{ScriptedProvider, text};
use serde_json::json;

use crate::host::Host;
use crate::stage::{adder, assistant, built, conversation, echo, run, says, stuck_after};
use crate::transport::Transport;
use crate::wire::Ask;

pub(crate) async fn several_requests_share_a_connection(on: Transport) {
    let host = Host::start(on, &built(says("Hello"))).await;
    let mut connection = host.connect().await;
    for _ in 0..3 {
        assert_eq!(connection.ask(&run("/assistant")).await.whole().await.words(), "Hello");
        let manifest = connection.ask(&Ask::get("/assistant/manifest.json")).await.whole().await;
        assert_eq!(manifest.status(), 200);
        assert_eq!(connection.ask(&Ask::get("/assistant/c/stream")).await.whole().await.status(), 204);
    }
}

/// Each request is sent before the previous one is answered. Over HTTP/2 they run at the same time. Over HTTP/1 the
/// answers arrive in sequence.
pub(crate) async fn requests_do_not_wait_for_earlier_answers(on: Transport) {
    let host = Host::start(on, &built(echo())).await;
    let mut connection = host.connect().await;
    let mut exchanges = Vec::new();
    for number in 0..4 {
        let words = format!("number {number}");
        let asked = Ask::json("/assistant", &conversation_saying(&format!("c{number}"), &words));
        exchanges.push((words, connection.ask(&asked).await));
    }
    for (words, exchange) in exchanges {
        assert_eq!(exchange.whole().await.words(), words);
    }
}

fn conversation_saying(chat: &str, words: &str) -> serde_json::Value {
    json!({ "id": chat, "messages": [{ "id": "m1", "role": "user", "content": words }] })
}

pub(crate) async fn a_connection_outlives_refusals(on: Transport) {
    let host = Host::start(on, &assistant(says("Hello")).tool(adder()).build().unwrap()).await;
    let mut connection = host.connect().await;
    for (asked, status) in [
        (Ask::get("/assistant/nowhere"), 404),
        (Ask::get("/assistant"), 405),
        (Ask::post("/assistant", "{"), 400),
        (run("/assistant?protocol=morse"), 400),
        (Ask::post("/assistant/v1/chat/completions", "{}"), 400),
        (Ask::post("/assistant/c/stop", ""), 200),
    ] {
        assert_eq!(connection.ask(&asked).await.whole().await.status(), status, "{asked:?}");
    }
    assert_eq!(connection.ask(&run("/assistant")).await.whole().await.words(), "Hello");
}

/// The server answers these requests without reading their bodies.
pub(crate) async fn a_connection_outlives_unread_bodies(on: Transport) {
    let host = Host::start(on, &built(says("Hello"))).await;
    let mut connection = host.connect().await;
    for (asked, status) in [
        (run("/assistant").header("content-type", "text/plain"), 415),
        (run("/assistant/nowhere"), 404),
        (run("/assistant/manifest.json"), 405),
        (run("/assistant/c/stop"), 200),
        (run("/assistant/object/nothing"), 404),
    ] {
        let unannounced = asked.clone().pieces(10).unannounced();
        for asked in [asked, unannounced] {
            assert_eq!(connection.ask(&asked).await.whole().await.status(), status, "{asked:?}");
        }
    }
    assert_eq!(connection.ask(&run("/assistant")).await.whole().await.words(), "Hello");
}

/// A client that reads the answer only after it has sent everything still receives it.
pub(crate) async fn a_refusal_reaches_a_client_that_is_still_sending(on: Transport) {
    let model = says("Hello");
    let host = Host::start(on, &built(model.clone())).await;
    let large = |asked: Ask| asked.padded(6 << 20).pieces(50_000);
    for (asked, status) in [
        (run("/assistant").header("content-type", "text/plain"), 415),
        (run("/assistant/nowhere"), 404),
        (run("/assistant/manifest.json"), 405),
        (run("/assistant/object/nothing"), 404),
    ] {
        for asked in [large(asked.clone()), large(asked).unannounced()] {
            assert_eq!(host.ask(&asked).await.whole().await.status(), status, "{}", asked.path);
        }
    }
    assert!(model.payloads().is_empty());
}

/// The server does not wait for the rest of a body that it does not need.
pub(crate) async fn a_refusal_does_not_wait_for_the_body(on: Transport) {
    let host = Host::start(on, &built(says("Hello"))).await;
    let asked = run("/assistant").header("content-type", "text/plain");
    for asked in [asked.clone().unfinished(), asked.pieces(10).unannounced().unfinished()] {
        let mut exchange = host.ask(&asked).await;
        assert_eq!(exchange.head().await.status, 415);
    }
}

pub(crate) async fn an_incomplete_body_closes_the_connection(on: Transport) {
    let mut limits = Limits::default();
    limits.body_timeout = Duration::from_millis(100);
    let host = Host::start(on, &assistant(says("Hello")).limits(limits).build().unwrap()).await;
    for asked in [run("/assistant").unfinished(), run("/assistant").pieces(10).unannounced().unfinished()] {
        let answer = host.ask(&asked).await.whole().await;
        assert_eq!((answer.status(), &answer.json()["error"]["code"]), (408, &json!("body_timeout")));
        if !on.is_http2() {
            assert_eq!(answer.header("connection"), Some("close"));
        }
    }
}

pub(crate) async fn a_body_with_a_content_encoding_is_refused(on: Transport) {
    let host = Host::start(on, &built(says("Hello"))).await;
    let answer = host.ask(&run("/assistant").header("content-encoding", "gzip")).await.whole().await;
    assert_eq!((answer.status(), answer.header("accept-encoding")), (415, Some("identity")));
    let plain = host.ask(&run("/assistant").header("content-encoding", "identity")).await.whole().await;
    assert_eq!(plain.words(), "Hello");
}

/// Over HTTP/1 the client sends the body only after `100 Continue`.
pub(crate) async fn a_body_is_read_after_100_continue(on: Transport) {
    let host = Host::start(on, &built(says("Hello"))).await;
    let mut connection = host.connect().await;
    for _ in 0..2 {
        let asked = run("/assistant").header("expect", "100-continue");
        assert_eq!(connection.ask(&asked).await.whole().await.words(), "Hello");
    }
}

pub(crate) async fn a_slow_body_does_not_delay_others(on: Transport) {
    let host = Host::start(on, &built(says("Hello"))).await;
    let slow = run("/assistant").pieces(8).paced(Duration::from_millis(20));
    for asked in [slow.clone(), slow.unannounced()] {
        let (slow, quick) = tokio::join!(async { host.ask(&asked).await.whole().await }, async {
            host.ask(&Ask::json("/assistant", &conversation("d"))).await.whole().await
        });
        assert_eq!((slow.words().as_str(), quick.words().as_str()), ("Hello", "Hello"));
    }
}

pub(crate) async fn bodies_arrive_in_pieces_of_any_size(on: Transport) {
    let host = Host::start(on, &built(echo())).await;
    let words = "Grüße, 東京 🧑‍🚀";
    for size in [1, 2, 3, 7, 64] {
        let asked = Ask::json("/assistant", &conversation_saying("c", words)).pieces(size);
        assert_eq!(host.ask(&asked).await.whole().await.words(), words, "{size}");
        assert_eq!(host.ask(&asked.unannounced()).await.whole().await.words(), words, "{size}");
    }
}

pub(crate) async fn simultaneous_requests_get_their_own_answers(on: Transport) {
    let host = Host::start(on, &built(echo())).await;
    let ask = |number: usize| {
        let host = &host;
        async move {
            let words = format!("number {number}");
            let asked = Ask::json("/assistant", &conversation_saying(&format!("c{number}"), &words));
            assert_eq!(host.ask(&asked).await.whole().await.words(), words);
        }
    };
    futures_util::future::join_all((0..64).map(ask)).await;
}

/// A silent run delays no other run, on its connection or on another one.
pub(crate) async fn a_silent_run_does_not_delay_others(on: Transport) {
    let model = stuck_after("so far");
    let silent = assistant(model).build().unwrap();
    let quick = built(ScriptedProvider::new().otherwise(|_| text("Hello")));
    let host = Host::mounted(on, &[("/silent", &silent), ("/quick", &quick)]).await;
    let mut connection = host.connect().await;
    let mut waiting = connection.ask(&run("/silent")).await;
    waiting.until("so far").await;
    for _ in 0..5 {
        assert_eq!(host.ask(&run("/quick")).await.whole().await.words(), "Hello");
        if on.is_http2() {
            assert_eq!(connection.ask(&run("/quick")).await.whole().await.words(), "Hello");
        }
    }
}
