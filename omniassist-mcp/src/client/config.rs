use std::sync::{Arc, OnceLock};
use std::time::Duration;

use omniassist_core::Text;
use omniassist_server::Principal;
use omniassist_server::outbound::OutboundPolicy;

use super::auth::Credentials;
use super::oauth::Authorizer;
use super::stdio::Program;
use super::{McpApproval, McpAuth, McpError, Pins};

/// The time that a tool has beyond the timeout of its call.
const GRACE: Duration = Duration::from_secs(2);

/// The settings of a server.
#[derive(Clone)]
pub(super) struct Config {
    pub(super) name: Text,
    pub(super) endpoint: Endpoint,
    /// Applies to HTTP only.
    pub(super) auth: Option<McpAuth>,
    /// The rules for the requests to the server itself; `None` if its address can be internal.
    pub(super) outbound: Option<OutboundPolicy>,
    /// Is made when it is first needed, after all settings.
    pub(super) authorizer: OnceLock<Arc<Authorizer>>,
    pub(super) pins: Pins,
    pub(super) approval: McpApproval,
    pub(super) trusts_annotations: bool,
    pub(super) is_required: bool,
    pub(super) offers_resources: bool,
    pub(super) has_apps: bool,
    pub(super) call_timeout: Duration,
    pub(super) max_output_bytes: usize,
}

#[derive(Clone)]
pub(super) enum Endpoint {
    Stdio(Arc<Program>),
    Http(Arc<str>),
}

impl Config {
    /// Returns the settings of a server that cannot be reached.
    #[cfg(test)]
    pub(super) fn unreachable(auth: McpAuth) -> Self {
        Self {
            name: "docs".into(),
            endpoint: Endpoint::Http("http://127.0.0.1:1".into()),
            auth: Some(auth),
            outbound: None,
            authorizer: OnceLock::new(),
            pins: Pins::memory(super::PinPolicy::Trust),
            approval: McpApproval::Never,
            trusts_annotations: false,
            is_required: false,
            offers_resources: false,
            has_apps: false,
            call_timeout: Duration::from_secs(1),
            max_output_bytes: 1,
        }
    }

    /// Returns the timeout of a tool, within which a call ends by itself with the better error.
    pub(super) fn tool_timeout(&self) -> Duration {
        self.call_timeout.saturating_add(GRACE)
    }

    /// Returns the credentials, if the transport can send them.
    pub(super) fn auth(&self) -> Option<&McpAuth> {
        match self.endpoint {
            Endpoint::Stdio(_) => None,
            Endpoint::Http(_) => self.auth.as_ref(),
        }
    }

    /// Returns the authorizations of the users, if the credentials are OAuth tokens.
    pub(super) fn authorizer(&self) -> Option<&Arc<Authorizer>> {
        let Endpoint::Http(url) = &self.endpoint else { return None };
        let settings = self.auth()?.as_oauth()?;
        Some(self.authorizer.get_or_init(|| {
            Authorizer::new(settings.clone(), self.name.clone(), Arc::clone(url), self.outbound.clone())
        }))
    }

    /// Returns the credentials of a user, if the server needs any.
    pub(super) async fn credentials(&self, principal: &Principal) -> Result<Option<Credentials>, McpError> {
        if let Some(authorizer) = self.authorizer() {
            let token = authorizer.token(principal).await?;
            return Ok(Some(Credentials::of_user(authorizer.user(principal), Some(token))));
        }
        match self.auth() {
            Some(auth) => auth.credentials(principal).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns `true` if each user has a connection.
    pub(super) fn is_per_principal(&self) -> bool {
        self.auth().is_some_and(McpAuth::is_per_principal)
    }
}
