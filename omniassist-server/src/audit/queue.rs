use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{AuditAction, AuditEvent, AuditSink};
use crate::sync::lock;
use crate::{Principal, one_line, panics};

/// The largest number of records in one call of the sink.
const BATCH: usize = 256;

/// The delay after the first failure of the sink. It doubles with each further one.
const RETRY: Duration = Duration::from_millis(100);

/// The longest delay after a failure of the sink.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(10);

/// The records that wait for a sink, and the task that writes them.
///
/// The task lives as long as there are records. A record leaves the queue when the sink has accepted it, so that a task
/// whose runtime was shut down loses nothing: the next record, or a flush, starts another one.
pub(super) struct Queue {
    sink: Box<dyn AuditSink>,
    waiting: Mutex<Waiting>,
    /// The number of records that the sink has accepted.
    accepted: watch::Sender<u64>,
}

#[derive(Default)]
struct Waiting {
    events: VecDeque<AuditEvent>,
    /// The number of records that were added.
    pushed: u64,
    dropped: u64,
    /// The records that were dropped since the last record of dropped records.
    unreported: u64,
    writer: Option<JoinHandle<()>>,
}

impl Queue {
    pub(super) fn new(sink: Box<dyn AuditSink>) -> Self {
        Self { sink, waiting: Mutex::default(), accepted: watch::Sender::new(0) }
    }

    /// Adds a record, unless `capacity` records wait already. Returns its number.
    pub(super) fn push(self: &Arc<Self>, event: AuditEvent, capacity: usize) -> u64 {
        let mut waiting = lock(&self.waiting);
        if waiting.events.len() >= capacity {
            if waiting.unreported == 0 {
                tracing::error!(capacity, "the audit sink is too slow; records are dropped");
            }
            waiting.dropped += 1;
            waiting.unreported += 1;
        } else {
            waiting.report_dropped();
            waiting.add(event);
        }
        self.write(&mut waiting);
        waiting.pushed
    }

    /// Returns the number of records that wait.
    pub(super) fn len(&self) -> usize {
        lock(&self.waiting).events.len()
    }

    pub(super) fn dropped(&self) -> u64 {
        lock(&self.waiting).dropped
    }

    pub(super) async fn flush(self: &Arc<Self>) {
        let number = {
            let mut waiting = lock(&self.waiting);
            waiting.report_dropped();
            self.write(&mut waiting);
            waiting.pushed
        };
        self.accepted(number).await;
    }

    async fn accepted(&self, number: u64) {
        // The sender lives as long as `self`.
        let _ = self.accepted.subscribe().wait_for(|accepted| *accepted >= number).await;
    }

    /// Starts the writer if it is needed, and does not run.
    fn write(self: &Arc<Self>, waiting: &mut Waiting) {
        if !waiting.events.is_empty()
            && waiting.writer.as_ref().is_none_or(JoinHandle::is_finished)
            && let Ok(runtime) = Handle::try_current()
        {
            waiting.writer = Some(runtime.spawn(write(Arc::clone(self))));
        }
    }

    /// Returns the next records. Ends the writer if there are none.
    fn batch(&self) -> Option<Vec<AuditEvent>> {
        let mut waiting = lock(&self.waiting);
        if waiting.events.is_empty() {
            waiting.writer = None;
            return None;
        }
        Some(waiting.events.iter().take(BATCH).cloned().collect())
    }
}

impl Waiting {
    /// Adds a record of those that were dropped since the last one.
    fn report_dropped(&mut self) {
        if self.unreported > 0 {
            let action = AuditAction::RecordsDropped { count: std::mem::take(&mut self.unreported) };
            self.add(AuditEvent::new(Principal::anonymous(), None, None, action));
        }
    }

    fn add(&mut self, event: AuditEvent) {
        self.events.push_back(event);
        self.pushed += 1;
    }
}

async fn write(queue: Arc<Queue>) {
    let mut delay = RETRY;
    while let Some(events) = queue.batch() {
        let recorded =
            panics::catch_async("the audit sink", async { queue.sink.record(&events).await }).await;
        if let Some(Ok(())) = recorded {
            lock(&queue.waiting).events.drain(..events.len());
            queue.accepted.send_modify(|accepted| *accepted += events.len() as u64);
            delay = RETRY;
            continue;
        }
        if let Some(Err(error)) = recorded {
            tracing::error!(error = %one_line::chain(&*error), ?delay, "the audit sink failed; it is called again");
        }
        tokio::time::sleep(delay).await;
        delay = (delay * 2).min(MAX_RETRY_DELAY);
    }
}

/// A record that something may wait for.
#[derive(Clone)]
pub(crate) struct Ticket(Option<(Arc<Queue>, u64)>);

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").finish_non_exhaustive()
    }
}

impl Ticket {
    pub(super) fn new(queue: &Arc<Queue>, number: u64) -> Self {
        Self(Some((Arc::clone(queue), number)))
    }

    pub(super) fn accepted_already() -> Self {
        Self(None)
    }

    /// Waits until the sink has accepted the record, if the log waits.
    pub(crate) async fn accepted(self) {
        if let Some((queue, number)) = self.0 {
            queue.accepted(number).await;
        }
    }
}
