use std::sync::Arc;
use std::time::Duration;

use omniassist_core::Text;

use super::stdio::Program;
use super::{McpApproval, McpAuth, Pins};

/// The settings of a server.
#[derive(Clone)]
pub(super) struct Config {
    pub(super) name: Text,
    pub(super) endpoint: Endpoint,
    /// Applies to HTTP only.
    pub(super) auth: Option<McpAuth>,
    pub(super) pins: Pins,
    pub(super) approval: McpApproval,
    pub(super) trusts_annotations: bool,
    pub(super) is_required: bool,
    pub(super) offers_resources: bool,
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
            pins: Pins::memory(super::PinPolicy::Trust),
            approval: McpApproval::Never,
            trusts_annotations: false,
            is_required: false,
            offers_resources: false,
            call_timeout: Duration::from_secs(1),
            max_output_bytes: 1,
        }
    }

    /// Returns the credentials, if the transport can send them.
    pub(super) fn auth(&self) -> Option<&McpAuth> {
        match self.endpoint {
            Endpoint::Stdio(_) => None,
            Endpoint::Http(_) => self.auth.as_ref(),
        }
    }

    /// Returns `true` if each user has a connection.
    pub(super) fn is_per_principal(&self) -> bool {
        self.auth().is_some_and(McpAuth::is_per_principal)
    }
}
