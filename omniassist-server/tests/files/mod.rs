//! Tests of stored files: uploads, downloads and conversations with files.

mod downloads;
mod fetch;
mod folder;
mod generated;
mod limits;
mod memory;
mod multipart;
mod provider_uploads;
mod providers;
mod runs;
mod store;
mod uploads;

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::files::FileStore;
use omniassist_server::http::{AssistantBody, AssistantService};
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::{Assistant, AssistantBuilder, Principal};
use serde_json::Value;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0";
const PDF: &[u8] = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n";
const WAV: &[u8] = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0";

/// Returns a model and the builder of an assistant with a store.
fn builder(store: impl FileStore) -> (ScriptedProvider, AssistantBuilder) {
    let model = ScriptedProvider::new().otherwise(|_| text("Seen."));
    (model.clone(), Assistant::builder(model).files(store))
}

fn serve(builder: AssistantBuilder) -> AssistantService {
    AssistantService::new(builder.build().unwrap())
}

struct Answer {
    status: u16,
    headers: http::HeaderMap,
    body: Bytes,
}

impl Answer {
    async fn of(response: Response<AssistantBody>) -> Self {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Self { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Returns the first file of a successful upload.
    fn file(&self) -> Value {
        assert_eq!(self.status, 201, "{:?}", self.body);
        self.json()["files"][0].clone()
    }

    fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    /// Returns the status and the code of an error.
    fn error(&self) -> (u16, String) {
        (self.status, self.json()["error"]["code"].as_str().unwrap().to_owned())
    }
}

fn request(user: &str, method: &str, path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method(method).uri(path).body(Full::new(body.into())).unwrap();
    request.extensions_mut().insert(Principal::new(user));
    request
}

async fn upload_as(
    service: &AssistantService,
    user: &str,
    path: &str,
    media_type: &str,
    content: &[u8],
) -> Answer {
    let mut request = request(user, "POST", path, content.to_vec());
    request.headers_mut().insert(header::CONTENT_TYPE, media_type.parse().unwrap());
    Answer::of(service.handle(request).await).await
}

async fn upload(service: &AssistantService, path: &str, media_type: &str, content: &[u8]) -> Answer {
    upload_as(service, "ann", path, media_type, content).await
}

async fn get(service: &AssistantService, user: &str, path: &str) -> Answer {
    Answer::of(service.handle(request(user, "GET", path, "")).await).await
}

async fn chat(service: &AssistantService, user: &str, messages: Value) -> Answer {
    let body = serde_json::json!({ "id": "chat", "messages": messages }).to_string();
    let mut request = request(user, "POST", "/", body);
    request.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
    Answer::of(service.handle(request).await).await
}
