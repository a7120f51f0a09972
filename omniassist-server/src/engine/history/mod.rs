//! The part of a long conversation that is sent to the model.

mod carried;
mod made;
mod setting;
mod summaries;

pub(super) use carried::{Carried, metadata};
pub(super) use made::{Made, Viewed};
pub use setting::History;
pub(super) use setting::Posted;
