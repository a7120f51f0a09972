//! `omniassist-served ADAPTER HOST` serves one of the example hosts through another adapter than axum's, so that the
//! suites of the official clients (`tests/clients`, `tests/openai-python`) run unmodified over each of them. The
//! adapter's public API mounts the assistant, or the agent runtime, at the path of the example. A middleware of the
//! framework sets the principal of a request. The settings are those of the example.
//!
//! ADAPTER is `actix` or `hyper`; HOST is the name of a folder of `examples`: `quickstart`, `back-office`, `ledger`,
//! `research-desk`, `runtime-events` or `shared-cart`.

mod actix;
mod host;
mod hyper;

use std::io::{self, Write};
use std::net::SocketAddr;

use tracing_subscriber::EnvFilter;

use host::AnyError;

fn main() -> Result<(), AnyError> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(io::stderr).init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["actix", host] => actix::main(host),
        ["hyper", host] => hyper::main(host),
        _ => Err("usage: omniassist-served actix|hyper HOST".into()),
    }
}

/// Prints the address for the parent process, like the examples.
fn announce(address: SocketAddr) -> io::Result<()> {
    writeln!(io::stdout(), "listening on http://{address}")
}
