//! The lease of this process on its runs, and the runs that it takes over.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use http::Extensions;
use omniassist_core::{Error, Text};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval};

use crate::engine::Assistant;
use crate::engine::end::{RETRY_ELSEWHERE, STOPPED};
use crate::engine::run::LiveRuns;
use crate::engine::settings::Setup;
use crate::engine::stores::Stores;
use crate::engine::stores::refused;
use crate::failpoint;
use crate::store::{Claim, RunId, SignalKind};

/// The time after which a process that is silent has lost its runs.
pub(in crate::engine::stored) const LEASE: Duration = Duration::from_secs(6);

/// The time between two signs of life.
const BEAT: Duration = Duration::from_secs(2);

impl Assistant {
    /// Begins the lease of this process, once. Runs that another process has left are taken over from then on.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available. The next call tries again.
    pub(crate) async fn begin_lease(&self, stores: &Arc<Stores>) -> Result<(), Error> {
        if stores.lease.initialized() {
            return Ok(());
        }
        let (assistant, own) = (self.clone(), Arc::clone(stores));
        let begun = stores.spawn(async move {
            own.lease.get_or_try_init(|| assistant.lease_begun(&own)).await.map(|&()| ())
        });
        begun.await.unwrap_or_else(|_| Err(Error::internal()))
    }

    async fn lease_begun(&self, stores: &Arc<Stores>) -> Result<(), Error> {
        if self.is_draining() {
            return Err(Error::shutting_down(RETRY_ELSEWHERE));
        }
        failpoint::hit("lease.start");
        stores.runs.beat(stores.instance, LEASE, 0).await.map_err(|error| refused::by_store(&error))?;
        failpoint::hit("lease.begun");
        stores.begin_to_listen();
        stores.begin_sweeps(&self.setup.config.retention);
        let now = Arc::clone(&stores.beat_now);
        tokio::spawn(beat(Arc::downgrade(&self.setup), Arc::downgrade(&self.live), now));
        Ok(())
    }

    /// Begins the lease of this process in the background, if it has a store and runs on a tokio runtime. Runs that another
    /// process has left then go on without a request.
    pub(crate) fn spawn_lease(&self) {
        if let (Some(stores), Ok(runtime)) = (self.stores(), Handle::try_current())
            && !stores.lease.initialized()
        {
            let (assistant, stores) = (self.clone(), Arc::clone(stores));
            // Errors were logged, and the first request tries again.
            runtime.spawn(async move { assistant.begin_lease(&stores).await.ok() });
        }
    }

    /// Extends the lease, passes signals on, ends lost runs, and takes over runs.
    async fn beat(&self, stores: &Arc<Stores>) {
        let room = if self.is_draining() { 0 } else { stores.takeovers.available_permits() };
        let asked = room.saturating_add(stores.refused());
        let beating = stores.beating.lock().await;
        if stores.is_released() {
            return;
        }
        let beat = stores.runs.beat(stores.instance, LEASE, asked).await;
        drop(beating);
        let beat = match beat {
            Ok(beat) => beat,
            Err(error) => {
                tracing::warn!(error = %crate::one_line::chain(&error), "the lease of this process was not extended");
                return;
            }
        };
        failpoint::hit("lease.extended");
        for received in beat.signals {
            let Some(leg) = stores.live(received.run) else { continue };
            match received.signal.kind {
                SignalKind::Stop => leg.control.abort(Text::from_static(STOPPED)),
                SignalKind::StopAgent(agent) => {
                    // It may have ended.
                    let _ = leg.control.stop_agent(&agent);
                }
                SignalKind::Say(query) => match serde_json::from_slice(&received.signal.data) {
                    // The question may have another answer.
                    Ok(answer) => drop(leg.control.answer(&query, answer)),
                    Err(error) => tracing::warn!(%error, "an answer to a tree cannot be read"),
                },
                _ => {}
            }
        }
        let own = Arc::clone(stores);
        // The next beat does not wait for it.
        tokio::spawn(async move {
            if let Err(error) = own.look_at_own().await {
                tracing::warn!(error = %crate::one_line::chain(&error), "the runs of this process were not looked at");
            }
        });
        let is_full = beat.free.len() >= asked;
        let left = stores.take_left(room).into_iter().map(|run| (run, Claim::Again));
        // A run whose viewers wait here is started by the task that lets them know.
        let free = beat.free.into_iter().filter(|run| !stores.queue.look_at(*run)).collect();
        let free = stores.choose(free, room).into_iter();
        let runs: Vec<_> = left.chain(free.map(|run| (run, Claim::IfFree))).collect();
        if !runs.is_empty() {
            // A take-over waits for the store and for the application. The next beat must not.
            let (assistant, stores) = (self.clone(), Arc::clone(stores));
            tokio::spawn(async move { assistant.take_over_all(&stores, runs, is_full).await });
        }
    }

    async fn take_over_all(&self, stores: &Arc<Stores>, runs: Vec<(RunId, Claim)>, is_full: bool) {
        let taken_over = runs.into_iter().map(|(run, condition)| async move {
            let _place = stores.takeovers.acquire().await;
            // Errors were logged.
            let taken = self.take_over(stores, run, condition, Extensions::new(), None).await;
            let is_taken = matches!(taken, Ok(Some(_)));
            if is_taken {
                failpoint::hit("lease.claimed");
                tracing::info!(run_id = %run, "a run that its server has left goes on here");
            }
            is_taken
        });
        let is_taken = join_all(taken_over).await.contains(&true);
        // A server that dies with many runs leaves more than there is room for at once. Other instances take some of them.
        if is_full && is_taken {
            stores.beat_now.notify_one();
        }
    }
}

async fn beat(setup: Weak<Setup>, live: Weak<LiveRuns>, now: Arc<Notify>) {
    let mut tick = interval(BEAT);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            () = now.notified() => {}
        }
        let (Some(setup), Some(live)) = (setup.upgrade(), live.upgrade()) else { return };
        let assistant = Assistant { setup, live, agent: None, team: None };
        let Some(stores) = assistant.stores().filter(|stores| !stores.is_released()).cloned() else { return };
        assistant.beat(&stores).await;
    }
}
