use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;

use crate::sync;

/// The time for which a failure is not tried again, if there is no value from before.
pub(crate) const RETRY: Duration = Duration::from_secs(1);

/// Values of a loader. Each is loaded once at a time, and again after a time. The last good value stays while a new one cannot
/// be loaded.
pub(crate) struct Cache<K, V> {
    slots: Mutex<HashMap<K, Arc<Slot<V>>>>,
    ttl: Duration,
    /// The number of values above which those that nobody uses at the moment are dropped.
    most: usize,
}

type Slot<V> = AsyncMutex<State<V>>;

struct State<V> {
    value: Option<V>,
    /// The time of the last try, and `true` if it failed.
    tried: Option<(Instant, bool)>,
}

/// There is no value, and none can be loaded at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unavailable;

impl<K: Clone + Eq + Hash, V: Clone> Cache<K, V> {
    pub(crate) fn new(ttl: Duration, most: usize) -> Self {
        Self { slots: Mutex::default(), ttl, most }
    }

    /// Returns a value. `load` gets the one from before, and returns `None` if there is none any more.
    ///
    /// Requests at the same time wait for one call of `load`. If its future is dropped, the next of them calls its own.
    ///
    /// # Errors
    ///
    /// Returns an error if `load` fails and there is no value from before.
    pub(crate) async fn get<F, Fut>(&self, key: &K, load: F) -> Result<Option<V>, Unavailable>
    where
        F: FnOnce(Option<V>) -> Fut,
        Fut: Future<Output = Result<Option<V>, Unavailable>>,
    {
        let slot = self.slot(key);
        let asked = Instant::now();
        let mut state = slot.lock().await;
        match state.tried {
            // Another request tried while this one waited.
            Some((tried, has_failed)) if tried > asked => return state.outcome(has_failed),
            Some((tried, has_failed)) => {
                let fresh = if has_failed && state.value.is_none() { RETRY } else { self.ttl };
                if tried.elapsed() < fresh {
                    return state.outcome(has_failed);
                }
            }
            None => {}
        }
        let loaded = load(state.value.clone()).await;
        state.tried = Some((Instant::now(), loaded.is_err()));
        if let Ok(value) = loaded {
            state.value = value;
            if state.value.is_none() {
                self.remove(key, &slot);
            }
        }
        let has_failed = state.tried.is_some_and(|(_, has_failed)| has_failed);
        state.outcome(has_failed)
    }

    fn slot(&self, key: &K) -> Arc<Slot<V>> {
        let mut slots = sync::lock(&self.slots);
        if let Some(slot) = slots.get(key) {
            return Arc::clone(slot);
        }
        if slots.len() >= self.most {
            // A slot that is used has another owner.
            let idle = slots.iter().filter(|(_, slot)| Arc::strong_count(slot) == 1);
            let tried = |slot: &Slot<V>| slot.try_lock().ok().and_then(|state| state.tried).map(|(at, _)| at);
            let oldest = idle.min_by_key(|(_, slot)| tried(slot)).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                slots.remove(&oldest);
            }
        }
        let slot = Arc::new(AsyncMutex::new(State { value: None, tried: None }));
        slots.insert(key.clone(), Arc::clone(&slot));
        slot
    }

    /// Forgets a key without a value, so that unknown names need no memory.
    fn remove(&self, key: &K, slot: &Arc<Slot<V>>) {
        let mut slots = sync::lock(&self.slots);
        if slots.get(key).is_some_and(|current| Arc::ptr_eq(current, slot)) {
            slots.remove(key);
        }
    }
}

impl<V: Clone> State<V> {
    fn outcome(&self, has_failed: bool) -> Result<Option<V>, Unavailable> {
        match &self.value {
            None if has_failed => Err(Unavailable),
            value => Ok(value.clone()),
        }
    }
}
