use crate::Assistant;
use crate::access::AccessPolicy;
use crate::endpoint::{ObjectEndpoint, OpenAiEndpoint};

/// The HTTP settings that an assistant carries for its service.
impl Assistant {
    pub(crate) fn access(&self) -> &AccessPolicy {
        &self.http_options().access
    }

    pub(super) fn openai_endpoint(&self) -> &OpenAiEndpoint {
        &self.http_options().openai
    }

    /// Returns the objects, in the order of their names.
    pub(super) fn objects(&self) -> &[ObjectEndpoint] {
        &self.http_options().objects
    }
}
