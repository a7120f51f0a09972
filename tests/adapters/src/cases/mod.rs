//! What the four have in common, a file for each concern.

pub(crate) mod errors;
pub(crate) mod leaving;
pub(crate) mod limits;
pub(crate) mod order;
pub(crate) mod routes;
