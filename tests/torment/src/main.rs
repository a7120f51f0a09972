//! Kills processes that answer with stored runs, and checks that nothing is lost or done twice: `cargo xtask torment`.
//!
//! Three kinds of processes are this program. The *child* has an assistant with a `SqliteStore`, and the tools of a
//! [`Shape`](shape::Shape). The *ledger* counts the effects of the tools, and is never killed. The *harness* starts children
//! on one file until the run has ended, kills them at failpoints or at any time, and compares what the viewers have seen,
//! the ledger and the stored conversation.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program talks to its terminal")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "this is a test"
)]

mod child;
mod harness;
mod killed;
mod ledger;
#[path = "../../../omniassist-server/tests/recorded/legal/mod.rs"]
mod legal;
mod next;
mod shape;
mod verdict;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["child", path, ledger, case, shape] => child::run(path, ledger, case, shape),
        ["ledger"] => ledger::serve(),
        ["sqlite", kills, seed] => return harness::run(kills.parse().unwrap(), seed.parse().unwrap()),
        _ => {
            eprintln!("omniassist-torment sqlite KILLS SEED");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
