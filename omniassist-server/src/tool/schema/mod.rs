//! The JSON Schemas of tool arguments and of answers: their generation from types, the rules of providers, and the
//! check of a call.
//!
//! Clients and models write schemas too, so every walk over one is bounded: it visits each node once, or it counts its
//! steps.

mod check;
mod lint;
mod messages;
mod normalise;
mod pattern;
mod reference;
mod rules;
mod validate;
mod values;
mod verify;

pub(super) use check::ArgumentCheck;
pub(super) use lint::lint;
pub(crate) use normalise::{generate, of_answer};
pub(super) use normalise::{no_arguments, normalise};
