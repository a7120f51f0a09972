use std::sync::Arc;

use reqwest::Url;
use rmcp::transport::AuthorizationManager;

use super::guarded_requests::{DiscoveryRequests, GuardedRequests};
use crate::client::McpError;

/// The authorization server of an MCP server.
pub(super) struct Discovered {
    pub(super) manager: AuthorizationManager,
    pub(super) issuer: String,
    /// Accepts the URL of a document as the id of a client.
    pub(super) accepts_client_metadata: bool,
}

impl Discovered {
    /// Finds the authorization server that a server names, from the header with which it refused a request if there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if none is named, its metadata cannot be read or trusted, or it does not have PKCE with S256.
    pub(super) async fn find(
        server: &Url,
        requests: Arc<GuardedRequests>,
        challenge: Option<&str>,
    ) -> Result<Self, McpError> {
        let requests = DiscoveryRequests::new(requests);
        let manager =
            AuthorizationManager::new_with_oauth_http_client(server.clone(), requests.clone()).await;
        let mut manager = manager.map_err(McpError::authorization)?;
        let found =
            manager.resolve_metadata_from_challenge(challenge).await.map_err(McpError::authorization)?;
        if !found.source.is_discovered() {
            return Err(McpError::authorization("the server names no authorization server"));
        }
        let metadata = found.metadata;
        let methods = metadata.code_challenge_methods_supported.iter().flatten();
        if !methods.into_iter().any(|method| method == "S256") {
            return Err(McpError::authorization(
                "the authorization server does not say that it has PKCE with S256",
            ));
        }
        let Some(issuer) = metadata.issuer.clone() else {
            return Err(McpError::authorization("the metadata of the authorization server names no issuer"));
        };
        // `rmcp` compares the issuer with the well-known addresses of metadata only. The metadata was the last request.
        if !requests.were_sent_to(&issuer) {
            return Err(McpError::authorization(
                "the metadata of the authorization server names an issuer at another address",
            ));
        }
        let is = |name: &str| metadata.additional_fields.get(name).and_then(serde_json::Value::as_bool);
        let accepts_client_metadata = is("client_id_metadata_document_supported") == Some(true);
        manager.set_metadata(metadata);
        Ok(Self { manager, issuer, accepts_client_metadata })
    }
}
