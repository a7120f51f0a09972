//! The agents of an assistant: by name, by the conversation that they have, and asked by other agents.

pub(super) mod delegation;
mod handoff_lookup;
mod inner_call;
mod lookup;
mod of_user;
mod suspended;

pub(super) use handoff_lookup::{PossibleTools, Verified};
