//! A tool that counts its calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use omniassist_server::{Tool, ToolError};

/// Returns the tool `work` and the number of its executions.
pub(crate) fn counted() -> (Tool, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ran);
    let tool = Tool::new("work", "Works", move || {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok::<_, ToolError>("done") }
    });
    (tool, ran)
}
