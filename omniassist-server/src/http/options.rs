use std::sync::Arc;
use std::time::Duration;

use crate::access::AccessPolicy;
use crate::endpoint::{McpEndpoint, ObjectEndpoint, OpenAiEndpoint};
use crate::{Assistant, PageManifest};

/// The time after its end in which a run is replayed, unless the builder sets another one.
const RESUME_WINDOW: Duration = Duration::from_secs(60);

/// The HTTP settings that an assistant carries for its service.
impl Assistant {
    pub(crate) fn access(&self) -> &AccessPolicy {
        &self.http_options().access
    }

    pub(super) fn openai_endpoint(&self) -> &OpenAiEndpoint {
        &self.http_options().openai
    }

    /// Returns the time after its end in which a stored run is replayed.
    pub(super) fn resume_window(&self) -> Duration {
        self.http_options().resume_window.unwrap_or(RESUME_WINDOW)
    }

    /// Returns the endpoint for clients of the Model Context Protocol.
    pub(super) fn mcp(&self) -> Option<&Arc<dyn McpEndpoint>> {
        self.http_options().mcp.as_ref()
    }

    #[cfg(feature = "playground")]
    pub(super) fn playground(&self) -> Option<&crate::playground::Playground> {
        self.http_options().playground.as_ref()
    }

    /// Returns the objects, in the order of their names.
    pub(super) fn objects(&self) -> &[ObjectEndpoint] {
        &self.http_options().objects
    }

    /// Returns the pages of the web application.
    pub(super) fn pages(&self) -> Option<&PageManifest> {
        self.http_options().pages.as_deref()
    }
}
