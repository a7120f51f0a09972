//! One writer for the segments of all runs of an assistant.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::watched::Watched;
use crate::failpoint;
use crate::store::{Appended, Durability, Hint, RunStore, Segment, SegmentKind, StoreError, Wake};

/// The number of segments in one statement.
const BATCH: usize = 1_024;

type Answer = Result<Appended, Arc<StoreError>>;

/// Appends segments. Those that arrive while a statement is under way share the next one.
pub(super) struct Flusher(mpsc::UnboundedSender<Job>);

struct Job {
    segment: Segment,
    durability: Durability,
    done: oneshot::Sender<Answer>,
}

impl Flusher {
    /// Starts the writer on the current runtime. It ends when the flusher is dropped.
    pub(super) fn start(
        runs: Arc<dyn RunStore>,
        wake: Option<Arc<dyn Wake>>,
        watched: Option<Arc<Watched>>,
    ) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(write(runs, wake, watched, receiver));
        Self(sender)
    }

    /// Appends a segment. The answer is `None` if the runtime shuts down.
    pub(super) fn append(&self, segment: Segment, durability: Durability) -> oneshot::Receiver<Answer> {
        let (done, answer) = oneshot::channel();
        // The receiver reports a writer that has ended.
        let _ = self.0.send(Job { segment, durability, done });
        answer
    }
}

async fn write(
    runs: Arc<dyn RunStore>,
    wake: Option<Arc<dyn Wake>>,
    watched: Option<Arc<Watched>>,
    mut receiver: mpsc::UnboundedReceiver<Job>,
) {
    let mut jobs = Vec::new();
    while receiver.recv_many(&mut jobs, BATCH).await > 0 {
        let is_hard = jobs.iter().any(|job| job.durability == Durability::Hard);
        let durability = if is_hard { Durability::Hard } else { Durability::Soft };
        let (segments, done): (Vec<_>, Vec<_>) = jobs.drain(..).map(|job| (job.segment, job.done)).unzip();
        failpoint::hit("flusher.gathered");
        match runs.append(&segments, durability).await {
            Ok(answers) => {
                failpoint::hit("flusher.appended");
                if let Some(wake) = &wake {
                    let hint = |answered| hint_of(answered, watched.as_deref());
                    let grown: Vec<_> = segments.iter().zip(&answers).filter_map(hint).collect();
                    if !grown.is_empty() {
                        wake.wake(&grown);
                    }
                }
                for (done, answer) in done.into_iter().zip(answers) {
                    let _ = done.send(Ok(answer));
                }
            }
            Err(error) => {
                let error = Arc::new(error);
                for done in done {
                    let _ = done.send(Err(Arc::clone(&error)));
                }
            }
        }
    }
}

/// Returns the hint about a segment that another instance waits for. It does not wait for text that the tail cache has.
fn hint_of((segment, answer): (&Segment, &Appended), watched: Option<&Watched>) -> Option<Hint> {
    let run = segment.writer.run;
    let is_sent = || segment.kind == SegmentKind::Text && watched.is_some_and(|watched| watched.sends(run));
    match answer {
        Appended::Taken(notice) if notice.watched && !is_sent() => Some(Hint::Grown(run)),
        _ => None,
    }
}
