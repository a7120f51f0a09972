use http::Uri;
use serde::Serialize;

/// The path of the description of `/mcp`, below it.
pub(crate) const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// The description of a resource for OAuth clients (RFC 9728): its address and its authorization servers.
///
/// It is served without authentication at `/mcp/.well-known/oauth-protected-resource` below the mount, and the 401 of the
/// resource names that address in `WWW-Authenticate`.
#[derive(Debug, Clone)]
pub struct ProtectedResource {
    document: Document,
    metadata: Uri,
}

#[derive(Debug, Clone, Serialize)]
struct Document {
    resource: String,
    authorization_servers: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes_supported: Vec<String>,
    bearer_methods_supported: [&'static str; 1],
}

impl ProtectedResource {
    /// Creates the description of a resource at this address, the public one of `/mcp`: the server does not know under
    /// which name and path clients reach it. `None` for an address that is not an absolute URL.
    #[must_use]
    pub fn new(resource: &str) -> Option<Self> {
        let resource = resource.trim_end_matches('/').to_owned();
        let metadata: Uri = format!("{resource}{METADATA_PATH}").parse().ok()?;
        metadata.scheme().zip(metadata.authority())?;
        let document = Document {
            resource,
            authorization_servers: Vec::new(),
            scopes_supported: Vec::new(),
            bearer_methods_supported: ["header"],
        };
        Some(Self { document, metadata })
    }

    /// Adds the issuer of tokens for the resource, such as `https://id.example.com`. Default: none.
    #[must_use]
    pub fn authorization_server(mut self, issuer: impl Into<String>) -> Self {
        self.document.authorization_servers.push(issuer.into());
        self
    }

    /// Adds a scope for which clients may ask. Default: none.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.document.scopes_supported.push(scope.into());
        self
    }

    /// Returns the address of the description.
    #[must_use]
    pub fn metadata(&self) -> &Uri {
        &self.metadata
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!(self.document)
    }
}
