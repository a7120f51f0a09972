//! The agents that work for another one, polled in place by its driver. No task and no channel carries their events, so they
//! end with it, and a slow client slows them all down.

mod agent_records;
mod asking;
mod branch;
mod child;
mod inner;
mod journaled;
mod ledger_node;
mod open;
mod origin;
mod ready;
mod recorded;
mod seed;
mod shown;
mod spending;
mod waiting;

pub(super) use agent_records::{AgentRecords, WaitingAgent, WaitingAgents};
pub(super) use asking::{KeptCall, Suspended};
pub(super) use branch::{AgentQuestion, Begin, Branch};
pub(super) use child::Work;
pub(super) use ledger_node::LedgerNode;
pub(super) use origin::Origin;
pub(super) use ready::MAX_PARALLEL;
pub(super) use seed::Seed;
pub(super) use shown::{cut, keep_latest};
