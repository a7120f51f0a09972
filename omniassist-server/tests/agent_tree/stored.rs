//! Trees of a stored chat: their states at every server, and their stop from there.

use bytes::Bytes;
use http::{Method, header};
use http_body_util::BodyExt;
use omniassist_server::agents::Explore;
use omniassist_server::encryption::{Encrypted, EncryptionKeys};
use omniassist_server::store::{
    Change, ConversationStore, MemoryStore, RunState, RunStore, Scope, StoredMessage, Which,
};
use omniassist_server::testing::call;
use omniassist_server::{Principal, WhenBusy};
use tokio::time::{Instant, sleep};

use super::*;
use crate::agents::tool;
use crate::stored::outage::Unsteady;
use crate::stored::restart::runtime;

const TREE: &str = r#"{"type":"get-agent-tree"}"#;

fn look() -> Turn {
    call("look", json!({ "b": 1.50, "a": [null] }))
}

/// Returns a model whose root and child call a tool, write, and then wait.
fn stuck() -> ScriptedProvider {
    model(|call, task, payload| {
        let has_looked = payload.transcript.len() > 1;
        match (call, task) {
            (Call::Plan, "Compare lamps") => Some(questions(&["Price now?", "Price then?"])),
            (Call::Work, "Price then?") => None,
            (Call::Work, _) if has_looked => Some(text("begun").then(Turn::pending())),
            (Call::Work, _) => Some(look()),
            _ => None,
        }
    })
}

pub(super) fn server<S: RunStore + ConversationStore>(
    store: S,
    model: &ScriptedProvider,
) -> AssistantBuilder {
    Assistant::builder(model.clone()).store(store).tool(tool("look")).explore(Explore::new().asks(false))
}

/// Returns two servers on one store. The model of the other one is not called.
pub(super) fn two<S: RunStore + ConversationStore + Clone>(
    store: &S,
    model: &ScriptedProvider,
) -> (Assistant, Assistant) {
    let none = ScriptedProvider::new();
    (server(store.clone(), model).build().unwrap(), server(store.clone(), &none).build().unwrap())
}

pub(super) async fn connect(assistant: &Assistant, user: &str, path: &str) -> Client {
    Client::with(assistant, request(path).extension(Principal::new(user))).await.expect("an upgrade")
}

/// Begins a tree in the chat `c`, and waits until two agents have written.
async fn begin(assistant: &Assistant) -> Client {
    let mut client = connect(assistant, "ada", "/ws?chat=c").await;
    client.start("Compare lamps").await;
    let mut begun = 0;
    let is_second = |frame: &Value| {
        begun += usize::from(frame["delta"] == "begun");
        begun == 2
    };
    client.until_one(is_second).await;
    // The states are written within a second or so.
    sleep(Duration::from_millis(1_250)).await;
    client
}

/// Returns the answer to `get-agent-tree`, as it comes.
pub(super) async fn tree(client: &mut Client) -> Vec<String> {
    client.socket.send(Message::text(TREE)).await.unwrap();
    let mut frames = Vec::new();
    while frames.last().is_none_or(|frame: &String| !frame.contains(r#""type":"agent-tree""#)) {
        frames.push(client.raw().await);
    }
    let last: Value = serde_json::from_str(frames.last().unwrap()).unwrap();
    // Changes may come before the answer.
    frames.split_off(frames.len() - 1 - last["agentIds"].as_array().unwrap().len())
}

pub(super) fn statuses(tree: &[String]) -> Vec<String> {
    let values = tree.iter().map(|frame| serde_json::from_str::<Value>(frame).unwrap());
    values.filter_map(|frame| frame["state"]["status"].as_str().map(str::to_owned)).collect()
}

async fn send(assistant: &Assistant, user: &str, method: Method, path: &str) -> (StatusCode, String) {
    let request = Request::builder().method(method).uri(path).extension(Principal::new(user));
    answer(assistant, request, "").await
}

async fn answer(assistant: &Assistant, request: http::request::Builder, body: &str) -> (StatusCode, String) {
    let request = request.body(Full::<Bytes>::from(body.to_owned())).unwrap();
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    let (status, body) = (response.status(), response.into_body().collect().await.unwrap().to_bytes());
    (status, String::from_utf8(body.into()).unwrap())
}

async fn post(assistant: &Assistant, text: &str) -> (StatusCode, String) {
    let message = json!({ "id": text, "role": "user", "parts": [{ "type": "text", "text": text }] });
    let request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    let request = request.extension(Principal::new("ada"));
    answer(assistant, request, &json!({ "id": "c", "message": message }).to_string()).await
}

async fn state(store: &MemoryStore) -> Option<RunState> {
    store.find(&Scope::new("ada"), Which::Chat("c")).await.unwrap().map(|head| head.state)
}

async fn settled(store: &MemoryStore) -> RunState {
    let settled = async {
        loop {
            match state(store).await.expect("a run") {
                RunState::Running => sleep(Duration::from_millis(5)).await,
                state => return state,
            }
        }
    };
    timeout(Duration::from_secs(60), settled).await.expect("an end")
}

async fn two_servers_have_one_tree<S: RunStore + ConversationStore + Clone>(store: S) {
    let (owner, other) = two(&store, &stuck());
    let mut client = begin(&owner).await;
    let mut elsewhere = connect(&other, "ada", "/ws?chat=c").await;
    let shown = tree(&mut client).await;
    assert_eq!(tree(&mut elsewhere).await, shown);
    assert_eq!(statuses(&shown), ["running", "running", "completed"]);
    assert!(shown[0].contains(r#""args":{"a":[null],"b":1.5}"#), "{shown:?}");

    // The list of agents has them too.
    let listed = send(&owner, "ada", Method::GET, "/c/agents").await;
    assert_eq!(send(&other, "ada", Method::GET, "/c/agents").await, listed);
    let listed: Value = serde_json::from_str(&listed.1).unwrap();
    assert_eq!(listed["agents"].as_array().unwrap().len(), 3);
    assert_eq!(listed["agents"][1]["parentId"], listed["agents"][0]["agentId"]);
    assert_eq!(
        (&listed["agents"][2]["text"], &listed["agents"][0]["depth"]),
        (&json!("Work on Price then?."), &json!(0))
    );
}

#[tokio::test(start_paused = true)]
async fn a5_31_every_server_has_the_tree_of_a_chat() {
    two_servers_have_one_tree(MemoryStore::new()).await;
}

#[tokio::test(start_paused = true)]
async fn a5_31_every_server_has_the_tree_of_an_encrypted_chat() {
    let keys = EncryptionKeys::new("1", "at least thirty-two bytes of randomness").unwrap();
    two_servers_have_one_tree(Encrypted::new(MemoryStore::new(), keys)).await;
}

#[tokio::test(start_paused = true)]
async fn a5_31_a_tree_belongs_to_its_principal() {
    let store = MemoryStore::new();
    let (owner, other) = two(&store, &stuck());
    let mut client = begin(&owner).await;
    let root = serde_json::from_str::<Value>(&tree(&mut client).await[0]).unwrap()["agentId"].clone();
    let root = root.as_str().unwrap();
    let none = send(&other, "bob", Method::GET, "/none/agents").await;
    let empty = tree(&mut connect(&other, "bob", "/ws?chat=none").await).await;
    assert_eq!((none.0, empty.len()), (StatusCode::NOT_FOUND, 1));
    for assistant in [&owner, &other] {
        let mut foreign = connect(assistant, "bob", "/ws?chat=c").await;
        assert_eq!(tree(&mut foreign).await, empty);
        foreign.send(&json!({ "type": "user-intervention", "agentId": root, "status": "cancelled" })).await;
        assert_eq!(foreign.next().await, json!({ "type": "error", "error": "There is no such agent." }));
        assert_eq!(send(assistant, "bob", Method::GET, "/c/agents").await, none);
        assert_eq!(send(assistant, "bob", Method::POST, &format!("/c/agents/{root}/stop")).await, none);
    }
    assert_eq!(state(&store).await, Some(RunState::Running));
    assert_eq!(statuses(&tree(&mut client).await), ["running", "running", "completed"]);
}

#[tokio::test(start_paused = true)]
async fn a5_31_one_agent_is_stopped_from_another_server() {
    for over_http in [true, false] {
        let (owner, other) = two(&MemoryStore::new(), &stuck());
        let mut client = begin(&owner).await;
        let mut elsewhere = connect(&other, "ada", "/ws?chat=c").await;
        let child: Value = serde_json::from_str(&tree(&mut elsewhere).await[1]).unwrap();
        let child = child["agentId"].as_str().unwrap();
        let asked = Instant::now();
        if over_http {
            let path = format!("/c/agents/{child}/stop");
            let stopped = send(&other, "ada", Method::POST, &path).await;
            assert_eq!(stopped, (StatusCode::OK, r#"{"stopped":true}"#.to_owned()));
        } else {
            elsewhere
                .send(&json!({ "type": "user-intervention", "agentId": child, "status": "cancelled" }))
                .await;
        }
        let is_cancelled = |frame: &Value| frame["state"]["status"] == "cancelled";
        let ended = client.until_one(is_cancelled).await.pop().unwrap();
        assert_eq!(ended["agentId"], child);
        assert!(asked.elapsed() <= Duration::from_millis(250), "{:?}", asked.elapsed());
        sleep(Duration::from_millis(250)).await;
        let shown = tree(&mut client).await;
        assert_eq!(statuses(&shown), ["running", "cancelled", "completed"], "the root goes on");
        assert_eq!(tree(&mut elsewhere).await, shown);

        // What only the server of the tree can do is refused.
        elsewhere
            .send(&json!({ "type": "user-intervention", "agentId": child, "status": "cancelled" }))
            .await;
        assert_eq!(elsewhere.next().await["error"], "There is no such agent.", "it has ended");
        elsewhere.send(&json!({ "type": "user-response", "agentId": child, "response": "x" })).await;
        assert_eq!(elsewhere.next().await["error"], "This agent has no open question.");
    }
}

#[tokio::test(start_paused = true)]
async fn a5_31_a_tree_is_stopped_from_another_server() {
    let (store, model) = (MemoryStore::new(), stuck());
    let (owner, other) = two(&store, &model);
    let mut client = begin(&owner).await;
    let asked = Instant::now();
    let stopped = send(&other, "ada", Method::POST, "/c/stop").await;
    assert_eq!(stopped, (StatusCode::OK, r#"{"state":"stopped","stopped":true}"#.to_owned()));
    assert!(asked.elapsed() <= Duration::from_millis(250), "{:?}", asked.elapsed());
    let mut ended = 0;
    client
        .until_one(|frame| {
            ended += usize::from(frame["state"]["status"] == "cancelled");
            ended == 2
        })
        .await;
    assert_eq!(model.drops(), 2);
    let shown = tree(&mut client).await;
    assert_eq!(statuses(&shown), ["cancelled", "cancelled", "completed"]);
    assert_eq!(tree(&mut connect(&other, "ada", "/ws?chat=c").await).await, shown);
    assert_eq!(state(&store).await, Some(RunState::Stopped));
    // The connection stays, for the next tree.
    client.start("Compare chairs").await;
    client.until("text-delta").await;
}

/// Without hints, the server of a tree that writes learns of a stop with its next write.
#[tokio::test(start_paused = true)]
async fn a_stop_of_a_tree_needs_no_hints() {
    let words = |_: &LlmPayload| {
        let word =
            |number| Turn::text_chunks([format!("{number} ")]).then(Turn::delay(Duration::from_millis(20)));
        (0..2_000).fold(Turn::new(), |turn, number| turn.then(word(number)))
    };
    let writing = model(move |call, task, payload| match (call, task) {
        (Call::Plan, "Compare lamps") => Some(questions(&["Price now?"])),
        (Call::Work, _) => Some(words(payload)),
        _ => None,
    });
    let (owner, other) = two(&Unsteady::default(), &writing);
    let mut client = connect(&owner, "ada", "/ws?chat=c").await;
    client.start("Compare lamps").await;
    client.until_one(|frame| frame["delta"] == "20 ").await;
    let agents = send(&other, "ada", Method::GET, "/c/agents").await.1;
    let agents: Value = serde_json::from_str(&agents).unwrap();
    let child = agents["agents"][1]["agentId"].as_str().unwrap();
    for (path, ended) in [(format!("/c/agents/{child}/stop"), 1), ("/c/stop".to_owned(), 2)] {
        let asked = Instant::now();
        let (assistant, sent) = (other.clone(), path.clone());
        let stop = tokio::spawn(async move { send(&assistant, "ada", Method::POST, &sent).await.1 });
        client.until_one(|frame| frame["state"]["status"] == "cancelled").await;
        assert!(asked.elapsed() <= Duration::from_millis(150), "{path}: {:?}", asked.elapsed());
        let stopped = stop.await.unwrap();
        assert!(stopped.contains(r#""stopped":true"#), "{stopped}");
        assert_eq!(writing.drops(), ended, "{path}");
    }
}

/// No server goes on with the tree of one that was killed.
#[test]
fn a5_31_the_tree_of_a_killed_server_is_interrupted_and_stays_readable() {
    let store = MemoryStore::new();
    let killed = runtime();
    let shown = killed.block_on(async {
        let mut client = begin(&server(store.clone(), &stuck()).build().unwrap()).await;
        tree(&mut client).await
    });
    drop(killed);
    let unused = ScriptedProvider::new();
    let other = server(store.clone(), &unused).build().unwrap();
    runtime().block_on(async {
        let mut client = connect(&other, "ada", "/ws?chat=c").await;
        assert_eq!(tree(&mut client).await, shown, "the lease is not over");
        tokio::time::advance(Duration::from_secs(7)).await;
        assert_eq!(settled(&store).await, RunState::Interrupted);
        let left = tree(&mut client).await;
        let cancelled: Vec<_> = shown
            .iter()
            .map(|frame| frame.replace(r#""status":"running""#, r#""status":"cancelled""#))
            .collect();
        assert_eq!(left, cancelled, "what the agents had done is kept");
        assert!(left[0].contains("look"), "{left:?}");
        assert!(unused.payloads().is_empty());
        // The chat is free.
        client.start("Compare chairs").await;
        client.until("agent-state").await;
    });
}

#[tokio::test(start_paused = true)]
async fn a_tree_ends_with_its_connection_and_the_next_one_reads_its_states() {
    let (store, model) = (MemoryStore::new(), stuck());
    let (owner, other) = two(&store, &model);
    drop(begin(&owner).await);
    assert_eq!(settled(&store).await, RunState::Stopped);
    assert_eq!(model.drops(), 2);
    let here = tree(&mut connect(&owner, "ada", "/ws?chat=c").await).await;
    assert_eq!(statuses(&here), ["cancelled", "cancelled", "completed"]);
    assert_eq!(tree(&mut connect(&other, "ada", "/ws?chat=c").await).await, here);
    let (_, stream) = send(&other, "ada", Method::GET, "/c/stream").await;
    assert!(stream.contains(r#""type":"abort""#), "{stream}");
}

/// A client that begins two trees at once wants the second one, however late the store begins the first one.
#[tokio::test(start_paused = true)]
async fn a_tree_that_ended_before_its_run_began_takes_no_others_place() {
    let model = model(|call, _, _| {
        (call == Call::Work).then(|| Turn::delay(Duration::from_millis(200)).then(text("Bright.")))
    });
    let store = Unsteady::default();
    let assistant = server(store.clone(), &model).build().unwrap();
    let mut client = connect(&assistant, "ada", "/ws?chat=c").await;
    store.begins_late(100);
    client.start("Compare chairs").await;
    sleep(Duration::from_millis(50)).await;
    client.start("Compare lamps").await;
    let frames = client.until("agent-completed").await;
    assert!(frames.iter().all(|frame| frame["state"]["status"] != "cancelled"), "{frames:?}");
    assert_eq!(written(&frames, frames[0]["agentId"].as_str().unwrap()), "Bright.");
    let shown = tree(&mut client).await;
    assert!(shown[0].contains("Compare lamps") && shown[0].contains("Bright."), "{shown:?}");
}

#[tokio::test(start_paused = true)]
async fn a_tree_that_has_answered_is_a_finished_run_without_messages() {
    let store = MemoryStore::new();
    let (owner, other) = two(&store, &model(|_, _, _| None));
    let mut client = connect(&owner, "ada", "/ws?chat=c").await;
    client.start("Compare lamps").await;
    client.until("agent-completed").await;
    assert_eq!(settled(&store).await, RunState::Finished);
    let shown = tree(&mut client).await;
    assert!(shown[0].contains(r#""result":"Work on Compare lamps.""#), "{shown:?}");
    assert_eq!(tree(&mut connect(&other, "ada", "/ws?chat=c").await).await, shown);
    let threads = send(&other, "ada", Method::GET, "/threads").await.1;
    assert!(threads.contains(r#""id":"c""#), "{threads}");
    let messages = send(&other, "ada", Method::GET, "/threads/c/messages").await.1;
    assert!(messages.contains(r#""messages":[]"#), "{messages}");
    // A conversation begins after it.
    assert!(post(&owner, "Hi").await.1.contains("[DONE]"));
    assert_eq!(
        tree(&mut client).await,
        [r#"{"type":"agent-tree","agentIds":[]}"#],
        "the last run is no tree"
    );
}

/// A page that shows the stream of the chat sees the agents as those that a run asks.
#[tokio::test(start_paused = true)]
async fn viewers_of_the_chat_see_the_agents_of_a_tree() {
    let store = MemoryStore::new();
    let (owner, other) = two(&store, &stuck());
    let client = begin(&owner).await;
    let watch = |assistant: Assistant| {
        tokio::spawn(async move { send(&assistant, "ada", Method::GET, "/c/stream").await.1 })
    };
    let viewers = [watch(owner.clone()), watch(other.clone())];
    sleep(Duration::from_secs(1)).await;
    assert_eq!(send(&other, "ada", Method::POST, "/c/stop").await.0, StatusCode::OK);
    for viewer in viewers {
        let stream = viewer.await.unwrap();
        let agents = stream.matches(r#""type":"data-agent""#).count();
        assert!(agents >= 6 && stream.contains(r#""delta":"begun""#), "{stream}");
        assert!(stream.contains(r#""type":"abort""#) && stream.ends_with("[DONE]\n\n"), "{stream}");
        assert!(!stream.contains("agent-node") && !stream.contains("look"), "{stream}");
    }
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn a_tree_and_a_message_take_each_others_place() {
    let store = MemoryStore::new();
    let model = stuck();
    let (owner, other) = two(&store, &model);
    let mut client = begin(&owner).await;
    let other_model = ScriptedProvider::new().otherwise(|_| text("Hello").then(Turn::pending()));
    let talking = server(store.clone(), &other_model).build().unwrap();
    let talk = tokio::spawn(async move { post(&talking, "Hi").await });
    client.until_one(|frame| frame["state"]["status"] == "cancelled").await;
    while other_model.payloads().is_empty() {
        sleep(Duration::from_millis(5)).await;
    }
    client.start("Compare chairs").await;
    let (status, answer) = talk.await.unwrap();
    assert!(status == StatusCode::OK && answer.contains("abort"), "{answer}");
    client.until("text-delta").await;

    let polite = server(store.clone(), &model).when_busy(WhenBusy::Reject).build().unwrap();
    let mut second = connect(&polite, "ada", "/ws?chat=c").await;
    second.start("Compare tables").await;
    let refused = second.next().await;
    assert_eq!(refused["type"], "error");
    assert!(refused["error"].as_str().unwrap().contains("chat"), "{refused}");
    assert_eq!(post(&polite, "Hi again").await.0, StatusCode::CONFLICT);
    drop((client, other));
}

/// A tree writes no message, so the page shows all of them.
#[tokio::test(start_paused = true)]
async fn the_messages_of_a_chat_are_shown_while_a_tree_works() {
    let store = MemoryStore::new();
    let (owner, other) = two(&store, &stuck());
    let body = |id: &str, role: &str| {
        json!({ "id": id, "role": role, "parts": [{ "type": "text", "text": id }] }).to_string()
    };
    let question = StoredMessage::new("q1", None, body("q1", "user"));
    let answer = StoredMessage::new("a1", Some("q1".into()), body("a1", "assistant"));
    store.save(&Scope::new("ada"), "c", &Change::messages([question, answer])).await.unwrap();
    let client = begin(&owner).await;
    assert_eq!(state(&store).await, Some(RunState::Running));
    for assistant in [&owner, &other] {
        let (_, shown) = send(assistant, "ada", Method::GET, "/threads/c/messages").await;
        assert!(shown.contains(r#""id":"q1""#) && shown.contains(r#""id":"a1""#), "{shown}");
    }
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn a_drain_leaves_no_tree_behind() {
    let store = MemoryStore::new();
    let (owner, other) = two(&store, &stuck());
    let mut client = begin(&owner).await;
    let began = Instant::now();
    let draining = tokio::spawn(async move { owner.drain(Duration::from_millis(100)).await });
    client.until("error").await;
    draining.await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert_eq!(state(&store).await, Some(RunState::Interrupted));
    let left = tree(&mut connect(&other, "ada", "/ws?chat=c").await).await;
    assert_eq!(statuses(&left), ["failed", "failed", "completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_chat_ends_its_tree() {
    let (store, model) = (MemoryStore::new(), stuck());
    let (owner, _) = two(&store, &model);
    let mut client = begin(&owner).await;
    assert_eq!(send(&owner, "ada", Method::DELETE, "/threads/c").await.0, StatusCode::NO_CONTENT);
    client.until_one(|frame| frame["state"]["status"] == "cancelled").await;
    client.start("Compare chairs").await;
    let refused = client.until("error").await.pop().unwrap();
    assert!(refused["error"].as_str().unwrap().contains("deleted"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn only_a_named_chat_of_a_known_user_is_stored() {
    let store = MemoryStore::new();
    let builder = server(store.clone(), &model(|_, _, _| None));
    let assistant = builder.allow_anonymous().build().unwrap();
    let anonymous = Client::with(&assistant, request("/ws?chat=c")).await.unwrap();
    for mut client in [connect(&assistant, "ada", "/ws").await, anonymous] {
        client.start("Compare lamps").await;
        client.until("agent-completed").await;
        assert_eq!(tree(&mut client).await.len(), 2, "the connection has its own tree");
    }
    assert_eq!(state(&store).await, None);
    for chat in ["", "%2F", "a%0Ab", "%ff", "..", &"x".repeat(2_000)] {
        let request = request(&format!("/ws?chat={chat}")).extension(Principal::new("ada"));
        assert_eq!(Client::with(&assistant, request).await.err(), Some(StatusCode::BAD_REQUEST), "{chat}");
    }
    let mut client = connect(&assistant, "ada", "/ws?chat=My%20chat").await;
    client.start("Compare lamps").await;
    client.until("agent-completed").await;
    assert!(send(&assistant, "ada", Method::GET, "/My%20chat/agents").await.1.contains("Compare lamps"));
}
