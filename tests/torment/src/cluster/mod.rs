//! Three servers on one database: `cargo xtask torment cluster`.

mod client;
mod database;
mod deploy;

mod faults;
mod fleet;
mod http;
mod log;
mod probes;

mod server;
mod shim;
mod storm;
mod times;
mod verdict;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use database::Database;
use fleet::Fleet;

use crate::ledger::Ledger;
use crate::shape::Tempo;

pub(crate) use server::run as serve;

/// Runs that take many seconds.
const SLOW: Tempo = Tempo { word: Duration::from_millis(150), tool: Duration::from_millis(1_500) };

/// Runs a part on a new cluster: `storm MINUTES STREAMS SEED`, `probes` or `deploy STREAMS [PROGRAM]`.
pub(crate) fn run(database: &str, part: &[&str]) -> ExitCode {
    let ledger = Ledger::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let found = runtime.block_on(async {
        let database = Database::start(database);
        match part {
            ["storm", minutes, streams, seed] => {
                let fleet = Fleet::start(database, ledger.address(), SLOW).await;
                let lasts = Duration::from_secs_f32(minutes.parse::<f32>().unwrap() * 60.0);
                storm::run(fleet, lasts, streams.parse().unwrap(), seed.parse().unwrap()).await
            }
            ["probes"] => probes::run(Fleet::start(database, ledger.address(), SLOW).await).await,
            ["deploy", streams, earlier @ ..] => {
                let earlier = earlier.first().map(Path::new);
                let program = earlier.map_or_else(|| std::env::current_exe().unwrap(), Path::to_owned);
                let fleet = Fleet::start_program(program, database, ledger.address(), deploy::TEMPO).await;
                deploy::run(fleet, streams.parse().unwrap(), earlier).await
            }
            _ => panic!("no such part: {part:?}"),
        }
    });
    for violation in &found {
        println!("{violation}");
    }
    println!("{} violations", found.len());
    if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
