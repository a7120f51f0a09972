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

use std::error::Error;
use std::io::{Write, stdout};
use std::pin::pin;
use std::time::Duration; // + assistant

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use omniassist_hyper::OpenAiProvider; // + assistant
use tasks::{Settings, Tasks, stopped};
use tokio::net::TcpListener;
use tokio::time::sleep; // + assistant

use app::App;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let settings = Settings::from_env()?;
    let tasks = Tasks::new();
    let assistant = assistant::assistant(OpenAiProvider::from_env()?, tasks.clone())?; // + assistant
    let app = app::service(tasks, settings.users, assistant.clone()); // + assistant
    let listener = TcpListener::bind(settings.listen).await?;
    writeln!(stdout(), "listening on http://{}", listener.local_addr()?)?;
    let connections = serve(listener, app).await?;
    // + assistant, to the end of this block: its answers get a deadline, and who reads one that is cut is told
    let drained = async {
        assistant.drain(settings.shutdown).await;
        // For the last words to be written; a client that does not read them is not waited for.
        sleep(Duration::from_secs(1)).await;
    };
    tokio::select! {
        () = connections.shutdown() => {}
        () = drained => {} // + assistant
    }
    assistant.shutdown().await; // + assistant
    Ok(())
}

/// Serves HTTP/1 and HTTP/2, one task for each connection, until told to stop; gives the connections that are left.
async fn serve(listener: TcpListener, app: App) -> std::io::Result<GracefulShutdown> {
    let connections = GracefulShutdown::new();
    let mut stopped = pin!(stopped());
    loop {
        let socket = tokio::select! {
            accepted = listener.accept() => accepted?.0,
            () = &mut stopped => return Ok(connections),
        };
        socket.set_nodelay(true)?; // + assistant: else a token waits until the one before it is acknowledged
        let service = TowerToHyperService::new(app.clone());
        let mut server = auto::Builder::new(TokioExecutor::new());
        server.http1().timer(TokioTimer::new());
        let connection = server.serve_connection(TokioIo::new(socket), service).into_owned();
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            // A client that leaves is an error here.
            let _ = connection.await;
        });
    }
}
