//! An assistant whose users attach files. Without `OPENAI_API_KEY`, a function answers instead of a model: it lists the
//! files that a model would be sent.
//!
//! Run `cargo run -p attachments`, and then the curl lines in the section "Files" of README.md.

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use axum::Router;
use futures_util::stream;
use omniassist_axum::core::transcript::UserContent;
use omniassist_axum::core::{FinishReason, TranscriptItem};
use omniassist_axum::files::FolderStore;
use omniassist_axum::{Assistant, LlmEvent, LlmPayload, LlmProvider, OpenAiProvider, provider};
use serving::{serve_axum, stopped};
use tokio::net::TcpListener;

/// Names the files of the conversation, and the beginning of their content.
fn list(payload: &LlmPayload) -> String {
    let mut list = String::from("I was sent:");
    for item in &*payload.transcript {
        let TranscriptItem::User { content } = item else { continue };
        for content in content {
            if let UserContent::File { media_type, url, filename } = content {
                let name = filename.as_deref().unwrap_or("a file");
                let begin: String = url.chars().take(40).collect();
                list.push_str(&format!(" {name} ({media_type}, {} bytes: {begin}…)", url.len()));
            }
        }
    }
    list
}

fn model() -> Arc<dyn LlmProvider> {
    match OpenAiProvider::from_env() {
        Ok(model) => Arc::new(model),
        Err(_) => Arc::new(provider::from_fn("list", |payload| {
            stream::iter([
                Ok(LlmEvent::TextDelta { block: 0, delta: list(&payload).into() }),
                Ok(LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false }),
            ])
        })),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let assistant = Assistant::builder(model())
        .files(FolderStore::open("target/attachments")?)
        .allow_anonymous() // all users share their files; see "Users and keys" in README.md
        .build()?;
    let app = Router::new().nest_service("/assistant", omniassist_axum::router(assistant.clone()));
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    let connections = serve_axum(listener, stopped(), app).await;
    assistant.shutdown().await;
    connections.shutdown().await;
    Ok(())
}
