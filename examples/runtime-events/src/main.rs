//! A backend whose agents are run by a runtime of its own, served to `useChat` as it is.
//!
//! `cargo run -p runtime-events`, and post the name of a log to it:
//!
//! ```sh
//! curl -N http://127.0.0.1:3000/chat -H 'content-type: application/json' \
//!   -d '{"messages":[{"id":"m1","role":"user","content":"tool"}]}'
//! ```
//!
//! `player.rs` stands for the runtime: it implements the one trait that is needed. `app.rs` mounts it. `PORT` says where
//! to listen (default 3000).

use std::error::Error;
use std::io::{self, Write};
use std::net::Ipv4Addr;

use axum::serve::ListenerExt as _;
use runtime_events::Player;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(io::stderr).init();
    let port = std::env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    // Else a token waits until the client has acknowledged the one before it.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let serving = axum::serve(listener, runtime_events::router(&Player::default()));
    tokio::select! {
        ended = serving => ended?,
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(())
}
