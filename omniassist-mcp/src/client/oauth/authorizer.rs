use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_core::Text;
use omniassist_server::Principal;
use omniassist_server::outbound::OutboundPolicy;
use reqwest::Url;
use rmcp::transport::auth::OAuthClientConfig;
use rmcp::transport::{AuthError, AuthorizationManager, CredentialStore as _, InMemoryCredentialStore};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use super::discovery::Discovered;
use super::guarded_requests::GuardedRequests;
use super::record::{Client, Tokens};
use super::settings::OAuth;
use super::store::{CredentialKey, CredentialKind};
use super::user::User;
use crate::client::McpError;
use crate::sync::lock;

/// The time for all requests of one step: discovery, and the request to the authorization server.
const STEP_TIMEOUT: Duration = Duration::from_secs(60);

/// The users whose state is kept while they have no connection.
const MAX_USERS: usize = 1024;

/// The authorizations of the users of one server.
pub(in crate::client) struct Authorizer {
    pub(super) settings: OAuth,
    server: Text,
    pub(super) url: Arc<str>,
    guard: Option<OutboundPolicy>,
    requests: OnceCell<Arc<GuardedRequests>>,
    users: Mutex<HashMap<Principal, Arc<User>>>,
    /// The registration of the application at the last authorization server.
    pub(super) registered: Mutex<Option<Client>>,
}

/// The reason for which a token could not be renewed.
enum Failure {
    /// The user has to authorize again.
    Rejected,
    Other(McpError),
}

/// Returns a secret as a text.
pub(super) fn exposed(secret: Option<&SecretString>) -> Option<String> {
    secret.map(|secret| secret.expose_secret().to_owned())
}

impl Authorizer {
    pub(in crate::client) fn new(
        settings: OAuth,
        server: Text,
        url: Arc<str>,
        guard: Option<OutboundPolicy>,
    ) -> Arc<Self> {
        Arc::new(Self {
            settings,
            server,
            url,
            guard,
            requests: OnceCell::new(),
            users: Mutex::default(),
            registered: Mutex::default(),
        })
    }

    /// Returns the state of a user.
    pub(in crate::client) fn user(&self, principal: &Principal) -> Arc<User> {
        let mut users = lock(&self.users);
        if users.len() >= MAX_USERS {
            users.retain(|_, user| Arc::strong_count(user) > 1);
        }
        Arc::clone(users.entry(principal.clone()).or_default())
    }

    /// Returns the access token of a user. One that has expired, or that the server refused, is renewed, once for all who wait
    /// for it.
    ///
    /// # Errors
    ///
    /// Returns an error if the user has to authorize, and if the store or the authorization server cannot be used.
    pub(in crate::client) async fn token(
        self: &Arc<Self>,
        principal: &Principal,
    ) -> Result<SecretString, McpError> {
        let (this, principal) = (Arc::clone(self), principal.clone());
        // A renewal that has begun must be stored: the server may accept the old refresh token only once.
        let token = tokio::spawn(async move { this.current(&principal).await });
        token.await.map_err(McpError::authorization)?
    }

    async fn current(&self, principal: &Principal) -> Result<SecretString, McpError> {
        if principal.is_anonymous() {
            return Err(McpError::authorization_needed());
        }
        let user = self.user(principal);
        let _flight = user.flight.lock().await;
        let key = self.key(principal, CredentialKind::Tokens);
        let tokens = self.tokens(&key).await?.ok_or_else(McpError::authorization_needed)?;
        let is_refused = user.is_refused(&tokens.access_token);
        let tokens = match is_refused || tokens.has_expired() {
            false => tokens,
            true if is_refused && user.was_renewed_lately() => return Err(McpError::authorization_needed()),
            true => {
                let tokens = self.renewed(&key, tokens).await?;
                if is_refused {
                    user.renewed();
                }
                tokens
            }
        };
        user.uses(&tokens.requested);
        Ok(tokens.access_token.into())
    }

    /// Renews the tokens of a user in the store.
    async fn renewed(&self, key: &CredentialKey, old: Tokens) -> Result<Tokens, McpError> {
        match timeout(STEP_TIMEOUT, self.renew(&old)).await {
            Ok(Ok(new)) => {
                self.write(key, &new).await?;
                Ok(new)
            }
            Ok(Err(Failure::Rejected)) => {
                // Another process may have renewed them.
                if let Some(new) = self.tokens(key).await?.filter(|new| *new != old) {
                    return Ok(new);
                }
                // It may do so at this moment.
                if let Some(new) = self.take::<Tokens>(key).await?.filter(|new| *new != old) {
                    self.write(key, &new).await?;
                }
                self.tokens(key).await?.ok_or_else(McpError::authorization_needed)
            }
            Ok(Err(Failure::Other(error))) => Err(error),
            Err(_) => Err(McpError::timed_out()),
        }
    }

    async fn renew(&self, old: &Tokens) -> Result<Tokens, Failure> {
        if old.refresh_token.is_none() {
            return Err(Failure::Rejected);
        }
        let found = self.discover(old.challenge.as_deref()).await.map_err(Failure::Other)?;
        // The tokens and the registration are for one authorization server only.
        if found.issuer != old.client.issuer {
            return Err(Failure::Rejected);
        }
        let mut manager = found.manager;
        let client = self.at_present(&old.client);
        let received = InMemoryCredentialStore::new();
        let renewal = async {
            received.save(old.credentials()?).await?;
            manager.set_credential_store(received.clone());
            self.configure(&mut manager, &client)?;
            manager.refresh_token().await?;
            received.load().await
        };
        // The protocol crate logs what it receives.
        let received =
            renewal.with_subscriber(NoSubscriber::default()).await.map_err(|error| match error {
                AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired => Failure::Rejected,
                error if self.is_forgotten(&client, &error) => Failure::Rejected,
                error => Failure::Other(McpError::authorization(error)),
            })?;
        received
            .and_then(|received| {
                let (requested, challenge) = (old.requested.clone(), old.challenge.clone());
                Tokens::new(old.server.clone(), client, &received, requested, challenge)
            })
            .ok_or(Failure::Rejected)
    }

    /// Returns a client with the secret that the application has now: the stored one may have been replaced.
    fn at_present(&self, client: &Client) -> Client {
        let own = self.settings.client.as_ref().filter(|(id, _)| **id == client.id);
        let secret = own.map_or_else(|| client.secret.clone(), |(_, secret)| exposed(secret.as_deref()));
        Client { secret, ..client.clone() }
    }

    /// Returns `true` if an authorization server has forgotten the registration of the application (RFC 6749, section 5.2).
    /// The next authorization registers it again. A client id of the settings is a matter of the operator.
    fn is_forgotten(&self, client: &Client, error: &AuthError) -> bool {
        let AuthError::TokenRefreshFailed(text) = error else { return false };
        let mut own = self.settings.client.iter().map(|(id, _)| id).chain(&self.settings.client_metadata);
        let is_forgotten = !own.any(|id| **id == client.id)
            && ["invalid_client", "unauthorized_client"].iter().any(|code| text.contains(code));
        if is_forgotten {
            self.forget_registration();
        }
        is_forgotten
    }

    /// Returns `true` if a user has tokens that the server has not refused.
    pub(in crate::client) async fn is_authorized(&self, principal: &Principal) -> Result<bool, McpError> {
        let user = self.user(principal);
        let tokens = self.tokens(&self.key(principal, CredentialKind::Tokens)).await?;
        Ok(tokens.is_some_and(|tokens| {
            let is_old = tokens.has_expired() || user.is_refused(&tokens.access_token);
            // Another process may have asked the user for what this one misses.
            let has_all = user.missing().iter().all(|scope| tokens.requested.contains(scope));
            has_all && (!is_old || tokens.refresh_token.is_some())
        }))
    }

    /// Removes what is stored of a user.
    pub(in crate::client) async fn forget(&self, principal: &Principal) -> Result<(), McpError> {
        let user = self.user(principal);
        let _flight = user.flight.lock().await;
        self.remove(&self.key(principal, CredentialKind::Authorization)).await?;
        self.remove(&self.key(principal, CredentialKind::Tokens)).await
    }

    /// Finds the authorization server.
    pub(super) async fn discover(&self, challenge: Option<&str>) -> Result<Discovered, McpError> {
        let url = Url::parse(&self.url).map_err(McpError::authorization)?;
        let requests = self.requests.get_or_try_init(|| async {
            GuardedRequests::new(&url, self.guard.clone(), self.settings.outbound.clone())
        });
        let requests = Arc::clone(requests.await?);
        let found = Discovered::find(&url, requests, challenge).await?;
        if self.settings.issuer.as_ref().is_some_and(|issuer| *issuer != *found.issuer) {
            return Err(McpError::authorization(
                "the server names another authorization server than the settings",
            ));
        }
        Ok(found)
    }

    /// Gives a manager the client that the application is.
    pub(super) fn configure(
        &self,
        manager: &mut AuthorizationManager,
        client: &Client,
    ) -> Result<(), AuthError> {
        let config = OAuthClientConfig::new(client.id.clone(), self.settings.redirect.as_str());
        let config = config.with_application_type(self.application_type());
        manager.configure_client(match &client.secret {
            Some(secret) => config.with_client_secret(secret.clone()),
            None => config,
        })
    }

    /// Returns the kind of the application in a registration.
    pub(super) fn application_type(&self) -> &'static str {
        if self.settings.redirect.starts_with("https:") { "web" } else { "native" }
    }

    pub(super) async fn within_time<T>(
        step: impl Future<Output = Result<T, McpError>>,
    ) -> Result<T, McpError> {
        timeout(STEP_TIMEOUT, step).await.map_err(|_| McpError::timed_out())?
    }

    pub(super) fn key(&self, principal: &Principal, kind: CredentialKind) -> CredentialKey {
        CredentialKey::new(self.server.clone(), principal.clone(), kind)
    }

    /// Reads the tokens of a user. Those for another URL count as none.
    pub(super) async fn tokens(&self, key: &CredentialKey) -> Result<Option<Tokens>, McpError> {
        Ok(self.read::<Tokens>(key).await?.filter(|tokens| *tokens.server == *self.url))
    }

    /// Reads a value. One that this version cannot read counts as none.
    pub(super) async fn read<T: DeserializeOwned>(&self, key: &CredentialKey) -> Result<Option<T>, McpError> {
        let value = self.settings.store.get(key).await.map_err(McpError::credential_store)?;
        Ok(value.and_then(|value| serde_json::from_str(value.expose_secret()).ok()))
    }

    pub(super) async fn write(&self, key: &CredentialKey, value: &impl Serialize) -> Result<(), McpError> {
        let value = serde_json::to_string(value).map_err(McpError::credential_store)?;
        self.settings.store.put(key, value.into()).await.map_err(McpError::credential_store)
    }

    /// Removes a value and returns it.
    pub(super) async fn take<T: DeserializeOwned>(&self, key: &CredentialKey) -> Result<Option<T>, McpError> {
        let value = self.settings.store.remove(key).await.map_err(McpError::credential_store)?;
        Ok(value.and_then(|value| serde_json::from_str(value.expose_secret()).ok()))
    }

    async fn remove(&self, key: &CredentialKey) -> Result<(), McpError> {
        self.settings.store.remove(key).await.map(drop).map_err(McpError::credential_store)
    }
}
