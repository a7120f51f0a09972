//! Hints between servers by LISTEN and NOTIFY.
//!
//! A notification takes a lock of the whole cluster when its transaction is committed. Therefore it has a transaction of its
//! own, which writes nothing, and each server sends one in 20 ms at most.

mod payload;

use std::borrow::Cow;
use std::collections::HashSet;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream;
use omniassist_server::store::{Hint, Wake, WakeStream, Woken};
use tokio::runtime::Handle;
use tokio::sync::broadcast::{Sender, channel, error::RecvError};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use crate::database::{Connection, Connector, Notifications, Pool};
use crate::failure::Failure;
use crate::text::stored;
use crate::values::values;

/// The shortest time between two notifications of a server.
const PAUSE: Duration = Duration::from_millis(20);

/// The hints that are kept for an instance that does not read them, as notifications.
const KEPT: usize = 64;

/// The time after which a silent connection is probed.
const PROBE: Duration = Duration::from_secs(15);

/// The first and the longest time between two tries to connect.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// The time within which a notification is sent, and within which its own reaches a server.
const HEARD: Duration = Duration::from_secs(2);

/// Hints between the servers of a schema.
pub(crate) struct Hints {
    pool: Arc<Pool>,
    outgoing: Arc<Mutex<Outgoing>>,
    listener: Arc<Listener>,
    task: Mutex<Option<AbortHandle>>,
}

/// The part that receives.
struct Listener {
    connector: Arc<Connector>,
    /// The connections with which it sends a notification to itself.
    pool: Arc<Pool>,
    incoming: Sender<Woken>,
    /// `true` if its own notification did not arrive: a pooler between transactions passes none.
    is_deaf: AtomicBool,
}

#[derive(Default)]
struct Outgoing {
    hints: HashSet<Hint>,
    /// The task that sends them.
    task: Option<AbortHandle>,
}

impl Hints {
    /// Creates hints that are sent with the connections of a pool, and received with one of their own.
    pub(crate) fn new(pool: &Arc<Pool>, listener: Arc<Connector>) -> Self {
        let (pool, incoming) = (Arc::clone(pool), channel(KEPT).0);
        let listener = Listener {
            connector: listener,
            pool: Arc::clone(&pool),
            incoming,
            is_deaf: AtomicBool::new(false),
        };
        Self { pool, outgoing: Arc::default(), listener: Arc::new(listener), task: Mutex::default() }
    }
}

impl Drop for Hints {
    fn drop(&mut self) {
        if let Some(task) = lock(&self.task).take() {
            task.abort();
        }
    }
}

impl Wake for Hints {
    fn wake(&self, hints: &[Hint]) {
        let Ok(runtime) = Handle::try_current() else { return };
        let mut outgoing = lock(&self.outgoing);
        outgoing.hints.extend(hints);
        if outgoing.task.as_ref().is_none_or(AbortHandle::is_finished) {
            let send = send(Arc::clone(&self.pool), Arc::clone(&self.outgoing));
            outgoing.task = Some(runtime.spawn(send).abort_handle());
        }
    }

    fn listen(&self) -> WakeStream {
        let receiver = self.listener.incoming.subscribe();
        let mut task = lock(&self.task);
        if task.as_ref().is_none_or(AbortHandle::is_finished)
            && let Ok(runtime) = Handle::try_current()
        {
            let listener = Arc::clone(&self.listener);
            *task = Some(runtime.spawn(async move { listener.receive().await }).abort_handle());
        }
        Box::pin(stream::unfold(receiver, |mut receiver| async move {
            match receiver.recv().await {
                Ok(woken) => Some((woken, receiver)),
                Err(RecvError::Lagged(_)) => Some((Woken::Missed, receiver)),
                Err(RecvError::Closed) => None,
            }
        }))
    }

    fn arrives(&self) -> bool {
        !self.listener.is_deaf.load(Ordering::Relaxed)
    }
}

/// Sends what there is, until there is nothing.
async fn send(pool: Arc<Pool>, outgoing: Arc<Mutex<Outgoing>>) {
    loop {
        let hints = {
            let mut outgoing = lock(&outgoing);
            if outgoing.hints.is_empty() {
                outgoing.task = None;
                return;
            }
            mem::take(&mut outgoing.hints)
        };
        // A connection may have fallen silent.
        let sent = timeout(HEARD, notify(&pool, payload::write(&hints))).await;
        if !matches!(sent, Ok(Ok(()))) {
            tracing::debug!(?sent, "hints were not sent; other servers look at the database themselves");
        }
        sleep(PAUSE).await;
    }
}

/// Sends notifications.
async fn notify(pool: &Pool, payloads: Vec<String>) -> Result<(), Failure> {
    let notify = "select pg_notify($1, payload) from unnest($2::text[]) as payload";
    let payloads = payloads.into_iter().map(Cow::Owned).collect::<Vec<Cow<'_, str>>>();
    pool.read(notify, values![stored(pool.connector().schema()), payloads]).await.map(drop)
}

impl Listener {
    /// Receives hints, and connects again whenever the connection is lost.
    async fn receive(&self) {
        let mut pause = RETRY.0;
        loop {
            match self.listen().await {
                Ok((connection, notifications)) => {
                    pause = RETRY.0;
                    // Those that were sent before are lost.
                    let _ = self.incoming.send(Woken::Missed);
                    self.forward(&connection, notifications).await;
                }
                Err(error) => {
                    tracing::warn!(
                        ?error,
                        "hints of other servers cannot be received; runs of theirs are slower to see"
                    );
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(RETRY.1);
        }
    }

    async fn listen(&self) -> Result<(Connection, Notifications), Failure> {
        let (connection, notifications) = self.connector.open().await?;
        connection.execute(&format!("listen \"{}\"", self.connector.schema())).await?;
        Ok((connection, notifications))
    }

    /// Passes notifications on until the connection is lost.
    async fn forward(&self, connection: &Connection, mut notifications: Notifications) {
        // It has no hint. That of any server will do.
        let is_sent = matches!(timeout(HEARD, notify(&self.pool, vec![String::new()])).await, Ok(Ok(())));
        let mut wait = if is_sent { HEARD } else { PROBE };
        loop {
            match timeout(wait, notifications.recv()).await {
                Ok(Some(payload)) => {
                    self.is_deaf.store(false, Ordering::Relaxed);
                    // Nobody may listen.
                    if !payload.is_empty() {
                        let _ =
                            self.incoming.send(payload::read(&payload).map_or(Woken::Missed, Woken::Hints));
                    }
                }
                Ok(None) => return,
                Err(_silent) if wait == HEARD => {
                    if !self.is_deaf.swap(true, Ordering::Relaxed) {
                        tracing::warn!(
                            "notifications of the database do not arrive, as through a pooler between \
                             transactions: set `listener_url`; servers look at the database more often meanwhile"
                        );
                    }
                }
                Err(_silent) => match timeout(PROBE, connection.execute("select 1")).await {
                    Ok(Ok(())) => {}
                    _ => return,
                },
            }
            wait = PROBE;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
