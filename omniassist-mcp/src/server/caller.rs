use http::request::Parts;
use omniassist_server::core::RunRequest;
use omniassist_server::{Assistant, RunContext};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

/// The sender of a request, and the assistant that it reaches.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) assistant: Assistant,
    /// The extensions of the HTTP request: the principal, and what else authentication has added.
    pub(super) extensions: http::Extensions,
}

impl Caller {
    /// Reads the caller of a request that came through the assistant's service.
    ///
    /// # Errors
    ///
    /// Returns an error for any other request.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Result<Self, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        let mut extensions = parts.map(|parts| parts.extensions.clone()).unwrap_or_default();
        let assistant = extensions
            .remove::<Assistant>()
            .ok_or_else(|| ErrorData::internal_error("The request has no assistant.", None))?;
        Ok(Self { assistant, extensions })
    }

    /// Returns the context of the caller, for functions of the host. There is no conversation.
    pub(super) fn context(self) -> RunContext {
        RunContext::for_request(RunRequest::default(), self.extensions)
    }
}
