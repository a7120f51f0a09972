//! The documents of apps, and the results of the calls that apps show.

mod documents;
mod result;

pub(super) use documents::{Documents, MAX_BYTES};
pub(super) use result::{result_for_app, show};
