//! What became of runs, for the host's metrics.
//!
//! An [`Observe`]r is told when a run begins, writes its first word, ends, and when one is refused; without an observer
//! nothing is measured. For one thing done at the end of each run there is [`AssistantBuilder::on_run_end`]. How many
//! runs are under way, [`Assistant::live_runs`] says: a gauge to be read whenever metrics are collected. What happens
//! within a run is in its spans, which go through `tracing`.
//!
//! ```
//! use omniassist_server::core::RunRequest;
//! use omniassist_server::testing::{ScriptedProvider, text};
//! use omniassist_server::Assistant;
//! # use std::sync::Mutex;
//! # static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
//! # /// What `metrics::counter!` and `metrics::histogram!` do, or another crate like it.
//! # fn count(name: &str, outcome: &str, by: u64) {
//! #     SEEN.lock().unwrap().push(format!("{name}{{outcome={outcome}}} {by}"));
//! # }
//! # fn record(_: &str, _: f64) {}
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let assistant = Assistant::builder(ScriptedProvider::new().turn(text("Hello")))
//!     .on_run_end(|run| {
//!         // A label must have few values: an outcome is one, a user or a chat is none.
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

mod observer;
mod report;
mod watch;

pub use observer::Observe;
pub(crate) use observer::{AtEnd, Observers};
pub use report::{RunEnd, RunInfo, RunReport};
pub(crate) use watch::Watch;
