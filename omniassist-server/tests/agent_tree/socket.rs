//! The WebSocket, in memory.

use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use omniassist_server::agents::Explore;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::{Agent, Assistant};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::time::sleep;
use tokio_tungstenite::tungstenite::Message;

use super::{Call, Client, ask, builder, model, prompt, questions, request, written};
use crate::stored::restart::runtime;

fn quiet(model: &ScriptedProvider) -> Assistant {
    builder(model).explore(Explore::new().asks(false)).build().unwrap()
}

/// The first frame is compared by its bytes.
#[tokio::test]
async fn a5_1_to_9_a_conversation() {
    let model = model(|call, task, _| match (call, task) {
        (Call::Block, "Compare lamps") => Some(ask("Which year?")),
        (Call::Plan, _) => Some(questions(&["Price now?"])),
        _ => None,
    });
    let assistant = builder(&model).build().unwrap();
    let mut client = Client::open(&assistant).await;
    client.send(&json!({ "type": "get-agent-tree" })).await;
    assert_eq!(client.raw().await, r#"{"type":"agent-tree","agentIds":[]}"#);

    client.start("Compare lamps").await;
    let first = client.raw().await;
    let value: Value = serde_json::from_str(&first).unwrap();
    let (id, created) = (value["agentId"].as_str().unwrap(), &value["state"]["createdAt"]);
    let wanted = format!(
        r#"{{"type":"agent-state","agentId":"{id}","state":{{"agentId":"{id}","parentId":null,"status":"running","userContent":"Compare lamps","userComment":null,"subagents":[],"messages":[{{"role":"user","content":"Compare lamps"}}],"result":null,"metadata":{{"name":"explore","depth":0,"step":1}},"createdAt":{created}}}}}"#
    );
    assert_eq!(first, wanted);

    let asked = client.until("user-query").await.pop().unwrap();
    assert_eq!(asked, json!({ "type": "user-query", "agentId": id, "prompt": "Which year?" }));
    client.send(&json!({ "type": "user-response", "agentId": id, "response": "2024" })).await;
    let frames = client.until("agent-completed").await;
    assert_eq!(*frames.last().unwrap(), json!({ "type": "agent-completed" }));
    assert_eq!(written(&frames, id), "Work on Compare lamps.\n\nAll in all.");

    client.send(&json!({ "type": "user-response", "agentId": id, "response": "again" })).await;
    assert_eq!(client.next().await, json!({ "type": "error", "error": "This agent has no open question." }));
    client.send(&json!({ "type": "get-agent-tree" })).await;
    let tree = client.until("agent-tree").await;
    let ids: Vec<_> = tree[..2].iter().map(|frame| frame["agentId"].clone()).collect();
    assert_eq!(tree[2], json!({ "type": "agent-tree", "agentIds": ids }));
    assert_eq!((&tree[0]["state"]["subagents"], &tree[1]["state"]["parentId"]), (&json!([ids[1]]), &ids[0]));
}

#[tokio::test]
async fn the_extended_protocol_numbers_its_frames() {
    let model = model(|call, _, _| (call == Call::Block).then(|| ask("Which year?")));
    let assistant = builder(&model).build().unwrap();
    let offer = request("/ws").header("sec-websocket-protocol", "other, omniassist.agents.v1");
    let mut client = Client::with(&assistant, offer).await.unwrap();
    assert_eq!(client.headers["sec-websocket-protocol"], "omniassist.agents.v1");
    client.send(&json!({ "type": "user-response", "agentId": "x", "response": "y" })).await;
    assert_eq!(
        client.raw().await,
        r#"{"type":"error","error":"This agent has no open question.","code":"no_such_query","seq":1}"#
    );
    client.start("Compare lamps").await;
    let mut frames = client.until("user-query").await;
    let asked = frames.last().unwrap();
    assert!(asked["queryId"].is_string());
    client.send(&json!({ "type": "user-response", "agentId": asked["agentId"], "response": "2024" })).await;
    frames.extend(client.until("agent-completed").await);
    let numbers: Vec<_> = frames.iter().map(|frame| frame["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (2..2 + frames.len() as u64).collect::<Vec<_>>());
    assert_eq!(frames.last().unwrap()["result"], "Work on Compare lamps.");
}

#[tokio::test]
async fn a5_11_each_connection_has_its_own_questions() {
    let model = model(|call, task, _| (call == Call::Block).then(|| ask(&format!("About {task}?"))));
    let assistant = builder(&model).build().unwrap();
    let (mut one, mut other) = (Client::open(&assistant).await, Client::open(&assistant).await);
    one.start("red lamps").await;
    other.start("blue lamps").await;
    let asked_one = one.until("user-query").await.pop().unwrap();
    let asked_other = other.until("user-query").await.pop().unwrap();
    assert_eq!(
        (&asked_one["prompt"], &asked_other["prompt"]),
        (&json!("About red lamps?"), &json!("About blue lamps?"))
    );
    // The question of another connection cannot be answered.
    other.send(&json!({ "type": "user-response", "agentId": asked_one["agentId"], "response": "x" })).await;
    assert_eq!(other.next().await["type"], "error");
    // The end of one connection leaves the other one.
    drop(other);
    one.send(&json!({ "type": "user-response", "agentId": asked_one["agentId"], "response": "2024" })).await;
    one.until("agent-completed").await;
}

#[tokio::test]
async fn a_new_agent_supersedes_the_one_before() {
    let model = model(|call, task, _| match (call, task) {
        (Call::Work, "red lamps") => Some(text("begun").then(Turn::pending())),
        _ => None,
    });
    let assistant = quiet(&model);
    let mut client = Client::open(&assistant).await;
    client.start("red lamps").await;
    client.until("text-delta").await;
    client.start("blue lamps").await;
    let frames = client.until("agent-completed").await;
    assert_eq!(model.drops(), 1);
    assert_eq!(frames[0]["state"]["userContent"], "blue lamps");
    client.send(&json!({ "type": "get-agent-tree" })).await;
    assert_eq!(client.until("agent-tree").await.len(), 2, "the tree has one agent");
}

#[tokio::test]
async fn a5_26_a_connection_that_ends_ends_its_agents() {
    let model = model(|call, _, _| match call {
        Call::Plan => Some(questions(&["a b?", "c d?", "e f?"])),
        Call::Work => Some(text("begun").then(Turn::pending())),
        _ => None,
    });
    for says_goodbye in [true, false] {
        let before = model.drops();
        let mut client = Client::open(&quiet(&model)).await;
        client.start("Compare lamps").await;
        let mut begun = 0;
        client
            .until_one(|frame| {
                frame["type"] == "text-delta" && {
                    begun += 1;
                    begun == 4
                }
            })
            .await;
        let since = Instant::now();
        if says_goodbye {
            client.socket.close(None).await.unwrap();
        } else {
            drop(client);
        }
        while model.drops() < before + 4 {
            assert!(since.elapsed() < Duration::from_millis(250), "{} of 4", model.drops() - before);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

#[tokio::test]
async fn a_named_agent_has_its_own_tree() {
    let own = model(|_, _, _| None);
    let sales = Agent::new("sales", "Sells lamps.").provider(own.clone()).system_prompt("You sell.");
    let hidden = Agent::new("hidden", "Is hidden.").visible_to(|_| false);
    let other = ScriptedProvider::new();
    let assistant = builder(&other).agent(sales).agent(hidden).build().unwrap();
    for path in ["/ws?agent=sales", "/agents/sales/ws", "/api/run/sales/ws"] {
        let mut client = Client::with(&assistant, request(path)).await.unwrap();
        client.start("Compare lamps").await;
        client.until("agent-completed").await;
    }
    assert!(own.payloads().iter().all(|payload| payload.system.as_deref() == Some("You sell.")));
    for path in ["/ws?agent=nobody", "/ws?agent=hidden", "/agents/hidden/ws"] {
        assert_eq!(Client::with(&assistant, request(path)).await.err().unwrap(), 404, "{path}");
    }
}

/// A browser can send no pong within a frame.
#[tokio::test(start_paused = true)]
async fn a_frame_that_arrives_slowly_is_a_sign_of_life() {
    let mut client = Client::open(&quiet(&model(|_, _, _| None))).await;
    let text = r#"{"type":"get-agent-tree"}"#;
    // A masked text, whose mask changes nothing.
    let head = [0x81, 0x80 | u8::try_from(text.len()).unwrap(), 0, 0, 0, 0];
    for byte in head.into_iter().chain(text.bytes()) {
        client.socket.get_mut().write_all(&[byte]).await.unwrap();
        sleep(Duration::from_secs(5)).await;
    }
    client.until("agent-tree").await;
}

#[tokio::test(start_paused = true)]
async fn a_client_without_a_sign_of_life_is_gone_after_30_seconds() {
    let model = model(|call, _, _| (call == Call::Work).then(|| text("begun").then(Turn::pending())));
    let assistant = quiet(&model);
    let mut silent = Client::open(&assistant).await;
    silent.start("Compare lamps").await;
    silent.until("text-delta").await;
    // Nobody reads, so nobody answers the ping.
    tokio::time::sleep(Duration::from_secs(29)).await;
    assert_eq!(model.drops(), 0);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(model.drops(), 1);

    // One that reads answers by itself.
    let mut awake = Client::open(&assistant).await;
    awake.start("Compare lamps").await;
    awake.until("text-delta").await;
    let reads = async { while awake.socket.next().await.is_some() {} };
    let _ = tokio::time::timeout(Duration::from_secs(120), reads).await;
    assert_eq!(model.drops(), 1);
}

/// The agents wait while the client does not read, and end if it does not for too long.
#[tokio::test(start_paused = true)]
async fn a_slow_reader_slows_the_agents_down() {
    let chunks = 20_000;
    let model = model(move |call, _, _| {
        (call == Call::Work).then(|| Turn::text_chunks((0..chunks).map(|_| "0123456789".repeat(10))))
    });
    let assistant = quiet(&model);
    let mut client = Client::buffered(&assistant, request("/ws"), 4096).await.unwrap();
    client.start("Compare lamps").await;
    client.until("text-delta").await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(model.drops(), 0, "2 MB are not written for nobody");
    // All text arrives, in fewer frames than the model has written pieces.
    let frames = client.until("agent-completed").await;
    let bytes: usize = frames.iter().filter_map(|frame| frame["delta"].as_str()).map(str::len).sum();
    assert!(bytes >= (chunks - 200) * 100, "{bytes}");
    let deltas = frames.iter().filter(|frame| frame["type"] == "text-delta").count();
    assert!(deltas < chunks / 10, "{deltas}");

    let mut client = Client::buffered(&assistant, request("/ws"), 4096).await.unwrap();
    client.start("Compare lamps").await;
    client.until("text-delta").await;
    tokio::time::sleep(assistant.limits().write_timeout + Duration::from_secs(1)).await;
    assert_eq!(model.drops(), 1);
}

#[tokio::test]
async fn draining_closes_idle_connections_and_ends_the_others_at_the_deadline() {
    let model = model(|call, _, _| (call == Call::Work).then(|| text("begun").then(Turn::pending())));
    let assistant = quiet(&model);
    let (mut idle, mut busy) = (Client::open(&assistant).await, Client::open(&assistant).await);
    busy.start("Compare lamps").await;
    busy.until("text-delta").await;
    let draining = tokio::spawn({
        let assistant = assistant.clone();
        async move { assistant.drain(Duration::from_millis(300)).await }
    });
    assert_eq!(idle.closed().await, 1001);
    assert_eq!(Client::with(&assistant, request("/ws")).await.err().unwrap(), 503);
    assert_eq!(model.drops(), 0, "the agents have time until the deadline");
    let error = busy.until("error").await.pop().unwrap();
    assert!(error["error"].as_str().unwrap().contains("shutting down") || error["error"].is_string());
    assert_eq!(busy.closed().await, 1001);
    assert_eq!(model.drops(), 1);
    draining.await.unwrap();
}

/// A process that ends after the drain has told its clients.
#[test]
fn a_drain_waits_until_the_connections_are_closed() {
    let ends = runtime();
    let mut client = ends.block_on(async {
        let assistant = quiet(&model(|_, _, _| None));
        let client = Client::open(&assistant).await;
        assistant.drain(Duration::ZERO).await;
        client
    });
    drop(ends);
    assert_eq!(runtime().block_on(client.closed()), 1001);
}

/// The time from a piece of the model to the frame of the client. Loopback and a debug build.
#[tokio::test]
async fn a5_28_a_delta_arrives_within_10_ms() {
    let model = model(|call, _, _| {
        (call == Call::Work).then(|| {
            let pieces = (0..50).flat_map(|_| [text("piece "), Turn::delay(Duration::from_millis(5))]);
            Turn::from(pieces.collect::<Vec<_>>())
        })
    });
    let mut client = Client::open(&quiet(&model)).await;
    client.start("Compare lamps").await;
    client.until("text-delta").await;
    let mut gaps = Vec::new();
    for _ in 0..48 {
        let since = Instant::now();
        client.until("text-delta").await;
        gaps.push(since.elapsed());
    }
    gaps.sort();
    // A piece comes each 5 ms; what is more is the way.
    assert!(gaps[24] < Duration::from_millis(5 + 10), "{gaps:?}");
}

#[tokio::test]
async fn frames_that_cannot_be_used_leave_the_agents_alone() {
    let model = model(|call, _, _| {
        (call == Call::Work)
            .then(|| Turn::from([text("a"), Turn::delay(Duration::from_millis(100)), text("b")]))
    });
    let mut client = Client::open(&quiet(&model)).await;
    client.start("Compare lamps").await;
    client.until("text-delta").await;
    client.socket.send(Message::text("{")).await.unwrap();
    client.socket.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    client.send(&json!({ "type": "stop-agent" })).await;
    client.send(&json!({ "type": "start-agent" })).await;
    client.start(" ").await;
    let frames = client.until("agent-completed").await;
    let errors: Vec<_> = frames.iter().filter(|frame| frame["type"] == "error").collect();
    assert_eq!(errors.len(), 5, "{errors:?}");
    assert!(errors[3]["error"].as_str().unwrap().contains("prompt"), "{errors:?}");
    assert!(frames.iter().any(|frame| frame["delta"] == "b"));
}

#[tokio::test(start_paused = true)]
async fn a_remark_has_64_kib_and_so_have_the_remarks_that_an_agent_reads() {
    const KIB: usize = 1024;
    let model = model(|call, _, payload| {
        (call == Call::Work && payload.transcript.len() == 1 && !prompt(payload).contains("remarked"))
            .then(|| Turn::from([text("begun"), Turn::delay(Duration::from_secs(60)), text("a")]))
    });
    let mut client = Client::open(&quiet(&model)).await;
    client.start("Compare lamps").await;
    let id = client.until("text-delta").await.pop().unwrap()["agentId"].clone();
    let remark = |comment: String| json!({ "type": "user-intervention", "agentId": id, "userContent": "Chairs", "userComment": comment });
    client.send(&remark("x".repeat(64 * KIB + 1))).await;
    let refused = client.until("error").await.pop().unwrap();
    assert_eq!(refused, json!({ "type": "error", "error": "A remark has at most 64 KiB." }));
    client.send(&json!({ "type": "get-agent-tree" })).await;
    let state = client.next().await["state"].take();
    assert_eq!((&state["userContent"], &state["userComment"]), (&json!("Compare lamps"), &Value::Null));

    client.send(&remark("x".repeat(64 * KIB))).await;
    for comment in ["y", "z"] {
        client.send(&remark(comment.repeat(30 * KIB))).await;
    }
    client.until("agent-completed").await;
    let last = prompt(model.payloads().last().unwrap());
    assert_eq!(last.matches("The user remarked").count(), 2, "{} bytes", last.len());
    assert!(last.contains(&"z".repeat(30 * KIB)) && !last.contains("xx"));
}
