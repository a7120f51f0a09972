//! Points at which a test kills this process. They exist with a private cargo feature only.
//!
//! `OMNIASSIST_KILL=name:n` aborts the process when it passes the point of that name for the n-th time. `OMNIASSIST_KILL=?`
//! writes the name of each point that is passed to the standard error.
//!
//! Another crate is not used: `fail` has no action that ends the process, and a point here only has a name.

/// Passes a point.
#[cfg(not(feature = "__failpoints"))]
#[inline]
pub const fn hit(_name: &'static str) {}

/// Calls a function at each point, with `true` if the process dies there. The first function stays.
#[cfg(not(feature = "__failpoints"))]
#[inline]
pub const fn watch(_watcher: fn(&'static str, bool)) {}

#[cfg(feature = "__failpoints")]
pub use compiled::{hit, watch};

#[cfg(feature = "__failpoints")]
mod compiled {
    use std::io::Write;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{LazyLock, OnceLock};

    static WANTED: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("OMNIASSIST_KILL").ok());
    static PASSED: AtomicU32 = AtomicU32::new(0);
    static WATCHER: OnceLock<fn(&'static str, bool)> = OnceLock::new();

    /// Passes a point.
    pub fn hit(name: &'static str) {
        let is_death = is_death(name);
        if let Some(watcher) = WATCHER.get() {
            watcher(name, is_death);
        }
        if is_death {
            std::process::abort();
        }
    }

    /// Calls a function at each point, with `true` if the process dies there. The first function stays.
    pub fn watch(watcher: fn(&'static str, bool)) {
        let _ = WATCHER.set(watcher);
    }

    fn is_death(name: &str) -> bool {
        let Some(wanted) = WANTED.as_deref() else { return false };
        if wanted == "?" {
            drop(writeln!(std::io::stderr(), "@point {name}"));
            return false;
        }
        wanted.split_once(':').is_some_and(|(point, number)| {
            point == name && number.parse() == Ok(PASSED.fetch_add(1, Ordering::SeqCst) + 1)
        })
    }
}
