//! The values in the store of credentials, which are JSON texts.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oauth2::TokenResponse;
use rmcp::transport::{AuthError, StoredAuthorizationState, StoredCredentials};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The time before its end at which a token is renewed.
const EARLY: Duration = Duration::from_secs(30);

/// The application as a client of an authorization server.
#[derive(Clone, Serialize, Deserialize, PartialEq)]
pub(super) struct Client {
    pub(super) issuer: String,
    pub(super) id: String,
    pub(super) secret: Option<String>,
}

/// The tokens of a user.
#[derive(Clone, Serialize, Deserialize, PartialEq)]
pub(super) struct Tokens {
    /// The URL of the MCP server that they are for. Another one must not receive them, whatever its name is.
    pub(super) server: String,
    pub(super) client: Client,
    pub(super) access_token: String,
    pub(super) refresh_token: Option<String>,
    /// Seconds since 1970.
    received_at: u64,
    expires_in: Option<u64>,
    /// The scopes that the user was asked for, and those that the server granted.
    pub(super) requested: Vec<String>,
    granted: Vec<String>,
    /// The header with which the server refused a request, which names its metadata.
    pub(super) challenge: Option<String>,
}

/// An authorization that has begun.
#[derive(Serialize, Deserialize)]
pub(super) struct Pending {
    /// The URL of the MCP server.
    pub(super) server: String,
    pub(super) client: Client,
    pub(super) state: StoredAuthorizationState,
    pub(super) requested: Vec<String>,
    pub(super) challenge: Option<String>,
}

impl Tokens {
    pub(super) fn new(
        server: String,
        client: Client,
        received: &StoredCredentials,
        requested: Vec<String>,
        challenge: Option<String>,
    ) -> Option<Self> {
        let tokens = received.token_response.as_ref()?;
        Some(Self {
            server,
            client,
            access_token: tokens.access_token().secret().clone(),
            refresh_token: tokens.refresh_token().map(|token| token.secret().clone()),
            received_at: received.token_received_at.unwrap_or_else(now),
            expires_in: tokens.expires_in().map(|time| time.as_secs()),
            requested,
            granted: received.granted_scopes.clone(),
            challenge,
        })
    }

    /// Returns the tokens in the form of the protocol crate.
    pub(super) fn credentials(&self) -> Result<StoredCredentials, AuthError> {
        let response = serde_json::from_value(json!({
            "access_token": self.access_token,
            "token_type": "bearer",
            "refresh_token": self.refresh_token,
        }));
        let response = response.map_err(|error| AuthError::InternalError(error.to_string()))?;
        let credentials =
            StoredCredentials::new(self.client.id.clone(), Some(response), self.granted.clone(), None);
        Ok(credentials.with_issuer(Some(self.client.issuer.clone())))
    }

    pub(super) fn has_expired(&self) -> bool {
        let early = |time: u64| EARLY.as_secs().min(time / 2);
        self.expires_in.is_some_and(|time| self.received_at.saturating_add(time - early(time)) <= now())
    }
}

impl Pending {
    pub(super) fn has_expired(&self, after: Duration) -> bool {
        self.state.created_at.saturating_add(after.as_secs()) <= now()
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
