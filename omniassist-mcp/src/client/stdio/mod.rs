//! Servers that are processes of this host.

mod group;
mod lines;
mod program;
mod stderr;

pub(super) use group::Group;
pub(super) use program::{Process, Program};
