//! The files of a run: those that its messages name, and those that its model makes.

mod fetched;
#[cfg(feature = "files")]
mod generated;
mod stored;
