//! OAuth 2.1: an authorization server and an MCP server on real sockets, and users with accounts.

mod accounts;
mod authorize;
mod client_id;
mod guard;
mod shared_store;
mod tokens;
mod users;

use std::sync::Arc;

pub(crate) use accounts::Accounts;
use http::Extensions;
use omniassist_mcp::client::{CredentialStore, McpAuth, McpServer, MemoryCredentialStore, OAuth};
use omniassist_server::Principal;
use omniassist_server::outbound::OutboundPolicy;

use super::Desk;
use super::http_server::{HttpServer, Lost};
use super::open;
use super::protocol::Protocol;

const REDIRECT: &str = "http://app.test/back";

/// An assistant with one server whose users have accounts.
struct Office {
    accounts: Accounts,
    server: HttpServer,
    store: MemoryCredentialStore,
    docs: Arc<McpServer>,
    desk: Desk,
}

impl Office {
    async fn open() -> Self {
        Self::open_with(["look"], |oauth| oauth).await
    }

    async fn open_with<'a>(tools: impl IntoIterator<Item = &'a str>, set: impl Fn(OAuth) -> OAuth) -> Self {
        let accounts = Accounts::start().await;
        let server = HttpServer::start(Protocol::new(tools), Lost::NotFound).await;
        server.require(&accounts);
        let store = MemoryCredentialStore::new();
        let oauth = set(settings(&accounts, store.clone()));
        let docs = Arc::new(open(McpServer::http("docs", &server.url)).auth(McpAuth::oauth(oauth)));
        let desk = Desk::new([Arc::clone(&docs)]);
        Self { accounts, server, store, docs, desk }
    }

    /// Lets a user authorize the application.
    async fn authorize(&self, user: &str) {
        let principal = Principal::new(user);
        let url = self.docs.authorization_url(&principal).await.unwrap();
        let query = self.accounts.allow(&url, user).await;
        self.docs.finish_authorization(&principal, &query).await.unwrap();
    }

    /// Returns what the model read of a call.
    async fn call(&self, user: &str, tool: &str) -> String {
        self.desk.call_as(user, tool).await.to_string()
    }

    /// Returns the state of the source for a user.
    async fn state(&self, user: &str) -> &'static str {
        let mut extensions = Extensions::new();
        extensions.insert(Principal::new(user));
        self.desk.assistant.visible_sources(&extensions).await[0].state.as_str()
    }
}

fn settings(accounts: &Accounts, store: impl CredentialStore) -> OAuth {
    let policy = OutboundPolicy::new().allow_internal_host("127.0.0.1").allow_port(accounts.port);
    OAuth::new(store).redirect(REDIRECT).outbound(policy)
}
