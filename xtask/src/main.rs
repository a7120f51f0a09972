//! The commands that people and CI run on this repository: `cargo xtask COMMAND`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program talks to its terminal")]

use std::env;
use std::process::ExitCode;

mod deny;
mod failed_tests;
mod instructions;
mod lint;
mod mcp;
mod modules;
mod msrv;
mod prerequisites;
mod process;
mod python;
mod report;
mod scale_model;
mod sqlite_range;
mod style;
mod suites;
mod torment;
mod tree;
mod widget;
mod workspace;

use report::Report;
use suites::Part;
use torment::Cluster;
use widget::Task;

const USAGE: &str = "\
cargo xtask test [rust|widget|clients|browser|real-model]...
            all tests, or the named parts. Runs npm; as root on Debian it installs missing system packages.
            real-model runs only if OMNIASSIST_E2E_BASE_URL names a server with OpenAI's API (it ends in /v1);
            OMNIASSIST_E2E_MODEL and OMNIASSIST_E2E_API_KEY are its model and its key. Part of it sets
            OMNIASSIST_CONSTRAINED_TOOLS=1, with which the quickstart requests tool calls by a JSON schema
cargo xtask test --no-run
            builds the tests in Rust
cargo xtask lint     formatting, clippy and rustdoc, with warnings as errors; the oldest rusqlite
cargo xtask tree     the number of dependencies against its budget
cargo xtask msrv     the stated Rust version against the versions that the dependencies require
cargo xtask style    lengths of files and comments, unfinished code, lock files, and the English of doc comments and
            documents
cargo xtask modules  module cycles in the crates: no two modules name each other
cargo xtask mcp-conformance
            the official suite of MCP and its official clients against the server, over each adapter, and apps of
            a server in Chromium. Runs npm
cargo xtask deny     licences, sources, duplicates and advisories of the dependencies; installs cargo-deny
cargo xtask instructions [--accept]
            the cost of each stage of benches, in instructions and allocations under callgrind, against
            benches/baseline.txt. More than 5 % above it fails. --accept rewrites the baseline.
            As root on Debian it installs valgrind
cargo xtask torment sqlite [--kills N] [--seed N]
            kills processes with stored runs at failpoints, and checks that nothing is lost or done twice. The
            default is 10,000 kills; `ci` does 300. The seed of a failure repeats its first deaths
cargo xtask torment agents [--kills N] [--seed N]
            the same with runs that ask agents, which another process restores. The default is 3,000 kills
cargo xtask torment cluster [--minutes N] [--streams N] [--deployed N] [--seed N] [--earlier REVISION]
            three servers on one PostgreSQL: answers and stops at other servers; streams while servers are killed,
            frozen and cut off from the database, Redis and clients (default 20 minutes and 1,000 streams); servers
            that are replaced under load (default 500 streams), from and back to those of an earlier revision if one
            is given. As root on Debian it installs PostgreSQL, Redis and libfaketime
cargo xtask widget [--check|--rivals]
            builds the components and the widget for the server, and prints their sizes. --check fails if the built
            files are not current, or are too large. --rivals also prints the sizes of other chats. Runs npm
cargo xtask scale-model
            the databases and servers that numbers of users need, simulated from measured costs
cargo xtask ci       all of these but the torment of a cluster, the model of scale and other chats";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let mut words = arguments.iter().map(String::as_str);
    let mut report = Report::default();
    match (words.next(), words.collect::<Vec<_>>().as_slice()) {
        (Some("test"), ["--no-run"]) => suites::build(&mut report),
        (Some("test"), names) => {
            let parts: Option<Vec<Part>> = names.iter().map(|name| Part::named(name)).collect();
            match parts {
                Some(parts) => suites::run(&parts, &mut report),
                None => return usage(),
            }
        }
        (Some("lint"), []) => lint::run(&mut report),
        (Some("tree"), []) => tree::run(&mut report),
        (Some("msrv"), []) => msrv::run(&mut report),
        (Some("style"), []) => style::run(&mut report),
        (Some("instructions"), []) => instructions::check(&mut report),
        (Some("instructions"), ["--accept"]) => instructions::accept(&mut report),
        (Some("torment"), ["sqlite", options @ ..]) => {
            let Some((kills, seed)) = torment_options(torment::ALL, options) else { return usage() };
            torment::kills("sqlite", kills, seed, &mut report);
        }
        (Some("torment"), ["agents", options @ ..]) => {
            let Some((kills, seed)) = torment_options(torment::ALL_OF_AGENTS, options) else {
                return usage();
            };
            torment::kills("agents", kills, seed, &mut report);
        }
        (Some("torment"), ["cluster", options @ ..]) => {
            let Some(test) = cluster_options(options) else { return usage() };
            torment::cluster(test, &mut report);
        }
        (Some("widget"), []) => widget::run(Task::Build, &mut report),
        (Some("widget"), ["--check"]) => widget::run(Task::Check, &mut report),
        (Some("widget"), ["--rivals"]) => widget::run(Task::Rivals, &mut report),
        (Some("scale-model"), []) => {
            scale_model::print();
            return ExitCode::SUCCESS;
        }
        (Some("modules"), []) => modules::run(&mut report),
        (Some("mcp-conformance"), []) => mcp::run(&mut report),
        (Some("deny"), []) => deny::run(&mut report),
        (Some("ci"), []) => {
            lint::run(&mut report);
            tree::run(&mut report);
            msrv::run(&mut report);
            style::run(&mut report);
            modules::run(&mut report);
            deny::run(&mut report);
            instructions::check(&mut report);
            torment::kills("sqlite", torment::FEW, None, &mut report);
            torment::kills("agents", torment::FEW, None, &mut report);
            suites::run(&[], &mut report);
        }
        (Some("help" | "--help" | "-h"), _) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => return usage(),
    }
    report.close()
}

/// Returns the test of a cluster.
fn cluster_options(options: &[&str]) -> Option<Cluster> {
    let mut test = Cluster::ALL;
    for option in options.chunks(2) {
        match option {
            ["--minutes", number] => test.minutes = number.parse().ok()?,
            ["--streams", number] => test.streams = number.parse().ok()?,
            ["--deployed", number] => test.deployed = number.parse().ok()?,
            ["--seed", number] => test.seed = Some(number.parse().ok()?),
            ["--earlier", revision] => test.earlier = Some((*revision).to_owned()),
            _ => return None,
        }
    }
    Some(test)
}

/// Returns the number of kills, which is `usual` without an option, and the seed.
fn torment_options(usual: u32, options: &[&str]) -> Option<(u32, Option<u64>)> {
    let (mut kills, mut seed) = (usual, None);
    for option in options.chunks(2) {
        match option {
            ["--kills", number] => kills = number.parse().ok()?,
            ["--seed", number] => seed = Some(number.parse().ok()?),
            _ => return None,
        }
    }
    Some((kills, seed))
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}
