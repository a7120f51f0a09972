//! Observers of runs, for metrics of the host.
//!
//! An [`Observe`]r is notified when a run begins, writes its first token or ends, and when one is refused. Without an
//! observer, nothing is measured. [`AssistantBuilder::on_run_end`] adds a closure for the end of each run.
//! [`Assistant::live_runs`] is a gauge to read whenever metrics are collected. Details of a run are in its `tracing`
//! spans.
//!
//! ```
//! use omniassist_server::core::RunRequest;
//! use omniassist_server::testing::{ScriptedProvider, text};
//! use omniassist_server::Assistant;
//! # use std::sync::Mutex;
//! # static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
//! # /// Stands for `metrics::counter!` and `metrics::histogram!`.
//! # fn count(name: &str, outcome: &str, by: u64) {
//! #     SEEN.lock().unwrap().push(format!("{name}{{outcome={outcome}}} {by}"));
//! # }
//! # fn record(_: &str, _: f64) {}
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let assistant = Assistant::builder(ScriptedProvider::new().turn(text("Hello")))
//!     .on_run_end(|run| {
//!         // A label must have few values, so use the outcome and not the user or the chat.
//!         let outcome = run.outcome.as_str();
//!         count("assistant_runs_total", outcome, 1);
//!         count("assistant_output_tokens_total", outcome, run.usage.output_tokens.unwrap_or(0));
//!         record("assistant_run_seconds", run.duration.as_secs_f64());
//!         if let Some(first) = run.time_to_first_token {
//!             record("assistant_time_to_first_token_seconds", first.as_secs_f64());
//!         }
//!     })
//!     .build()?;
//!
//! assistant.run(RunRequest::prompt("Hi")).text().await?;
//! # assert_eq!(SEEN.lock().unwrap()[0], "assistant_runs_total{outcome=finish} 1");
//! # Ok(())
//! # }
//! ```
//!
//! [`AssistantBuilder::on_run_end`]: crate::AssistantBuilder::on_run_end
//! [`Assistant::live_runs`]: crate::Assistant::live_runs

mod finished;
mod observer;
mod pending;
mod report;
mod watch;

pub use finished::FinishedRun;
pub(crate) use finished::{FinishHooks, Settled};
pub use observer::Observe;
pub(crate) use observer::{AtEnd, Observers};
pub use report::{RunEnd, RunInfo, RunReport};
pub(crate) use watch::Watch;
