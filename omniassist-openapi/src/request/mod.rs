//! The request of a call: its URL, headers and body, from the arguments.

mod body;
mod build;
mod encode;
mod integer;
mod multipart;
mod path;
mod style;

pub(crate) use build::{Request, build, path_of};
pub(crate) use encode::encode;
pub(crate) use integer::long_integer;
