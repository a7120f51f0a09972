//! Kills processes that answer with stored runs, and checks that nothing is lost or done twice: `cargo xtask torment`.
//!
//! Three kinds of processes are this program. The *child* has an assistant with a `SqliteStore`, and the tools of a
//! [`Shape`]. The *ledger* counts the effects of the tools, and is never killed. The *harness* starts children
//! on one file until the run has ended, kills them at failpoints or at any time, and compares what the viewers have seen,
//! the ledger and the stored conversation. It is also the client of those children that have a port. One case of four has an
//! encrypted store.
//!
//! After each death, the text that the engine was handed is looked up in a copy of the database. The oldest delta that is
//! missing may be as old as the time between two writes (100 ms), the longest commit of this child, and the longest time
//! by which its timers fired late. All three are measured by the clock that processes share: the child writes the moments
//! of deltas, commits and a regular beat to its output, which survives it.
//!
//! With `agents`, the runs ask agents, which ask others. Each agent must be stored once under the id that viewers saw, with its
//! place in the tree and its end, and report what its tools did.
//!
//! # Clusters
//!
//! `cluster DATABASE PART` with `sqlite`, `postgres` or `postgres+redis` starts three *servers* with one database, relays
//! before and behind them, and clients that post to any server and come back to another when they lose it. The parts:
//!
//! - `probes`: an approval at two servers at the same time, and stops at a server that does not drive the run, with the time
//!   until the end.
//! - `storm MINUTES STREAMS SEED`: servers are killed, or frozen for longer than their lease. Connections of clients, to the
//!   database and to Redis are cut, or deliver nothing in one direction or in both. Redis is killed and frozen. The clock of
//!   one server differs by an hour. Each client must end with the events of the log, after the resets that it was sent. A
//!   reset may take back nothing that was acted on. The ledger and the stored messages are compared as in the other cases.
//!   Each server must end with one listener, and no connection, lock or key may be left.
//! - `deploy STREAMS [PROGRAM]`: all servers are replaced, one after the other, and later killed. No answer may fail. The
//!   time until the next server writes is measured at the clients. With the program of an earlier version, its servers are
//!   replaced by those of this version, which are then replaced by the earlier ones again.
//!
//! # Mutations
//!
//! Each check was seen to fail:
//!
//! | check | mutation |
//! |---|---|
//! | the age of lost text | `FLUSH` of 130 ms in `engine/stores` |
//! | whole answers | no `StepReset` in `Recovery::finish` of `core::run` |
//! | each question is answered once | neither `open_once` nor `begin` looks for the run of the same post |
//! | answers in the order of questions | queued runs are free and can be claimed at any time, and the index `run_live` is not unique |
//! | an answer over a port is cut by a death only | `Task::settle` does not show what it held |
//! | clients end with the log | no `withdraw_step` in `http/chats/resume.rs` |
//! | each client reaches the end | what is swept depends on the clock of a process: an hour of difference on SQLite |
//! | time of hand-overs | `beat` in `engine/stored/instance/lease.rs` does not look again after as many runs as it has room for |
//! | listeners of the servers | `listen` in `hints` of `omniassist-postgres` keeps a second connection |
//! | keys of Redis | `KEEP` of 60 s in `writer.rs` of `omniassist-redis` |
//! | one effect of an agent's call | `Recorded::take` leaves out the start of tools |
//! | each agent is stored once | `Branch::take_restored` finds none |
//! | agents that viewers saw are stored | the state `running` is no consequence |
//! | encrypted content | `key_of_chat` of `Encrypted` returns no key for a new conversation |
//!
//! That the search for encrypted content finds any is shown by the other cases, where it must.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program talks to its terminal")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "this is a test"
)]

mod agents;
mod answers;
mod child;
mod cluster;
mod harness;
mod killed;
mod ledger;
#[path = "../../../omniassist-server/tests/recorded/legal/mod.rs"]
mod legal;
mod lost;
mod moments;
mod next;
mod plain_text;
mod port;
mod shape;
mod store;
mod verdict;

use std::process::ExitCode;

use shape::Shape;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["child", path, ledger, case, shape, content] => {
            child::run(path, ledger, case, shape, *content == "encrypted");
        }
        ["ledger"] => ledger::serve(),
        ["server", url, ledger, word_ms, tool_ms, redis @ ..] => {
            cluster::serve(url, ledger, word_ms, tool_ms, redis.first().copied());
        }
        ["cluster", database, part @ ..] => return cluster::run(database, part),
        ["sqlite", kills, seed] => {
            return harness::run(&Shape::PLAIN, kills.parse().unwrap(), seed.parse().unwrap());
        }
        ["agents", kills, seed] => {
            return harness::run(&Shape::AGENTS, kills.parse().unwrap(), seed.parse().unwrap());
        }
        _ => {
            eprintln!("omniassist-torment sqlite|agents KILLS SEED | cluster DATABASE PART…");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
