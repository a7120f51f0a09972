//! Tests of stored files in the requests to each provider.

use std::sync::Arc;

use omniassist_server::provider::anthropic::AnthropicProvider;
use omniassist_server::provider::gemini::GeminiProvider;
use omniassist_server::testing::{FakeProvider, Reply};
use omniassist_server::{Assistant, LlmProvider, OpenAiChatProvider, OpenAiProvider};
use serde_json::{Value, json};

use super::store::Memory;
use super::{PDF, PNG, WAV, chat, serve, upload};

const PNG_DATA: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAAA=";
const PDF_DATA: &str = "JVBERi0xLjcKMSAwIG9iago8PCAvVHlwZSAvQ2F0YWxvZyA+PgplbmRvYmoKdHJhaWxlcgo=";
const WAV_DATA: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAA==";

/// Uploads a picture, a PDF, audio and text, and returns the body of the provider's request about them.
async fn asked(provider: impl LlmProvider, server: &FakeProvider) -> Value {
    let model: Arc<dyn LlmProvider> = Arc::new(provider);
    let service = serve(Assistant::builder(model).files(Memory::default()));
    let mut parts = vec![json!({ "type": "text", "text": "Compare." })];
    let files: [(&str, &[u8]); 4] =
        [("a.png", PNG), ("b.pdf", PDF), ("c.wav", WAV), ("d.txt", "größer".as_bytes())];
    for (name, content) in files {
        parts.push(upload(&service, &format!("/files?filename={name}"), "", content).await.file());
    }
    let answer = chat(&service, "ann", json!([{ "id": "m1", "role": "user", "parts": parts }])).await;
    assert_eq!(answer.status, 200, "{:?}", answer.body);
    server.requests()[0].json()
}

async fn server() -> FakeProvider {
    let server = FakeProvider::start().await.unwrap();
    server.otherwise(Reply::json(400, &json!({"error": {"message": "no", "code": "no"}})));
    server
}

const TEXT: &str = "[The attached file \"d.txt\" (text/plain):]\ngrößer";

#[tokio::test]
async fn responses() {
    let server = server().await;
    let provider = OpenAiProvider::builder().api_key("k").base_url(server.base_url()).build().unwrap();
    let body = asked(provider, &server).await;
    let expected = json!([
        { "type": "input_text", "text": "Compare." },
        { "type": "input_image", "image_url": format!("data:image/png;base64,{PNG_DATA}"), "detail": "auto" },
        {
            "type": "input_file", "filename": "b.pdf",
            "file_data": format!("data:application/pdf;base64,{PDF_DATA}"),
        },
        { "type": "input_text", "text": "[The attached file \"c.wav\" (audio/wav) cannot be shown.]" },
        { "type": "input_text", "text": TEXT },
    ]);
    assert_eq!(body["input"][0]["content"], expected);
}

#[tokio::test]
async fn chat_completions() {
    let server = server().await;
    let provider = OpenAiChatProvider::builder().api_key("k").base_url(server.base_url()).build().unwrap();
    let body = asked(provider, &server).await;
    let expected = json!([
        { "type": "text", "text": "Compare." },
        { "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{PNG_DATA}") } },
        {
            "type": "file",
            "file": {
                "filename": "b.pdf", "file_data": format!("data:application/pdf;base64,{PDF_DATA}"),
            },
        },
        { "type": "input_audio", "input_audio": { "data": WAV_DATA, "format": "wav" } },
        { "type": "text", "text": TEXT },
    ]);
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.last().unwrap()["content"], expected);
}

#[tokio::test]
async fn anthropic() {
    let server = server().await;
    let url = format!("http://{}", server.address());
    let provider = AnthropicProvider::builder().api_key("k").base_url(url).build().unwrap();
    let body = asked(provider, &server).await;
    let source =
        |media_type: &str, data: &str| json!({ "type": "base64", "media_type": media_type, "data": data });
    let expected = json!([
        { "type": "text", "text": "Compare." },
        { "type": "image", "source": source("image/png", PNG_DATA) },
        { "type": "document", "source": source("application/pdf", PDF_DATA), "title": "b.pdf" },
        { "type": "text", "text": "[The attached file \"c.wav\" (audio/wav) cannot be shown.]" },
        {
            "type": "document", "title": "d.txt",
            "source": { "type": "text", "media_type": "text/plain", "data": "größer" },
        },
    ]);
    assert_eq!(body["messages"][0]["content"], expected);
}

#[tokio::test]
async fn gemini() {
    let server = server().await;
    let url = format!("http://{}", server.address());
    let provider = GeminiProvider::builder().api_key("k").base_url(url).build().unwrap();
    let body = asked(provider, &server).await;
    let inline =
        |media_type: &str, data: &str| json!({ "inlineData": { "mimeType": media_type, "data": data } });
    let expected = json!([
        { "text": "Compare." },
        inline("image/png", PNG_DATA),
        inline("application/pdf", PDF_DATA),
        inline("audio/wav", WAV_DATA),
        inline("text/plain", "Z3LDtsOfZXI="),
    ]);
    assert_eq!(body["contents"][0]["parts"], expected);
}
