//! Every route, and the answers to unknown paths and methods.

use serde_json::json;

use crate::host::Host;
use crate::stage::{adder, ag_ui_input, assistant, built, chat_request, invoice, run, says, stuck_after};
use crate::transport::Transport;
use crate::wire::{Answer, Ask};

async fn host(on: Transport, words: &'static str) -> Host {
    Host::start(on, &assistant(says(words)).tool(adder()).object(invoice()).build().unwrap()).await
}

async fn ask(host: &Host, ask: Ask) -> Answer {
    host.ask(&ask).await.whole().await
}

pub(crate) async fn run_as_server_sent_events(on: Transport) {
    let answer = ask(&host(on, "Hello").await, run("/assistant")).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("x-vercel-ai-ui-message-stream"), Some("v1"));
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    assert!(answer.text().starts_with("id: 0\ndata: {\"type\":\"start\""), "{}", answer.text());
    assert!(answer.text().ends_with("data: [DONE]\n\n"), "{}", answer.text());
    assert_eq!(answer.words(), "Hello");
}

pub(crate) async fn run_as_ndjson(on: Transport) {
    let answer =
        ask(&host(on, "Hello").await, run("/assistant").header("accept", "application/x-ndjson")).await;
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    let lines = answer.text().lines().map(|line| serde_json::from_str(line).unwrap());
    let kinds: Vec<_> = lines.map(|line: serde_json::Value| line["type"].clone()).collect();
    assert_eq!((&kinds[0], kinds.last().unwrap()), (&json!("start"), &json!("finish")));
}

pub(crate) async fn run_as_plain_text(on: Transport) {
    let answer = ask(&host(on, "Hello").await, run("/assistant?protocol=text")).await;
    assert_eq!((answer.status(), answer.text()), (200, "Hello"));
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
}

pub(crate) async fn completion(on: Transport) {
    let asked = Ask::json("/assistant/completion", &json!({ "prompt": "hi" }));
    assert_eq!(ask(&host(on, "Hello").await, asked).await.words(), "Hello");
}

pub(crate) async fn completion_as_plain_text(on: Transport) {
    let asked = Ask::json("/assistant/completion?protocol=text", &json!({ "prompt": "hi" }));
    assert_eq!(ask(&host(on, "Hello").await, asked).await.text(), "Hello");
}

pub(crate) async fn object_by_name(on: Transport) {
    let host = host(on, "{\"total\":7}").await;
    let answer = ask(&host, Ask::json("/assistant/object/invoice", &json!({ "page": 1 }))).await;
    assert_eq!((answer.status(), answer.text()), (200, "{\"total\":7}"));
    let other = ask(&host, Ask::json("/assistant/object/other", &json!(1))).await;
    assert_eq!((other.status(), &other.json()["error"]["code"]), (404, &json!("object_not_found")));
}

pub(crate) async fn the_only_object(on: Transport) {
    let host = host(on, "{\"total\":7}").await;
    let answer = ask(&host, Ask::json("/assistant/object", &json!("a text"))).await;
    assert_eq!((answer.status(), answer.text()), (200, "{\"total\":7}"));
}

pub(crate) async fn openai_whole(on: Transport) {
    let asked = Ask::json("/assistant/v1/chat/completions", &chat_request(false));
    let answer = ask(&host(on, "Hello").await, asked).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let completion = answer.json();
    assert_eq!(completion["choices"][0]["message"]["content"], "Hello");
    assert_eq!(answer.header("x-request-id"), completion["id"].as_str());
}

pub(crate) async fn openai_streamed(on: Transport) {
    let asked = Ask::json("/assistant/v1/chat/completions", &chat_request(true));
    let answer = ask(&host(on, "Hello").await, asked).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream; charset=utf-8"));
    let events = answer.events();
    let deltas = events.iter().filter_map(|event| event["choices"][0]["delta"]["content"].as_str());
    assert_eq!(deltas.collect::<String>(), "Hello");
    assert!(answer.text().ends_with("data: [DONE]\n\n"));
}

pub(crate) async fn openai_models(on: Transport) {
    let host = host(on, "Hello").await;
    let list = ask(&host, Ask::get("/assistant/v1/models")).await.json();
    assert_eq!(list["data"][0]["id"], "omniassist");
    let one = ask(&host, Ask::get("/assistant/v1/models/omniassist")).await.json();
    assert_eq!(one, list["data"][0]);
    assert_eq!(ask(&host, Ask::get("/assistant/v1/models/gpt")).await.status(), 404);
}

pub(crate) async fn ag_ui(on: Transport) {
    let asked = Ask::json("/assistant/ag-ui", &ag_ui_input("t"));
    let answer = ask(&host(on, "Hello").await, asked).await;
    assert_eq!(answer.event("RUN_STARTED")["threadId"], "t");
    assert_eq!(answer.event("TEXT_MESSAGE_CONTENT")["delta"], "Hello");
    assert_eq!(answer.events().last().unwrap()["type"], "RUN_FINISHED");
}

pub(crate) async fn copilotkit_info(on: Transport) {
    let info = ask(&host(on, "Hello").await, Ask::get("/assistant/copilotkit/info")).await;
    assert_eq!(info.status(), 200);
    assert_eq!(info.json()["agents"]["default"]["name"], "default");
}

pub(crate) async fn copilotkit_run(on: Transport) {
    let host = host(on, "Hello").await;
    let asked = Ask::json("/assistant/copilotkit/agent/default/run", &ag_ui_input("t"));
    let answer = ask(&host, asked).await;
    assert_eq!(answer.event("TEXT_MESSAGE_CONTENT")["delta"], "Hello");
    let asked = Ask::json("/assistant/copilotkit/agent/nobody/run", &ag_ui_input("t"));
    let answer = ask(&host, asked).await;
    assert_eq!((answer.status(), &answer.json()["error"]), (404, &json!("Agent not found")));
}

pub(crate) async fn copilotkit_connect(on: Transport) {
    let asked = Ask::json("/assistant/copilotkit/agent/default/connect", &ag_ui_input("t"));
    let answer = ask(&host(on, "Hello").await, asked).await;
    assert_eq!((answer.status(), answer.text()), (200, ""));
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
}

pub(crate) async fn copilotkit_single_route(on: Transport) {
    let host = host(on, "Hello").await;
    let info = ask(&host, Ask::json("/assistant/copilotkit", &json!({ "method": "info" }))).await;
    assert_eq!(info.json()["mode"], "sse");
    let run = json!({ "method": "agent/run", "params": { "agentId": "default" }, "body": ag_ui_input("t") });
    let answer = ask(&host, Ask::json("/assistant/copilotkit", &run)).await;
    assert_eq!(answer.event("TEXT_MESSAGE_CONTENT")["delta"], "Hello");
}

pub(crate) async fn copilotkit_stop(on: Transport) {
    let host = Host::start(on, &built(stuck_after("so far"))).await;
    let asked = Ask::json("/assistant/copilotkit/agent/default/run", &ag_ui_input("a thread"));
    let mut running = host.ask(&asked).await;
    running.until("so far").await;
    let stop = Ask::json("/assistant/copilotkit/agent/default/stop/a%20thread", &json!({}));
    assert_eq!(ask(&host, stop.clone()).await.json()["stopped"], true);
    running.whole().await;
    assert_eq!(ask(&host, stop).await.json()["stopped"], false);
}

pub(crate) async fn stop_ends_the_run_of_a_chat(on: Transport) {
    let host = Host::start(on, &built(stuck_after("so far"))).await;
    let mut running = host.ask(&run("/assistant")).await;
    running.until("so far").await;
    let stop = Ask::json("/assistant/c/stop", &json!({}));
    assert_eq!(ask(&host, stop.clone()).await.json(), json!({ "stopped": true }));
    assert_eq!(running.whole().await.event("abort")["type"], "abort");
    assert_eq!(ask(&host, stop).await.json(), json!({ "stopped": false }));
}

pub(crate) async fn stream_has_nothing_to_resume(on: Transport) {
    let answer = ask(&host(on, "Hello").await, Ask::get("/assistant/c/stream")).await;
    assert_eq!((answer.status(), answer.text()), (204, ""));
}

pub(crate) async fn manifest(on: Transport) {
    let answer = ask(&host(on, "Hello").await, Ask::get("/assistant/manifest.json")).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("content-length").unwrap(), answer.body.len().to_string());
    let manifest = answer.json();
    assert_eq!(manifest["tools"][0]["name"], "add");
    assert_eq!(manifest["dialects"].as_array().unwrap().len(), 7);
}

pub(crate) async fn types(on: Transport) {
    let answer = ask(&host(on, "Hello").await, Ask::get("/assistant/types.d.ts")).await;
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    assert!(answer.text().contains("export "), "{}", answer.text());
}

pub(crate) async fn head_has_the_headers_of_get_and_no_body(on: Transport) {
    let host = host(on, "Hello").await;
    for path in ["manifest.json", "types.d.ts", "v1/models", "copilotkit/info", "nowhere", ""] {
        let path = format!("/assistant/{path}");
        let get = ask(&host, Ask::get(&path)).await;
        // The next request on the connection would fail if the answer to HEAD had a body.
        let mut connection = host.connect().await;
        let head = connection.ask(&Ask::new("HEAD", &path)).await.whole().await;
        let after = connection.ask(&Ask::get(&path)).await.whole().await;
        assert_eq!((head.status(), head.text()), (get.status(), ""), "{path}");
        assert_eq!(head.header("content-length").unwrap(), get.body.len().to_string(), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
        assert_eq!(after.body, get.body, "{path}");
    }
}

pub(crate) async fn other_methods_are_not_allowed(on: Transport) {
    let host = host(on, "Hello").await;
    for (path, allow, refused) in [
        ("", "POST", ["GET", "PUT", "DELETE"]),
        ("/completion", "POST", ["GET", "PATCH", "HEAD"]),
        ("/object", "POST", ["GET", "PUT", "DELETE"]),
        ("/object/invoice", "POST", ["GET", "PUT", "DELETE"]),
        ("/v1/chat/completions", "POST", ["GET", "PUT", "DELETE"]),
        ("/ag-ui", "POST", ["GET", "PUT", "DELETE"]),
        ("/copilotkit", "POST", ["GET", "PUT", "DELETE"]),
        ("/copilotkit/agent/default/run", "POST", ["GET", "PUT", "DELETE"]),
        ("/copilotkit/info", "GET, HEAD", ["POST", "PUT", "DELETE"]),
        ("/c/stop", "POST", ["GET", "PUT", "DELETE"]),
        ("/c/stream", "GET", ["POST", "PUT", "DELETE"]),
        ("/manifest.json", "GET, HEAD", ["POST", "PUT", "DELETE"]),
        ("/types.d.ts", "GET, HEAD", ["POST", "PROPFIND", "DELETE"]),
        ("/v1/models", "GET, HEAD", ["POST", "PUT", "DELETE"]),
        ("/v1/models/omniassist", "GET, HEAD", ["POST", "PUT", "DELETE"]),
    ] {
        for method in refused {
            let answer = ask(&host, Ask::new(method, format!("/assistant{path}"))).await;
            let found = (answer.status(), answer.header("allow"));
            assert_eq!(found, (405, Some(allow)), "{method} {path}");
            assert_eq!(answer.header("content-type"), Some("application/json"), "{method} {path}");
        }
    }
}

pub(crate) async fn unknown_paths_are_not_found(on: Transport) {
    let host = host(on, "Hello").await;
    for (path, code) in [
        ("/nowhere", "/error/code"),
        ("/a/b/c", "/error/code"),
        ("/manifest.json/x", "/error/code"),
        ("/v1/nowhere", "/error/code"),
        ("/copilotkit/nowhere", "/error"),
    ] {
        for method in ["GET", "POST"] {
            let answer = ask(&host, Ask::new(method, format!("/assistant{path}"))).await;
            assert_eq!(answer.status(), 404, "{method} {path}");
            let code = answer.json().pointer(code).unwrap().as_str().unwrap().to_lowercase();
            assert_eq!(code.replace(' ', "_"), "not_found", "{method} {path}");
        }
    }
}
