//! The journal of a tree, and a store that is away.

use omniassist_server::core::Limits;
use omniassist_server::store::{MemoryStore, RunState, RunStore, Scope, TailOf, Which};
use tokio::time::{Instant, sleep};

use super::stored::{connect, server, statuses, tree, two};
use super::*;
use crate::stored::outage::Unsteady;

const KIB: usize = 1024;

/// The task of a tree whose state is long.
fn long_task() -> String {
    "lamps ".repeat(200 * KIB / 6)
}

fn stuck() -> ScriptedProvider {
    model(|call, _, _| (call == Call::Work).then(|| text("begun").then(Turn::pending())))
}

/// Returns the bytes of the journal of the chat's latest run.
async fn journal(store: &MemoryStore) -> usize {
    let head = store.find(&Scope::new("ada"), Which::Chat("c")).await.unwrap().expect("a run");
    let tails = [TailOf::new(Scope::new("ada"), head.run, 0)];
    let tail = store.read(&tails, usize::MAX).await.unwrap().pop().flatten().expect("a journal");
    tail.segments.iter().map(|segment| segment.data.len()).sum()
}

async fn state_of(store: &impl RunStore) -> RunState {
    store.find(&Scope::new("ada"), Which::Chat("c")).await.unwrap().expect("a run").state
}

/// Reads for this long.
async fn reads(client: &mut Client, time: Duration) {
    let read = async { while client.socket.next().await.is_some() {} };
    assert!(timeout(time, read).await.is_err(), "the connection is open");
}

/// Begins a tree with a long task. Returns its root.
async fn begin(client: &mut Client) -> Value {
    client.start(&long_task()).await;
    let written = client.until("text-delta").await.pop().unwrap();
    written["agentId"].clone()
}

#[tokio::test(start_paused = true)]
async fn remarks_write_a_state_at_most_once_a_second() {
    let store = MemoryStore::new();
    let (owner, other) = two(&store, &stuck());
    let mut client = connect(&owner, "ada", "/ws?chat=c").await;
    let id = begin(&mut client).await;
    reads(&mut client, Duration::from_secs(2)).await;
    let before = journal(&store).await;
    for number in 0..50 {
        let comment = format!("remark {number}");
        client.send(&json!({ "type": "user-intervention", "agentId": id, "userComment": comment })).await;
        reads(&mut client, Duration::from_millis(100)).await;
    }
    // The last one is not lost.
    reads(&mut client, Duration::from_millis(1_200)).await;
    let written = (journal(&store).await - before) / long_task().len();
    assert!((5..=7).contains(&written), "{written} states");
    let shown = tree(&mut connect(&other, "ada", "/ws?chat=c").await).await;
    assert!(shown[0].contains(r#""userComment":"remark 49""#), "{}", &shown[0][..400]);
    assert_eq!(tree(&mut client).await, shown);
    let bytes = shown[0].len();
    assert!(bytes < long_task().len() + KIB, "the task is there once: {bytes} bytes");
}

#[tokio::test(start_paused = true)]
async fn a_tree_with_too_many_bytes_of_states_goes_on_and_writes_the_last_ones() {
    let store = MemoryStore::new();
    let mut limits = Limits::default();
    assert_eq!(limits.max_written_state_bytes, 32 * KIB * KIB);
    // The first state fits, and no second one.
    limits.max_written_state_bytes = 300 * KIB;
    let model = model(|call, task, _| match (call, task) {
        (Call::Plan, task) if task.starts_with("lamps") => Some(questions(&["Price now?"])),
        (Call::Work, "Price now?") => Some(Turn::delay(Duration::from_secs(3)).then(text("Ten."))),
        (Call::Work, _) => Some(text("begun").then(Turn::pending())),
        _ => None,
    });
    let owner = server(store.clone(), &model).limits(limits).build().unwrap();
    let (other, _) = two(&store, &ScriptedProvider::new());
    let mut client = connect(&owner, "ada", "/ws?chat=c").await;
    let id = begin(&mut client).await;
    reads(&mut client, Duration::from_secs(2)).await;
    client.send(&json!({ "type": "user-intervention", "agentId": id, "userComment": "red" })).await;
    reads(&mut client, Duration::from_secs(2)).await;
    let mut elsewhere = connect(&other, "ada", "/ws?chat=c").await;
    let early = tree(&mut elsewhere).await;
    assert!(early[0].contains(r#""userComment":null"#), "{}", &early[0][..400]);
    assert_eq!(state_of(&store).await, RunState::Running);
    assert!(journal(&store).await < 300 * KIB);
    client.send(&json!({ "type": "user-intervention", "agentId": id, "status": "cancelled" })).await;
    client.until_one(|frame| frame["state"]["status"] == "cancelled").await;
    while state_of(&store).await == RunState::Running {
        sleep(Duration::from_millis(5)).await;
    }
    let last = tree(&mut elsewhere).await;
    assert!(last[0].contains(r#""userComment":"red""#), "{}", &last[0][..400]);
    assert_eq!(statuses(&last), ["cancelled", "completed"], "also of an agent that ended before");
}

/// Another server may have acknowledged the stop of the tree meanwhile.
#[tokio::test(start_paused = true)]
async fn a_tree_whose_store_is_away_for_longer_than_the_lease_ends() {
    let pieces = || Turn::text_chunks((0..4 * KIB).map(|_| "x".repeat(KIB)));
    let model = model(move |call, _, _| {
        (call == Call::Work).then(|| text("begun").then(Turn::delay(Duration::from_secs(1))).then(pieces()))
    });
    let store = Unsteady::default();
    let assistant = server(store.clone(), &model).build().unwrap();
    let mut client = connect(&assistant, "ada", "/ws?chat=c").await;
    client.start("Compare lamps").await;
    client.until("text-delta").await;
    sleep(Duration::from_millis(500)).await;
    store.goes_down();
    let since = Instant::now();
    let frames = client.until_one(|frame| frame["state"]["status"] == "cancelled").await;
    let ended = since.elapsed().as_millis();
    assert!((6_000..7_000).contains(&ended), "{ended} ms");
    assert_eq!(model.drops(), 1, "the model call is closed");
    // The agents wait for the journal, and not in memory.
    let bytes: usize = frames.iter().filter_map(|frame| frame["delta"].as_str()).map(str::len).sum();
    assert!((256 * KIB..=2 * 256 * KIB + 4 * KIB).contains(&bytes), "{bytes} bytes");
    store.comes_back_after(Duration::from_secs(5));
    let settled = async {
        while state_of(&store).await == RunState::Running {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(20), settled).await.expect("an end");
    assert_eq!(state_of(&store).await, RunState::Stopped);
    assert_eq!(statuses(&tree(&mut client).await), ["cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn a_tree_whose_store_comes_back_within_the_lease_goes_on() {
    let model = model(|call, _, _| {
        let half = || Turn::delay(Duration::from_secs(4));
        (call == Call::Work).then(|| Turn::from([text("begun"), half(), text(" and"), half(), text(" done")]))
    });
    let store = Unsteady::default();
    let assistant = server(store.clone(), &model).build().unwrap();
    let mut client = connect(&assistant, "ada", "/ws?chat=c").await;
    client.start("Compare lamps").await;
    client.until("text-delta").await;
    sleep(Duration::from_millis(500)).await;
    store.goes_down();
    // The write that fails begins with the next text.
    store.comes_back_after(Duration::from_secs(9));
    client.until("agent-completed").await;
    let settled = async {
        while state_of(&store).await == RunState::Running {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(20), settled).await.expect("an end");
    assert_eq!(state_of(&store).await, RunState::Finished);
}
