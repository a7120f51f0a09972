//! An assistant whose pages show the apps of an MCP server.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use omniassist_mcp::client::McpServer;
use omniassist_server::core::TranscriptItem;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::tool::source::SourceState;
use omniassist_server::{Assistant, AuthError, AuthRequest, Principal};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::AnyError;
use crate::serve::bind;

/// The cookie of the only user. The pages set it, and it proves the user.
const COOKIE: &str = "session=secret";

/// The policy of the page that shows apps.
const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; frame-src 'self'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// Serves the assistant, and the pages of a folder. The model calls the tool that the user names, with arguments after the
/// name.
pub(crate) fn serve(script: &str, pages: &str) -> Result<(), AnyError> {
    let server = |name: &'static str| {
        let mut program = Command::new("node");
        program.arg(script);
        McpServer::stdio(name, &program).trust_annotations(true).apps(true)
    };
    let model = ScriptedProvider::new().otherwise(|payload| match payload.transcript.last() {
        Some(TranscriptItem::User { content }) => {
            let said = serde_json::to_value(content).unwrap_or_default();
            let said = said.pointer("/0/text").and_then(Value::as_str).unwrap_or_default().to_owned();
            let (tool, arguments) = said.split_once(' ').unwrap_or((&said, "{}"));
            call(tool.to_owned(), serde_json::from_str::<Value>(arguments).unwrap_or_default())
        }
        _ => text("Done."),
    });
    Runtime::new()?.block_on(async {
        let assistant = Assistant::builder(model)
            .tool_source(server("shop"))
            .tool_source(server("other"))
            .authenticate(|request: AuthRequest| async move {
                let mut cookies = request.headers().get_all(header::COOKIE).iter();
                let is_known = cookies.any(|given| given.to_str().is_ok_and(|given| given.contains(COOKIE)));
                if is_known { Ok(Some(Principal::new("ann"))) } else { Err(AuthError::unauthenticated()) }
            })
            .build()?;
        while assistant.tools().sources().iter().any(|source| source.state != SourceState::Ready) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let pages: Arc<Path> = PathBuf::from(pages).into();
        let app = Router::new().nest_service("/assistant", omniassist_axum::router(assistant));
        let app = app.fallback(move |request: Request| page(Arc::clone(&pages), request));
        Ok(axum::serve(bind().await?, app).await?)
    })
}

/// Returns a file of the folder.
async fn page(folder: Arc<Path>, request: Request) -> Response {
    let name = request.uri().path().trim_start_matches('/').to_owned();
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return StatusCode::NOT_FOUND.into_response();
    }
    let read = tokio::task::spawn_blocking({
        let path = folder.join(&name);
        move || std::fs::read(path)
    });
    let content = match read.await {
        Ok(Ok(content)) => content,
        Ok(Err(error)) if error.kind() == ErrorKind::NotFound => {
            return StatusCode::NOT_FOUND.into_response();
        }
        _ => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    let kind = if name.ends_with(".js") { "text/javascript" } else { "text/html; charset=utf-8" };
    let mut response = content.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::SET_COOKIE, HeaderValue::from_static("session=secret; Path=/; SameSite=Lax"));
    // The hostile document is served as it is, to show what its attacks do without a policy.
    if name == "page.html" && request.uri().query().is_none() {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    }
    response
}
