use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use omniassist_server::Principal;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::timeout;

use super::oauth::{Refusal, User};
use super::{McpError, OAuth};

/// The time in which the host's function returns a token.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(30);

/// The credentials for an MCP server over HTTP. They go to this server only, and never into a log.
///
/// ```
/// use omniassist_mcp::client::{McpAuth, McpServer};
/// use omniassist_server::Principal;
///
/// // The token of each user; without one, the tools do not exist for the user.
/// let auth = McpAuth::per_principal(async |user: Principal| match user.id() {
///     "ann" => Some("token-of-ann".to_owned()),
///     _ => None,
/// });
/// let docs = McpServer::http("docs", "https://mcp.example.com/mcp").auth(auth);
/// # let _ = docs;
/// ```
#[derive(Clone)]
pub struct McpAuth {
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Header { name: Arc<str>, value: Arc<SecretString> },
    PerPrincipal(Arc<Lookup>),
    OAuth(Box<OAuth>),
}

type Lookup = dyn Fn(Principal) -> Pin<Box<dyn Future<Output = Option<String>> + Send>> + Send + Sync;

/// The header of one connection.
pub(super) struct Credentials {
    pub(super) header: Option<(Arc<str>, Arc<SecretString>)>,
    /// The user of an OAuth token, with the token. It receives the refusals of the server.
    pub(super) user: Option<(Arc<User>, Option<SecretString>)>,
}

impl Credentials {
    /// Creates the header of a token.
    pub(super) fn bearer(token: &str) -> Self {
        let value = Arc::new(SecretString::from(format!("Bearer {token}")));
        Self { header: Some(("authorization".into(), value)), user: None }
    }

    /// Creates the header of a user's token. Without a token, there is no header.
    pub(super) fn of_user(user: Arc<User>, token: Option<SecretString>) -> Self {
        let header = token.as_ref().and_then(|token| Self::bearer(token.expose_secret()).header);
        Self { header, user: Some((user, token)) }
    }

    /// Returns the reason for which the server refused the token, if it did.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let (user, token) = self.user.as_ref()?;
        user.refusal_of(token.as_ref()?.expose_secret())
    }
}

impl McpAuth {
    /// Sends `authorization: Bearer` with this token, for all users.
    #[must_use]
    pub fn bearer(token: impl AsRef<str>) -> Self {
        Self::header("authorization", format!("Bearer {}", token.as_ref()))
    }

    /// Sends a header with this value, for all users.
    #[must_use]
    pub fn header(name: impl AsRef<str>, value: impl Into<String>) -> Self {
        let value = Arc::new(SecretString::from(value.into()));
        Self { kind: Kind::Header { name: name.as_ref().into(), value } }
    }

    /// Sends `authorization: Bearer` with the token of the user that a run is for. Each user has a connection, and sees the
    /// tools that the server lists for this token. A user without a token sees none.
    ///
    /// The function is called for each connection: when a user's first run begins, after 5 minutes without a call, and when
    /// the server refuses the token. At most 64 users are connected at the same time.
    #[must_use]
    pub fn per_principal<F, Fut>(token: F) -> Self
    where
        F: Fn(Principal) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Option<String>> + Send + 'static,
    {
        Self { kind: Kind::PerPrincipal(Arc::new(move |principal| Box::pin(token(principal)))) }
    }

    /// Sends the OAuth 2.1 token of the user that a run is for. Each user authorizes the application at the authorization
    /// server of the MCP server; see [`OAuth`] and [`McpServer::authorization_url`](super::McpServer::authorization_url).
    ///
    /// As with [`per_principal`](Self::per_principal), each user has a connection, and one without a token sees no tools.
    /// Anonymous users cannot authorize.
    #[must_use]
    pub fn oauth(settings: OAuth) -> Self {
        Self { kind: Kind::OAuth(Box::new(settings)) }
    }

    /// Returns `true` if each user has a connection.
    pub(super) fn is_per_principal(&self) -> bool {
        !matches!(self.kind, Kind::Header { .. })
    }

    /// Returns the settings of OAuth, if the credentials are its tokens.
    pub(super) fn as_oauth(&self) -> Option<&OAuth> {
        match &self.kind {
            Kind::OAuth(settings) => Some(settings),
            _ => None,
        }
    }

    /// Returns the credentials of a user.
    pub(super) async fn credentials(&self, principal: &Principal) -> Result<Credentials, McpError> {
        match &self.kind {
            Kind::Header { name, value } => {
                Ok(Credentials { header: Some((Arc::clone(name), Arc::clone(value))), user: None })
            }
            Kind::PerPrincipal(lookup) => {
                let asked = AssertUnwindSafe(async { lookup(principal.clone()).await }).catch_unwind();
                let token = timeout(TOKEN_TIMEOUT, asked).await.map_err(|_| McpError::timed_out())?;
                let token = token.unwrap_or_else(|_| {
                    tracing::error!("the function that returns the token of a user panicked");
                    None
                });
                let token = token.ok_or_else(McpError::no_credentials)?;
                Ok(Credentials::bearer(&token))
            }
            // `Config` has the tokens.
            Kind::OAuth(_) => Err(McpError::authorization_needed()),
        }
    }
}

impl fmt::Debug for McpAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpAuth").field("is_per_principal", &self.is_per_principal()).finish_non_exhaustive()
    }
}
