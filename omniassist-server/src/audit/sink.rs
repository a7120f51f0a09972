use std::future::Future;
use std::pin::Pin;

use super::AuditEvent;
use crate::BoxError;

/// The future of [`AuditSink::record`].
pub type AuditFuture<'a> = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + 'a>>;

/// A destination of audit records, such as a table of a database.
///
/// ```
/// use omniassist_server::Assistant;
/// use omniassist_server::audit::{AuditEvent, AuditFuture, AuditSink};
/// # use omniassist_server::testing::ScriptedProvider;
/// # #[derive(Clone)]
/// # struct Pool;
/// # impl Pool {
/// #     async fn insert(&self, _id: &str, _json: String) -> Result<(), std::io::Error> { Ok(()) }
/// # }
///
/// struct Table(Pool);
///
/// impl AuditSink for Table {
///     fn record<'a>(&'a self, events: &'a [AuditEvent]) -> AuditFuture<'a> {
///         Box::pin(async move {
///             for event in events {
///                 // INSERT … ON CONFLICT (id) DO NOTHING
///                 self.0.insert(&event.id, serde_json::to_string(event)?).await?;
///             }
///             Ok(())
///         })
///     }
/// }
///
/// # fn main() -> omniassist_server::Result<()> {
/// let assistant = Assistant::builder(ScriptedProvider::new()).audit(Table(Pool)).build()?;
/// # let _ = assistant;
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an audit sink",
    note = "an audit sink implements `AuditSink`; there are `JsonLinesFile` and `TracingSink`"
)]
pub trait AuditSink: Send + Sync + 'static {
    /// Stores records, in this order. It is called in a separate task, and never twice at the same time.
    ///
    /// # Errors
    ///
    /// After an error or a panic, which is logged, it is called again with the same records first: after 100 ms, and at
    /// most 10 s later each time.
    fn record<'a>(&'a self, events: &'a [AuditEvent]) -> AuditFuture<'a>;
}
