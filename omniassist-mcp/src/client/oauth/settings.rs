use std::fmt;
use std::sync::Arc;

use omniassist_core::Text;
use omniassist_server::outbound::OutboundPolicy;
use secrecy::SecretString;

use super::store::CredentialStore;

/// The settings of OAuth 2.1 for an MCP server. Give it to [`McpAuth::oauth`](super::super::McpAuth::oauth).
///
/// The client id is the one of [`client`](Self::client) if there is one. Otherwise it is the URL of
/// [`client_metadata`](Self::client_metadata), if the authorization server accepts it. Otherwise the application is registered
/// at the authorization server.
///
/// ```
/// use omniassist_mcp::client::{McpAuth, McpServer, MemoryCredentialStore, OAuth};
///
/// let oauth = OAuth::new(MemoryCredentialStore::new()).redirect("https://app.example.com/oauth/mcp");
/// let docs = McpServer::http("docs", "https://mcp.example.com/mcp").auth(McpAuth::oauth(oauth));
/// # let _ = docs;
/// ```
#[derive(Clone)]
#[must_use = "settings have no effect until a server has them"]
pub struct OAuth {
    pub(super) store: Arc<dyn CredentialStore>,
    pub(super) redirect: Text,
    pub(super) application: Text,
    pub(super) client: Option<(Text, Option<Arc<SecretString>>)>,
    pub(super) issuer: Option<Text>,
    pub(super) client_metadata: Option<Text>,
    pub(super) scopes: Vec<String>,
    pub(super) outbound: OutboundPolicy,
}

impl OAuth {
    /// Creates settings with the store for the tokens of users.
    pub fn new(store: impl CredentialStore) -> Self {
        Self {
            store: Arc::new(store),
            redirect: Text::default(),
            application: "OmniAssist".into(),
            client: None,
            issuer: None,
            client_metadata: None,
            scopes: Vec::new(),
            outbound: OutboundPolicy::new(),
        }
    }

    /// Sets the URL of the application that the authorization server sends the user's browser back to. Its route calls
    /// [`finish_authorization`](super::super::McpServer::finish_authorization). Default: none; it must be set.
    pub fn redirect(mut self, url: impl Into<Text>) -> Self {
        self.redirect = url.into();
        self
    }

    /// Sets the name of the application that users see when they authorize it. Default: `OmniAssist`.
    pub fn application(mut self, name: impl Into<Text>) -> Self {
        self.application = name.into();
        self
    }

    /// Sets the client id that the authorization server has for the application. Default: none.
    pub fn client(mut self, id: impl Into<Text>) -> Self {
        self.client = Some((id.into(), None));
        self
    }

    /// Sets the client id and the secret that the authorization server has for the application. Default: none.
    pub fn client_with_secret(mut self, id: impl Into<Text>, secret: impl Into<SecretString>) -> Self {
        self.client = Some((id.into(), Some(Arc::new(secret.into()))));
        self
    }

    /// Sets the issuer identifier of the authorization server, as its metadata has it. If the MCP server names another one,
    /// the authorization fails, and the other one receives neither a secret nor a token. Default: each issuer that the MCP
    /// server names.
    ///
    /// Set it together with [`client_with_secret`](Self::client_with_secret). Otherwise an MCP server that an attacker
    /// controls can name a server that receives the secret.
    pub fn issuer(mut self, issuer: impl Into<Text>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Sets the `https://` URL of a document that describes the application as a client. The URL is the client id at
    /// authorization servers that accept such documents. Default: none.
    pub fn client_metadata(mut self, url: impl Into<Text>) -> Self {
        self.client_metadata = Some(url.into());
        self
    }

    /// Sets the scopes that users are asked for first. Default: those that the server requires.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the rules for the requests to the URLs that servers name: metadata, registration and tokens. Default:
    /// `https://` on port 443, and public addresses; see [`outbound`](omniassist_server::outbound).
    ///
    /// An authorization server in your own network needs
    /// [`allow_internal_host`](OutboundPolicy::allow_internal_host). The origin of the MCP server itself is always allowed.
    pub fn outbound(mut self, policy: OutboundPolicy) -> Self {
        self.outbound = policy;
        self
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth").field("redirect", &self.redirect).finish_non_exhaustive()
    }
}
