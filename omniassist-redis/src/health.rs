use std::sync::atomic::{AtomicBool, Ordering};

use redis::RedisError;

/// The state of the two connections that carry text. Each outage is logged once.
pub(crate) struct Health {
    pub(crate) reads: AtomicBool,
    pub(crate) writes: AtomicBool,
    is_logged: AtomicBool,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            reads: AtomicBool::new(true),
            writes: AtomicBool::new(true),
            is_logged: AtomicBool::new(false),
        }
    }
}

impl Health {
    pub(crate) fn writes(&self) -> bool {
        self.writes.load(Ordering::Relaxed)
    }

    /// Lets the next write try.
    pub(crate) fn try_writes(&self) {
        self.writes.store(true, Ordering::Relaxed);
    }

    pub(crate) fn fail(&self, which: &AtomicBool, error: &RedisError) {
        which.store(false, Ordering::Relaxed);
        if !self.is_logged.swap(true, Ordering::Relaxed) {
            tracing::warn!(%error, "Redis does not work; text reaches other servers by the store");
        }
    }

    pub(crate) fn recover(&self, which: &AtomicBool) {
        which.store(true, Ordering::Relaxed);
        if self.reads.load(Ordering::Relaxed)
            && self.writes()
            && self.is_logged.swap(false, Ordering::Relaxed)
        {
            tracing::info!("Redis works again");
        }
    }
}
