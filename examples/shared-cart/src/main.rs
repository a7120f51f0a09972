//! `OPENAI_API_KEY=… cargo run -p shared-cart` serves the tea shop of `lib.rs` on `http://127.0.0.1:3000`: AG-UI on
//! `/ag-ui`, CopilotKit's runtime on `/copilotkit`. `PORT`, `OPENAI_BASE_URL` and `OMNIASSIST_MODEL` change the defaults.
//!
//! ```sh
//! curl -N http://127.0.0.1:3000/ag-ui -H 'content-type: application/json' -d '{"threadId":"t1","runId":"r1","state":{},
//!   "tools":[],"context":[],"messages":[{"id":"m1","role":"user","content":"Two packs of Darjeeling, please."}]}'
//! ```

use std::error::Error;
use std::io::{self, Write};
use std::net::Ipv4Addr;

use axum::Router;
use omniassist_axum::OpenAiProvider;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(io::stderr).init();
    let assistant = shared_cart::assistant(OpenAiProvider::from_env()?)?;
    let app = Router::new().fallback_service(omniassist_axum::router(assistant.clone()));
    let port = serving::port(3000)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    serving::serve_axum(listener, serving::stopped(), app).await;
    assistant.shutdown().await;
    Ok(())
}
