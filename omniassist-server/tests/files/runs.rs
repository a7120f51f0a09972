//! Tests of conversations with stored files.

use std::time::Duration;

use omniassist_server::core::transcript::UserContent;
use omniassist_server::core::{LlmPayload, RunRequest, TranscriptItem};
use omniassist_server::files::{FileError, FileLimits, StoredFile};
use omniassist_server::http::{AssistantService, MountPath};
use omniassist_server::store::{
    ConversationStore as _, MemoryStore, RunState, RunStore as _, Scope, Which, Window,
};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::tool::{Tool, ToolContext, ToolError};
use omniassist_server::{Assistant, Principal, RunContext};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::store::Memory;
use super::{Answer, PNG, builder, chat, get, request, serve, upload, upload_as};

const PNG_URL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAAA=";

fn message(id: &str, url: &str) -> Value {
    let file = json!({ "type": "file", "mediaType": "image/png", "filename": "mine.png", "url": url });
    json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": "Look." }, file] })
}

/// Returns the content of the user's messages in the request to the model.
fn sent(payload: &LlmPayload) -> Vec<UserContent> {
    payload
        .transcript
        .iter()
        .filter_map(|item| match item {
            TranscriptItem::User { content } => Some(content.clone()),
            _ => None,
        })
        .flatten()
        .collect()
}

fn png() -> UserContent {
    let (media_type, url) = ("image/png".into(), PNG_URL.into());
    UserContent::File { media_type, url, filename: Some("mine.png".into()) }
}

async fn stored(service: &AssistantService, user: &str) -> String {
    let file = upload_as(service, user, "/files?filename=a.png", "", PNG).await.file();
    file["url"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_stored_file_reaches_the_model_as_its_content() {
    let (model, builder) = builder(Memory::default());
    let service = serve(builder);
    let url = stored(&service, "ann").await;
    for (number, url) in [
        url.clone(),
        format!("/assistant{url}"),
        format!("https://shop.example/assistant{url}"),
        format!("http://127.0.0.1:3000/assistant{url}"),
        PNG_URL.to_owned(),
    ]
    .iter()
    .enumerate()
    {
        let answer = chat(&service, "ann", json!([message("m1", url)])).await;
        assert_eq!(answer.status, 200, "{url}: {:?}", answer.body);
        assert_eq!(sent(&model.payloads()[number])[1], png(), "{url}");
    }
}

#[tokio::test]
async fn other_urls_are_sent_to_the_provider_unchanged() {
    let (model, builder) = builder(Memory::default());
    let service = serve(builder);
    let url = "https://cdn.example/files/file_0123.png";
    assert_eq!(chat(&service, "ann", json!([message("m1", url)])).await.status, 200);
    assert!(matches!(&sent(&model.payloads()[0])[1], UserContent::File { url: sent, .. } if sent == url));
    for refused in ["/elsewhere/a.png", "//cdn.example/a.png", "file:///etc/passwd", "files/x"] {
        let answer = chat(&service, "ann", json!([message("m1", refused)])).await;
        assert_eq!(answer.error(), (400, "invalid_request".to_owned()), "{refused}");
    }
}

#[tokio::test]
async fn an_inaccessible_file_is_refused_before_the_model_is_called() {
    let (store, unknown) = (Memory::default(), "/files/file_00000000000000000000000000000000");
    let (model, builder) = builder(store.clone());
    let service = serve(builder);
    let (own, foreign) = (stored(&service, "ann").await, stored(&service, "bob").await);
    let mut errors = Vec::new();
    for url in [unknown, &foreign] {
        let answer = chat(&service, "ann", json!([message("m0", &own), message("m1", url)])).await;
        assert_eq!(answer.error(), (400, "invalid_request".to_owned()));
        assert_eq!(answer.json()["error"]["path"], "messages[1].parts[1].url");
        errors.push(answer.body);
    }
    store.expire();
    let expired = chat(&service, "ann", json!([message("m0", &own), message("m1", &own)])).await;
    errors.push(expired.body);
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    assert!(model.payloads().is_empty());
}

#[tokio::test]
async fn every_dialect_refuses_an_unknown_file() {
    let (model, builder) = builder(Memory::default());
    let service = serve(builder);
    let url = "/files/file_00000000000000000000000000000000";
    let image =
        json!({ "type": "image", "source": { "type": "url", "value": url, "mimeType": "image/png" } });
    let ag_ui = json!({
        "threadId": "t", "runId": "r", "messages": [{ "id": "m1", "role": "user", "content": [image] }],
    });
    let part = json!({ "type": "image_url", "image_url": { "url": url } });
    let model_name = json!({ "model": "omniassist", "messages": [{ "role": "user", "content": [part] }] });
    for (path, body) in
        [("/ag-ui", &ag_ui), ("/copilotkit/agent/default/run", &ag_ui), ("/v1/chat/completions", &model_name)]
    {
        let mut post = request("ann", "POST", path, body.to_string());
        post.headers_mut().insert("content-type", "application/json".parse().unwrap());
        let answer = Answer::of(service.handle(post).await).await;
        assert_eq!(answer.status, 400, "{path}: {:?}", answer.body);
        assert!(String::from_utf8_lossy(&answer.body).contains("messages[0].parts[0].url"), "{path}");
    }
    assert!(model.payloads().is_empty());
}

#[tokio::test]
async fn every_dialect_sends_the_content_of_a_file() {
    let (model, builder) = builder(Memory::default());
    let service = serve(builder);
    let url = format!("/assistant{}", stored(&service, "ann").await);
    let image =
        json!({ "type": "image", "source": { "type": "url", "value": url, "mimeType": "image/png" } });
    let ag_ui = json!({
        "threadId": "t", "runId": "r", "messages": [{ "id": "m1", "role": "user", "content": [image] }],
        "tools": [], "context": [], "state": null, "forwardedProps": null,
    });
    let part = json!({ "type": "image_url", "image_url": { "url": url } });
    let completion = json!({ "model": "omniassist", "messages": [{ "role": "user", "content": [part] }] });
    for (path, body) in [("/ag-ui", &ag_ui), ("/v1/chat/completions", &completion)] {
        let mut post = request("ann", "POST", path, body.to_string());
        post.headers_mut().insert("content-type", "application/json".parse().unwrap());
        let answer = Answer::of(service.handle(post).await).await;
        assert_eq!(answer.status, 200, "{path}: {:?}", answer.body);
        let payload = model.payloads().pop().unwrap();
        assert!(
            matches!(&sent(&payload)[0], UserContent::File { url, .. } if url == PNG_URL),
            "{path}: {payload:?}"
        );
    }
}

#[tokio::test]
async fn an_older_file_that_is_unavailable_becomes_a_note() {
    let (model, builder) = builder(Memory::default());
    let service = serve(builder);
    let (own, foreign) = (stored(&service, "ann").await, stored(&service, "bob").await);
    let unknown = "/files/file_00000000000000000000000000000000";
    let messages = [message("m0", unknown), message("m1", &foreign), message("m2", &own)];
    assert_eq!(chat(&service, "ann", json!(messages)).await.status, 200);
    let sent = sent(&model.payloads()[0]);
    let note = UserContent::Text { text: "[The attached file \"mine.png\" is no longer available.]".into() };
    assert_eq!([&sent[1], &sent[3], &sent[5]], [&note, &note, &png()]);
}

#[tokio::test]
async fn a_run_that_waits_goes_on_after_a_file_of_its_question_is_gone() {
    let files = Memory::default();
    let model = ScriptedProvider::new().turn(call("navigate", json!({}))).turn(text("You are there."));
    let builder = Assistant::builder(model.clone()).files(files.clone()).store(MemoryStore::new());
    let tool = Tool::front_end_with_schema("navigate", "Opens a page", json!({ "type": "object" }));
    let service = serve(builder.tool(tool));
    let url = stored(&service, "ann").await;
    assert_eq!(chat(&service, "ann", json!([message("m1", &url)])).await.status, 200);
    files.expire();
    let mut messages = get(&service, "ann", "/threads/chat/messages").await.json()["messages"].clone();
    let call = messages[1]["parts"].as_array_mut().unwrap().last_mut().unwrap();
    call["state"] = "output-available".into();
    call["output"] = "shown".into();
    let answer = chat(&service, "ann", messages).await;
    assert_eq!(answer.status, 200, "{:?}", answer.body);
    assert!(String::from_utf8_lossy(&answer.body).contains("You are there."), "{:?}", answer.body);
    let note = UserContent::Text { text: "[The attached file \"mine.png\" is no longer available.]".into() };
    assert_eq!(sent(&model.payloads()[1])[1], note);
    // The file of a question that is asked again is missed.
    let again = chat(&service, "ann", json!([message("m1", &url)])).await;
    assert_eq!(again.error(), (400, "invalid_request".to_owned()));
}

#[tokio::test]
async fn the_files_of_a_run_have_at_most_max_run_bytes_together() {
    let mut limits = FileLimits::default();
    limits.max_run_bytes = 2 * PNG.len();
    two_files_are_the_most("max_run_bytes", limits).await;
}

#[tokio::test]
async fn a_run_names_at_most_max_files_per_run() {
    let mut limits = FileLimits::default();
    limits.max_files_per_run = 2;
    two_files_are_the_most("max_files_per_run", limits).await;
}

async fn two_files_are_the_most(limit: &str, limits: FileLimits) {
    let (model, builder) = builder(Memory::default());
    let service = serve(builder.file_limits(limits));
    let mut urls = Vec::new();
    for _ in 0..3 {
        urls.push(stored(&service, "ann").await);
    }
    let file = |url: &str| json!({ "type": "file", "mediaType": "image/png", "url": url });
    let user = |id: &str, urls: &[String]| {
        let parts: Vec<_> = urls.iter().map(|url| file(url)).collect();
        json!({ "id": id, "role": "user", "parts": parts })
    };
    assert_eq!(chat(&service, "ann", json!([user("m1", &urls[..2])])).await.status, 200);
    // A repeated file is one file, and is sent twice.
    let twice = [urls[0].clone(), urls[1].clone(), urls[0].clone()];
    let status = if limit == "max_files_per_run" { 200 } else { 400 };
    assert_eq!(chat(&service, "ann", json!([user("m1", &twice)])).await.status, status);
    let answer = chat(&service, "ann", json!([user("m1", &urls)])).await;
    assert_eq!(answer.error(), (400, "limit_exceeded".to_owned()));
    assert_eq!(answer.json()["error"]["path"], "messages[0].parts[2].url");
    assert_eq!(answer.json()["error"]["limit"]["name"], limit);
    // If older messages have too many files, the newest files are sent.
    let older = json!([user("m1", &urls[..1]), user("m2", &urls[1..2]), user("m3", &urls[2..])]);
    assert_eq!(chat(&service, "ann", older).await.status, 200);
    let sent = sent(model.payloads().last().unwrap());
    let is_file = |content: &UserContent| matches!(content, UserContent::File { .. });
    assert_eq!(sent.iter().map(is_file).collect::<Vec<_>>(), [false, true, true]);
}

#[tokio::test]
async fn a_relative_url_without_a_store_is_refused() {
    let model = ScriptedProvider::new().otherwise(|_| text("Seen."));
    let service = serve(Assistant::builder(model.clone()));
    let url = "/files/file_00000000000000000000000000000000";
    let answer = chat(&service, "ann", json!([message("m1", url)])).await;
    assert_eq!(answer.error(), (400, "invalid_request".to_owned()));
    assert_eq!(answer.json()["error"]["path"], "messages[0].parts[1].url");
    assert!(model.payloads().is_empty());
}

#[tokio::test]
async fn a_run_in_process_without_a_principal_reads_no_files() {
    let (model, builder) = builder(Memory::default());
    let assistant = builder.allow_anonymous().build().unwrap();
    let service = AssistantService::new(assistant.clone());
    let url = stored(&service, "ann").await;
    let posted: Vec<_> = vec![message("m1", &url)];
    let body = json!({ "messages": posted }).to_string();
    let request: RunRequest =
        omniassist_server::core::dialect::ai_sdk::read_request(body.into(), assistant.limits()).unwrap();
    let failed = assistant.run(request.clone()).text().await;
    assert!(failed.is_err());
    assert!(model.payloads().is_empty());
    let mut extensions = http::Extensions::new();
    extensions.insert(Principal::new("ann"));
    assert_eq!(assistant.try_run(request, extensions).await.unwrap().text().await.unwrap(), "Seen.");
    assert_eq!(sent(&model.payloads()[0])[1], png());
}

async fn export(call: ToolContext) -> Result<StoredFile, ToolError> {
    Ok(call.run().store_file("orders.csv", "text/csv", "order,total\n1001,24.90\n").await?)
}

/// The next server has no request of the client.
#[tokio::test(start_paused = true)]
async fn the_url_of_a_file_begins_with_the_mount_of_the_first_server() {
    let (files, store) = (Memory::default(), MemoryStore::new());
    let server = |model: ScriptedProvider| {
        let builder = Assistant::builder(model).files(files.clone()).store(store.clone());
        builder.tool(Tool::new("export", "Exports all orders", export)).build().unwrap()
    };
    let first = server(ScriptedProvider::new().turn(Turn::pending()));
    let post = |id: &str| {
        let body = json!({ "id": id, "message": message("m1", PNG_URL) }).to_string();
        let mut post = request("ann", "POST", "/", body);
        post.headers_mut().insert("content-type", "application/json".parse().unwrap());
        post.extensions_mut().insert(MountPath::new(format!("/{id}")));
        post
    };
    let (service, asked) = (AssistantService::new(first.clone()), post("shop"));
    tokio::spawn(async move { Answer::of(service.handle(asked).await).await });
    sleep(Duration::from_secs(1)).await;
    first.shutdown().await;

    let second = AssistantService::new(server(
        ScriptedProvider::new().turn(call("export", json!({}))).turn(text("Done.")),
    ));
    // The lease begins with the first request.
    Answer::of(second.handle(request("ann", "GET", "/threads", String::new())).await).await;
    let scope = Scope::new("ann");
    while store.find(&scope, Which::Chat("shop")).await.unwrap().unwrap().state == RunState::Running {
        sleep(Duration::from_millis(10)).await;
    }
    let stored = store.load(&scope, "shop", &Window::default()).await.unwrap().unwrap();
    let answer = String::from_utf8_lossy(&stored.messages.last().unwrap().body).into_owned();
    assert!(answer.contains(r#""url":"/shop/files/file_"#), "{answer}");
}

#[tokio::test]
async fn a_tool_stores_a_file_for_the_principal_of_its_run() {
    async fn script(call: ToolContext) -> Result<StoredFile, ToolError> {
        Ok(call.run().store_file("a.html", "text/html", "<html>").await?)
    }
    let store = Memory::default();
    let model = ScriptedProvider::new()
        .turn([call("export", json!({})), call("script", json!({}))])
        .turn(text("Done."));
    let builder = Assistant::builder(model.clone())
        .files(store.clone())
        .tool(Tool::new("export", "Exports all orders", export))
        .tool(Tool::new("script", "Makes a page", script));
    let service = serve(builder);
    let asked = json!([{ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Export" }] }]);
    assert_eq!(chat(&service, "ann", asked).await.status, 200);
    let (key, (info, _)) =
        store.0.lock().unwrap().files.iter().next().map(|(k, v)| (k.clone(), v.clone())).unwrap();
    assert_eq!((key.owner.id(), info.media_type.as_str()), ("ann", "text/csv"));
    let results: Vec<Value> = model.payloads()[1]
        .transcript
        .iter()
        .filter_map(|item| match item {
            TranscriptItem::Result(result) => Some(result.output.to_value()),
            _ => None,
        })
        .collect();
    assert_eq!(results[0]["url"], format!("/files/{}", info.id));
    assert_eq!(results[0]["filename"], "orders.csv");
    assert_eq!(store.len(), 1, "{results:?}");
}

#[tokio::test]
async fn a_tool_learns_why_its_file_is_not_stored() {
    async fn export(call: ToolContext) -> Result<String, ToolError> {
        let _ = call.run().store_file("a.csv", "text/csv", "a").await;
        let error = call.run().store_file("b.csv", "text/csv", "b").await.err();
        let error = error.ok_or_else(|| ToolError::new("The file is stored."))?;
        Ok(format!("quota: {}, store: {}", error.is_quota_exceeded(), error.is_store_failure()))
    }
    for (fails, reason) in [(false, "quota: true, store: false"), (true, "quota: false, store: true")] {
        let store = Memory::default();
        store.0.lock().unwrap().fails = fails;
        let mut limits = FileLimits::default();
        limits.max_files_per_principal = 1;
        let model = ScriptedProvider::new().turn(call("export", json!({}))).turn(text("Done."));
        let builder = Assistant::builder(model.clone()).files(store).file_limits(limits);
        let service = serve(builder.tool(Tool::new("export", "Exports all orders", export)));
        let asked = json!([{ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Export" }] }]);
        assert_eq!(chat(&service, "ann", asked).await.status, 200);
        let read = format!("{:?}", model.payloads()[1].transcript);
        assert!(read.contains(reason), "{read}");
    }
}

#[tokio::test]
async fn a_tool_without_a_store_cannot_store_a_file() {
    let run = RunContext::for_request(RunRequest::prompt("Hi"), http::Extensions::new());
    let refused: Result<StoredFile, FileError> = run.store_file("a.csv", "text/csv", "a").await;
    assert_eq!(refused.unwrap_err().to_string(), "The assistant keeps no files.");
}

#[tokio::test]
async fn the_content_of_a_file_is_sent_to_the_model_and_not_part_of_the_messages() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let noted = std::sync::Arc::clone(&seen);
    let (model, builder) = builder(Memory::default());
    let service = serve(builder.system_prompt(move |run: &RunContext| {
        *noted.lock().unwrap() = format!("{:?}", run.messages());
        "You look."
    }));
    let url = upload(&service, "/files", "", PNG).await.file()["url"].as_str().unwrap().to_owned();
    assert_eq!(chat(&service, "ann", json!([message("m1", &url)])).await.status, 200);
    let seen = seen.lock().unwrap();
    assert!(seen.contains(&url) && !seen.contains("base64"), "{seen}");
    assert_eq!(sent(&model.payloads()[0])[1], png());
}
