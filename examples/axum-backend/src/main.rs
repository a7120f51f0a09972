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
#[cfg(test)]
mod tests;

use std::error::Error;

use omniassist_axum::OpenAiProvider; // + assistant
use tasks::{Tasks, Users};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let users = Users::parse(&std::env::var("TOKENS").unwrap_or_default());
    let tasks = Tasks::new();
    let assistant = assistant::assistant(OpenAiProvider::from_env()?, tasks.clone())?; // + assistant
    let app = app::router(tasks, users, assistant.clone()); // + assistant
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    tokio::select! {
        ended = async { axum::serve(listener, app).await } => ended?,
        _ = tokio::signal::ctrl_c() => {}
    }
    assistant.shutdown().await; // + assistant
    Ok(())
}
