//! Settings of the HTTP service. The engine carries them and reads none.

use std::sync::Arc;
use std::time::Duration;

use omniassist_core::Limits;

use crate::access::AccessPolicy;
use crate::endpoint::{McpEndpoint, ObjectEndpoint, OpenAiEndpoint};
use crate::{Error, PageManifest, Result};

/// Access rules and endpoints of an assistant that is served over HTTP.
#[derive(Clone, Default)]
pub(crate) struct HttpOptions {
    pub(crate) access: AccessPolicy,
    pub(crate) openai: OpenAiEndpoint,
    /// Sorted by name once they are checked.
    pub(crate) objects: Vec<ObjectEndpoint>,
    pub(crate) mcp: Option<Arc<dyn McpEndpoint>>,
    pub(crate) pages: Option<Arc<PageManifest>>,
    /// `None` for the default.
    pub(crate) resume_window: Option<Duration>,
    /// `None` without a playground.
    #[cfg(feature = "playground")]
    pub(crate) playground: Option<crate::playground::Playground>,
}

impl HttpOptions {
    /// Checks every setting, for an assistant with or without a store of runs.
    ///
    /// # Errors
    ///
    /// Fails if a name, a schema, an origin, a host or a header is not valid, or two objects have the same name.
    pub(crate) fn checked(self, limits: &Limits, is_stored: bool) -> Result<Self> {
        let Self { access, openai, objects, .. } = self;
        openai.check()?;
        let access = access.checked(is_stored)?;
        let objects = objects.into_iter().map(|object| object.checked(limits));
        let mut objects = objects.collect::<Result<Vec<_>>>()?;
        objects.sort_by(|a, b| a.name().cmp(b.name()));
        let mut pairs = objects.iter().zip(objects.iter().skip(1));
        if let Some((twice, _)) = pairs.find(|(a, b)| a.name() == b.name()) {
            let name = twice.name();
            return Err(Error::configuration(format!("object `{name}`: another object has this name")));
        }
        Ok(Self { access, objects, openai, ..self })
    }
}
