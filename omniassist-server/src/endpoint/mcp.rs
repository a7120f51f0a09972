use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri};
use http_body::Body;

use super::ProtectedResource;

/// The body of an answer of an [`McpEndpoint`].
pub type McpBody = Pin<Box<dyn Body<Data = Bytes, Error = Infallible> + Send + Sync>>;

/// The future of an answer of an [`McpEndpoint`].
pub type McpAnswer = Pin<Box<dyn Future<Output = Response<McpBody>> + Send>>;

/// An endpoint that answers `POST /mcp` below the mount; see [`mcp_server`](crate::AssistantBuilder::mcp_server).
///
/// The crate `omniassist-mcp` has the only implementation that most applications need. This trait keeps its protocol, and
/// what that depends on, out of this crate.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an MCP endpoint",
    note = "give `omniassist_mcp::Expose`, or implement `McpEndpoint`"
)]
pub trait McpEndpoint: Send + Sync + 'static {
    /// Answers a request whose host, origin, sender and body were checked as those of all other routes.
    ///
    /// Its extensions hold the [`Assistant`](crate::Assistant), the [`Principal`](crate::Principal) and what else
    /// [authentication](crate::Authenticate) has added. Dropping the future, or the body, means that the client has left.
    fn answer(&self, request: Request<Bytes>) -> McpAnswer;

    /// Returns the description of the endpoint for clients that look for its authorization server. Default: none.
    fn protected_resource(&self) -> Option<&ProtectedResource> {
        None
    }
}

/// The challenge of a 401 that names the description of a resource, added to that of the host.
pub(crate) fn challenge(own: &HeaderValue, metadata: &Uri) -> Option<HeaderValue> {
    let own = own.to_str().ok()?;
    let separator = if own.contains(' ') { ", " } else { " " };
    HeaderValue::from_str(&format!("{own}{separator}resource_metadata=\"{metadata}\"")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_keeps_the_parameters_of_the_host() {
        let metadata = Uri::from_static("https://api.example.com/mcp/metadata");
        let parameter = "resource_metadata=\"https://api.example.com/mcp/metadata\"";
        for (own, expected) in [
            ("Bearer", format!("Bearer {parameter}")),
            ("Bearer realm=\"x\"", format!("Bearer realm=\"x\", {parameter}")),
        ] {
            assert_eq!(challenge(&HeaderValue::from_static(own), &metadata).unwrap(), expected);
        }
    }
}
