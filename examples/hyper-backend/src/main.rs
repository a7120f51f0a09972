//! A small backend that routes by hand, on hyper alone, to which an assistant was added. The lines that were added end
//! in `+ assistant`; its tools are in [`assistant`].
//!
//! `OPENAI_API_KEY=… TOKENS=ann=secret cargo run -p hyper-backend`, and then:
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
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use omniassist_hyper::OpenAiProvider; // + assistant
use tasks::{Tasks, Users};
use tokio::net::TcpListener;

use app::Backend;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let users = Users::parse(&std::env::var("TOKENS").unwrap_or_default());
    let tasks = Tasks::new();
    let assistant = assistant::assistant(OpenAiProvider::from_env()?, tasks.clone())?; // + assistant
    let backend = Backend::new(tasks, users, assistant.clone()); // + assistant
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    tokio::select! {
        ended = serve(listener, backend) => ended?,
        _ = tokio::signal::ctrl_c() => {}
    }
    assistant.shutdown().await; // + assistant
    Ok(())
}

/// Serves HTTP/1 and HTTP/2, one task for each connection.
async fn serve(listener: TcpListener, backend: Backend) -> std::io::Result<()> {
    let backend = Arc::new(backend);
    loop {
        let (socket, _) = listener.accept().await?;
        let backend = Arc::clone(&backend);
        tokio::spawn(async move {
            let service = service_fn(move |request| app::handle(Arc::clone(&backend), request));
            let mut server = auto::Builder::new(TokioExecutor::new());
            server.http1().timer(TokioTimer::new());
            // A client that leaves is an error here.
            let _ = server.serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
