//! Viewers of runs of other instances that get the text from a tail cache, which loses, repeats and delays it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream;
use omniassist_server::core::event::BlockId;
use omniassist_server::core::journal::SegmentWriter;
use omniassist_server::core::{FinishReason, RunEvent};
use omniassist_server::store::{RunId, TailCache, TailPiece, TailStream};
use tokio::sync::broadcast;
use tokio::time::{sleep, timeout};

use super::elsewhere::{get, read, read_until, read_until_cut, send, text_of};
use super::outage::Unsteady;
use super::*;

/// Decides which pieces arrive now, in place of those that were sent.
type Fault = Box<dyn FnMut(Vec<TailPiece>) -> Vec<TailPiece> + Send>;

/// A tail cache between the instances of this process.
struct Tails {
    sender: broadcast::Sender<Vec<TailPiece>>,
    fault: Mutex<Fault>,
}

impl Tails {
    fn new(fault: impl FnMut(Vec<TailPiece>) -> Vec<TailPiece> + Send + 'static) -> Arc<Self> {
        Arc::new(Self { sender: broadcast::Sender::new(1024), fault: Mutex::new(Box::new(fault)) })
    }
}

impl TailCache for Tails {
    fn push(&self, pieces: &[TailPiece]) -> bool {
        let arrived = (self.fault.lock().unwrap())(pieces.to_vec());
        let _ = self.sender.send(arrived);
        true
    }

    fn listen(&self) -> TailStream {
        let next =
            |mut receiver: broadcast::Receiver<_>| async { Some((receiver.recv().await.ok()?, receiver)) };
        Box::pin(stream::unfold(self.sender.subscribe(), next))
    }
}

/// Returns an instance with a connection of its own to the store.
fn instance(store: &MemoryStore, tails: &Arc<Tails>, model: ScriptedProvider) -> (Assistant, Unsteady) {
    let tails = Some(Arc::clone(tails) as Arc<dyn TailCache>);
    let connection = Unsteady { store: store.clone(), tails, ..Unsteady::default() };
    let assistant = Assistant::builder(model).store(connection.clone()).build().unwrap();
    (assistant, connection)
}

/// Returns a model that writes a number every 30 ms.
fn numbers(count: u32) -> ScriptedProvider {
    let turn = (0..count).fold(Turn::new(), |turn, number| {
        turn.then(Turn::text_chunks([format!("{number} ")])).then(Turn::delay(Duration::from_millis(30)))
    });
    ScriptedProvider::new().turn(turn.then(Turn::finish(FinishReason::Stop)))
}

fn all(count: u32) -> String {
    (0..count).map(|number| format!("{number} ")).collect()
}

fn second_try() -> ScriptedProvider {
    ScriptedProvider::new().otherwise(|_| text("The second try"))
}

#[tokio::test(start_paused = true)]
async fn text_reaches_a_viewer_elsewhere_before_it_is_in_the_journal() {
    let (store, tails) = (MemoryStore::new(), Tails::new(|pieces| pieces));
    let (first, connection) = instance(&store, &tails, numbers(100));
    let (other, _) = instance(&store, &tails, second_try());
    let mut body = open(&first, &ask("m1", "Count")).await;
    read_until(&mut body, "\"3 \"").await;
    let mut viewer = get(&other, "/c/stream").await.into_body();
    read_until(&mut viewer, "\"20 \"").await;
    // The text comes although no segment is written any more.
    connection.goes_down();
    connection.comes_back_after(Duration::from_secs(1));
    for number in 22..40 {
        let number = format!("\"{number} \"");
        read_until(&mut body, &number).await;
        let shown = read_until(&mut viewer, &number);
        timeout(Duration::from_millis(25), shown).await.expect("it is shown at once");
    }
    read_until(&mut viewer, "data: [DONE]").await;
    assert_eq!(settled(&store).await, RunState::Finished);
    assert_eq!(messages(&store).await.last().unwrap().text(), all(100));
}

/// The journal repairs what a cache does to the text.
#[tokio::test(start_paused = true)]
async fn a_viewer_elsewhere_gets_the_text_of_the_journal_whatever_the_cache_does() {
    let mut sent = 0;
    let lose = move |pieces: Vec<TailPiece>| {
        sent += 1;
        if sent % 3 == 0 { Vec::new() } else { pieces }
    };
    let mut earlier: Vec<TailPiece> = Vec::new();
    let repeat = move |pieces: Vec<TailPiece>| {
        earlier.extend(pieces.iter().cloned());
        pieces.into_iter().chain(earlier.iter().rev().take(9).cloned()).collect()
    };
    let mut held: Vec<TailPiece> = Vec::new();
    let reverse = move |pieces: Vec<TailPiece>| {
        held.extend(pieces);
        if held.len() < 4 { Vec::new() } else { std::mem::take(&mut held).into_iter().rev().collect() }
    };
    let mut late: Vec<TailPiece> = Vec::new();
    let delay = move |pieces: Vec<TailPiece>| {
        late.extend(pieces);
        if late.len() < 40 { Vec::new() } else { late.drain(..20).collect() }
    };
    let foreign = |pieces: Vec<TailPiece>| {
        let strange = pieces.iter().flat_map(|piece| {
            let mut wrong = SegmentWriter::new();
            for _ in piece.from..piece.until {
                let delta = RunEvent::TextDelta { id: BlockId(0), delta: "WRONG".into() };
                wrong.event(&delta).unwrap();
            }
            let mut stale = piece.clone();
            (stale.epoch, stale.data) = (0, wrong.take().unwrap().bytes);
            let mut next = stale.clone();
            next.epoch = piece.epoch + 1;
            let mut corrupt = piece.clone();
            corrupt.data = Bytes::from_static(b"not a segment");
            let mut longer = piece.clone();
            longer.until += 1;
            let unknown = TailPiece::new(RunId::random(), 1, piece.from, piece.until, piece.data.clone());
            [stale, next, corrupt, longer, unknown]
        });
        strange.chain(pieces.clone()).collect()
    };
    let faults: [(&str, Fault); 6] = [
        ("lose", Box::new(lose)),
        ("repeat", Box::new(repeat)),
        ("reverse", Box::new(reverse)),
        ("delay", Box::new(delay)),
        ("foreign", Box::new(foreign)),
        ("lose all", Box::new(|_| Vec::new())),
    ];
    for (name, fault) in faults {
        let (store, tails) = (MemoryStore::new(), Tails::new(fault));
        let (first, _) = instance(&store, &tails, numbers(100));
        let (other, _) = instance(&store, &tails, second_try());
        let mut body = open(&first, &ask("m1", "Count")).await;
        read_until(&mut body, "\"3 \"").await;
        let early = tokio::spawn(read(get(&other, "/c/stream").await));
        read_until(&mut body, "\"40 \"").await;
        let late = tokio::spawn(read(get(&other, "/c/stream?ai-sdk=5").await));
        for viewer in [early.await.unwrap(), late.await.unwrap()] {
            assert_eq!(text_of(&viewer), all(100), "{name}");
            assert!(viewer.matches(r#""type":"finish""#).count() == 1, "{name}: {viewer}");
        }
        assert_eq!(settled(&store).await, RunState::Finished);
        assert_eq!(messages(&store).await.last().unwrap().text(), all(100), "{name}");
    }
}

/// An instance that can write no more, and does not notice that another one has its run, shows text that is in no journal.
#[tokio::test(start_paused = true)]
async fn text_of_an_instance_that_has_lost_its_run_is_withdrawn() {
    let (store, tails) = (MemoryStore::new(), Tails::new(|pieces| pieces));
    let (first, connection) = instance(&store, &tails, numbers(1000));
    let (second, _) = instance(&store, &tails, second_try());
    let (third, _) = instance(&store, &tails, second_try());
    let mut body = open(&first, &ask("m1", "Count")).await;
    read_until(&mut body, "\"3 \"").await;

    let thread = json!({"threadId": "c", "runId": "r", "state": {}, "messages": [], "tools": [],
        "context": [], "forwardedProps": {}});
    let run = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap().run;
    let v7 = get(&third, "/c/stream?ai-sdk=7").await;
    let v5 = get(&third, "/c/stream?ai-sdk=5").await;
    let counted = get(&third, &format!("/runs/{run}/events?ai-sdk=7")).await;
    let agent = send(&third, "/ag-ui/connect", &thread).await;
    let viewers = tokio::spawn(async {
        tokio::join!(read(v7), read_until_cut(v5), read_until_cut(counted), read(agent))
    });
    read_until(&mut body, "\"40 \"").await;
    connection.goes_down();
    // The lease of the first instance ends.
    sleep(Duration::from_secs(7)).await;
    get(&second, "/c/stream").await;
    let (v7, v5, counted, agent) = viewers.await.unwrap();

    let reset = v7.find("reset-step").expect("the text is withdrawn");
    assert!(text_of(&v7[..reset]).starts_with(&all(60)) && text_of(&v7[reset..]) == "The second try", "{v7}");
    assert!(v7.ends_with("data: [DONE]\n\n") && v7.matches("reset-step").count() == 1, "{v7}");
    for (read, is_cut) in [v5, counted] {
        assert!(is_cut && text_of(&read).starts_with(&all(60)) && !read.contains("second"), "{read}");
    }
    assert!(agent.contains("The second try") && agent.contains("RUN_FINISHED"), "{agent}");
    assert_eq!(settled(&store).await, RunState::Finished);
    assert_eq!(messages(&store).await.last().unwrap().text(), "The second try");
    // A client that counted the withdrawn text gets what took its place.
    let rest = read(get(&third, &format!("/runs/{run}/events?ai-sdk=7&after=1.170")).await).await;
    assert!(rest.contains("reset-step") && text_of(&rest) == "The second try", "{rest}");
}

/// A step of which the journal has nothing is withdrawn by the end of the connection.
#[tokio::test(start_paused = true)]
async fn a_viewer_of_a_step_that_is_in_no_journal_is_cut() {
    let (store, tails) = (MemoryStore::new(), Tails::new(|pieces| pieces));
    let look = || {
        Tool::new("look", "Looks", || async {
            sleep(Duration::from_secs(1)).await;
            Ok::<_, ToolError>("found")
        })
    };
    let turn = (0..1000).fold(Turn::new(), |turn, number| {
        turn.then(Turn::text_chunks([format!("{number} ")])).then(Turn::delay(Duration::from_millis(30)))
    });
    let model = ScriptedProvider::new().turn(Turn::text("I look.").then(call("look", json!({})))).turn(turn);
    let build = |model| {
        let tails = Some(Arc::clone(&tails) as Arc<dyn TailCache>);
        let connection = Unsteady { store: store.clone(), tails, ..Unsteady::default() };
        let builder = Assistant::builder(model).store(connection.clone()).tool(look());
        (builder.build().unwrap(), connection)
    };
    let (first, connection) = build(model);
    let (other, _) = build(second_try());
    let mut body = open(&first, &ask("m1", "Count")).await;
    read_until(&mut body, "tool-input-available").await;
    let viewer = tokio::spawn(read_until_cut(get(&other, "/c/stream?ai-sdk=7").await));
    read_until(&mut body, "tool-output-available").await;
    connection.goes_down();
    let (read, is_cut) = viewer.await.unwrap();
    assert!(is_cut && !read.contains("second"), "{read}");
    assert_eq!(settled(&store).await, RunState::Finished);
    let replay = self::read(get(&other, "/c/stream?ai-sdk=7").await).await;
    assert!(text_of(&replay).ends_with("The second try") && !text_of(&replay).contains("1 "), "{replay}");
}

/// A client that has text which is in no journal yet continues on the same instance where it was.
#[tokio::test(start_paused = true)]
async fn a_cursor_counts_the_text_of_the_cache() {
    let (store, tails) = (MemoryStore::new(), Tails::new(|pieces| pieces));
    let (first, connection) = instance(&store, &tails, numbers(200));
    let (other, _) = instance(&store, &tails, second_try());
    let mut body = open(&first, &ask("m1", "Count")).await;
    read_until(&mut body, "\"3 \"").await;
    let run = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap().run;
    let mut viewer = get(&other, &format!("/runs/{run}/events")).await.into_body();
    let mut had = read_until(&mut viewer, "\"20 \"").await;
    connection.goes_down();
    connection.comes_back_after(Duration::from_secs(2));
    had += &read_until(&mut viewer, "\"40 \"").await;
    drop(viewer);
    let last = had.lines().rev().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let rest = read(get(&other, &format!("/runs/{run}/events?after={last}")).await).await;
    assert_eq!(text_of(&had) + &text_of(&rest), all(200));
    assert_eq!(settled(&store).await, RunState::Finished);
}
