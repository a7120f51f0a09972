//! What a run is asked for ([`RunRequest`]), and the run loop that carries it out.

mod request;

pub use request::{RunRequest, Trigger};
