use omniassist_server::RunContext;
use omniassist_server::tool::source::{AppError, DocumentFuture, ResourceFuture, SourceApps};
use serde_json::json;

use super::app::MAX_BYTES;
use super::app_meta::SCHEME;
use super::{McpError, McpServer, offered};

impl SourceApps for McpServer {
    fn document<'a>(&'a self, caller: &'a RunContext, uri: &'a str) -> DocumentFuture<'a> {
        Box::pin(async move {
            if !uri.starts_with(SCHEME) {
                return Err(AppError::not_found());
            }
            let hub = self.attached().map_err(AppError::unavailable)?;
            let document = hub.documents().get(hub.pool(), &self.config, caller.principal(), uri).await;
            document.map_err(AppError::unavailable)
        })
    }

    fn resource<'a>(&'a self, caller: &'a RunContext, uri: &'a str) -> ResourceFuture<'a> {
        Box::pin(async move {
            let hub = self.attached().map_err(AppError::unavailable)?;
            let read = offered::read_resource(hub.pool(), &self.config, caller.principal(), uri);
            let contents = json!({ "contents": read.await.map_err(AppError::unavailable)? });
            match contents.to_string().len() <= MAX_BYTES {
                true => Ok(contents),
                false => Err(AppError::unavailable(McpError::over_limit("2 MiB"))),
            }
        })
    }
}
