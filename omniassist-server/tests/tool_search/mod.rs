//! Tests of the tool search.

mod catalogue;
mod clients;
mod counted;
mod deferred;
mod loaded;
mod ranking;
#[cfg(feature = "openai")]
mod real_model;
mod scale;

use omniassist_server::Tool;
use omniassist_server::core::Limits;
use omniassist_server::tool::{StateMap, ToolSnapshot, Tools};

fn snapshot(tools: Vec<Tool>) -> ToolSnapshot {
    let registry = Tools::new(StateMap::new(), Limits::default());
    tools.into_iter().for_each(|tool| registry.register(tool).unwrap());
    registry.snapshot()
}
