//! The measured costs that the model starts from.
//!
//! Most were measured with `cargo run --release -p omniassist-benches --features postgres -- postgres` on two cores of a
//! virtual machine, on which the database, the servers and the clients ran together. `SERVER_POST`, `SETTLE` and `COMMIT` are
//! estimates from the same measurements, and `TICK` to `PATIENCE` are the settings of the engine and the store.

/// The processor time of a server for a token, in seconds. Its answers are paced, with 500 runs of 50 tokens a second.
pub(super) const SERVER_TOKEN: f64 = 26e-6;

/// The processor time of a server for a post: its run, its questions to the store and its end, in seconds.
pub(super) const SERVER_POST: f64 = 1.5e-3;

/// The processor time of the database for a run that begins, in seconds.
pub(super) const BEGIN: f64 = 1.1e-3;

/// The processor time of the database for a run that ends, whose message is stored, in seconds.
pub(super) const SETTLE: f64 = 1.1e-3;

/// The processor time of the database for a commit of segments, and for each segment in it, in seconds.
pub(super) const COMMIT: f64 = 0.6e-3;
pub(super) const SEGMENT: f64 = 20e-6;

/// The time of a hard commit on its disk, in seconds. Commits of different connections share one.
pub(super) const FLUSH: f64 = 3e-3;

/// The time between two soft commits of a server, in seconds.
pub(super) const TICK: f64 = 0.1;

/// The segments of one statement.
pub(super) const BATCH: u32 = 1024;

/// The connections of a server for runs that begin and end.
pub(super) const WRITERS: usize = 3;

/// The longest wait of a post for the database, in seconds. A post that waits longer is refused with 503.
pub(super) const PATIENCE: f64 = 3.0;

/// The write-ahead log of a run that begins and ends with a message of 2 KB, and of a segment, in bytes.
pub(super) const LOG_OF_RUN: f64 = 6e3;
pub(super) const LOG_OF_SEGMENT: f64 = 360.0;

/// The stored bytes of a message, without the journal, which is deleted an hour after the end.
pub(super) const MESSAGE: f64 = 1.1e3;
