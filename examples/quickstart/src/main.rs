//! Serves the back office of `lib.rs` on this machine. `cargo run -p quickstart -- --help` lists the settings.

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::net::Ipv4Addr;
use std::process::ExitCode;

use quickstart::{BackOffice, Settings};
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> ExitCode {
    let is_stateless = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--stateless") => true,
        Some("--help" | "-h") => {
            let printed = io::stdout().write_all(quickstart::HELP.as_bytes());
            return if printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        Some(other) => return fail(&format!("unknown argument `{other}`; try --help"), 2),
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let colours = io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(io::stderr).init();
    let settings = match Settings::from_env().await {
        Ok(settings) if is_stateless => settings.stateless(),
        Ok(settings) => settings,
        Err(error) => return fail(&error.to_string(), 2),
    };
    match serve(settings).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string(), 1),
    }
}

fn fail(problem: &str, code: u8) -> ExitCode {
    // The exit code is enough if standard error is closed.
    let _ = writeln!(io::stderr(), "quickstart: {problem}");
    ExitCode::from(code)
}

async fn serve(settings: Settings) -> Result<(), Box<dyn Error + Send + Sync>> {
    let port = settings.port();
    let chats = match settings.chats() {
        Some(place) => format!("chats are stored in {place}"),
        None => "chats are not stored".to_owned(),
    };
    let office = BackOffice::open(settings).await?;
    // This server has no login, so it must not listen on a public address.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let listener = listener.map_err(|error| format!("PORT: cannot listen on 127.0.0.1:{port}: {error}"))?;
    writeln!(io::stdout(), "listening on http://{}\n{chats}", listener.local_addr()?)?;
    quickstart::serve_until(serving::stopped(), listener, office.router(), office.assistant()).await;
    tracing::info!("stopped");
    Ok(())
}
