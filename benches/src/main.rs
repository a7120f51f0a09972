//! The cost of a token on its way through the engine, in instructions and allocations.
//!
//! `table` counts every stage under callgrind, which runs `stage`. `times` measures the processor time of every stage.
//! See the README of this folder.

mod callgrind;
mod filter_latency;
mod many_tools;
#[cfg(feature = "relay")]
mod relay;
#[cfg(feature = "sockets")]
mod sockets;
mod stages;
mod table;
mod times;

use std::env;
use std::error::Error;
use std::process::ExitCode;

use stages::Stage;

const USAGE: &str = "usage: omniassist-benches table [EVENTS]
       omniassist-benches counts
       omniassist-benches times [STAGE]...
       omniassist-benches long-conversation
       omniassist-benches filter-latency
       omniassist-benches many-tools
       omniassist-benches sockets (with the feature `sockets`)
       omniassist-benches stage NAME EVENTS";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "a command reports its error")]
            {
                eprintln!("{error}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    match *arguments {
        ["table"] => table::print(10_000),
        ["table", events] => table::print(events.parse()?),
        ["counts"] => table::counts(5_000),
        ["times", ref wanted @ ..] => times::print(wanted),
        ["filter-latency"] => filter_latency::print(),
        ["many-tools"] => many_tools::print(),
        #[cfg(feature = "sockets")]
        ["sockets"] => sockets::print(),
        ["long-conversation"] => times::long_conversation(),
        ["stage", name, events] => {
            let stage = Stage::named(name).ok_or_else(|| format!("there is no stage {name}"))?;
            stage.run(events.parse()?)
        }
        #[cfg(feature = "relay")]
        _ => relay::run(arguments).unwrap_or_else(|| Err(format!("{USAGE}\n       {}", relay::USAGE).into())),
        #[cfg(not(feature = "relay"))]
        _ => Err(format!("{USAGE}\nThe commands for whole servers need the feature `relay`.").into()),
    }
}
