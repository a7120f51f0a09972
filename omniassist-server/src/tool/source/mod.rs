//! Sources of tools: servers, documents and services outside the application that have tools of their own.
//!
//! A [`ToolSource`] is attached to the tools of an assistant or an agent, at the start or while they serve. It offers its tools
//! through the [`SourceSlot`] that it receives. It can offer others at any time; runs that have begun keep the ones that they
//! have. The tools of a source are tools like others: the same hooks, approvals, limits and audit apply.
//!
//! - The name of a source is the prefix of its tools: `open` of the source `docs` is `docs_open`. So two sources cannot have
//!   tools of one name. A name that models do not accept is changed; see [`source_tool_name`].
//! - A tool of the application has precedence over a tool of a source with the same name.
//! - A tool that cannot be offered is withheld, and the others are offered. [`Tools::sources`](super::Tools::sources) tells the
//!   reason.
//!
//! ```
//! use omniassist_server::Assistant;
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::tool::source::{AttachedSource, SourceSlot, ToolSource};
//! use omniassist_server::tool::{Tool, ToolError};
//!
//! struct Warehouse;
//!
//! impl ToolSource for Warehouse {
//!     fn name(&self) -> &str {
//!         "warehouse"
//!     }
//!
//!     fn attach(&self, slot: SourceSlot) {
//!         let ping = Tool::new("ping", "Asks the warehouse for a sign of life", async || Ok::<_, ToolError>("pong"));
//!         let burn = Tool::new("burn", "Burns it down", async || Ok::<_, ToolError>("done"));
//!         slot.offer([ping, burn]);
//!     }
//! }
//!
//! let source = AttachedSource::new(Warehouse).except(["burn"]);
//! let assistant = Assistant::builder(ScriptedProvider::new()).tool_source(source).build()?;
//! assert_eq!(assistant.tools().names(), ["warehouse_ping"]);
//! # Ok::<(), omniassist_server::Error>(())
//! ```

mod app;
mod attached;
mod attachment;
mod name;
mod output_schema;
mod slot;
mod status;

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

pub use app::{AppCall, AppDocument, AppError, AppOrigin, DocumentFuture, ResourceFuture, SourceApps};
pub use attached::AttachedSource;
pub(super) use attached::Filter;
pub(super) use attachment::{Attachment, Attachments};
pub(super) use name::check_source_name;
pub use name::source_tool_name;
pub use output_schema::OutputSchema;
pub(super) use slot::OfferedTools;
pub use slot::SourceSlot;
pub use status::{SourceState, SourceStatus, WithheldTool};

use crate::RunContext;

/// The future of [`ToolSource::ready`].
pub type ReadyFuture<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// The future of [`ToolSource::state_for`].
pub type StateFuture<'a> = Pin<Box<dyn Future<Output = Option<SourceState>> + Send + 'a>>;

/// A source of tools outside the application.
///
/// An `Arc` of a source is a source.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a source of tools",
    label = "does not implement `ToolSource`",
    note = "a single function is a `Tool`: give it to `.tool(…)`"
)]
pub trait ToolSource: Send + Sync + 'static {
    /// Returns the name, which is the prefix of its tools: 1 to 16 of `a` to `z`, `0` to `9` and `-`, a letter first.
    fn name(&self) -> &str;

    /// Takes the slot for the tools. It is called once for each attachment, and must not wait: a source that has a connection
    /// to make offers its tools later. It can be called outside a tokio runtime.
    fn attach(&self, slot: SourceSlot);

    /// Waits until the tools for a caller are offered, before a run begins. Returns `false` if the run must not begin without
    /// them; its client then receives `tool_source_unavailable`. The default returns `true` at once.
    ///
    /// It is called for each run. The source sets its own deadline. Dropping the future only stops the waiting.
    fn ready<'a>(&'a self, caller: &'a RunContext) -> ReadyFuture<'a> {
        let _ = caller;
        Box::pin(ready(true))
    }

    /// Returns the state for a caller in the manifest, if it is not the state of the source. The default returns `None` at
    /// once.
    ///
    /// It is called for each manifest. The source sets its own deadline.
    fn state_for<'a>(&'a self, caller: &'a RunContext) -> StateFuture<'a> {
        let _ = caller;
        Box::pin(ready(None))
    }

    /// Returns the apps of the source. The default returns `None`: the routes below `/apps/{server}` are unknown.
    fn apps(&self) -> Option<&dyn SourceApps> {
        None
    }
}

impl<S: ToolSource + ?Sized> ToolSource for Arc<S> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn attach(&self, slot: SourceSlot) {
        (**self).attach(slot);
    }

    fn ready<'a>(&'a self, caller: &'a RunContext) -> ReadyFuture<'a> {
        (**self).ready(caller)
    }

    fn state_for<'a>(&'a self, caller: &'a RunContext) -> StateFuture<'a> {
        (**self).state_for(caller)
    }

    fn apps(&self) -> Option<&dyn SourceApps> {
        (**self).apps()
    }
}
