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

/// Passes a point.
#[cfg(feature = "__failpoints")]
pub fn hit(name: &'static str) {
    use std::io::Write;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    static WANTED: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("OMNIASSIST_KILL").ok());
    static PASSED: AtomicU32 = AtomicU32::new(0);

    let Some(wanted) = WANTED.as_deref() else { return };
    if wanted == "?" {
        drop(writeln!(std::io::stderr(), "@point {name}"));
    } else if let Some((point, number)) = wanted.split_once(':')
        && point == name
        && number.parse() == Ok(PASSED.fetch_add(1, Ordering::SeqCst) + 1)
    {
        std::process::abort();
    }
}
