//! Tests of large files that are uploaded to the provider once and sent by id.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt;
use omniassist_server::core::transcript::UserContent;
use omniassist_server::core::{FinishReason, LlmEvent, LlmPayload, TranscriptItem};
use omniassist_server::provider::anthropic::AnthropicProvider;
use omniassist_server::provider::gemini::GeminiProvider;
use omniassist_server::testing::{FakeProvider, FakeRequest, Reply};
use omniassist_server::{LlmProvider, OpenAiChatProvider, OpenAiProvider, Result};
use serde_json::{Value, json};

use super::{PDF, PNG};

fn file(media_type: &str, name: &str, content: &[u8]) -> UserContent {
    let url = format!("data:{media_type};base64,{}", STANDARD.encode(content)).into();
    UserContent::File { media_type: media_type.into(), url, filename: Some(name.into()) }
}

fn payload(files: impl IntoIterator<Item = UserContent>) -> LlmPayload {
    LlmPayload::new([TranscriptItem::User { content: files.into_iter().collect() }])
}

fn picture_and_report() -> LlmPayload {
    payload([file("image/png", "a \"b\".png", PNG), file("application/pdf", "b.pdf", PDF)])
}

async fn ask(provider: &impl LlmProvider, payload: LlmPayload) -> Result<()> {
    let events: Vec<_> = provider.stream(payload).collect().await;
    events.into_iter().collect::<Result<Vec<_>>>().map(|events| {
        let is_end = |event: &LlmEvent| matches!(event, LlmEvent::Finish { reason: FinishReason::Stop, .. });
        assert!(events.iter().any(is_end), "{events:?}");
    })
}

fn openai_answer() -> Reply {
    let completed = json!({
        "type": "response.completed",
        "response": { "id": "resp_1", "status": "completed", "output": [] },
    });
    Reply::sse(format!("data: {completed}\n\n"))
}

fn uploaded(id: &str) -> Reply {
    Reply::json(200, &json!({ "id": id, "object": "file", "status": "processed" }))
}

async fn openai(over: usize) -> (FakeProvider, OpenAiProvider) {
    let server = FakeProvider::start().await.unwrap();
    let provider = OpenAiProvider::builder().api_key("k").base_url(server.base_url());
    (server, provider.upload_files_over(over).build().unwrap())
}

/// Returns the content type of an upload, and its body with `X` in place of the boundary.
fn form(request: &FakeRequest) -> (String, String) {
    let content_type = request.header("content-type").unwrap();
    let (kind, boundary) = content_type.split_once("; boundary=").unwrap();
    (kind.to_owned(), String::from_utf8_lossy(&request.body).replace(boundary, "X"))
}

fn paths(server: &FakeProvider) -> Vec<String> {
    server.requests().into_iter().map(|request| request.path).collect()
}

fn text(content: &[u8]) -> String {
    String::from_utf8_lossy(content).into_owned()
}

#[tokio::test]
async fn responses_uploads_files_once_and_sends_their_ids() {
    let (server, provider) = openai(10).await;
    server.reply(uploaded("file-PNG1")).reply(uploaded("file-PDF1")).otherwise(openai_answer());
    ask(&provider, picture_and_report()).await.unwrap();
    let requests = server.requests();
    assert_eq!(paths(&server), ["/v1/files", "/v1/files", "/v1/responses"]);
    let fields = "--X\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nuser_data\r\n\
        --X\r\nContent-Disposition: form-data; name=\"expires_after[anchor]\"\r\n\r\ncreated_at\r\n\
        --X\r\nContent-Disposition: form-data; name=\"expires_after[seconds]\"\r\n\r\n2592000\r\n\
        --X\r\nContent-Disposition: form-data; name=\"file\"; ";
    let png = format!(
        "{fields}filename=\"a _b_.png\"\r\nContent-Type: image/png\r\n\r\n{}\r\n--X--\r\n",
        text(PNG)
    );
    assert_eq!(form(&requests[0]), ("multipart/form-data".to_owned(), png));
    assert_eq!(requests[0].header("authorization"), Some("Bearer k"));
    let expected = json!([
        { "type": "input_image", "file_id": "file-PNG1", "detail": "auto" },
        { "type": "input_file", "file_id": "file-PDF1" },
    ]);
    assert_eq!(requests[2].json()["input"][0]["content"], expected);

    // The next turns, and a clone of the provider, use the same uploads.
    ask(&provider, picture_and_report()).await.unwrap();
    ask(&provider.clone(), picture_and_report()).await.unwrap();
    assert_eq!(paths(&server)[3..], ["/v1/responses", "/v1/responses"]);
    assert_eq!(server.requests()[4].json()["input"][0]["content"], expected);
}

#[tokio::test]
async fn chat_completions_sends_the_id_of_a_pdf() {
    let server = FakeProvider::start().await.unwrap();
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    server.reply(uploaded("file-PDF1")).otherwise(Reply::sse(format!("data: {end}\n\ndata: [DONE]\n\n")));
    let provider = OpenAiChatProvider::builder().api_key("k").base_url(server.base_url());
    ask(&provider.upload_files_over(10).build().unwrap(), picture_and_report()).await.unwrap();
    assert_eq!(paths(&server), ["/v1/files", "/v1/chat/completions"]);
    let url = format!("data:image/png;base64,{}", STANDARD.encode(PNG));
    let expected = json!([
        { "type": "image_url", "image_url": { "url": url } },
        { "type": "file", "file": { "file_id": "file-PDF1" } },
    ]);
    assert_eq!(server.requests()[1].json()["messages"][0]["content"], expected);
}

#[tokio::test]
async fn anthropic_sends_the_ids_of_files() {
    let server = FakeProvider::start().await.unwrap();
    let delta = json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 1 } });
    let start = json!({ "type": "message_start", "message": { "id": "m", "model": "c", "content": [], "usage": { "input_tokens": 1, "output_tokens": 1 } } });
    let answer = format!(
        "event: message_start\ndata: {start}\n\nevent: message_delta\ndata: {delta}\n\nevent: message_stop\ndata: {}\n\n",
        json!({ "type": "message_stop" })
    );
    server.reply(uploaded("file_011PNG")).reply(uploaded("file_011PDF")).otherwise(Reply::sse(answer));
    let provider = AnthropicProvider::builder().api_key("k").beta("other-beta");
    let provider = provider.base_url(format!("http://{}", server.address())).upload_files_over(10);
    ask(&provider.build().unwrap(), picture_and_report()).await.unwrap();
    let requests = server.requests();
    assert_eq!(paths(&server), ["/v1/files", "/v1/files", "/v1/messages"]);
    for request in &requests {
        assert_eq!(request.header("anthropic-beta"), Some("other-beta,files-api-2025-04-14"));
        assert_eq!(request.header("x-api-key"), Some("k"));
    }
    let pdf = format!(
        "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"b.pdf\"\r\n\
         Content-Type: application/pdf\r\n\r\n{}\r\n--X--\r\n",
        text(PDF)
    );
    assert_eq!(form(&requests[1]), ("multipart/form-data".to_owned(), pdf));
    let content = &requests[2].json()["messages"][0]["content"];
    assert_eq!(content[0]["source"], json!({ "type": "file", "file_id": "file_011PNG" }));
    assert_eq!((&content[0]["type"], &content[1]["type"]), (&"image".into(), &"document".into()));
    assert_eq!(content[1]["source"], json!({ "type": "file", "file_id": "file_011PDF" }));
    assert_eq!(content[1]["title"], "b.pdf");
}

/// Returns a Gemini server, its provider and a URI for each upload.
async fn gemini(uploads: usize) -> (FakeProvider, GeminiProvider, Vec<String>) {
    let server = FakeProvider::start().await.unwrap();
    let url = format!("http://{}", server.address());
    let uris: Vec<_> = (0..uploads).map(|number| format!("{url}/v1beta/files/abc{number}")).collect();
    let provider =
        GeminiProvider::builder().api_key("k").base_url(url).upload_files_over(10).build().unwrap();
    (server, provider, uris)
}

fn gemini_answer() -> Reply {
    let candidate =
        json!({ "content": { "role": "model", "parts": [{ "text": "Hi" }] }, "finishReason": "STOP" });
    Reply::sse(format!("data: {}\n\n", json!({ "candidates": [candidate] })))
}

fn gemini_uploaded(uri: &str) -> Reply {
    Reply::json(200, &json!({ "file": { "name": "files/abc", "uri": uri, "state": "ACTIVE" } }))
}

#[tokio::test]
async fn gemini_sends_the_uris_of_files_until_they_expire() {
    let (server, provider, uris) = gemini(2).await;
    let report = || payload([file("application/pdf", "b.pdf", PDF)]);
    server.reply(gemini_uploaded(&uris[0])).reply(gemini_answer()).reply(gemini_answer());
    server.reply(gemini_uploaded(&uris[1])).reply(gemini_answer());
    ask(&provider, report()).await.unwrap();
    advance(46 * 60 * 60).await;
    ask(&provider, report()).await.unwrap();
    advance(60 * 60).await;
    ask(&provider, report()).await.unwrap();
    let requests = server.requests();
    let (upload, model) = ("/upload/v1beta/files", requests[1].path.clone());
    assert_eq!(paths(&server), [upload, &model, &model, upload, &model]);
    let related = format!(
        "--X\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{}\r\n--X\r\n\
         Content-Type: application/pdf\r\n\r\n{}\r\n--X--\r\n",
        json!({ "file": { "mimeType": "application/pdf", "displayName": "b.pdf" } }),
        text(PDF)
    );
    assert_eq!(form(&requests[0]), ("multipart/related".to_owned(), related));
    assert_eq!(requests[0].header("x-goog-upload-protocol"), Some("multipart"));
    assert_eq!(requests[0].header("x-goog-api-key"), Some("k"));
    for (request, uri) in [(1, &uris[0]), (2, &uris[0]), (4, &uris[1])] {
        let expected = json!([{ "fileData": { "mimeType": "application/pdf", "fileUri": uri } }]);
        assert_eq!(requests[request].json()["contents"][0]["parts"], expected);
    }
}

#[tokio::test]
async fn a_file_at_the_limit_stays_in_the_request() {
    let content = [PNG, &[0; 100]].concat();
    let content = &content[..99];
    for (over, uploads) in [(99, 0), (98, 1)] {
        let (server, provider) = openai(over).await;
        if uploads > 0 {
            server.reply(uploaded("file-1"));
        }
        server.otherwise(openai_answer());
        ask(&provider, payload([file("image/png", "a.png", content)])).await.unwrap();
        assert_eq!(paths(&server).len(), uploads + 1, "{over}");
        let sent = &server.requests()[uploads].json()["input"][0]["content"][0];
        assert_eq!(sent["image_url"].is_string(), uploads == 0, "{sent}");
    }
    // Text is never sent by id.
    let (server, provider) = openai(1).await;
    server.otherwise(openai_answer());
    ask(&provider, payload([file("text/plain", "a.txt", b"Long text.")])).await.unwrap();
    assert_eq!(paths(&server), ["/v1/responses"]);
}

fn not_found(id: &str) -> Reply {
    let message = format!("Files [{id:?}] were not found.");
    Reply::json(404, &json!({ "error": { "message": message, "code": null } }))
}

#[tokio::test]
async fn a_file_that_the_provider_no_longer_has_is_uploaded_again_once() {
    let (server, provider) = openai(10).await;
    let ids = ["file-SxUX5RrJYBLvmvJnJZtgwj", "file-7dEjgFZm4LFuZz7m9Ha2pt"];
    server.reply(uploaded(ids[0])).reply(not_found(ids[0])).reply(uploaded(ids[1])).reply(openai_answer());
    let picture = || payload([file("image/png", "a.png", PNG)]);
    ask(&provider, picture()).await.unwrap();
    assert_eq!(paths(&server), ["/v1/files", "/v1/responses", "/v1/files", "/v1/responses"]);
    let id_of = |number: usize| server.requests()[number].json()["input"][0]["content"][0]["file_id"].clone();
    assert_eq!([id_of(1), id_of(3)], ids.map(Value::from));

    // After a second refusal, the requests of the next minute contain the file.
    server
        .reply(not_found(ids[1]))
        .reply(uploaded(ids[0]))
        .reply(not_found(ids[0]))
        .otherwise(openai_answer());
    ask(&provider, picture()).await.unwrap();
    ask(&provider, picture()).await.unwrap();
    let last = ["/v1/responses", "/v1/files", "/v1/responses", "/v1/responses", "/v1/responses"];
    assert_eq!(paths(&server)[4..], last);
    let url = Value::from(format!("data:image/png;base64,{}", STANDARD.encode(PNG)));
    for number in [7, 8] {
        assert_eq!(server.requests()[number].json()["input"][0]["content"][0]["image_url"], url);
    }
}

#[tokio::test]
async fn a_refusal_without_a_file_id_reaches_the_caller() {
    let (server, provider) = openai(10).await;
    let refused = Reply::json(404, &json!({ "error": { "message": "No such model." } }));
    server.reply(uploaded("file-1")).reply(refused);
    let asked = ask(&provider, payload([file("image/png", "a.png", PNG)])).await;
    assert_eq!(asked.unwrap_err().status(), Some(404));
    assert_eq!(paths(&server), ["/v1/files", "/v1/responses"]);
}

async fn advance(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_failed_upload_keeps_the_file_in_the_requests_for_a_minute() {
    for refusal in [Reply::status(404), Reply::json(200, &json!({ "ok": true })), Reply::sse("")] {
        let (server, provider) = openai(10).await;
        server.reply(refusal).reply(openai_answer()).reply(openai_answer());
        server.reply(uploaded("file-1")).reply(openai_answer());
        for seconds in [0, 59, 1] {
            advance(seconds).await;
            ask(&provider, payload([file("image/png", "a.png", PNG)])).await.unwrap();
        }
        let again = ["/v1/files", "/v1/responses", "/v1/responses", "/v1/files", "/v1/responses"];
        assert_eq!(paths(&server), again);
        let url = format!("data:image/png;base64,{}", STANDARD.encode(PNG));
        for number in [1, 2] {
            let sent = &server.requests()[number].json()["input"][0]["content"][0];
            assert_eq!(sent["image_url"], url);
        }
    }
}

#[tokio::test]
async fn gemini_receives_the_content_of_a_file_that_is_not_ready() {
    let (server, provider, _) = gemini(0).await;
    let processing = json!({ "file": { "uri": "https://g.example/v1beta/files/a", "state": "PROCESSING" } });
    server.reply(Reply::json(200, &processing)).otherwise(gemini_answer());
    ask(&provider, payload([file("application/pdf", "b.pdf", PDF)])).await.unwrap();
    let sent = &server.requests()[1].json()["contents"][0]["parts"][0];
    assert_eq!(sent["inlineData"]["data"], STANDARD.encode(PDF));
}

#[tokio::test]
async fn the_file_name_of_one_user_is_not_sent_for_another_user() {
    let (server, provider) = openai(10).await;
    server
        .reply(uploaded("file-1"))
        .reply(openai_answer())
        .reply(uploaded("file-2"))
        .otherwise(openai_answer());
    for (name, id) in [("dismissal-of-bob.pdf", "file-1"), ("a.pdf", "file-2"), ("a.pdf", "file-2")] {
        ask(&provider, payload([file("application/pdf", name, PDF)])).await.unwrap();
        let last = server.requests().pop().unwrap();
        assert_eq!(last.json()["input"][0]["content"][0]["file_id"], id);
    }
    assert!(!text(&server.requests()[2].body).contains("dismissal"));
}

#[tokio::test]
async fn the_next_run_repeats_a_cancelled_upload() {
    let (server, provider) = openai(10).await;
    server.reply(Reply::silence()).reply(uploaded("file-1")).otherwise(openai_answer());
    let picture = || payload([file("image/png", "a.png", PNG)]);
    {
        let first = ask(&provider, picture());
        tokio::pin!(first);
        // The first run begins the upload and is dropped before the provider answers.
        while server.requests().is_empty() {
            assert!(futures_util::poll!(first.as_mut()).is_pending());
            tokio::task::yield_now().await;
        }
    }
    ask(&provider, picture()).await.unwrap();
    assert_eq!(paths(&server), ["/v1/files", "/v1/files", "/v1/responses"]);
    assert_eq!(server.requests()[2].json()["input"][0]["content"][0]["file_id"], "file-1");
}

#[tokio::test]
async fn concurrent_runs_upload_a_file_once() {
    let (server, provider) = openai(10).await;
    server.reply(uploaded("file-1")).otherwise(openai_answer());
    let picture = || payload([file("image/png", "a.png", PNG)]);
    let (one, two) = tokio::join!(ask(&provider, picture()), ask(&provider, picture()));
    one.and(two).unwrap();
    assert_eq!(paths(&server), ["/v1/files", "/v1/responses", "/v1/responses"]);
}
