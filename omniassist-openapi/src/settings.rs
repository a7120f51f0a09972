//! The settings that tools of documents and single tools share.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use omniassist_server::outbound::{OutboundClient, OutboundPolicy};
use secrecy::{ExposeSecret, SecretString};

use crate::server::{Server, redacted};
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
                redacted(&server.base)
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

/// Writes the setters that a builder with `settings` has.
macro_rules! connection_setters {
    ($builder:ident) => {
        impl $builder {
            /// Adds a header to all requests that the model never sees, such as an API key. It takes the place of a parameter
            /// of the document. The value is removed from responses that repeat it. Default: none.
            pub fn secret_header(
                mut self,
                name: impl Into<String>,
                value: impl Into<secrecy::SecretString>,
            ) -> Self {
                self.settings.headers.push((name.into(), value.into()));
                self
            }

            /// Allows these hosts of your own network to have an internal address, and `http://` in their URLs; see
            /// [`OutboundPolicy::allow_internal_host`](omniassist_server::outbound::OutboundPolicy::allow_internal_host).
            /// Default: `https://` and public addresses only.
            pub fn allow_hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
                self.settings.hosts.extend(hosts.into_iter().map(Into::into));
                self
            }

            /// Sets the rules for connections: the time limit, the resolver, trusted certificates. The host and the port of
            /// the server are added to them. Default:
            /// [`OutboundPolicy::new`](omniassist_server::outbound::OutboundPolicy::new).
            pub fn outbound(mut self, policy: omniassist_server::outbound::OutboundPolicy) -> Self {
                self.settings.outbound = policy;
                self
            }

            /// Sets the bytes that a response may have. A longer JSON text is an error for the model, and other text is cut
            /// off. It is also the cap of a tool's output. Default: 256 KiB.
            pub fn max_response_bytes(mut self, bytes: usize) -> Self {
                self.settings.max_response_bytes = bytes;
                self
            }

            /// Sets the need for an approval of each call, for all methods but `GET` and `HEAD`. Default: `true`. A tool can
            /// be given another policy with [`Tool::requires_approval`](omniassist_server::Tool::requires_approval).
            pub fn approval_for_writes(mut self, needed: bool) -> Self {
                self.settings.writes_need_approval = needed;
                self
            }
        }
    };
}

pub(crate) use connection_setters;
