//! The agents of the host's loader.

mod assemble;
mod check;
mod dependencies;
mod source;

pub(super) use assemble::AgentTools;
pub(super) use source::ConfiguredAgents;
