use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_core::{Error, Limits};

use crate::Principal;
use crate::sync::lock;

/// The delay after which one of a principal's runs may have ended.
const RETRY_OWN: Duration = Duration::from_secs(1);

/// The delay after which one of all runs may have ended.
const RETRY_ANY: Duration = Duration::from_secs(2);

/// Counts the runs of clients in progress, in total and for each principal.
#[derive(Debug, Default)]
pub(super) struct Slots {
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    /// The named principals with a run in progress.
    by_principal: HashMap<Principal, usize>,
}

/// The right to one run. Dropping it releases the right.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    principal: Principal,
}

impl Slots {
    /// Takes a slot for this principal.
    ///
    /// # Errors
    ///
    /// Fails if the principal, or the server, has as many runs as the limits allow. The principal's limit is checked first, so
    /// that its error is precise even if the server is full.
    pub(super) fn take(self: &Arc<Self>, principal: &Principal, limits: &Limits) -> Result<Slot, Error> {
        let mut taken = lock(&self.taken);
        let named = !principal.is_anonymous();
        let own = if named { taken.by_principal.get(principal).copied().unwrap_or(0) } else { 0 };
        if named && own >= limits.max_runs_per_principal {
            return Err(Error::too_many_runs(limits.max_runs_per_principal, RETRY_OWN));
        }
        if taken.total >= limits.max_runs {
            return Err(Error::overloaded(RETRY_ANY));
        }
        taken.total += 1;
        if named {
            taken.by_principal.insert(principal.clone(), own + 1);
        }
        Ok(Slot { slots: Arc::clone(self), principal: principal.clone() })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = lock(&self.slots.taken);
        taken.total = taken.total.saturating_sub(1);
        if let Entry::Occupied(mut own) = taken.by_principal.entry(self.principal.clone()) {
            match own.get_mut() {
                0 | 1 => drop(own.remove()),
                runs => *runs -= 1,
            }
        }
    }
}
