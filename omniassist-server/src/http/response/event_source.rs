use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use omniassist_core::RunEvent;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::Run;
use crate::bridge::BridgeStream;
use crate::clock::millis;
use crate::engine::{Admission, View};

/// The source of the events of a response.
pub(in crate::http) enum EventSource {
    /// A run of the assistant.
    Run(Run),
    /// A stored run of the assistant.
    View(View),
    /// An agent runtime of the host.
    Bridge(Watched),
}

impl EventSource {
    /// Returns the host's decision about the beginning of a run, if it was made.
    pub(super) fn admission(&self) -> Admission {
        match self {
            Self::Run(run) => run.admission(),
            Self::View(view) => view.admission(),
            Self::Bridge(_) => Admission::Granted,
        }
    }

    /// Passes all ready events to `give`, until it breaks. Returns `Pending` if more events may follow.
    pub(super) fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        give: &mut dyn FnMut(RunEvent) -> ControlFlow<()>,
    ) -> Poll<()> {
        match self {
            Self::Run(run) => run.poll_events(cx, give),
            Self::View(view) => view.poll_events(cx, give),
            Self::Bridge(stream) => {
                while let Some(event) = ready!(stream.poll_event(cx)) {
                    if give(event).is_break() {
                        return Poll::Pending;
                    }
                }
                Poll::Ready(())
            }
        }
    }

    pub(in crate::http) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        match self {
            Self::Run(run) => run.poll_event(cx),
            Self::View(view) => view.poll_event(cx),
            Self::Bridge(stream) => stream.poll_event(cx),
        }
    }
}

/// A stream that is dropped when it is not polled for too long. A client that stops reading without leaving would keep
/// its subscription forever. Bodies are polled at least for their keep-alives.
pub(super) struct Watched {
    slot: Arc<Slot>,
    watch: Option<JoinHandle<()>>,
}

struct Slot {
    stream: Mutex<Option<BridgeStream>>,
    started: Instant,
    /// Milliseconds from `started` to the latest poll.
    polled: AtomicU64,
}

impl Watched {
    /// Watches the stream. Outside of a tokio runtime the stream is kept until the body is dropped.
    pub(in crate::http) fn new(stream: BridgeStream, patience: Duration) -> Self {
        let started = Instant::now();
        let slot = Arc::new(Slot { stream: Mutex::new(Some(stream)), started, polled: AtomicU64::new(0) });
        let runtime = tokio::runtime::Handle::try_current().ok();
        let watch = runtime.map(|runtime| runtime.spawn(watch(Arc::downgrade(&slot), patience)));
        Self { slot, watch }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        self.slot.polled.store(millis(self.slot.started.elapsed()), Ordering::Relaxed);
        let mut stream = crate::sync::lock(&self.slot.stream);
        stream.as_mut().map_or(Poll::Ready(None), |stream| stream.poll_event(cx))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(watch) = &self.watch {
            watch.abort();
        }
    }
}

impl Slot {
    fn unread(&self) -> Duration {
        self.started.elapsed().saturating_sub(Duration::from_millis(self.polled.load(Ordering::Relaxed)))
    }
}

async fn watch(slot: Weak<Slot>, patience: Duration) {
    loop {
        let unread = match slot.upgrade() {
            None => return,
            Some(slot) if slot.unread() > patience => {
                tracing::debug!("the response is not read; its subscription to the runtime ends");
                let stream = crate::sync::lock(&slot.stream).take();
                return drop(stream);
            }
            Some(slot) => slot.unread(),
        };
        tokio::time::sleep(patience.saturating_sub(unread) + Duration::from_millis(1)).await;
    }
}
