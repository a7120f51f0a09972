//! The setting of the endpoint for clients of the Model Context Protocol.

use std::sync::Arc;

use super::AssistantBuilder;
use crate::endpoint::McpEndpoint;

impl AssistantBuilder {
    /// Serves `POST /mcp` below the mount with this endpoint, such as `omniassist_mcp::Expose`. Default: there is no such
    /// route.
    ///
    /// Host, origin, authentication and the limits of bodies are those of the other routes. `GET` and `DELETE` are answered
    /// 405, since there are no sessions.
    pub fn mcp_server(mut self, endpoint: impl McpEndpoint) -> Self {
        self.config.http.mcp = Some(Arc::new(endpoint));
        self
    }
}
