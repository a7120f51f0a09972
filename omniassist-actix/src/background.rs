//! The runtime of stored runs, which need no connection.

use std::sync::LazyLock;

use omniassist_server::Assistant;
use tokio::runtime::{Builder, Runtime};

/// The runtime of the stored runs of this process. It has several threads, since a run does all its work on it.
static RUNTIME: LazyLock<Option<Runtime>> =
    LazyLock::new(|| Builder::new_multi_thread().thread_name("omniassist").enable_all().build().ok());

/// Lets the stored runs of an assistant outlive the workers. The runtime of a worker ends as soon as the server stops and the
/// worker has no connection.
pub(crate) fn outlive_workers(assistant: &Assistant) {
    assistant.run_stored_on(|| Some(RUNTIME.as_ref()?.handle().clone()));
}
