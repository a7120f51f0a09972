//! A small back office, for the tour of OmniAssist.

mod config;
mod discovery;
mod store;

fn main() {}
