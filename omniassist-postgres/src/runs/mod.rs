//! Runs and their journals.

mod append;
mod begin;
mod due;
mod head;
mod lease;
mod settle;
mod signal;
mod tail;

pub(crate) use append::append;
pub(crate) use begin::begin;
pub(crate) use head::{find, open_of};
pub(crate) use lease::{Try, beat, claim};
pub(crate) use settle::settle;
pub(crate) use signal::{signal, watch};
pub(crate) use tail::tails;
