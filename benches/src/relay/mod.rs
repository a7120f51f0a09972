//! Measurements of whole servers and of a byte relay for the same stream, over real sockets.
//!
//! Each figure covers the server's process alone. The provider and the clients are separate processes.

mod answer;
mod chunked;
mod client;
mod count;
mod descriptors;
mod hosts;
mod leaving;
mod options;
#[cfg(feature = "postgres")]
mod postgres;
mod process;
mod provider;
#[cfg(feature = "store")]
mod report;
mod scaling;
mod scenario;
mod server;
#[cfg(feature = "store")]
mod store;
mod streams;
mod table;
mod wire;
mod wish;

use std::error::Error;
use std::time::Duration;

use provider::Pace;
use server::Target;
use wire::Api;

/// The usage of the commands of this module.
pub(crate) const USAGE: &str = "omniassist-benches relay [full|paced|requests|memory]... [relay|axum|actix|hyper|axum-traced]...
                        [--writes token] [--pin] [--repeat N]
       omniassist-benches count [full|paced|conversation]
       omniassist-benches disconnects [axum|actix|hyper]... [--runs N]
       omniassist-benches streams [relay|axum|actix|hyper]... [--streams N] [--seconds N] [--stalled N] [--repeat N]
       omniassist-benches scaling [relay|axum|actix|hyper]... [--seconds N] [--most STREAMS]
       omniassist-benches store [tokens|first|resume|rows|commits|size|replay]... [--repeat N]
       omniassist-benches postgres [live|elsewhere|writes|notify]... [--seconds N]";

#[cfg(not(feature = "postgres"))]
const WITHOUT_POSTGRES: &str = "this program has no command `postgres`, since it was built without the feature `postgres`: \
    cargo run --release -p omniassist-benches --features postgres -- postgres";

#[cfg(not(feature = "store"))]
const WITHOUT_STORE: &str = "this program has no command `store`, since it was built without the feature `store`: \
    cargo run --release -p omniassist-benches --features store -- store";

/// Runs a command of this module. Returns `None` if there is no such command.
pub(crate) fn run(arguments: &[&str]) -> Option<Result<(), Box<dyn Error>>> {
    Some(match *arguments {
        ["provide", api, deltas, every] => provide(api, deltas, every, false),
        ["provide", api, deltas, every, "token"] => provide(api, deltas, every, true),
        ["serve", target, api, provider] => serve(target, api, provider, false),
        ["serve", target, api, provider, "tool"] => serve(target, api, provider, true),
        #[cfg(feature = "store")]
        ["serve", "axum", "responses", provider, ref variant @ ..] => store::serve(provider, variant),
        ["relay", ref wanted @ ..] => table::print(wanted),
        ["count", ref wanted @ ..] => count::print(wanted),
        ["streams", ref wanted @ ..] => streams::print(wanted),
        ["scaling", ref wanted @ ..] => scaling::print(wanted),
        #[cfg(feature = "store")]
        ["store", ref wanted @ ..] => store::print(wanted),
        #[cfg(not(feature = "store"))]
        ["store", ..] => Err(WITHOUT_STORE.into()),
        #[cfg(feature = "postgres")]
        ["postgres", ref wanted @ ..] => postgres::print(wanted),
        #[cfg(not(feature = "postgres"))]
        ["postgres", ..] => Err(WITHOUT_POSTGRES.into()),
        ["disconnects", ref wanted @ ..] => leaving::print(wanted),
        _ => return None,
    })
}

fn provide(api: &str, deltas: &str, every: &str, token_writes: bool) -> Result<(), Box<dyn Error>> {
    let every = Duration::from_micros(every.parse()?);
    let pace = Pace { deltas: deltas.parse()?, every: (!every.is_zero()).then_some(every), token_writes };
    provider::serve(Api::named(api).ok_or("no such API")?, pace)
}

fn serve(target: &str, api: &str, provider: &str, has_tool: bool) -> Result<(), Box<dyn Error>> {
    let target = Target::named(target).ok_or("no such server")?;
    server::serve(target, Api::named(api).ok_or("no such API")?, provider.parse()?, has_tool)
}
