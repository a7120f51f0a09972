//! Serves the ledger of `lib.rs` with axum: `OPENAI_API_KEY=… cargo run -p ledger`. Further settings:
//!
//! | variable | what | default |
//! |---|---|---|
//! | `OPENAI_BASE_URL`, `OMNIASSIST_MODEL` | the model | OpenAI's |
//! | `OMNIASSIST_SEAL_KEYS` | keys as `SealKeys::parse` reads them | a key of this process |
//! | `LEDGER_APPROVAL_SECONDS` | seconds in which an approval or a form can be answered | 900 |
//! | `LEDGER_TRUSTING` | `yes`: accepts the history of clients without a check, for comparison only | no |
//! | `PORT` | the port on 127.0.0.1 | 3000 |
//!
//! ```sh
//! curl -N http://127.0.0.1:3000/assistant -H 'x-user: ann' -H 'content-type: application/json' \
//!   -d '{"id":"c1","messages":[{"id":"m1","role":"user","content":"Move 5000 cents from savings to travel."}]}'
//! curl http://127.0.0.1:3000/journal # the tools that ran
//! ```

use std::error::Error;
use std::io::{self, Write};
use std::net::Ipv4Addr;

use ledger::{Book, Settings};
use omniassist_axum::OpenAiProvider;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(io::stderr).init();
    let port = serving::port(3000)?;
    let book = Book::default();
    let assistant = ledger::assistant(OpenAiProvider::from_env()?, &Settings::from_env()?, book.clone())?;
    // This server has no login, so it must not listen on a public address.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    serving::serve_axum(listener, serving::stopped(), ledger::router(&assistant, book)).await;
    assistant.shutdown().await;
    Ok(())
}
