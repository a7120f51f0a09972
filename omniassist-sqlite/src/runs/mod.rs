//! Runs and their journals.

mod append;
mod begin;
mod head;
mod lease;
mod settle;
mod signal;
mod tail;

pub(crate) use append::append;
pub(crate) use begin::begin;
pub(crate) use head::{find, open_of};
pub(crate) use lease::{beat, claim};
pub(crate) use settle::settle;
pub(crate) use signal::signal;
pub(crate) use tail::tail;
