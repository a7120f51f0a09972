//! `cargo xtask mutants`: does the client suite notice mistakes in what is sent?
//!
//! A copy of the sources is built once with all of the slips in it, each behind a switch. Then one file of the suite runs
//! per slip, with that one made, and must fail. A slip that no test notices is a test that is missing.

mod ag_ui;
mod ai_sdk;
mod chat_completions;
mod copilotkit;
mod copy;
mod plain;
mod run;
mod runs;
mod seals;
mod slip;

pub(crate) use copy::fit;
pub(crate) use run::run;
