//! Tests of the client, with real servers and hostile ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "that is how a test fails; clippy's own exception covers test functions only, not what they call"
)]

mod apps;
mod calls;
mod chat;
mod cycles;
mod elicitation;
mod faults;
mod half_open;
mod http_server;
mod legacy_elicitation;
mod limits;
mod media;
mod modern;
mod oauth;
mod offered;
mod official;
mod own_server;
mod pins;
mod principals;
mod processes;
mod protocol;
mod proxy;
mod pypi;
mod start;
mod stdio_server;
mod tls;
mod trees;

use std::time::{Duration, Instant};

use http::Extensions;
use omniassist_mcp::client::{McpApproval, McpServer};
use omniassist_server::core::{RunRequest, TranscriptItem};
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::tool::source::{AttachedSource, SourceState};
use omniassist_server::{Assistant, AssistantBuilder, Principal};
use serde_json::{Value, json};

/// An assistant whose model calls the tool that the user names, with arguments after the name, and answers with what it got.
pub(crate) struct Desk {
    pub assistant: Assistant,
    pub model: ScriptedProvider,
}

impl Desk {
    pub(crate) fn new(servers: impl IntoIterator<Item: Into<AttachedSource>>) -> Self {
        Self::with(servers, |builder| builder)
    }

    /// Creates an assistant with further settings.
    pub(crate) fn with(
        servers: impl IntoIterator<Item: Into<AttachedSource>>,
        set: impl FnOnce(AssistantBuilder) -> AssistantBuilder,
    ) -> Self {
        let model = ScriptedProvider::new().otherwise(|payload| match payload.transcript.last().unwrap() {
            TranscriptItem::Result(result) => text(serde_json::to_string(result).unwrap()),
            TranscriptItem::User { content } => {
                let said = serde_json::to_value(content).unwrap();
                let said = said[0]["text"].as_str().unwrap().to_owned();
                let (tool, arguments) = said.split_once(' ').unwrap_or((&said, "{}"));
                call(tool.to_owned(), serde_json::from_str::<Value>(arguments).unwrap())
            }
            item => panic!("{item:?}"),
        });
        let mut builder = set(Assistant::builder(model.clone()).allow_anonymous());
        for server in servers {
            builder = builder.tool_source(server);
        }
        Self { assistant: builder.build().unwrap(), model }
    }

    /// Waits until a source has offered its tools.
    pub(crate) async fn ready(self) -> Self {
        self.until(|desk| desk.assistant.tools().sources()[0].state == SourceState::Ready).await;
        self
    }

    pub(crate) async fn until(&self, holds: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !holds(self) {
            let sources = self.assistant.tools().sources();
            assert!(began.elapsed() < Duration::from_secs(60), "it never holds: {sources:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Lets the model call a tool, and returns the result that it read.
    pub(crate) async fn call(&self, asked: &str) -> Value {
        self.call_as("", asked).await
    }

    pub(crate) async fn call_as(&self, user: &str, asked: &str) -> Value {
        let mut extensions = Extensions::new();
        if !user.is_empty() {
            extensions.insert(Principal::new(user));
        }
        let run = self.assistant.try_run(RunRequest::prompt(asked.to_owned()), extensions).await.unwrap();
        let told = run.text().await.unwrap();
        serde_json::from_str(&told).unwrap_or_else(|_| json!({"told": told}))
    }

    /// Returns the names of the tools that the last model call was offered.
    pub(crate) fn offered(&self) -> Vec<String> {
        self.model.payloads().last().unwrap().tools.iter().map(|tool| tool.name.to_string()).collect()
    }
}

/// A server whose calls need no approval.
pub(crate) fn open(server: McpServer) -> McpServer {
    server.approval(McpApproval::Never)
}
