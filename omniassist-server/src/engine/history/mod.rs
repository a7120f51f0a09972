//! The part of a long conversation that the model is sent.

mod carried;
mod made;
mod setting;
mod summaries;

pub(super) use carried::{Carried, metadata};
pub(super) use made::{Made, Viewed};
pub use setting::History;
pub(super) use setting::Posted;
