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

use runtime_events::Player;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(io::stderr).init();
    let port = serving::port(3000)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    serving::serve_axum(listener, serving::stopped(), runtime_events::router(&Player::default())).await;
    Ok(())
}
