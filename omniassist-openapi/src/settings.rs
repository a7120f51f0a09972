//! The settings that tools of documents and single tools share.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use omniassist_server::outbound::{OutboundClient, OutboundPolicy};
use secrecy::{ExposeSecret, SecretString};

use crate::server::Server;
use crate::{Auth, OpenApiError};

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) outbound: OutboundPolicy,
    pub(crate) hosts: Vec<String>,
    pub(crate) headers: Vec<(String, SecretString)>,
    pub(crate) max_response_bytes: usize,
    pub(crate) writes_need_approval: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            outbound: OutboundPolicy::new(),
            hosts: Vec::new(),
            headers: Vec::new(),
            max_response_bytes: 256 << 10,
            writes_need_approval: true,
        }
    }
}

/// A server, and the settings of its tools.
pub(crate) struct Connection {
    pub(crate) client: OutboundClient,
    pub(crate) server: Server,
    pub(crate) headers: Vec<(HeaderName, Auth)>,
    pub(crate) max_response_bytes: usize,
    pub(crate) writes_need_approval: bool,
}

impl Settings {
    pub(crate) fn connect(&self, server: Server) -> Result<Arc<Connection>, OpenApiError> {
        let mut headers = Vec::new();
        for (name, value) in &self.headers {
            let unfit = |error: http::Error| {
                OpenApiError::configuration(format!("`secret_header`: the header {name:?} is not valid"))
                    .with_source(error)
            };
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| unfit(error.into()))?;
            HeaderValue::from_str(value.expose_secret()).map_err(|error| unfit(error.into()))?;
            headers.push((name, Auth::api_key(value.clone())));
        }
        let policy =
            self.outbound.clone().max_bytes(self.max_response_bytes).only_hosts([server.host.as_str()]);
        let policy = server.port.into_iter().fold(policy, OutboundPolicy::allow_port);
        let policy = self.hosts.iter().fold(policy, OutboundPolicy::allow_internal_host);
        let refused = |error: &dyn std::fmt::Display| {
            let remedy = "name the hosts of your own network with `allow_hosts`";
            OpenApiError::configuration(format!(
                "the server {:?} cannot be used: {error}; {remedy}",
                server.base
            ))
        };
        policy.check(&server.base).map_err(|error| refused(&error).with_source(error))?;
        let client = OutboundClient::new(policy).map_err(|error| refused(&error).with_source(error))?;
        Ok(Arc::new(Connection {
            client,
            server,
            headers,
            max_response_bytes: self.max_response_bytes,
            writes_need_approval: self.writes_need_approval,
        }))
    }
}
