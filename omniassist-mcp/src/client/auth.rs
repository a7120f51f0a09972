use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use omniassist_server::Principal;
use secrecy::SecretString;
use tokio::time::timeout;

use super::McpError;

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
}

type Lookup = dyn Fn(Principal) -> Pin<Box<dyn Future<Output = Option<String>> + Send>> + Send + Sync;

/// The header of one connection.
pub(super) struct Credentials {
    pub(super) header: Arc<str>,
    pub(super) value: Arc<SecretString>,
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

    /// Returns `true` if each user has a connection.
    pub(super) fn is_per_principal(&self) -> bool {
        matches!(self.kind, Kind::PerPrincipal(_))
    }

    /// Returns the credentials of a user.
    pub(super) async fn credentials(&self, principal: &Principal) -> Result<Credentials, McpError> {
        match &self.kind {
            Kind::Header { name, value } => {
                Ok(Credentials { header: Arc::clone(name), value: Arc::clone(value) })
            }
            Kind::PerPrincipal(lookup) => {
                let asked = AssertUnwindSafe(async { lookup(principal.clone()).await }).catch_unwind();
                let token = timeout(TOKEN_TIMEOUT, asked).await.map_err(|_| McpError::timed_out())?;
                let token = token.unwrap_or_else(|_| {
                    tracing::error!("the function that returns the token of a user panicked");
                    None
                });
                let token = token.ok_or_else(McpError::no_credentials)?;
                let value = Arc::new(SecretString::from(format!("Bearer {token}")));
                Ok(Credentials { header: "authorization".into(), value })
            }
        }
    }
}

impl fmt::Debug for McpAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpAuth").field("is_per_principal", &self.is_per_principal()).finish_non_exhaustive()
    }
}
