//! The agents of the host's loader.

mod assemble;
mod check;
mod dependencies;
mod lookup;
mod source;

pub(super) use assemble::AgentTools;
pub(super) use source::Loaded;
