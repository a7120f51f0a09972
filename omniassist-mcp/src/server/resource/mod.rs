//! Resources of the host for clients of MCP.

mod content;
mod offered;
mod template;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use omniassist_server::RunContext;
use omniassist_server::tool::ToolError;

pub use content::ResourceContent;
pub(super) use content::size_of;
pub(super) use offered::Resources;
use template::UriTemplate;

use super::completion::{Completers, CompletionRequest};
use super::visibility::Visibility;

type ReadFuture = Pin<Box<dyn Future<Output = Result<Option<ResourceContent>, ToolError>> + Send>>;

/// Data of the host that clients of MCP can read by its URI. Give it to [`Expose::resource`](super::Expose::resource).
///
/// ```
/// use omniassist_mcp::{Expose, Resource, ResourceContent};
/// use omniassist_server::tool::ToolError;
///
/// let prices = Resource::new("shop://prices", "prices", async |_| {
///     Ok(ResourceContent::text("Tea: 3 €"))
/// });
/// let order = Resource::template("shop://orders/{id}", "order", async |request| {
///     let found = request.parameter("id") == Some("A-17");
///     Ok(found.then(|| ResourceContent::text("{\"total\": 3}")))
/// });
/// let expose = Expose::tools()
///     .resource(prices.description("What everything costs"))
///     .resource(order.media_type("application/json").visible_to(|caller| caller.principal().id() == "ann"));
/// ```
#[derive(Clone)]
#[must_use = "a resource does nothing until it is exposed"]
pub struct Resource {
    address: UriTemplate,
    name: String,
    title: Option<String>,
    description: Option<String>,
    media_type: Option<String>,
    visibility: Visibility,
    completers: Completers,
    read: Arc<dyn Fn(ResourceRequest) -> ReadFuture + Send + Sync>,
}

/// The request for a resource.
#[derive(Debug, Clone)]
pub struct ResourceRequest {
    uri: String,
    parameters: BTreeMap<String, String>,
    caller: RunContext,
}

impl Resource {
    /// Creates the resource of one URI. `read` returns its content.
    ///
    /// A failure is sent with the [text](ToolError::text) of its error. A client waits at most 60 s.
    pub fn new<F, C>(uri: impl Into<String>, name: impl Into<String>, read: F) -> Self
    where
        F: Fn(ResourceRequest) -> C + Send + Sync + 'static,
        C: Future<Output = Result<ResourceContent, ToolError>> + Send + 'static,
    {
        let read = move |request| -> ReadFuture {
            let content = read(request);
            Box::pin(async move { content.await.map(Some) })
        };
        Self::of(UriTemplate::exact(uri.into()), name.into(), read)
    }

    /// Creates the resources of all URIs that fit a template. `read` returns the content of one, and `None` if there is none.
    ///
    /// The template has expressions `{name}`, which stand for one segment of a path, and `{+name}`, which can contain `/`.
    /// They are at least one character long and must have text between them. What a client writes there is decoded, so a
    /// parameter can contain any character: check it before it becomes part of a path.
    pub fn template<F, C>(template: impl Into<String>, name: impl Into<String>, read: F) -> Self
    where
        F: Fn(ResourceRequest) -> C + Send + Sync + 'static,
        C: Future<Output = Result<Option<ResourceContent>, ToolError>> + Send + 'static,
    {
        Self::of(UriTemplate::read(template.into()), name.into(), move |request| Box::pin(read(request)))
    }

    fn of(
        address: UriTemplate,
        name: String,
        read: impl Fn(ResourceRequest) -> ReadFuture + Send + Sync + 'static,
    ) -> Self {
        Self {
            address,
            name,
            title: None,
            description: None,
            media_type: None,
            visibility: Visibility::default(),
            completers: Completers::default(),
            read: Arc::new(read),
        }
    }

    /// Sets the title that people read. Default: none.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description that models read. Default: none.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type in the list, and of content that has none of its own. Default: none.
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }

    /// Sets the callers that see the resource. Default: all. To others, it does not exist.
    pub fn visible_to(mut self, condition: impl Fn(&RunContext) -> bool + Send + Sync + 'static) -> Self {
        self.visibility = Visibility::new(condition);
        self
    }

    /// Sets the values that a client can offer for a parameter of the template. Default: none.
    pub fn complete<F, C>(mut self, parameter: impl Into<String>, values: F) -> Self
    where
        F: Fn(CompletionRequest) -> C + Send + Sync + 'static,
        C: Future<Output = Result<Vec<String>, ToolError>> + Send + 'static,
    {
        self.completers.insert(parameter.into(), values);
        self
    }
}

impl ResourceRequest {
    /// Returns the URI as the client wrote it.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns a parameter of the template, decoded.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// Returns the caller: its principal and the extensions of its request. There is no conversation.
    #[must_use]
    pub fn caller(&self) -> &RunContext {
        &self.caller
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource").field("address", &self.address.as_str()).finish_non_exhaustive()
    }
}
