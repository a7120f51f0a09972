//! A small axum backend to which an assistant was added. The added lines end with `+ assistant`. The tools are in
//! [`assistant`].
//!
//! Run `OPENAI_API_KEY=… TOKENS=ann=secret cargo run -p axum-backend`, and then the following. With
//! `AUDIT_FILE=audit.jsonl`, the backend writes a record of each decision of the assistant to that file.
//!
//! ```sh
//! curl -N http://127.0.0.1:3000/assistant -H 'authorization: Bearer secret' -H 'content-type: application/json' \
//!   -d '{"messages":[{"id":"m1","role":"user","content":"Remind me to call the bank."}]}'
//! ```

mod app;
mod assistant; // + assistant

use std::env; // + assistant
use std::error::Error;
use std::io::{Write, stdout};
use std::time::Duration; // + assistant

use omniassist_axum::OpenAiProvider; // + assistant
use omniassist_axum::audit::JsonLinesFile; // + assistant
use serving::{serve_axum, stopped};
use tasks::{Settings, Tasks};
use tokio::net::TcpListener;
use tokio::time::sleep; // + assistant

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let settings = Settings::from_env()?;
    let tasks = Tasks::new();
    let audit = env::var_os("AUDIT_FILE").map(JsonLinesFile::open).transpose()?; // + assistant
    let assistant = assistant::assistant(OpenAiProvider::from_env()?, tasks.clone(), audit)?; // + assistant
    let app = app::router(tasks, settings.users, assistant.clone()); // + assistant
    let listener = TcpListener::bind(settings.listen).await?;
    writeln!(stdout(), "listening on http://{}", listener.local_addr()?)?;
    let connections = serve_axum(listener, stopped(), app).await;
    // + assistant, to the end of this block: running answers get a deadline, and clients learn that theirs was cut
    let drained = async {
        assistant.drain(settings.shutdown).await;
        // This is the time to write the last events. A client that does not read gets no more.
        sleep(Duration::from_secs(1)).await;
    };
    tokio::select! {
        () = connections.shutdown() => {}
        () = drained => {} // + assistant
    }
    assistant.shutdown().await; // + assistant
    Ok(())
}
