//! Apps: documents of a source, which a page shows for the calls of its tools.

mod document;
mod error;
mod origin;

use std::future::Future;
use std::pin::Pin;

use omniassist_core::Text;
use serde_json::Value;

pub use document::AppDocument;
pub use error::AppError;
pub use origin::AppOrigin;

use crate::RunContext;

/// The future of [`SourceApps::document`].
pub type DocumentFuture<'a> = Pin<Box<dyn Future<Output = Result<AppDocument, AppError>> + Send + 'a>>;

/// The future of [`SourceApps::resource`].
pub type ResourceFuture<'a> = Pin<Box<dyn Future<Output = Result<Value, AppError>> + Send + 'a>>;

/// The apps of a [`ToolSource`](super::ToolSource), behind the routes below `/apps/{server}`.
///
/// Their tools are those of the source. A tool that only apps may call is [visible](crate::Tool::visible_to) to callers whose
/// extensions have an [`AppCall`] of the source. A tool that apps may not call is visible to all others.
pub trait SourceApps: Send + Sync {
    /// Returns the document at a `ui://` address. The source sets its own deadline and limits.
    ///
    /// # Errors
    ///
    /// The future returns an error if there is no such document for the caller, or it cannot be read.
    fn document<'a>(&'a self, caller: &'a RunContext, uri: &'a str) -> DocumentFuture<'a>;

    /// Returns a resource for an app of the source, as the result of `resources/read` of MCP.
    ///
    /// # Errors
    ///
    /// The future returns an error if there is no such resource for the caller, or it cannot be read.
    fn resource<'a>(&'a self, caller: &'a RunContext, uri: &'a str) -> ResourceFuture<'a>;
}

/// An extension of a request in which an app calls a tool. Conditions of visibility, hooks and tools find it in
/// [`RunContext::extensions`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppCall {
    /// The name of the source.
    pub source: Text,
    /// The chat that shows the app, as the page says. It is not verified.
    pub chat_id: Option<Text>,
}

impl AppCall {
    /// Creates the extension of a call by an app of this source, for tests of tools.
    #[must_use]
    pub fn new(source: impl Into<Text>) -> Self {
        Self { source: source.into(), chat_id: None }
    }

    /// Returns `true` if an app of this source calls.
    #[must_use]
    pub fn is_of(caller: &RunContext, source: &str) -> bool {
        caller.extensions().get::<Self>().is_some_and(|call| call.source == source)
    }
}
