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
    slots: Mutex<Slots<K, V>>,
    ttl: Duration,
    /// The number of values above which those that nobody uses at the moment are dropped.
    most: usize,
}

struct Slots<K, V> {
    /// Those with a value.
    known: HashMap<K, Arc<Slot<V>>>,
    /// Those that are loaded for the first time, and those that failed. They never take the place of a known one.
    unknown: HashMap<K, Arc<Slot<V>>>,
}

type Slot<V> = AsyncMutex<State<V>>;

struct State<V> {
    value: Option<V>,
    /// The time of the last try, and why it failed.
    tried: Option<(Instant, Option<Unavailable>)>,
}

/// The reason why there is no value, and none can be loaded at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unavailable {
    /// The loader fails.
    Failing,
    /// The loader has no source, such as the folder of its files, so it has no value at all.
    #[cfg_attr(not(feature = "agent-files"), allow(dead_code, reason = "only a folder can be missing"))]
    NoSource,
    /// The configuration that was loaded has an error.
    Invalid,
}

impl<K: Clone + Eq + Hash, V: Clone> Cache<K, V> {
    pub(crate) fn new(ttl: Duration, most: usize) -> Self {
        let slots = Slots { known: HashMap::new(), unknown: HashMap::new() };
        Self { slots: Mutex::new(slots), ttl, most }
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
            Some((tried, failure)) if tried > asked => return state.outcome(failure),
            Some((tried, failure)) => {
                let fresh = if failure.is_some() && state.value.is_none() { RETRY } else { self.ttl };
                if tried.elapsed() < fresh {
                    return state.outcome(failure);
                }
            }
            None => {}
        }
        let loaded = load(state.value.clone()).await;
        let failure = loaded.as_ref().err().copied();
        state.tried = Some((Instant::now(), failure));
        if let Ok(value) = loaded {
            state.value = value;
            self.place(key, &slot, state.value.is_some());
        }
        state.outcome(failure)
    }

    /// Returns `true` if there is a value, whether it is current or not.
    pub(crate) fn has(&self, key: &K) -> bool {
        sync::lock(&self.slots).known.contains_key(key)
    }

    fn slot(&self, key: &K) -> Arc<Slot<V>> {
        let mut slots = sync::lock(&self.slots);
        if let Some(slot) = slots.known.get(key).or_else(|| slots.unknown.get(key)) {
            return Arc::clone(slot);
        }
        make_room(&mut slots.unknown, self.most);
        let slot = Arc::new(AsyncMutex::new(State { value: None, tried: None }));
        slots.unknown.insert(key.clone(), Arc::clone(&slot));
        slot
    }

    /// Puts a slot that was loaded among the known ones, or forgets it if it has no value, so that unknown names need no
    /// memory.
    fn place(&self, key: &K, slot: &Arc<Slot<V>>, has_value: bool) {
        let mut slots = sync::lock(&self.slots);
        let Slots { known, unknown } = &mut *slots;
        let is_in = |of: &HashMap<K, Arc<Slot<V>>>| of.get(key).is_some_and(|at| Arc::ptr_eq(at, slot));
        if is_in(unknown) {
            unknown.remove(key);
            if has_value {
                make_room(known, self.most);
                known.insert(key.clone(), Arc::clone(slot));
            }
        } else if !has_value && is_in(known) {
            known.remove(key);
        }
    }
}

/// Removes the slot that was tried first among those that nobody uses, if there are as many as there may be.
fn make_room<K: Clone + Eq + Hash, V>(slots: &mut HashMap<K, Arc<Slot<V>>>, most: usize) {
    if slots.len() < most {
        return;
    }
    // A slot that is used has another owner.
    let idle = slots.iter().filter(|(_, slot)| Arc::strong_count(slot) == 1);
    let tried = |slot: &Slot<V>| slot.try_lock().ok().and_then(|state| state.tried).map(|(at, _)| at);
    let oldest = idle.min_by_key(|(_, slot)| tried(slot)).map(|(key, _)| key.clone());
    if let Some(oldest) = oldest {
        slots.remove(&oldest);
    }
}

impl<V: Clone> State<V> {
    fn outcome(&self, failure: Option<Unavailable>) -> Result<Option<V>, Unavailable> {
        match (&self.value, failure) {
            (None, Some(failure)) => Err(failure),
            (value, _) => Ok(value.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const TTL: Duration = Duration::from_secs(30);

    /// Keys without a value make way for each other only, and there are at most as many as there may be values.
    #[tokio::test(start_paused = true)]
    async fn keys_without_a_value_take_no_place_of_others() {
        let (cache, loads) = (Cache::new(TTL, 2), Cell::new(0));
        let get = async |key, loaded| {
            tokio::time::advance(Duration::from_millis(1)).await;
            let load = |_| {
                loads.set(loads.get() + 1);
                std::future::ready(loaded)
            };
            (cache.get(&key, load).await, loads.replace(0))
        };
        let failed = Err(Unavailable::Failing);
        assert_eq!(
            (get("a", Ok(Some(1))).await, get("b", Ok(Some(2))).await),
            ((Ok(Some(1)), 1), (Ok(Some(2)), 1))
        );
        for key in ["x", "y", "x", "y"] {
            assert!(get(key, failed).await.0.is_err());
        }
        assert_eq!((get("x", failed).await.1, get("y", failed).await.1), (0, 0));
        assert!(get("z", failed).await.0.is_err());
        assert_eq!((get("y", failed).await.1, get("z", failed).await.1, get("x", failed).await.1), (0, 0, 1));
        assert_eq!((get("a", failed).await, get("b", failed).await), ((Ok(Some(1)), 0), (Ok(Some(2)), 0)));

        // A new value makes the one that was loaded first leave.
        assert_eq!(get("c", Ok(Some(3))).await, (Ok(Some(3)), 1));
        assert!(!cache.has(&"a") && cache.has(&"b") && cache.has(&"c"));
        // A value that there is no more is forgotten.
        tokio::time::advance(TTL).await;
        assert_eq!(get("b", Ok(None)).await, (Ok(None), 1));
        assert!(!cache.has(&"b"));
    }
}
