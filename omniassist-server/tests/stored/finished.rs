//! The calls of `on_finish` for runs that other servers end: one for each leg.

use std::future::ready;
use std::sync::atomic::Ordering;
use std::time::Duration;

use omniassist_server::observe::FinishedRun;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::sleep;

use super::drain::look;
use super::elsewhere::send;
use super::outage::Unsteady;
use super::*;

/// The calls of `on_finish` on all servers.
struct Calls {
    sender: UnboundedSender<String>,
    calls: UnboundedReceiver<String>,
}

impl Calls {
    fn new() -> Self {
        let (sender, calls) = unbounded_channel();
        Self { sender, calls }
    }

    fn server(&self, store: &Unsteady, turn: Turn) -> Assistant {
        let sender = self.sender.clone();
        let builder = Assistant::builder(ScriptedProvider::new().turn(turn)).store(store.clone());
        let on_finish = move |run: FinishedRun| {
            ready(sender.send(format!("{} {}", run.report.outcome.as_str(), run.message.text())))
        };
        builder.on_finish(on_finish).build().unwrap()
    }

    /// Waits for the servers, and returns the outcome and the text of each call.
    async fn after(mut self, servers: &[&Assistant]) -> Vec<String> {
        for server in servers {
            server.shutdown().await;
        }
        std::iter::from_fn(|| self.calls.try_recv().ok()).collect()
    }
}

fn slow(text_before: &str, seconds: u64, text_after: &str) -> Turn {
    Turn::text(text_before).then(Turn::delay(Duration::from_secs(seconds))).then(text(text_after))
}

/// Returns two ways to one store, of which the first can go down alone.
fn two_ways() -> (Unsteady, Unsteady) {
    let first = Unsteady::default();
    let second = Unsteady { store: first.store.clone(), ..Unsteady::default() };
    (first, second)
}

/// The first server reads the answer to its end before it learns that it has lost the run.
#[tokio::test(start_paused = true)]
async fn a_run_that_ends_on_two_servers_is_finished_once() {
    let (calls, (stalled, store)) = (Calls::new(), two_ways());
    let first = calls.server(&stalled, slow("One", 20, " end"));
    let second = calls.server(&store, slow("Two", 1, " end"));
    let _body = open(&first, &ask("m1", "Go")).await;
    sleep(Duration::from_secs(1)).await;
    stalled.goes_down();
    stalled.comes_back_after(Duration::from_secs(25));
    look(&second).await;
    sleep(Duration::from_secs(30)).await;
    assert_eq!(state(&store.store).await, RunState::Finished);
    assert_eq!(calls.after(&[&first, &second]).await, ["finish Two end"]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_stopped_after_a_takeover_is_finished_once() {
    let (calls, (stalled, store)) = (Calls::new(), two_ways());
    let first = calls.server(&stalled, slow("One", 60, " end"));
    let second = calls.server(&store, slow("Two", 60, " end"));
    let third = calls.server(&store, text("Three"));
    let _body = open(&first, &ask("m1", "Go")).await;
    sleep(Duration::from_secs(1)).await;
    stalled.goes_down();
    look(&second).await;
    sleep(Duration::from_secs(15)).await;
    send(&third, "/c/stop", &json!({})).await;
    assert_eq!(state(&store.store).await, RunState::Stopped);
    stalled.comes_back_after(Duration::ZERO);
    sleep(Duration::from_secs(30)).await;
    assert_eq!(calls.after(&[&first, &second, &third]).await, ["abort Two"]);
}

/// The server of the run stalls, so the server with the stop ends it.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_stopped_in_place_of_a_takeover_is_finished_once() {
    let (calls, (stalled, store)) = (Calls::new(), two_ways());
    let first = calls.server(&stalled, slow("One", 60, " end"));
    let second = calls.server(&store, text("Two"));
    let _body = open(&first, &ask("m1", "Go")).await;
    sleep(Duration::from_secs(1)).await;
    stalled.goes_down();
    sleep(Duration::from_secs(1)).await;
    send(&second, "/c/stop", &json!({})).await;
    assert_eq!(state(&store.store).await, RunState::Stopped);
    stalled.comes_back_after(Duration::ZERO);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(calls.after(&[&first, &second]).await, ["abort One"]);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_run_whose_server_drains_is_finished_once() {
    let calls = Calls::new();
    let store = Unsteady::default();
    let server = calls.server(&store, slow("One", 60, " end"));
    let _body = open(&server, &ask("m1", "Go")).await;
    sleep(Duration::from_secs(1)).await;
    let (body, drained) = (json!({}), server.drain(Duration::ZERO));
    let (_, drained) = tokio::join!(biased; send(&server, "/c/stop", &body), drained);
    assert_eq!(drained.released, 0);
    assert_eq!(state(&store.store).await, RunState::Stopped);
    assert_eq!(calls.after(&[&server]).await, ["abort One"]);
}

/// The model is silent, so the server has not read the stop when it begins to drain.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_stopped_elsewhere_while_its_server_drains_is_finished_once() {
    let calls = Calls::new();
    let store = Unsteady::default();
    let first = calls.server(&store, slow("One", 60, " end"));
    let second = calls.server(&store, text("Two"));
    let _body = open(&first, &ask("m1", "Go")).await;
    sleep(Duration::from_millis(2_500)).await;
    let stopping = second.clone();
    let stop = tokio::spawn(async move { send(&stopping, "/c/stop", &json!({})).await.status() });
    sleep(Duration::from_millis(1)).await;
    first.drain(Duration::ZERO).await;
    assert_eq!(stop.await.unwrap(), StatusCode::OK);
    assert_eq!(state(&store.store).await, RunState::Stopped);
    assert_eq!(calls.after(&[&second]).await, ["abort One"]);
}

/// The write of the text takes longer than a stop waits for the run.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_stopped_during_a_slow_write_is_finished_once() {
    let calls = Calls::new();
    let store = Unsteady::default();
    let server = calls.server(&store, slow("One", 1, " more").then(Turn::pending()));
    let _body = open(&server, &ask("m1", "Go")).await;
    sleep(Duration::from_millis(900)).await;
    store.append_ms.store(1_000, Ordering::SeqCst);
    sleep(Duration::from_millis(400)).await;
    send(&server, "/c/stop", &json!({})).await;
    assert_eq!(state(&store.store).await, RunState::Stopped);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(calls.after(&[&server]).await, ["abort One more"]);
}
