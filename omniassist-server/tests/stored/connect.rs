//! Clients of AG-UI that connect to a stored thread.

use std::sync::atomic::Ordering;
use std::time::Duration;

use http::Response;
use omniassist_server::core::FinishReason;
use omniassist_server::store::Change;

use super::elsewhere::get;
use super::outage::Unsteady;
use super::own_store::Own;
use super::*;

const CONNECTS: [&str; 3] = ["/ag-ui/connect", "/copilotkit/agent/default/connect", "/copilotkit"];

fn input(uri: &str, thread: &str) -> Value {
    let input = json!({"threadId": thread, "runId": "r", "state": {}, "messages": [], "tools": [],
        "context": [], "forwardedProps": {}});
    match uri {
        "/copilotkit" => json!({"method": "agent/connect", "params": {"agentId": "default"}, "body": input}),
        _ => input,
    }
}

async fn send(assistant: &Assistant, uri: &str, owner: &str, body: &Value) -> Response<AssistantBody> {
    let mut request = request(body);
    *request.uri_mut() = uri.parse().unwrap();
    match owner {
        "" => request.extensions_mut().remove::<Principal>(),
        owner => request.extensions_mut().insert(Principal::new(owner)),
    };
    AssistantService::new(assistant.clone()).handle(request).await
}

async fn connect(assistant: &Assistant, uri: &str, owner: &str) -> Response<AssistantBody> {
    send(assistant, uri, owner, &input(uri, "c")).await
}

async fn read(response: Response<AssistantBody>) -> String {
    assert_eq!(response.status(), StatusCode::OK);
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().into()).unwrap()
}

fn events(stream: &str) -> Vec<Value> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|event| serde_json::from_str(event).unwrap()).collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// Returns the texts of the last snapshot, and the deltas after it.
fn shown(events: &[Value]) -> (Vec<String>, String) {
    let at = events.iter().rposition(|event| event["type"] == "MESSAGES_SNAPSHOT").unwrap();
    let messages = events[at]["messages"].as_array().unwrap();
    let said = messages.iter().map(|message| message["content"].as_str().unwrap_or_default().to_owned());
    (said.collect(), events[at..].iter().filter_map(|event| event["delta"].as_str()).collect())
}

#[tokio::test(start_paused = true)]
async fn a_client_gets_a_snapshot_and_the_rest_of_the_run() {
    let store = MemoryStore::new();
    let slow = Turn::text_chunks(["One ", "two "])
        .then(Turn::delay(Duration::from_secs(5)))
        .then(Turn::text_chunks(["three"]))
        .then(Turn::finish(FinishReason::Stop));
    let model = ScriptedProvider::new().turn(slow);
    let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();
    let mut body = open(&assistant, &ask("m1", "Count")).await;
    let _ = body.frame().await;
    tokio::time::sleep(Duration::from_millis(150)).await;
    drop(body);
    for uri in CONNECTS {
        let mut viewer = connect(&assistant, uri, "ada").await.into_body();
        let frame = viewer.frame().await.unwrap().unwrap().into_data().unwrap();
        let (said, deltas) = shown(&events(str::from_utf8(&frame).unwrap()));
        assert_eq!((said.concat() + &deltas).as_str(), "CountOne two ", "{uri}");
    }
    let live = events(&read(connect(&assistant, "/ag-ui/connect", "ada").await).await);
    let (said, deltas) = shown(&live);
    assert_eq!((said.concat().as_str(), deltas.as_str()), ("CountOne two ", "three"));
    assert_eq!(kinds(&live).last(), Some(&"RUN_FINISHED"));

    assert_eq!(settled(&store).await, RunState::Finished);
    for uri in CONNECTS {
        let ended = events(&read(connect(&assistant, uri, "ada").await).await);
        let (said, deltas) = shown(&ended);
        assert_eq!((said.concat().as_str(), deltas.as_str()), ("CountOne two three", ""), "{uri}");
        assert_eq!(kinds(&ended).last(), Some(&"RUN_FINISHED"), "{uri}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_threads_of_others_are_not_told_from_none() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().otherwise(|_| text("In Kiel."));
    let assistant = Assistant::builder(model).store(store.clone()).allow_anonymous().build().unwrap();
    post(&assistant, &ask("m1", "Where is order 17?")).await;
    settled(&store).await;
    for uri in CONNECTS {
        let mine = read(connect(&assistant, uri, "ada").await).await;
        assert!(mine.contains("In Kiel."), "{uri}");
        for owner in ["eve", "Ada", ""] {
            let asked = connect(&assistant, uri, owner).await;
            let nothing = send(&assistant, uri, owner, &input(uri, "n")).await;
            assert_eq!(asked.headers(), nothing.headers(), "{uri} {owner}");
            let (asked, nothing) = (read(asked).await, read(nothing).await);
            assert_eq!(asked, nothing.replace("\"threadId\":\"n\"", "\"threadId\":\"c\""), "{uri} {owner}");
            let expected: &[&str] =
                if uri == "/ag-ui/connect" { &["RUN_STARTED", "RUN_FINISHED"] } else { &[] };
            assert_eq!(kinds(&events(&asked)), expected, "{uri} {owner}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_questions_of_a_run_that_waits_are_asked_again() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new()
        .turn(Turn::text("One moment.").then(call("refund", json!({"order": 17}))))
        .turn(text("Done."));
    let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("refunded") })
        .requires_approval(Approval::always());
    let assistant = Assistant::builder(model).tool(refund).store(store.clone()).build().unwrap();
    let run = async |messages: Value, resume: Value| {
        let mut body = input("/ag-ui", "c");
        (body["messages"], body["resume"]) = (messages, resume);
        events(&read(send(&assistant, "/ag-ui", "ada", &body).await).await)
    };
    let first = run(json!([{"id": "m1", "role": "user", "content": "Refund it"}]), Value::Null).await;
    assert_eq!(settled(&store).await, RunState::Waiting);

    for uri in CONNECTS {
        let again = events(&read(connect(&assistant, uri, "ada").await).await);
        let end = again.last().unwrap();
        assert_eq!(end["outcome"], first.last().unwrap()["outcome"], "{uri}");
        let calls = |kind: &str| again.iter().filter(|event| event["type"] == kind).count();
        assert_eq!((calls("TOOL_CALL_START"), calls("TOOL_CALL_RESULT")), (0, 0), "{uri}: {again:?}");
    }
    // A page that was loaded again can answer.
    let again = events(&read(connect(&assistant, "/ag-ui/connect", "ada").await).await);
    let messages =
        again.iter().find(|event| event["type"] == "MESSAGES_SNAPSHOT").unwrap()["messages"].clone();
    let id = &again.last().unwrap()["outcome"]["interrupts"][0]["id"];
    let answer = json!([{"interruptId": id, "status": "resolved", "payload": {"approved": true}}]);
    let last = run(messages, answer).await;
    assert!(kinds(&last).contains(&"TOOL_CALL_RESULT"), "{last:?}");
    assert_eq!(settled(&store).await, RunState::Finished);
    let ended = events(&read(connect(&assistant, "/ag-ui/connect", "ada").await).await);
    let (said, _) = shown(&ended);
    assert_eq!(said, ["Refund it", "One moment.", "refunded", "Done."]);
}

/// One of two questions has its answer when the page is loaded again.
#[tokio::test(start_paused = true)]
async fn only_open_questions_are_asked_again() {
    for (tool, answer) in [("show", json!({"output": "shown"})), ("refund", json!({"approved": true}))] {
        let store = MemoryStore::new();
        let asks = call(tool, json!({"order": 17})).then(call(tool, json!({"order": 18})));
        let show = Tool::front_end_with_schema("show", "Shows an order", json!({"type": "object"}));
        let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("refunded") })
            .requires_approval(Approval::always());
        let model = ScriptedProvider::new().turn(asks).turn(text("Done."));
        let builder = Assistant::builder(model).tool(show).tool(refund);
        let assistant = builder.store(store.clone()).build().unwrap();
        post(&assistant, &ask("m1", "Do it")).await;
        assert_eq!(settled(&store).await, RunState::Waiting);
        let head = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
        let [given, open] = [0, 1].map(|at| head.obligations[at].call.to_string());
        let path = format!("/runs/{}/obligations/{given}", head.run);
        assert!(send(&assistant, &path, "ada", &answer).await.status().is_success());

        for uri in CONNECTS {
            let seen = events(&read(connect(&assistant, uri, "ada").await).await);
            let snapshot = seen.iter().find(|event| event["type"] == "MESSAGES_SNAPSHOT").unwrap();
            let results = snapshot["messages"].as_array().unwrap().iter();
            let results: Vec<_> = results.filter_map(|message| message["toolCallId"].as_str()).collect();
            let interrupts = seen.last().unwrap()["outcome"]["interrupts"].as_array();
            let asked: Vec<_> =
                interrupts.into_iter().flatten().filter_map(|one| one["toolCallId"].as_str()).collect();
            match tool {
                "show" => assert_eq!((results, asked), (vec![&*given], Vec::new()), "{uri}"),
                _ => assert_eq!((results, asked), (Vec::new(), vec![&*open]), "{uri}"),
            }
        }
        let page = read(get(&assistant, "/threads/c/messages").await).await;
        let page: Value = serde_json::from_str(&page).unwrap();
        let parts = page["messages"][1]["parts"].as_array().unwrap().iter();
        let states: Vec<_> = parts.filter_map(|part| part["state"].as_str()).collect();
        if tool == "show" {
            assert_eq!(states, ["output-available", "input-available"]);
            continue;
        }
        assert_eq!(states, ["approval-responded", "approval-requested"]);
        // The page answers the other question.
        let seen = events(&read(connect(&assistant, "/ag-ui/connect", "ada").await).await);
        let snapshot = seen.iter().find(|event| event["type"] == "MESSAGES_SNAPSHOT").unwrap();
        let mut body = input("/ag-ui", "c");
        body["messages"] = snapshot["messages"].clone();
        let id = &seen.last().unwrap()["outcome"]["interrupts"][0]["id"];
        body["resume"] = json!([{"interruptId": id, "status": "resolved", "payload": {"approved": true}}]);
        let last = events(&read(send(&assistant, "/ag-ui", "ada", &body).await).await);
        let results = kinds(&last).into_iter().filter(|kind| *kind == "TOOL_CALL_RESULT").count();
        assert_eq!((results, settled(&store).await), (2, RunState::Finished), "{last:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_stopped_run_is_not_left_to_the_page() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().turn(call("refund", json!({})).then(Turn::pending()));
    let refund = Tool::new("refund", "Refunds an order", || async {
        std::future::pending::<()>().await;
        Ok::<_, ToolError>("refunded")
    });
    let assistant = Assistant::builder(model).tool(refund).store(store.clone()).build().unwrap();
    drop(open(&assistant, &ask("m1", "Refund it")).await);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let stop = send(&assistant, "/copilotkit/agent/default/stop/c", "ada", &json!({})).await;
    assert!(read(stop).await.contains("\"stopped\":true"));
    assert_eq!(settled(&store).await, RunState::Stopped);
    let ended = events(&read(connect(&assistant, "/copilotkit", "ada").await).await);
    let answered = serde_json::to_string(&ended).unwrap();
    assert!(answered.contains("\"toolCallId\"") && !answered.contains("pendingToolCallIds"), "{answered}");
    assert_eq!(kinds(&ended).last(), Some(&"RUN_FINISHED"));
}

/// Runs a server that stops without a word after the model's text was written.
fn kill(store: &MemoryStore, text: &'static str) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let model = ScriptedProvider::new().turn(Turn::text(text).then(Turn::pending()));
        let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();
        let mut body = open(&assistant, &ask("m1", "Go")).await;
        let _ = body.frame().await;
        tokio::time::sleep(Duration::from_millis(250)).await;
    });
}

#[test]
fn text_that_is_withdrawn_after_a_restart_leaves_the_client() {
    for uri in CONNECTS {
        let store = MemoryStore::new();
        kill(&store, "The first try");
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            tokio::time::advance(Duration::from_secs(7)).await;
            let slow = Turn::delay(Duration::from_secs(1)).then(text("The second try"));
            let model = ScriptedProvider::new().turn(slow);
            let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();
            let seen = events(&read(connect(&assistant, uri, "ada").await).await);
            assert_eq!(shown(&seen), (vec!["Go".to_owned()], "The second try".to_owned()), "{uri}");
            assert_eq!(kinds(&seen).last(), Some(&"RUN_FINISHED"));
            assert_eq!(settled(&store).await, RunState::Finished);
        });
    }
}

#[test]
fn a_repeated_post_of_an_ag_ui_client_gets_the_withdrawal() {
    let store = MemoryStore::new();
    let post = async |assistant: &Assistant| {
        let mut body = input("/ag-ui", "c");
        body["messages"] = json!([{"id": "m1", "role": "user", "content": "Go"}]);
        let mut request = request(&body);
        *request.uri_mut() = "/ag-ui".parse().unwrap();
        request.headers_mut().insert("idempotency-key", "k".parse().unwrap());
        AssistantService::new(assistant.clone()).handle(request).await
    };
    let runtime =
        || tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime().block_on(async {
        let model = ScriptedProvider::new().turn(Turn::text("The first try").then(Turn::pending()));
        let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();
        let mut body = post(&assistant).await.into_body();
        let _ = body.frame().await;
        tokio::time::sleep(Duration::from_millis(250)).await;
    });
    runtime().block_on(async {
        tokio::time::advance(Duration::from_secs(7)).await;
        let model = ScriptedProvider::new().turn(text("The second try"));
        let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();
        let seen = events(&read(post(&assistant).await).await);
        assert_eq!(shown(&seen), (vec!["Go".to_owned()], "The second try".to_owned()));
        assert_eq!(kinds(&seen).last(), Some(&"RUN_FINISHED"));
    });
}

#[tokio::test(start_paused = true)]
async fn copilotkit_lists_and_changes_the_threads() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().otherwise(|_| text("In Kiel."));
    let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();
    post(&assistant, &ask("m1", "Where is order 17?")).await;
    settled(&store).await;
    let call = async |method: &str, path: &str, owner: &str, body: Value| {
        let uri = format!("/copilotkit{path}");
        let mut request = request(&body);
        (*request.method_mut(), *request.uri_mut()) = (method.parse().unwrap(), uri.parse().unwrap());
        request.extensions_mut().insert(Principal::new(owner));
        let own = AssistantService::new(assistant.clone()).handle(request).await;
        let status = own.status();
        let own = String::from_utf8(own.into_body().collect().await.unwrap().to_bytes().into()).unwrap();
        (status, serde_json::from_str::<Value>(&own).unwrap())
    };
    let single = async |method: &str, path: &str, owner: &str, body: Value| {
        let params = json!({"path": path, "httpMethod": method});
        let envelope = json!({"method": "resource/request", "params": params, "body": body});
        call("POST", "", owner, envelope).await
    };
    let (status, listed) = call("GET", "/threads?agentId=default", "ada", json!({})).await;
    assert_eq!(status, StatusCode::OK);
    let thread = &listed["threads"][0];
    assert_eq!((&thread["id"], &thread["name"]), (&json!("c"), &json!("Where is order 17?")));
    assert_eq!((&thread["agentId"], &thread["archived"]), (&json!("default"), &json!(false)));
    assert!(thread["updatedAt"].as_str().unwrap().ends_with('Z'));
    assert_eq!(single("GET", "/threads?agentId=default", "ada", json!({})).await.1, listed);

    for (method, path, body) in [
        ("PATCH", "/threads/c", json!({"agentId": "default", "name": "Mine"})),
        ("PATCH", "/threads/c", json!({"agentId": "default", "archived": false})),
        ("DELETE", "/threads/c", json!({"agentId": "default"})),
        ("POST", "/threads/c/archive", json!({"agentId": "default"})),
    ] {
        let asked = call(method, path, "eve", body.clone()).await;
        assert_eq!(
            asked,
            call(method, &path.replace("/c", "/n"), "eve", body.clone()).await,
            "{method} {path}"
        );
        assert_eq!(asked, single(method, path, "eve", body).await, "{method} {path}");
        assert!(asked.0.is_client_error(), "{method} {path}");
    }
    assert_eq!(call("GET", "/threads", "eve", json!({})).await.1, json!({"threads": [], "nextCursor": null}));
    assert_eq!(call("GET", "/threads?agentId=default", "ada", json!({})).await.1, listed);

    let named = single("PATCH", "/threads/c", "ada", json!({"agentId": "default", "name": "Order 17"})).await;
    assert_eq!((named.0, &named.1["name"]), (StatusCode::OK, &json!("Order 17")));
    let (status, _) = call("PATCH", "/threads/c", "ada", json!({"agentId": "default", "name": " "})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let deleted = call("DELETE", "/threads/c", "ada", json!({"agentId": "default"})).await;
    assert_eq!(deleted, (StatusCode::OK, json!({"threadId": "c", "deleted": true})));
    assert_eq!(call("GET", "/threads", "ada", json!({})).await.1["threads"], json!([]));
    let (_, info) = call("GET", "/info", "ada", json!({})).await;
    assert_eq!(info["threadEndpoints"]["mutations"], true);
    assert_eq!(info["singleRoute"]["threadEndpoints"], info["threadEndpoints"]);
}

/// The answer is stored between the read of the journal and that of the conversation.
#[tokio::test(start_paused = true)]
async fn an_answer_that_ends_while_a_client_connects_is_shown_once() {
    let (runs, own) = (Unsteady::default(), Own::default());
    runs.append_ms.store(30, Ordering::SeqCst);
    let model = ScriptedProvider::new().turn(Turn::delay(Duration::from_millis(20)).then(text("In Kiel.")));
    let builder = Assistant::builder(model).store(runs.clone()).conversations(own.clone());
    let assistant = builder.build().unwrap();
    let body = open(&assistant, &ask("m1", "Where is order 17?")).await;
    own.load_ms.store(200, Ordering::SeqCst);
    let seen = events(&read(connect(&assistant, "/ag-ui/connect", "ada").await).await);
    let (said, deltas) = shown(&seen);
    assert_eq!(said.concat() + &deltas, "Where is order 17?In Kiel.", "{seen:?}");
    assert_eq!(kinds(&seen).last(), Some(&"RUN_FINISHED"));
    assert_eq!(settled(&runs.store).await, RunState::Finished);
    drop(body);
}

/// The answer arrives between the look at the run and the read of its journal.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_answered_while_a_client_connects_is_followed_to_its_end() {
    let (store, own) = (MemoryStore::new(), Own::default());
    let slow = Turn::delay(Duration::from_secs(5)).then(text("In Kiel."));
    let model = ScriptedProvider::new().turn(call("show", json!({"order": 17}))).turn(slow);
    let show = Tool::front_end_with_schema("show", "Shows an order", json!({"type": "object"}));
    let builder = Assistant::builder(model).tool(show).store(store.clone()).conversations(own.clone());
    let assistant = builder.build().unwrap();
    post(&assistant, &ask("m1", "Where is order 17?")).await;
    assert_eq!(settled(&store).await, RunState::Waiting);
    let head = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
    let path = format!("/runs/{}/obligations/{}", head.run, head.obligations[0].call);
    own.load_ms.store(200, Ordering::SeqCst);
    let answer = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        send(&assistant, &path, "ada", &json!({"output": "shown"})).await
    };
    let seen = async { events(&read(connect(&assistant, "/ag-ui/connect", "ada").await).await) };
    let (seen, answered) = tokio::join!(seen, answer);
    assert!(answered.status().is_success(), "{:?}", answered.status());
    assert_eq!(kinds(&seen).last(), Some(&"RUN_FINISHED"), "{seen:?}");
    assert!(shown(&seen).1.ends_with("In Kiel."), "{seen:?}");
}

/// The page has gone back to the first branch of a question that it has edited.
#[tokio::test(start_paused = true)]
async fn the_run_of_another_branch_is_not_shown() {
    let waits = call("refund", json!({"order": 17}));
    let goes_on = Turn::text("Half of").then(Turn::pending());
    for (turn, state) in [(waits, RunState::Waiting), (goes_on, RunState::Running)] {
        let store = MemoryStore::new();
        let model = ScriptedProvider::new().turn(text("In Kiel.")).turn(turn);
        let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("refunded") })
            .requires_approval(Approval::always());
        let build = |model: ScriptedProvider| {
            Assistant::builder(model).tool(refund.clone()).store(store.clone()).build().unwrap()
        };
        let assistant = build(model);
        post(&assistant, &ask("m1", "Where is order 17?")).await;
        settled(&store).await;
        let mut change = Change::default();
        change.head = messages(&store).await.last().map(|last| last.id.clone());
        let _body = open(&assistant, &ask("m1", "Refund order 17")).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let found = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
        assert_eq!(found.state, state);
        // The branch of the run is shown first.
        assert_eq!(get(&assistant, "/c/stream").await.status(), StatusCode::OK, "{state:?}");
        store.save(&scope(), "c", &change).await.unwrap();

        for server in [&assistant, &build(ScriptedProvider::new())] {
            let seen = events(&read(connect(server, "/ag-ui/connect", "ada").await).await);
            let (said, deltas) = shown(&seen);
            assert_eq!(
                (said.concat().as_str(), deltas.as_str()),
                ("Where is order 17?In Kiel.", ""),
                "{seen:?}"
            );
            let end = seen.last().unwrap();
            assert_eq!(end["type"], "RUN_FINISHED", "{seen:?}");
            assert!(!serde_json::to_string(&seen).unwrap().contains("refund"), "{seen:?}");
            assert_eq!(get(server, "/c/stream").await.status(), StatusCode::NO_CONTENT, "{state:?}");
        }
    }
}
