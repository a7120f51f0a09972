//! One writer for the segments of all runs of an assistant.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::watched::Watched;
use crate::failpoint;
use crate::store::{Appended, Durability, Hint, RunStore, Segment, SegmentKind, StoreError, Wake};

/// The number of segments in one statement.
const BATCH: usize = 1_024;

/// The bytes of data in one statement, of which the stores limit the time. A larger segment has one of its own.
const BYTES: usize = 1024 * 1024;

type Answer = Result<Appended, Arc<StoreError>>;

/// Appends segments. Those that arrive while a statement is under way share the next one.
pub(in crate::engine) struct Flusher(mpsc::UnboundedSender<Job>);

struct Job {
    segment: Segment,
    durability: Durability,
    done: oneshot::Sender<Answer>,
}

impl Flusher {
    /// Starts the writer on the current runtime. It ends when the flusher is dropped.
    pub(in crate::engine) fn start(
        runs: Arc<dyn RunStore>,
        wake: Option<Arc<dyn Wake>>,
        watched: Option<Arc<Watched>>,
    ) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(write(runs, wake, watched, receiver));
        Self(sender)
    }

    /// Appends a segment. The answer is `None` if the runtime shuts down.
    pub(in crate::engine) fn append(
        &self,
        segment: Segment,
        durability: Durability,
    ) -> oneshot::Receiver<Answer> {
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
        failpoint::hit("flusher.gathered");
        let mut batches = cut(jobs.drain(..));
        while let Some(batch) = batches.pop_front() {
            match append(&*runs, &batch).await {
                Ok(answers) => {
                    failpoint::hit("flusher.appended");
                    if let Some(wake) = &wake {
                        let hint =
                            |(job, answer): (&Job, _)| hint_of((&job.segment, answer), watched.as_deref());
                        let grown: Vec<_> = batch.iter().zip(&answers).filter_map(hint).collect();
                        if !grown.is_empty() {
                            wake.wake(&grown);
                        }
                    }
                    for (job, answer) in batch.into_iter().zip(answers) {
                        let _ = job.done.send(Ok(answer));
                    }
                }
                // One segment may be the cause.
                Err(error) if batch.len() > 1 && !is_of_store(&error) => {
                    let mut first = batch;
                    let second = first.split_off(first.len() / 2);
                    batches.push_front(second);
                    batches.push_front(first);
                }
                Err(error) => {
                    let error = Arc::new(error);
                    for job in batch {
                        let _ = job.done.send(Err(Arc::clone(&error)));
                    }
                }
            }
        }
    }
}

/// Divides jobs into batches of a limited size, with at most one segment of each run. A task that has lost its run may still
/// write to it while the next one does.
fn cut(jobs: impl Iterator<Item = Job>) -> VecDeque<Vec<Job>> {
    let (mut batches, mut bytes, mut runs) = (VecDeque::<Vec<Job>>::new(), 0, HashSet::new());
    for job in jobs {
        bytes += job.segment.data.len();
        let is_new = runs.insert(job.segment.writer.run);
        match batches.back_mut() {
            Some(batch) if is_new && bytes <= BYTES => batch.push(job),
            _ => {
                bytes = job.segment.data.len();
                runs = HashSet::from([job.segment.writer.run]);
                batches.push_back(vec![job]);
            }
        }
    }
    batches
}

async fn append(runs: &dyn RunStore, batch: &[Job]) -> Result<Vec<Appended>, StoreError> {
    let is_hard = batch.iter().any(|job| job.durability == Durability::Hard);
    let durability = if is_hard { Durability::Hard } else { Durability::Soft };
    let segments: Vec<_> = batch.iter().map(|job| job.segment.clone()).collect();
    runs.append(&segments, durability).await
}

/// Returns `true` for an error that every segment would get.
fn is_of_store(error: &StoreError) -> bool {
    error.is_unavailable() || error.is_full() || error.is_read_only() || error.is_incompatible()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{InstanceId, RunId, Writer};

    fn job(run: RunId, epoch: u32, bytes: usize) -> Job {
        let writer = Writer { run, epoch, instance: InstanceId::random() };
        let segment = Segment::new(writer, 2, SegmentKind::Text, 1, vec![0; bytes]);
        Job { segment, durability: Durability::Soft, done: oneshot::channel().0 }
    }

    #[test]
    fn statements_have_a_limited_size() {
        let sizes = |jobs: &[usize]| -> Vec<Vec<usize>> {
            let batches = cut(jobs.iter().map(|bytes| job(RunId::random(), 1, *bytes)));
            batches.iter().map(|batch| batch.iter().map(|job| job.segment.data.len()).collect()).collect()
        };
        const HALF: usize = BYTES / 2;
        assert_eq!(sizes(&[1, 2, 3]), [vec![1, 2, 3]]);
        assert_eq!(sizes(&[HALF, HALF, HALF, 1]), [vec![HALF, HALF], vec![HALF, 1]]);
        assert_eq!(sizes(&[1, 3 * BYTES, 2, 3]), [vec![1], vec![3 * BYTES], vec![2, 3]]);
    }

    /// A store judges the segments of a statement by their runs.
    #[test]
    fn a_statement_has_one_segment_of_a_run() {
        let (a, b) = (RunId::random(), RunId::random());
        let jobs = [(a, 1), (b, 1), (a, 2), (a, 3), (b, 2)];
        let batches = cut(jobs.iter().map(|(run, epoch)| job(*run, *epoch, 1)));
        let writer = |job: &Job| (job.segment.writer.run, job.segment.writer.epoch);
        let cut: Vec<Vec<_>> = batches.iter().map(|batch| batch.iter().map(writer).collect()).collect();
        assert_eq!(cut, [vec![(a, 1), (b, 1)], vec![(a, 2)], vec![(a, 3), (b, 2)]]);
    }
}
