//! Clients that come back to the stream of a stored run.

use std::time::Duration;

use http::Response;
use omniassist_server::core::FinishReason;

use super::*;

async fn get(assistant: &Assistant, uri: &str, owner: &str) -> Response<AssistantBody> {
    let mut request = Request::get(uri);
    request.extensions_mut().unwrap().insert(Principal::new(owner));
    let request = request.body(Full::<Bytes>::default()).unwrap();
    AssistantService::new(assistant.clone()).handle(request).await
}

async fn read_all(response: Response<AssistantBody>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().into()).unwrap()
}

/// Reads until the text has arrived.
async fn read_until(body: &mut AssistantBody, end: &str) -> String {
    let mut read = String::new();
    while !read.contains(end) {
        let frame = body.frame().await.expect("the stream goes on").unwrap();
        read += str::from_utf8(frame.data_ref().unwrap()).unwrap();
    }
    read
}

fn chunks(stream: &str) -> Vec<Value> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: {"));
    data.map(|data| serde_json::from_str(&format!("{{{data}")).unwrap()).collect()
}

fn types(stream: &str) -> Vec<String> {
    chunks(stream).iter().map(|chunk| chunk["type"].as_str().unwrap().to_owned()).collect()
}

fn text_of(stream: &str) -> String {
    chunks(stream).iter().filter_map(|chunk| chunk["delta"].as_str()).collect()
}

/// A server whose model says `One two ` in two deltas, and ` three` after 5 s.
fn slow() -> (Assistant, MemoryStore) {
    let store = MemoryStore::new();
    let turn = Turn::text_chunks(["One ", "two "])
        .then(Turn::delay(Duration::from_secs(5)))
        .then(Turn::text_chunks(["three"]))
        .then(Turn::finish(FinishReason::Stop));
    let model = ScriptedProvider::new().turn(turn);
    (Assistant::builder(model).store(store.clone()).build().unwrap(), store)
}

#[tokio::test(start_paused = true)]
async fn a_page_that_comes_back_gets_the_whole_message() {
    let (assistant, store) = slow();
    let mut body = open(&assistant, &ask("m1", "Count")).await;
    read_until(&mut body, "two").await;
    drop(body);

    // What is written is one delta, and the rest follows as it is written.
    tokio::time::sleep(Duration::from_millis(150)).await;
    let replay = read_all(get(&assistant, "/c/stream", "ada").await).await;
    let deltas: Vec<_> =
        chunks(&replay).iter().filter_map(|chunk| chunk["delta"].as_str().map(String::from)).collect();
    assert_eq!(deltas, ["One two ", "three"]);
    assert!(replay.ends_with("data: [DONE]\n\n") && !replay.contains("id: "), "{replay}");

    // It has just ended, so the client may have missed the end.
    assert_eq!(settled(&store).await, RunState::Finished);
    let replay = read_all(get(&assistant, "/c/stream", "ada").await).await;
    assert_eq!(text_of(&replay), "One two three");
    assert!(replay.contains("\"finish\""), "{replay}");
}

#[tokio::test(start_paused = true)]
async fn a_client_gets_the_rest_after_a_cursor() {
    let (assistant, store) = slow();
    let response = AssistantService::new(assistant.clone()).handle(request(&ask("m1", "Count"))).await;
    let run = response.headers()["x-omniassist-run"].to_str().unwrap().to_owned();
    let workflow = response.headers()["x-workflow-run-id"].to_str().unwrap().to_owned();
    assert_eq!(workflow, format!("{run}.1"));
    let whole = read_all(response).await;
    settled(&store).await;
    let events: Vec<_> = whole.split_inclusive("\n\n").collect();
    let done = events.len() - 1;
    for (number, event) in events[..done].iter().enumerate() {
        assert!(event.starts_with(&format!("id: 1.{}\n", number + 1)), "{event}");
        let rest: String = events[number..].concat();
        for uri in [format!("/runs/{run}/events?after=1.{number}"), format!("/c/stream?after=1.{number}")] {
            assert_eq!(read_all(get(&assistant, &uri, "ada").await).await, rest, "{uri}");
        }
        let uri = format!("/{workflow}/stream?startIndex={number}");
        assert_eq!(read_all(get(&assistant, &uri, "ada").await).await, rest, "{uri}");
    }
    // An `EventSource` connects again after the end, until it gets 204.
    let uri = format!("/runs/{run}/events?after=1.{done}");
    assert_eq!(get(&assistant, &uri, "ada").await.status(), StatusCode::NO_CONTENT);
    assert_eq!(read_all(get(&assistant, &format!("/runs/{run}/events"), "ada").await).await, whole);

    // A negative index counts from the end.
    let last = get(&assistant, &format!("/{workflow}/stream?startIndex=-2"), "ada").await;
    assert_eq!(last.headers()["x-workflow-stream-tail-index"], (done - 1).to_string());
    assert_eq!(read_all(last).await, events[done - 2..].concat());
}

/// A message that waited for the page has two legs. A client that comes back gets both, with the metadata of both.
#[tokio::test(start_paused = true)]
async fn a_continued_message_is_resumed_whole() {
    let store = MemoryStore::new();
    let rest = Turn::text_chunks(["One "]).then(Turn::delay(Duration::from_secs(5)));
    let rest = rest.then(Turn::text_chunks(["two"])).then(Turn::finish(FinishReason::Stop));
    let model = ScriptedProvider::new().turn(call("page", json!({}))).turn(rest);
    let page =
        Tool::front_end_with_schema("page", "Opens a page", json!({"type": "object"})).title("Open page");
    let assistant = Assistant::builder(model).tool(page).store(store.clone()).build().unwrap();
    post(&assistant, &ask("m1", "Open it")).await;
    assert_eq!(settled(&store).await, RunState::Waiting);

    // A page with the stored messages must not execute the call again.
    let waiting = read_all(get(&assistant, "/c/stream?startIndex=0", "ada").await).await;
    assert_eq!(types(&waiting), ["finish"]);
    let mut message = serde_json::to_value(messages(&store).await.last().unwrap()).unwrap();
    for part in message["parts"].as_array_mut().unwrap() {
        if part["state"] == "input-available" {
            part["state"] = "output-available".into();
            part["output"] = "opened".into();
        }
    }
    let mut body = open(&assistant, &json!({"id": "c", "message": message})).await;
    read_until(&mut body, "One").await;
    drop(body);
    let whole = read_all(get(&assistant, "/c/stream?startIndex=0", "ada").await).await;
    assert_eq!(text_of(&whole), "One two");
    for part in ["opened", "Open page"] {
        assert!(whole.contains(part), "{whole}");
    }
    assert!(!whole.contains("tool-input-available"), "{whole}");
    settled(&store).await;
    let stored = messages(&store).await;
    let metadata = stored.last().unwrap().metadata.as_ref().unwrap();
    assert!(metadata["omniassist"]["tools"].to_string().contains("Open page"), "{metadata}");
}

#[tokio::test(start_paused = true)]
async fn a_cursor_that_the_run_did_not_send_is_an_error() {
    let (assistant, store) = slow();
    post(&assistant, &ask("m1", "Count")).await;
    settled(&store).await;
    for uri in ["/c/stream?after=-1", "/c/stream?after=2.1", "/c/stream?after=0.0", "/c/stream?startIndex=x"]
    {
        let response = get(&assistant, uri, "ada").await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{uri}");
        let body: Value = serde_json::from_str(&read_all(response).await).unwrap();
        assert!(uri.contains(body["error"]["path"].as_str().unwrap()), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_of_long_ago_is_not_replayed() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().otherwise(|_| text("Hello."));
    let build = |window| {
        let builder = Assistant::builder(model.clone()).store(store.clone());
        builder.resume_window(window).build().unwrap()
    };
    let (long, none) = (build(Duration::from_secs(3_600)), build(Duration::ZERO));
    post(&long, &ask("m1", "Hi")).await;
    settled(&store).await;
    assert_eq!(get(&long, "/c/stream", "ada").await.status(), StatusCode::OK);
    std::thread::sleep(Duration::from_millis(2));
    assert_eq!(get(&none, "/c/stream", "ada").await.status(), StatusCode::NO_CONTENT);
}

#[tokio::test(start_paused = true)]
async fn a_replay_of_a_continued_message_has_its_earlier_parts_and_executes_nothing() {
    let store = MemoryStore::new();
    let slow = Turn::text("It is ").then(Turn::delay(Duration::from_secs(5))).then(text("refunded."));
    let model = ScriptedProvider::new()
        .turn(Turn::text("One moment.").then(call("refund", json!({"order": 17}))))
        .turn(slow);
    let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("ok") })
        .requires_approval(Approval::always());
    let assistant = Assistant::builder(model).tool(refund).store(store.clone()).build().unwrap();
    post(&assistant, &ask("m1", "Refund it")).await;
    assert_eq!(settled(&store).await, RunState::Waiting);

    // The client may have lost its connection before it got the question.
    let asked = read_all(get(&assistant, "/c/stream", "ada").await).await;
    assert!(asked.contains("tool-approval-request") && !asked.contains("tool-input-available"), "{asked}");

    let head = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
    let call = &head.obligations[0].call;
    let uri = format!("/runs/{}/obligations/{call}", head.run);
    let answered = send(&assistant, &uri, &json!({"approved": true}), "ada").await;
    assert_eq!(answered.status(), StatusCode::OK);
    assert_eq!(read_all(answered).await, "{\"state\":\"running\"}");
    tokio::time::sleep(Duration::from_millis(150)).await;

    let replay = read_all(get(&assistant, "/c/stream", "ada").await).await;
    assert_eq!(types(&replay).iter().filter(|kind| *kind == "start").count(), 1, "{replay}");
    assert!(!replay.contains("tool-input-available") && replay.contains("tool-output-available"), "{replay}");
    assert!(replay.contains("One moment.") && text_of(&replay).ends_with("It is refunded."), "{replay}");

    // The question has its answer.
    let again = send(&assistant, &uri, &json!({"approved": false}), "ada").await;
    assert_eq!(again.status(), StatusCode::CONFLICT);
}

/// `useChat` executes a call at `tool-input-available`, and the page may have done so before.
#[tokio::test(start_paused = true)]
async fn a_replay_executes_no_call_of_a_live_run() {
    let store = MemoryStore::new();
    let slow = Turn::text("Looking ").then(Turn::delay(Duration::from_secs(5))).then(text("done."));
    let model = ScriptedProvider::new().turn(call("look", json!({"order": 17}))).turn(slow);
    let look = Tool::new("look", "Looks", || async { Ok::<_, ToolError>("In Kiel") });
    let assistant = Assistant::builder(model).tool(look).store(store.clone()).build().unwrap();
    let mut body = open(&assistant, &ask("m1", "Look")).await;
    assert!(read_until(&mut body, "Looking").await.contains("tool-input-available"));
    drop(body);
    tokio::time::sleep(Duration::from_millis(150)).await;
    let replay = read_all(get(&assistant, "/c/stream", "ada").await).await;
    assert!(!replay.contains("tool-input-available") && replay.contains("In Kiel"), "{replay}");
    assert!(replay.contains(r#""inputTextDelta":"{\"order\":17}""#), "{replay}");
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_run_that_it_names() {
    let (assistant, store) = slow();
    let response = AssistantService::new(assistant.clone()).handle(request(&ask("m1", "Count"))).await;
    let run = response.headers()["x-omniassist-run"].to_str().unwrap().to_owned();
    let mut body = response.into_body();
    read_until(&mut body, "two").await;

    let other = json!({"runId": omniassist_server::store::RunId::random().to_string()});
    let late = read_all(send(&assistant, "/c/stop", &other, "ada").await).await;
    assert_eq!(late, r#"{"state":null,"stopped":false}"#);
    let stopped = read_all(send(&assistant, "/c/stop", &json!({"runId": run}), "ada").await).await;
    assert_eq!(stopped, r#"{"state":"stopped","stopped":true}"#);
    // The answer comes when the end is durable.
    assert_eq!(state(&store).await, RunState::Stopped);
    assert_eq!(messages(&store).await.last().unwrap().text(), "One two ");
    let again = read_all(send(&assistant, &format!("/runs/{run}/stop"), &json!({}), "ada").await).await;
    assert_eq!(again, r#"{"state":"stopped","stopped":false}"#);

    // `WorkflowChatTransport` asks until it has read `finish`.
    let rest = read_all(get(&assistant, &format!("/{run}.1/stream?startIndex=99"), "ada").await).await;
    assert_eq!(types(&rest), ["finish"]);
}

#[tokio::test(start_paused = true)]
async fn a_run_in_the_background_is_read_later() {
    let (assistant, store) = slow();
    let mut posted = request(&ask("m1", "Count"));
    posted.headers_mut().insert("prefer", "respond-async".parse().unwrap());
    posted.extensions_mut().insert(omniassist_server::http::MountPath::new("/api/assistant"));
    let response = AssistantService::new(assistant.clone()).handle(posted).await;
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    let url = response.headers()[header::LOCATION].to_str().unwrap().to_owned();
    let url = url.strip_prefix("/api/assistant").unwrap();

    let about: Value = serde_json::from_str(&read_all(get(&assistant, url, "ada").await).await).unwrap();
    assert_eq!((&about["state"], &about["chatId"]), (&"running".into(), &"c".into()));
    assert_eq!(settled(&store).await, RunState::Finished);
    let about: Value = serde_json::from_str(&read_all(get(&assistant, url, "ada").await).await).unwrap();
    assert_eq!(about["state"], "finished");
    assert!(about["usage"].is_object() && about["endedAt"].is_u64(), "{about}");
}

#[tokio::test(start_paused = true)]
async fn a_post_that_is_repeated_begins_no_second_run() {
    let (assistant, store) = slow();
    let post = async |key: &str| {
        let mut posted = request(&ask("m1", "Count"));
        posted.headers_mut().insert("idempotency-key", key.parse().unwrap());
        let response = AssistantService::new(assistant.clone()).handle(posted).await;
        assert_eq!(response.status(), StatusCode::OK);
        (response.headers()["x-omniassist-run"].to_str().unwrap().to_owned(), response)
    };
    let (first, lost) = post("k-1").await;
    // While the run goes on, and after its end.
    let (second, joined) = post("k-1").await;
    assert_eq!(first, second);
    assert_eq!(text_of(&read_all(joined).await), "One two three");
    drop(lost);
    settled(&store).await;
    let (third, repeated) = post("k-1").await;
    assert_eq!(first, third);
    assert_eq!(text_of(&read_all(repeated).await), "One two three");
}

async fn send(assistant: &Assistant, uri: &str, body: &Value, owner: &str) -> Response<AssistantBody> {
    let mut request = Request::post(uri).header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new(owner));
    let request = request.body(Full::<Bytes>::from(body.to_string())).unwrap();
    AssistantService::new(assistant.clone()).handle(request).await
}

/// Returns an answer as bytes.
async fn raw(response: Response<AssistantBody>) -> (StatusCode, String, String) {
    let (status, headers) = (response.status(), format!("{:?}", response.headers()));
    (status, headers, read_all(response).await)
}

/// The run of another principal is not told from one that does not exist.
#[tokio::test(start_paused = true)]
async fn other_principals_find_nothing() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().turn(call("refund", json!({"order": 17})));
    let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("ok") })
        .requires_approval(Approval::always());
    let assistant = Assistant::builder(model).tool(refund).store(store.clone()).build().unwrap();
    post(&assistant, &ask("m1", "Refund it")).await;
    settled(&store).await;
    let head = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
    let call = &head.obligations[0].call;
    let none = omniassist_server::store::RunId::random();

    for route in [
        "/{run}/stream",
        "/{run}/stream?after=1.0",
        "/{run}/stream?startIndex=0",
        "/{run}.1/stream?startIndex=-1",
        "/runs/{run}",
        "/runs/{run}/events",
        "/runs/{run}/events?after=1.1",
    ] {
        let of = |run: &dyn std::fmt::Display| route.replace("{run}", &run.to_string());
        let own = raw(get(&assistant, &of(&head.run), "ada").await).await;
        let theirs = raw(get(&assistant, &of(&head.run), "eve").await).await;
        let missing = raw(get(&assistant, &of(&none), "eve").await).await;
        assert_eq!(theirs, missing, "{route}");
        assert_ne!(own, missing, "{route}");
    }
    for route in ["/c/stream", "/c/stream?after=1.0", "/c/stream?startIndex=0"] {
        let missing = raw(get(&assistant, &route.replace("/c/", "/d/"), "eve").await).await;
        assert_eq!(raw(get(&assistant, route, "eve").await).await, missing, "{route}");
    }
    let answer = json!({"approved": true, "runId": head.run.to_string()});
    let obligation = format!("/runs/{{run}}/obligations/{call}");
    for route in ["/runs/{run}/stop", &obligation] {
        let of = |run: &dyn std::fmt::Display| route.replace("{run}", &run.to_string());
        let theirs = raw(send(&assistant, &of(&head.run), &answer, "eve").await).await;
        assert_eq!(theirs, raw(send(&assistant, &of(&none), &answer, "eve").await).await, "{route}");
    }
    let missing = raw(send(&assistant, "/d/stop", &answer, "eve").await).await;
    assert_eq!(raw(send(&assistant, "/c/stop", &answer, "eve").await).await, missing);
    // Nothing has happened to the run.
    assert_eq!(state(&store).await, RunState::Waiting);
}
