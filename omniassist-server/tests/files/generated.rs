//! Tests of files that a model generates.

use omniassist_server::core::transcript::UserContent;
use omniassist_server::core::{FinishReason, LlmEvent, RunRequest, TranscriptItem};
use omniassist_server::files::FileLimits;
use omniassist_server::provider::gemini::GeminiProvider;
use omniassist_server::testing::{FakeProvider, Reply, ScriptedProvider, Turn, text};
use omniassist_server::{Assistant, LlmProvider, OpenAiProvider, Principal};
use serde_json::{Value, json};

use super::store::Memory;
use super::{PNG, chat, get, serve};

const PNG_DATA: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAAA=";

fn makes(media_type: &str, data: &str) -> Turn {
    let url = format!("data:{media_type};base64,{data}").into();
    Turn::event(LlmEvent::File { media_type: media_type.into(), url })
}

fn finished() -> Turn {
    Turn::finish(FinishReason::Stop)
}

/// Returns the chunks of an AI SDK stream.
fn chunks(body: &[u8]) -> Vec<Value> {
    let body = String::from_utf8_lossy(body);
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|json| serde_json::from_str(json).ok()).collect()
}

fn file(body: &[u8]) -> Value {
    chunks(body).into_iter().find(|chunk| chunk["type"] == "file").unwrap()
}

fn user(id: &str, text: &str) -> Value {
    json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": text }] })
}

fn drawn(url: &str) -> Value {
    let file = json!({ "type": "file", "mediaType": "image/png", "url": url });
    json!({ "id": "a1", "role": "assistant", "parts": [{ "type": "text", "text": "Here." }, file] })
}

#[tokio::test]
async fn a_generated_file_is_stored_and_sent_to_the_model_in_the_next_turn() {
    let turn = text("Here.").then(makes("image/png", PNG_DATA)).then(finished());
    let model = ScriptedProvider::new().turn(turn).otherwise(|_| text("Seen."));
    let store = Memory::default();
    let service = serve(Assistant::builder(model.clone()).files(store.clone()));
    let answer = chat(&service, "ann", json!([user("m1", "Draw.")])).await;
    let made = file(&answer.body);
    let url = made["url"].as_str().unwrap();
    assert!(url.starts_with("/files/file_"), "{made}");
    assert_eq!((&made["mediaType"], store.len()), (&"image/png".into(), 1));
    let content = get(&service, "ann", url).await;
    assert_eq!((content.status, &content.body[..]), (200, PNG));
    assert_eq!(content.header("content-disposition"), "attachment; filename*=UTF-8''image%2Epng");
    assert_eq!(get(&service, "bob", url).await.status, 404);

    let turn = json!([user("m1", "Draw."), drawn(url), user("m2", "Make it blue.")]);
    assert_eq!(chat(&service, "ann", turn.clone()).await.status, 200);
    let payload = model.payloads().pop().unwrap();
    let last = payload.transcript.last().unwrap();
    let TranscriptItem::User { content } = last else { panic!("{last:?}") };
    let note = UserContent::Text { text: "[You made these files in your previous answer:]".into() };
    let (media_type, url) = ("image/png".into(), format!("data:image/png;base64,{PNG_DATA}").into());
    let image = UserContent::File { media_type, url, filename: Some("image.png".into()) };
    let question = UserContent::Text { text: "Make it blue.".into() };
    assert_eq!(*content, [note, image, question]);

    // A run continues without a file that is no longer available.
    store.expire();
    assert_eq!(chat(&service, "ann", turn.clone()).await.status, 200);
    assert_eq!(chat(&service, "bob", turn).await.status, 200);
    for payload in model.payloads().into_iter().skip(2) {
        let last = payload.transcript.last().unwrap();
        assert!(matches!(last, TranscriptItem::User { content } if content.len() == 1), "{last:?}");
    }
}

#[tokio::test]
async fn files_of_answers_precede_the_next_question() {
    let model = ScriptedProvider::new().otherwise(|payload| match payload.transcript.len() {
        1 => makes("image/png", PNG_DATA).then(makes("image/gif", "R0lGODlhAQABAAAAACw=")).then(finished()),
        _ => text("Seen."),
    });
    let service = serve(Assistant::builder(model.clone()).files(Memory::default()));
    let answer = chat(&service, "ann", json!([user("m1", "Draw.")])).await;
    let urls: Vec<_> = chunks(&answer.body)
        .into_iter()
        .filter_map(|chunk| chunk["url"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(urls.len(), 2);
    let drawn = |id: &str, urls: &[String]| {
        let parts: Vec<_> =
            urls.iter().map(|url| json!({ "type": "file", "mediaType": "image/png", "url": url })).collect();
        json!({ "id": id, "role": "assistant", "parts": parts })
    };
    let turns = json!([
        user("m1", "Draw."),
        drawn("a1", &urls),
        user("m2", "Again."),
        drawn("a2", &urls[..1]),
        user("m3", "Which is better?"),
    ]);
    assert_eq!(chat(&service, "ann", turns).await.status, 200);
    let payload = model.payloads().pop().unwrap();
    let kinds: Vec<String> = payload
        .transcript
        .iter()
        .filter_map(|item| match item {
            TranscriptItem::User { content } => Some(content),
            _ => None,
        })
        .flatten()
        .map(|content| match content {
            UserContent::Text { text } => text.to_string(),
            UserContent::File { media_type, .. } => media_type.to_string(),
            _ => String::new(),
        })
        .collect();
    let note = "[You made these files in your previous answer:]";
    let expected = ["Draw.", note, "image/png", "image/gif", "Again.", note, "image/png", "Which is better?"];
    assert_eq!(kinds, expected);
}

#[tokio::test]
async fn a_file_that_is_not_stored_reaches_the_client_unchanged() {
    let turn = || makes("image/png", PNG_DATA).then(finished());
    let model = ScriptedProvider::new().otherwise(move |_| turn());
    let url = format!("data:image/png;base64,{PNG_DATA}");
    let store = Memory::default();
    let mut limits = FileLimits::default();
    limits.max_file_bytes = PNG.len() as u64 - 1;
    let builder = || Assistant::builder(model.clone()).files(store.clone());
    let off = serve(builder().store_generated_files(false));
    let too_large = serve(builder().file_limits(limits));
    let without_store = serve(Assistant::builder(model.clone()));
    for service in [off, too_large, without_store] {
        let answer = chat(&service, "ann", json!([user("m1", "Draw.")])).await;
        assert_eq!(file(&answer.body)["url"], url);
        chat(&service, "ann", json!([user("m1", "Draw."), drawn(&url), user("m2", "Make it blue.")])).await;
        let payload = model.payloads().pop().unwrap();
        let Some(TranscriptItem::User { content }) = payload.transcript.last() else { panic!("{payload:?}") };
        assert!(matches!(&content[1], UserContent::File { url: sent, .. } if **sent == url), "{content:?}");
    }
    store.0.lock().unwrap().fails = true;
    let answer = chat(&serve(builder()), "ann", json!([user("m1", "Draw.")])).await;
    assert_eq!(file(&answer.body)["url"], url);
    assert!(!String::from_utf8_lossy(&answer.body).contains("store-secret"));
    assert_eq!((store.len(), store.0.lock().unwrap().open), (0, 0));
}

#[tokio::test]
async fn active_content_of_a_model_is_served_as_an_attachment() {
    // The data is `<svg onload="alert(1)"/>`.
    let model = ScriptedProvider::new()
        .turn(makes("image/svg+xml", "PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+").then(finished()));
    let mut limits = FileLimits::default();
    limits.media_types = vec!["*/*".to_owned()];
    let service = serve(Assistant::builder(model).files(Memory::default()).file_limits(limits));
    let answer = chat(&service, "ann", json!([user("m1", "Draw.")])).await;
    let content = get(&service, "ann", file(&answer.body)["url"].as_str().unwrap()).await;
    assert_eq!(content.header("content-type"), "application/octet-stream");
    assert_eq!(content.header("content-disposition"), "attachment; filename*=UTF-8''image");
    assert_eq!(content.header("content-security-policy"), "sandbox; default-src 'none'");
}

/// Returns the message of a run in process with this provider.
async fn made_by(provider: impl LlmProvider) -> Value {
    let assistant = Assistant::builder(provider).files(Memory::default()).build().unwrap();
    let mut extensions = http::Extensions::new();
    extensions.insert(Principal::new("ann"));
    let run = assistant.try_run(RunRequest::prompt("Draw."), extensions).await.unwrap();
    serde_json::to_value(run.message().await.unwrap()).unwrap()
}

#[tokio::test]
async fn images_of_gemini_and_of_responses_are_stored() {
    let server = FakeProvider::start().await.unwrap();
    let inline = json!({ "inlineData": { "mimeType": "image/png", "data": PNG_DATA } });
    let candidate = json!({ "content": { "role": "model", "parts": [inline] }, "finishReason": "STOP" });
    server.reply(Reply::sse(format!("data: {}\n\n", json!({ "candidates": [candidate] }))));
    let url = format!("http://{}", server.address());
    let gemini = GeminiProvider::builder().api_key("k").base_url(url).build().unwrap();

    let item = json!({
        "type": "image_generation_call", "id": "ig_1", "status": "completed", "result": PNG_DATA,
        "output_format": "png",
    });
    let done = json!({ "type": "response.output_item.done", "output_index": 0, "item": item });
    let completed = json!({
        "type": "response.completed",
        "response": { "id": "resp_1", "status": "completed", "output": [item] },
    });
    let gemini = made_by(gemini).await;
    server.reply(Reply::sse(format!("data: {done}\n\ndata: {completed}\n\n")));
    let openai = OpenAiProvider::builder().api_key("k").base_url(server.base_url()).build().unwrap();
    for message in [gemini, made_by(openai).await] {
        let files: Vec<_> =
            message["parts"].as_array().unwrap().iter().filter(|part| part["type"] == "file").collect();
        assert_eq!(files.len(), 1, "{message}");
        assert!(files[0]["url"].as_str().unwrap().starts_with("/files/file_"), "{message}");
    }
}
