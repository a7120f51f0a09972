//! A small backend made of a [tower](https://docs.rs/tower) service and layers of `tower-http`, to which an assistant
//! was added. The lines that were added end in `+ assistant`; its tools are in [`assistant`].
//!
//! `OPENAI_API_KEY=… TOKENS=ann=secret cargo run -p tower-backend`, and then:
//!
//! ```sh
//! curl -N http://127.0.0.1:3000/assistant -H 'authorization: Bearer secret' -H 'content-type: application/json' \
//!   -d '{"messages":[{"id":"m1","role":"user","content":"Remind me to call the bank."}]}'
//! ```

mod app;
mod assistant; // + assistant
mod routes;
#[cfg(test)]
mod tests;

use std::error::Error;

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use omniassist_hyper::OpenAiProvider; // + assistant
use tasks::{Tasks, Users};
use tokio::net::TcpListener;

use app::App;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let users = Users::parse(&std::env::var("TOKENS").unwrap_or_default());
    let tasks = Tasks::new();
    let assistant = assistant::assistant(OpenAiProvider::from_env()?, tasks.clone())?; // + assistant
    let app = app::service(tasks, users, assistant.clone()); // + assistant
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    tokio::select! {
        ended = serve(listener, app) => ended?,
        _ = tokio::signal::ctrl_c() => {}
    }
    assistant.shutdown().await; // + assistant
    Ok(())
}

/// Serves HTTP/1 and HTTP/2, one task for each connection.
async fn serve(listener: TcpListener, app: App) -> std::io::Result<()> {
    loop {
        let (socket, _) = listener.accept().await?;
        let service = TowerToHyperService::new(app.clone());
        tokio::spawn(async move {
            let mut server = auto::Builder::new(TokioExecutor::new());
            server.http1().timer(TokioTimer::new());
            // A client that leaves is an error here.
            let _ = server.serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
