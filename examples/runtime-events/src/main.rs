//! A backend with its own agent runtime, for an unchanged `useChat`.
//!
//! Run `cargo run -p runtime-events`, and post the name of a log:
//!
//! ```sh
//! curl -N http://127.0.0.1:3000/chat -H 'content-type: application/json' \
//!   -d '{"messages":[{"id":"m1","role":"user","content":"tool"}]}'
//! ```
//!
//! `player.rs` plays the part of the runtime and implements its trait. `app.rs` mounts it. `PORT` is the port on
//! 127.0.0.1 (default 3000).

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
    // Without this, a token waits until the client has acknowledged the token before it.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let serving = axum::serve(listener, runtime_events::router(&Player::default()));
    tokio::select! {
        ended = serving => ended?,
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(())
}
