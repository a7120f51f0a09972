//! Tests of files in request bodies, whose memory counts until their run ends.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, header};
use http_body_util::Full;
use omniassist_server::core::Limits;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::{Assistant, Principal};
use serde_json::json;

use super::serve;

/// Returns a question with this file in a new chat.
fn with_file(path: &str, url: &str) -> String {
    static CHATS: AtomicUsize = AtomicUsize::new(1_000);
    let chat = CHATS.fetch_add(1, Ordering::Relaxed).to_string();
    let (content, file) = match path {
        "/" => ("parts", json!({ "type": "file", "mediaType": "image/png", "url": url })),
        "/v1/chat/completions" => ("content", json!({ "type": "image_url", "image_url": { "url": url } })),
        _ => ("content", json!({ "type": "image", "source": { "type": "url", "value": url } })),
    };
    let message = json!({ "id": "m1", "role": "user", content: [file] });
    let (id, run) = if path == "/" { ("id", "trigger") } else { ("threadId", "runId") };
    let run_id = if path == "/" { "submit-message" } else { "r" };
    match path {
        "/v1/chat/completions" => json!({ "model": "omniassist", "stream": true, "messages": [message] }),
        _ => json!({ id: chat, run: run_id, "messages": [message] }),
    }
    .to_string()
}

#[tokio::test(start_paused = true)]
async fn a_data_url_counts_until_its_run_ends() {
    let url = |size: usize| format!("data:image/png;base64,{}", "A".repeat(size));
    for path in ["/", "/ag-ui", "/copilotkit/agent/default/run", "/v1/chat/completions"] {
        for (user, size, missing, status) in [
            (Some("ann"), 100 << 10, 0, 200),
            (Some("ann"), 100 << 10, 1, 429),
            (None, 100 << 10, 0, 200),
            (None, 100 << 10, 1, 503),
            // A small body counts only while it is read.
            (None, 1 << 10, 1 << 10, 200),
        ] {
            let url = url(size);
            let mut limits = Limits::default();
            let most = url.len() + with_file(path, &url).len() - missing;
            match user {
                Some(_) => limits.max_body_bytes_per_principal = most,
                None => limits.max_body_bytes_in_flight = most,
            }
            let model = ScriptedProvider::new().otherwise(|_| text("Hi").then(Turn::pending()));
            let service = serve(Assistant::builder(model).allow_anonymous().limits(limits));
            let ask = || {
                let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
                let mut request = request.body(Full::<Bytes>::from(with_file(path, &url))).unwrap();
                request.extensions_mut().insert(user.map(Principal::new).unwrap_or_default());
                service.handle(request)
            };
            let first = ask().await;
            assert_eq!(first.status(), 200, "{path}");
            assert_eq!(ask().await.status(), status, "{path} {user:?} {missing}");
            drop(first);
            assert_eq!(ask().await.status(), 200, "{path} {user:?}: the memory must be released");
        }
    }
}
