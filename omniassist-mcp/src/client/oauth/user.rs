use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use http::StatusCode;
use reqwest::Url;
use rmcp::transport::WWWAuthenticateParams;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::sync::lock;

/// The time in which a token is not renewed again because the server refuses it.
const RENEWAL_GAP: Duration = Duration::from_secs(60);

/// The state of one user's authorization in this process.
#[derive(Default)]
pub(in crate::client) struct User {
    /// Is held by the one that renews tokens, or begins or ends an authorization.
    pub(super) flight: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last header with which the server refused a request.
    challenge: Option<String>,
    /// The hash of the last token that the server refused, and the reason.
    refused: Option<([u8; 32], Refusal)>,
    /// The time of the last renewal of a refused token.
    renewed: Option<Instant>,
    /// The scopes that the server requires and the user was not asked for.
    missing: Vec<String>,
    /// The scopes that the user was asked for.
    requested: Vec<String>,
}

/// The reason for which a server refuses a user.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::client) enum Refusal {
    /// The token is not valid.
    Token,
    /// The user can authorize more.
    MissingScope,
    /// The user has authorized what the server requires, and it refuses nevertheless.
    Forbidden,
}

impl User {
    /// Takes the response of a server that refused a token.
    pub(in crate::client) fn refused(
        &self,
        status: StatusCode,
        challenge: &str,
        token: Option<&str>,
    ) -> Option<Refusal> {
        let mut state = self.state();
        if !challenge.is_empty() {
            state.challenge = Some(challenge.to_owned());
        }
        let token = token?;
        let refusal = state.refusal(status, challenge)?;
        state.refused = Some((hash(token), refusal));
        Some(refusal)
    }

    /// Returns the reason for which the server refused a token.
    pub(in crate::client) fn refusal_of(&self, token: &str) -> Option<Refusal> {
        self.state().refused.filter(|(refused, _)| *refused == hash(token)).map(|(_, refusal)| refusal)
    }

    /// Takes the token that the next connection uses.
    pub(super) fn uses(&self, requested: &[String]) {
        self.state().requested = requested.to_vec();
    }

    /// Takes the end of an authorization.
    pub(super) fn authorized(&self, requested: &[String]) {
        let mut state = self.state();
        let challenge = state.challenge.take();
        *state = State { challenge, requested: requested.to_vec(), ..State::default() };
    }

    /// Takes the renewal of a token that the server refused.
    pub(super) fn renewed(&self) {
        self.state().renewed = Some(Instant::now());
    }

    /// Returns `true` if the server does not know a token.
    pub(super) fn is_refused(&self, token: &str) -> bool {
        self.refusal_of(token) == Some(Refusal::Token)
    }

    pub(super) fn was_renewed_lately(&self) -> bool {
        self.state().renewed.is_some_and(|renewed| renewed.elapsed() < RENEWAL_GAP)
    }

    pub(in crate::client) fn challenge(&self) -> Option<String> {
        self.state().challenge.clone()
    }

    pub(super) fn missing(&self) -> Vec<String> {
        self.state().missing.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    /// Reads the reason of a refusal.
    fn refusal(&mut self, status: StatusCode, challenge: &str) -> Option<Refusal> {
        if status == StatusCode::UNAUTHORIZED {
            return Some(Refusal::Token);
        }
        // The base is needed for URLs only, which are not read here.
        let base = Url::parse("https://invalid.invalid").ok()?;
        let parameters = WWWAuthenticateParams::parse(challenge, &base);
        if !parameters.is_insufficient_scope() {
            return None;
        }
        let required = parameters.scope.unwrap_or_default();
        let missing =
            required.split_whitespace().filter(|scope| !self.requested.iter().any(|one| one == scope));
        self.missing = missing.map(str::to_owned).collect();
        Some(if self.missing.is_empty() { Refusal::Forbidden } else { Refusal::MissingScope })
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
