//! The agents of the host's loader.

mod assemble;
mod check;
mod dependencies;
mod source;

pub(in crate::engine) use assemble::AgentTools;
pub(in crate::engine) use source::ConfiguredAgents;
