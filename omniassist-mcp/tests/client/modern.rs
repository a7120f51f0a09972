//! A server of protocol version 2026-07-28, which has no sessions and tells changes only those who listen.

use std::sync::{Arc, Mutex};

use http_body_util::BodyExt;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use omniassist_mcp::client::McpServer;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::{Desk, open};

#[derive(Clone, Default)]
struct Modern {
    tools: Arc<Mutex<Vec<&'static str>>>,
    changed: Arc<Notify>,
    /// `true` if a subscription ends after each change, as behind a proxy that closes connections.
    is_interrupted: bool,
    /// The versions of the calls.
    versions: Arc<Mutex<Vec<String>>>,
}

impl ServerHandler for Modern {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = serde_json::json!({"type": "object"}).as_object().unwrap().clone();
        let tools = self.tools.lock().unwrap().clone();
        let tools = tools.into_iter().map(|name| Tool::new(name, "Does it", Arc::new(schema.clone())));
        Ok(ListToolsResult::with_all_items(tools.collect()).with_ttl_ms(3_600_000))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.versions.lock().unwrap().push(context.protocol_version().unwrap().to_string());
        let text = ContentBlock::text(format!("{} ran", call.name));
        Ok(CallToolResponse::Complete(CallToolResult::success(vec![text])))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.changed.notified() => {}
            }
            if self.is_interrupted {
                return Ok(());
            }
            context.sink().notify_tool_list_changed().await.unwrap();
        }
    }
}

/// Serves a handler without sessions, and returns its URL.
pub(crate) async fn serve<H: ServerHandler + Clone>(handler: H) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let settings = StreamableHttpServerConfig::default().with_legacy_session_mode(false);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, settings);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let service = service.clone();
            let service = service_fn(move |request| {
                let service = service.clone();
                async move { Ok::<_, std::convert::Infallible>(service.handle(request).await.map(BodyExt::boxed)) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    url
}

#[tokio::test]
async fn the_newest_version_is_spoken_and_its_changes_are_heard() {
    let modern = Modern::default();
    modern.tools.lock().unwrap().push("look");
    let url = serve(modern.clone()).await;
    let desk = Desk::new([open(McpServer::http("docs", url))]).ready().await;
    assert!(desk.call("docs_look").await.to_string().contains("look ran"));
    assert_eq!(*modern.versions.lock().unwrap(), ["2026-07-28"]);
    for tool in ["find", "open"] {
        modern.tools.lock().unwrap().push(tool);
        modern.changed.notify_one();
        let name = format!("docs_{tool}");
        desk.until(|desk| desk.assistant.tools().names().iter().any(|known| **known == *name)).await;
    }
}

#[tokio::test]
async fn changes_are_heard_after_the_end_of_a_subscription() {
    let modern = Modern { is_interrupted: true, ..Modern::default() };
    let url = serve(modern.clone()).await;
    let desk = Desk::new([open(McpServer::http("docs", url))]).ready().await;
    modern.tools.lock().unwrap().push("look");
    modern.changed.notify_one();
    desk.until(|desk| desk.assistant.tools().names() == ["docs_look"]).await;
}
