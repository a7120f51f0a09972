//! This process among those that share a store: its lease, its hints to the others, and its background work.

mod hints;
mod lease;
mod release;
mod runtime;
mod sweep;

pub(super) use lease::LEASE;
