//! A small axum backend to which an assistant was added. The lines that were added end in `+ assistant`; its tools are
//! in [`assistant`].
//!
//! `OPENAI_API_KEY=… TOKENS=ann=secret cargo run -p axum-backend`, and then:
//!
//! ```sh
//! curl -N http://127.0.0.1:3000/assistant -H 'authorization: Bearer secret' -H 'content-type: application/json' \
//!   -d '{"messages":[{"id":"m1","role":"user","content":"Remind me to call the bank."}]}'
//! ```

mod app;
mod assistant; // + assistant

use std::error::Error;
use std::io::{Write, stdout};
use std::time::Duration; // + assistant

use axum::serve::ListenerExt as _; // + assistant
use omniassist_axum::{Assistant, OpenAiProvider}; // + assistant
use tasks::{Settings, Tasks, stopped};
use tokio::net::TcpListener;
use tokio::time::sleep; // + assistant

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let settings = Settings::from_env()?;
    let tasks = Tasks::new();
    let assistant = assistant::assistant(OpenAiProvider::from_env()?, tasks.clone())?; // + assistant
    let app = app::router(tasks, settings.users, assistant.clone()); // + assistant
    let listener = TcpListener::bind(settings.listen).await?;
    writeln!(stdout(), "listening on http://{}", listener.local_addr()?)?;
    // + assistant: else a token waits until the client has acknowledged the one before it
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let server = axum::serve(listener, app).with_graceful_shutdown(stopped());
    // + assistant, to the end of the file: its answers get a deadline, and who reads one that is cut is told
    tokio::select! {
        ended = async { server.await } => ended?,
        () = drained(&assistant, settings.shutdown) => {}
    }
    assistant.shutdown().await;
    Ok(())
}

async fn drained(assistant: &Assistant, deadline: Duration) {
    stopped().await;
    assistant.drain(deadline).await;
    // For the last words to be written; a client that does not read them is not waited for.
    sleep(Duration::from_secs(1)).await;
}
