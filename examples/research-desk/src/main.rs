//! `cargo run -p research-desk` serves the research desk of `lib.rs`. `PORT` changes the port, 3001.

use std::error::Error;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

/// The time that agents have to end when the server stops.
const DRAIN: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(io::stderr).init();
    let assistant = research_desk::assistant(research_desk::model()?, research_desk::chats()?)?;
    let port = serving::port(3001)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    serving::serve_axum(listener, serving::stopped(), research_desk::app(assistant.clone())).await;
    assistant.drain(DRAIN).await;
    Ok(())
}
