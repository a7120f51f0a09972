//! The JSON Schemas of tool arguments and of answers: their generation from types, the rules of providers, and the
//! check of a call.
//!
//! Clients and models write schemas too, so every walk over one is bounded: it visits each node once, or it counts its
//! steps.

mod check;
mod lint;
mod messages;
mod normalise;
mod partial_check;
mod pattern;
mod reference;
mod rules;
mod validate;
mod values;
mod verify;

pub(crate) use check::ArgumentCheck;
pub(super) use lint::lint;
pub(crate) use normalise::{generate, of_answer};
pub(super) use normalise::{no_arguments, normalise};
use omniassist_core::Limits;
pub(crate) use partial_check::PartialCheck;

/// The deepest schema that the limits may allow, because schemas are walked on the stack.
const MAX_DEPTH: usize = 128;

/// The bounds of schemas and of checks against them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SchemaLimits {
    /// Bytes with a copy in place of each reference, as several providers need it.
    max_bytes: usize,
    /// Levels of schemas within schemas, references included.
    max_depth: usize,
    /// Steps of a check, beside those for the size of the value.
    max_steps: u64,
}

impl From<&Limits> for SchemaLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            max_bytes: limits.max_schema_bytes,
            max_depth: limits.max_schema_depth.min(MAX_DEPTH),
            max_steps: limits.max_schema_check_steps,
        }
    }
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self::from(&Limits::default())
    }
}
