//! The authorization of a user, from its URL to the tokens.

use std::time::Duration;

use omniassist_server::Principal;
use reqwest::Url;
use rmcp::transport::auth::OAuthClientConfig;
use rmcp::transport::{
    AuthError, CredentialStore as _, InMemoryCredentialStore, InMemoryStateStore, StateStore,
};
use sha2::{Digest, Sha256};
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use super::authorizer::{Authorizer, exposed};
use super::discovery::Discovered;
use super::record::{Client, Pending, Tokens};
use super::redirect::Redirect;
use super::store::CredentialKind;
use crate::client::McpError;
use crate::sync::lock;

/// The time that a user has to authorize.
const PENDING: Duration = Duration::from_secs(10 * 60);

impl Authorizer {
    /// Begins the authorization of a user, in place of one that has begun before. Returns the URL for the user's browser.
    pub(in crate::client) async fn begin(&self, principal: &Principal) -> Result<String, McpError> {
        if principal.is_anonymous() {
            return Err(McpError::authorization("an anonymous user cannot authorize"));
        }
        let user = self.user(principal);
        let _flight = user.flight.lock().await;
        let tokens = self.tokens(&self.key(principal, CredentialKind::Tokens)).await?;
        let challenge = user.challenge();
        let (url, pending) = Self::within_time(async {
            let mut found = self.discover(challenge.as_deref()).await?;
            let scopes = self.scopes(&found, tokens.as_ref(), user.missing()).await;
            let client = self.client(&mut found, &scopes).await?;
            let states = InMemoryStateStore::new();
            let mut manager = found.manager;
            manager.set_state_store(states.clone());
            self.configure(&mut manager, &client).map_err(McpError::authorization)?;
            let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
            let url = manager.get_authorization_url(&asked).await.map_err(McpError::authorization)?;
            let state = stored(&self.checked(&url)?, &states).await?;
            let server = self.url.to_string();
            Ok((url, Pending { server, client, state, requested: scopes, challenge }))
        })
        .await?;
        self.write(&self.key(principal, CredentialKind::Authorization), &pending).await?;
        Ok(url)
    }

    /// Ends the authorization of a user with the query of the redirect.
    pub(in crate::client) async fn finish(&self, principal: &Principal, query: &str) -> Result<(), McpError> {
        let redirect = Redirect::read(query)?;
        let user = self.user(principal);
        let _flight = user.flight.lock().await;
        let key = self.key(principal, CredentialKind::Authorization);
        let begun = |pending: &Pending| {
            let is_begun = Sha256::digest(&pending.state.csrf_token) == Sha256::digest(&redirect.state);
            is_begun && *pending.server == *self.url
        };
        let unknown = || McpError::authorization("no authorization with this state was begun by this user");
        if !self.read::<Pending>(&key).await?.as_ref().is_some_and(begun) {
            return Err(unknown());
        }
        // It is used once, whatever comes of it.
        let pending = self.take::<Pending>(&key).await?.filter(begun).ok_or_else(unknown)?;
        if pending.has_expired(PENDING) {
            return Err(McpError::authorization("the authorization took more than 10 minutes"));
        }
        let code = redirect.outcome.map_err(|error| {
            McpError::authorization(format!("the authorization server answered {error:?}"))
        })?;
        let tokens = Self::within_time(self.exchange(pending, &code, redirect.issuer.as_deref())).await;
        let tokens = tokens.inspect_err(|_| self.forget_registration())?;
        self.write(&self.key(principal, CredentialKind::Tokens), &tokens).await?;
        user.authorized(&tokens.requested);
        Ok(())
    }

    async fn exchange(&self, pending: Pending, code: &str, issuer: Option<&str>) -> Result<Tokens, McpError> {
        let found = self.discover(pending.challenge.as_deref()).await?;
        if found.issuer != pending.client.issuer {
            return Err(McpError::authorization("the server names another authorization server meanwhile"));
        }
        let mut manager = found.manager;
        let (states, received) = (InMemoryStateStore::new(), InMemoryCredentialStore::new());
        let Pending { server, client, state, requested, challenge } = pending;
        let exchange = async {
            let secret = state.csrf_token.clone();
            states.save(&secret, state).await?;
            manager.set_state_store(states.clone());
            manager.set_credential_store(received.clone());
            self.configure(&mut manager, &client)?;
            manager.exchange_code_for_token_with_issuer(code, &secret, issuer).await?;
            received.load().await
        };
        // The protocol crate logs the code and what it receives.
        let received =
            exchange.with_subscriber(NoSubscriber::default()).await.map_err(McpError::authorization)?;
        received
            .and_then(|received| Tokens::new(server, client, &received, requested, challenge))
            .ok_or_else(|| McpError::authorization("the authorization server gave no token"))
    }

    /// Returns the scopes to ask a user for: those of the last time, and those that the server misses.
    async fn scopes(&self, found: &Discovered, tokens: Option<&Tokens>, missing: Vec<String>) -> Vec<String> {
        let known = tokens.filter(|tokens| tokens.client.issuer == found.issuer);
        let known = known.map_or(&self.settings.scopes, |tokens| &tokens.requested);
        let mut scopes = known.clone();
        scopes.extend(missing);
        if scopes.is_empty() {
            return found.manager.select_initial_scopes(&[]).await;
        }
        let mut seen = std::collections::HashSet::new();
        scopes.retain(|scope| seen.insert(scope.clone()));
        scopes
    }

    /// Returns the client that the application is at an authorization server, and registers it if it has to.
    async fn client(&self, found: &mut Discovered, scopes: &[String]) -> Result<Client, McpError> {
        let issuer = found.issuer.clone();
        if let Some((id, secret)) = &self.settings.client {
            return Ok(Client { issuer, id: id.to_string(), secret: exposed(secret.as_deref()) });
        }
        if let Some(url) = self.settings.client_metadata.as_ref().filter(|_| found.accepts_client_metadata) {
            return Ok(Client { issuer, id: url.to_string(), secret: None });
        }
        let known = lock(&self.registered).clone();
        if let Some(client) = known.filter(|client| client.issuer == issuer) {
            return Ok(client);
        }
        let registration = async {
            // Sets the kind of the application, which a registration has no parameter for.
            let (redirect, kind) = (self.settings.redirect.as_str(), self.application_type());
            found
                .manager
                .configure_client(OAuthClientConfig::new("", redirect).with_application_type(kind))?;
            let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
            found.manager.register_client(&self.settings.application, redirect, &scopes).await
        };
        let config =
            registration.with_subscriber(NoSubscriber::default()).await.map_err(McpError::authorization)?;
        let client = Client { issuer, id: config.client_id, secret: config.client_secret };
        *lock(&self.registered) = Some(client.clone());
        Ok(client)
    }

    /// Forgets the registration: the authorization server may not know it any more.
    pub(super) fn forget_registration(&self) {
        *lock(&self.registered) = None;
    }

    /// Checks a URL that a browser opens.
    fn checked(&self, url: &str) -> Result<Url, McpError> {
        let parsed = Url::parse(url).map_err(McpError::authorization)?;
        match parsed.scheme() {
            "https" => Ok(parsed),
            "http" => self.settings.outbound.check(url).map(|()| parsed).map_err(McpError::authorization),
            _ => Err(McpError::authorization("the authorization endpoint is not an https:// URL")),
        }
    }
}

/// Returns what the protocol crate keeps of the authorization with this URL.
async fn stored(
    url: &Url,
    states: &InMemoryStateStore,
) -> Result<rmcp::transport::StoredAuthorizationState, McpError> {
    let state = url.query_pairs().find(|(name, _)| name == "state").map(|(_, value)| value.into_owned());
    let stored = states.load(&state.unwrap_or_default()).await.map_err(McpError::authorization)?;
    stored.ok_or_else(|| McpError::authorization(AuthError::InternalError("no state".to_owned())))
}
