//! The first request of an authorization, which finds out what the server requires.

use omniassist_server::Principal;

use super::auth::Credentials;
use super::config::Config;
use super::connection::{Connection, Era};
use super::oauth::Authorizer;

/// Asks a server without a token, if it has not refused this user before. Its refusal names its metadata and its scopes.
pub(super) async fn ensure_challenge(config: &Config, authorizer: &Authorizer, principal: &Principal) {
    let user = authorizer.user(principal);
    if user.challenge().is_some() {
        return;
    }
    let credentials = Credentials::of_user(user, None);
    let asked = async { Connection::open(config, Some(&credentials), Era::Unknown).await?.list().await };
    if let Err(error) = asked.await {
        tracing::debug!(
            source = config.name.as_str(),
            ?error,
            "an MCP server refuses a user without a token"
        );
    }
}
