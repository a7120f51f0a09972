//! Clients that read slowly, or not at all.

use std::time::Duration;

use omniassist_server::core::Text;
use omniassist_server::testing::{ScriptedProvider, Turn};

use crate::host::Host;
use crate::stage::{assistant, built, run, says, silent};
use crate::transport::Transport;
use crate::wire::{soon, until};

/// The number of deltas of an answer, which the buffers between the server and a client cannot hold.
const DELTAS: usize = 4_096;

fn endless() -> ScriptedProvider {
    let delta = Text::from("x".repeat(16 << 10));
    ScriptedProvider::new().otherwise(move |_| Turn::text_chunks(vec![delta.clone(); DELTAS]))
}

pub(crate) async fn a_stalled_reader_delays_no_other(on: Transport) {
    let large = assistant(endless()).limits(silent()).build().unwrap();
    let quick = built(says("Hello"));
    let host = Host::mounted(on, &[("/large", &large), ("/quick", &quick)]).await;
    let mut connection = host.connect().await;
    let mut stalled = connection.ask(&run("/large")).await;
    stalled.until("text-delta").await;
    for _ in 0..5 {
        assert_eq!(host.ask(&run("/quick")).await.whole().await.words(), "Hello");
        if on.is_http2() {
            // Each stream of a connection has its own window.
            assert_eq!(connection.ask(&run("/quick")).await.whole().await.words(), "Hello");
        }
    }
    assert_eq!(large.live_runs(), 1, "the run waits for its reader");
}

pub(crate) async fn a_stalled_reader_is_disconnected(on: Transport) {
    let mut limits = silent();
    limits.write_timeout = Duration::from_millis(300);
    let model = endless();
    let assistant = assistant(model.clone()).limits(limits).build().unwrap();
    let host = Host::start(on, &assistant).await;
    let mut stalled = host.ask(&run("/assistant")).await;
    stalled.until("text-delta").await;
    soon("the model's stream is dropped", model.dropped()).await;
    // A client that continues to read finds a response that is cut.
    stalled.cut().await;
    until("the run is gone", || assistant.live_runs() == 0).await;
}

pub(crate) async fn a_slow_reader_gets_the_whole_answer(on: Transport) {
    let delta = Text::from("0123456789abcdef".repeat(1 << 10));
    let expected = delta.repeat(256);
    let model = ScriptedProvider::new().otherwise(move |_| Turn::text_chunks(vec![delta.clone(); 256]));
    let host = Host::start(on, &built(model)).await;
    let mut answer = host.ask(&run("/assistant?protocol=text")).await;
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(answer.more().await.unwrap(), "the answer continues");
    }
    assert!(answer.whole().await.text() == expected);
}
