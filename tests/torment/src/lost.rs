//! The text that a death has lost, and the bound of its age.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::time::Duration;

use omniassist_server::core::RunEvent;
use omniassist_server::core::journal;
use omniassist_server::store::TailOf;

use crate::moments::Moments;
use crate::shape::Shape;
use crate::store::{Store, runs, scope};

/// The time between two writes of text.
const FLUSH: Duration = Duration::from_millis(100);

/// The text that a death has lost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lost {
    /// The age of the oldest lost delta at the death. Zero if nothing is lost.
    pub(crate) age: Duration,
    /// The longest commit of the child.
    pub(crate) commit: Duration,
    /// The longest time by which a timer of the child fired late: a busy machine writes that much later.
    pub(crate) late: Duration,
}

impl Lost {
    /// Returns the oldest that lost text may be.
    pub(crate) fn bound(&self) -> Duration {
        FLUSH + self.commit + self.late
    }
}

/// Returns the text of a child that its store does not have. `None` if the child wrote none.
pub(crate) async fn lost<S: Store>(
    store: &S,
    shape: Shape,
    moments: &Moments,
    death: Duration,
) -> Option<Lost> {
    if moments.deltas.is_empty() {
        return None;
    }
    let found = runs(store, shape).await.into_iter().flatten();
    let tails: Vec<_> = found.map(|head| TailOf::new(scope(), head.run, 0)).collect();
    let mut kept = String::new();
    for tail in store.read(&tails, usize::MAX).await.unwrap().into_iter().flatten() {
        for segment in tail.segments {
            // The mark of a claim has no data.
            for event in journal::exact(&journal::read(&segment.data).unwrap_or_default()) {
                if let RunEvent::TextDelta { delta, .. } = event {
                    kept.push_str(&delta);
                }
            }
        }
    }
    // Each delta is unique.
    let oldest = moments.deltas.iter().find(|(_, delta)| !kept.contains(delta.as_str()));
    let age = oldest.map_or(Duration::ZERO, |(at, _)| death.saturating_sub(*at));
    Some(Lost { age, commit: moments.commit, late: moments.late })
}

/// Copies the database of a process that has died, as it is. To open it would repair it before the next process does.
pub(crate) fn copy(from: &Path, to: &Path) {
    for file in fs::read_dir(from).unwrap().map(Result::unwrap) {
        // The index of the log is not part of the durable state.
        if !file.path().extension().and_then(OsStr::to_str).is_some_and(|name| name.ends_with("-shm")) {
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
}
