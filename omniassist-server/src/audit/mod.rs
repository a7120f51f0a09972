//! An audit log: one record for each decision about a run or a tool call.
//!
//! [`AssistantBuilder::audit`] sends an [`AuditEvent`] to an [`AuditSink`] when a run is refused, begins or ends. A tool
//! call has records when it is refused, waits for approval, is denied, is answered by a hook, is delegated to the client
//! or the provider, starts or ends. Records are delivered in order, each at least once: a sink that fails is called again
//! with the same records. Two sinks are bundled, [`JsonLinesFile`] and [`TracingSink`].
//!
//! | [`WhenSlow`] | A sink that is slow, or fails |
//! |---|---|
//! | `Wait` (default) | Runs and tools wait: none begins before its record is accepted. No record of them is lost. |
//! | `Drop` | Nothing waits. Beyond a number of waiting records, further ones are dropped and counted. |
//!
//! Records wait in memory until the sink has accepted them. [`Assistant::drain`](crate::Assistant::drain) waits for that,
//! so drain before the process ends.
//!
//! ```
//! use omniassist_server::audit::{AuditLog, JsonLinesFile};
//! use omniassist_server::core::RunRequest;
//! use omniassist_server::testing::{ScriptedProvider, text};
//! use omniassist_server::Assistant;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("omniassist-audit-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("audit.jsonl");
//! let file = JsonLinesFile::open(&path)?.rotate(100 * 1024 * 1024, 10);
//! let assistant = Assistant::builder(ScriptedProvider::new().turn(text("Hello")))
//!     .audit(AuditLog::new(file).record_arguments(true))
//!     .build()?;
//!
//! assistant.run(RunRequest::prompt("Hi")).text().await?;
//! assistant.shutdown().await;
//! let lines = std::fs::read_to_string(&path)?;
//! assert!(lines.contains(r#""action":"run_started""#) && lines.contains(r#""outcome":"finish""#));
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! [`AssistantBuilder::audit`]: crate::AssistantBuilder::audit

mod call;
mod event;
mod file;
mod log;
mod queue;
mod run;
mod sink;
mod tracing_sink;

pub(crate) use call::CallAudit;
pub use event::{AuditAction, AuditEvent, AuditedCall, Delegate};
pub use file::JsonLinesFile;
pub use log::{AuditLog, WhenSlow};
pub(crate) use queue::Ticket;
pub(crate) use run::{RunAudit, refused};
pub use sink::{AuditFuture, AuditSink};
pub use tracing_sink::TracingSink;
