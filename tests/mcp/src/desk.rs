//! An assistant with the tools of an MCP server.

use std::process::Command;
use std::time::Duration;

use axum::Router;
use omniassist_mcp::client::{McpApproval, McpServer};
use omniassist_server::tool::source::SourceState;
use omniassist_server::{Assistant, OpenAiProvider};
use tokio::runtime::Runtime;

use crate::AnyError;
use crate::serve::bind;

/// Serves the assistant when the server has offered its tools.
pub(crate) fn serve(script: &str) -> Result<(), AnyError> {
    let mut server = Command::new("node");
    server.args([script, "stdio"]);
    let server = McpServer::stdio("npm", &server).approval(McpApproval::Never);
    Runtime::new()?.block_on(async {
        let assistant = Assistant::builder(OpenAiProvider::from_env()?)
            .tool_source(server)
            .seal_keys_from_env("OMNIASSIST_SEAL_KEYS")
            .allow_anonymous()
            .build()?;
        while assistant.tools().sources().iter().any(|source| source.state != SourceState::Ready) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let app = Router::new().nest_service("/assistant", omniassist_axum::router(assistant));
        Ok(axum::serve(bind().await?, app).await?)
    })
}
