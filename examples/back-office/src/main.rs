//! Serves the back office of `lib.rs` on this machine: `cargo run -p back-office`. README.md has the settings.

use std::error::Error;
use std::io::{self, Write};
use std::net::Ipv4Addr;

use back_office::BackOffice;
use quickstart::Settings;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(io::stderr).init();
    let settings = Settings::from_env().await?;
    tracing::info!("{}", settings.model_note());
    let office = BackOffice::open(&settings)?;
    // The tokens of the staff are public, so this server must not listen on a public address.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port())).await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    let connections = serving::serve_axum(listener, serving::stopped(), office.router()).await;
    // Waits until the audit file and the conversations are complete.
    office.assistant().drain(std::time::Duration::from_secs(5)).await;
    connections.shutdown().await;
    Ok(())
}
