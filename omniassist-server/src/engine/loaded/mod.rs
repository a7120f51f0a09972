//! The agents of the host's loader.

mod assemble;
mod check;
mod closure;
mod lookup;
mod source;

pub(super) use assemble::Bonds;
pub(super) use source::Loaded;
