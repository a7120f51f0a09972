//! Viewers of stored runs over the service.

use std::time::Duration;

use tokio::time::timeout;

use super::*;

/// Returns the text deltas of an AI SDK stream.
fn deltas(stream: &str) -> String {
    let chunks = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    let chunks = chunks.filter_map(|chunk| serde_json::from_str::<Value>(chunk).ok());
    chunks.filter_map(|chunk| chunk["delta"].as_str().map(str::to_owned)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_slow_viewer_reads_the_journal() {
    let store = MemoryStore::new();
    // More events than are kept in memory, over enough time that they are written.
    let words: Vec<String> = (0..900).map(|number| format!("{number} ")).collect();
    let turn = words.iter().fold(Turn::new(), |turn, word| {
        turn.then(Turn::text_chunks([word.clone()])).then(Turn::delay(Duration::from_millis(1)))
    });
    let model = ScriptedProvider::new().turn(turn);
    let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();

    let mut body = open(&assistant, &ask("m1", "Count")).await;
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(settled(&store).await, RunState::Finished);
    let rest = body.collect().await.unwrap().to_bytes();
    let stream = [str::from_utf8(&first).unwrap(), str::from_utf8(&rest).unwrap()].concat();
    assert_eq!(deltas(&stream), words.concat());
    assert_eq!(messages(&store).await.last().unwrap().text(), words.concat());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_before_the_run_is_stored_leaves_no_run_behind() {
    for polls in 0..20 {
        let store = MemoryStore::new();
        let model = ScriptedProvider::new().turn(text("Hello"));
        let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();
        let service = AssistantService::new(assistant.clone());
        let mut answer = Box::pin(service.handle(request(&ask("m1", "Hi"))));
        for _ in 0..polls {
            let _ = timeout(Duration::ZERO, &mut answer).await;
        }
        drop(answer);
        tokio::time::sleep(Duration::from_secs(1)).await;
        if let Some(run) = store.find(&scope(), Which::Chat("c")).await.unwrap() {
            assert_eq!(run.state, RunState::Finished, "after {polls} polls");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn another_post_takes_the_place_of_a_run() {
    let store = MemoryStore::new();
    let slow = Turn::text("Half").then(Turn::pending());
    let model = ScriptedProvider::new().turn(slow).turn(text("Whole"));
    let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();

    let mut body = open(&assistant, &ask("m1", "Go")).await;
    let _ = body.frame().await;
    drop(body);
    let answer = post(&assistant, &ask("m2", "Again")).await;
    assert!(answer.contains("Whole"), "{answer}");
    let said: Vec<_> = messages(&store).await.iter().map(Message::text).collect();
    assert_eq!(said, ["Go", "Half", "Again", "Whole"]);
}

#[tokio::test(start_paused = true)]
async fn an_ag_ui_client_posts_its_whole_history() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new()
        .turn(Turn::text("Let me look.").then(call("find", json!({"order": 17}))))
        .turn(text("In Kiel."))
        .turn(text("Tomorrow."));
    let find = Tool::new("find", "Finds an order", || async { Ok::<_, ToolError>("Kiel") });
    let assistant = Assistant::builder(model).tool(find).store(store.clone()).build().unwrap();
    let run = async |messages: &Value| {
        let body = json!({"threadId": "c", "runId": "r", "state": {}, "messages": messages, "tools": [],
            "context": [], "forwardedProps": {}});
        let mut request = request(&body);
        *request.uri_mut() = "/ag-ui".parse().unwrap();
        let response = AssistantService::new(assistant.clone()).handle(request).await;
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.into()).unwrap())
    };

    let (status, answer) = run(&json!([{"id": "m1", "role": "user", "content": "Where is 17?"}])).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let events: Vec<Value> =
        answer.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
    let first = |kind: &str, field: &str| {
        events
            .iter()
            .find(|event| event["type"] == kind)
            .map(|event| event[field].clone())
            .unwrap_or_default()
    };
    let message = first("TEXT_MESSAGE_START", "messageId");
    let call = first("TOOL_CALL_START", "toolCallId");
    let last =
        events.iter().rfind(|event| event["type"] == "TEXT_MESSAGE_START").unwrap()["messageId"].clone();
    let history = json!([
        {"id": "m1", "role": "user", "content": "Where is 17?"},
        {"id": message, "role": "assistant", "content": "Let me look.", "toolCalls": [
            {"id": call, "type": "function", "function": {"name": "find", "arguments": "{\"order\":17}"}}]},
        {"id": first("TOOL_CALL_RESULT", "messageId"), "role": "tool", "toolCallId": call, "content": "Kiel"},
        {"id": last, "role": "assistant", "content": "In Kiel."},
        {"id": "m2", "role": "user", "content": "When?"},
    ]);
    let (status, answer) = run(&history).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert!(answer.contains("Tomorrow."), "{answer}");
    let said: Vec<_> = messages(&store).await.iter().map(Message::text).collect();
    assert_eq!(said.len(), 4, "{said:?}");
}
