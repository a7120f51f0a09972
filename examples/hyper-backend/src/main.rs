//! A small backend with its own routing on hyper, to which an assistant was added. The added lines end with `+
//! assistant`. The tools are in [`assistant`].
//!
//! Run `OPENAI_API_KEY=… TOKENS=ann=secret cargo run -p hyper-backend`, and then:
//!
//! ```sh
//! curl -N http://127.0.0.1:3000/assistant -H 'authorization: Bearer secret' -H 'content-type: application/json' \
//!   -d '{"messages":[{"id":"m1","role":"user","content":"Remind me to call the bank."}]}'
//! ```

mod app;
mod assistant; // + assistant

use std::error::Error;
use std::io::{Write, stdout};
use std::sync::Arc;
use std::time::Duration; // + assistant

use hyper::service::service_fn;
use omniassist_hyper::OpenAiProvider; // + assistant
use serving::{serve, stopped};
use tasks::{Settings, Tasks};
use tokio::net::TcpListener;
use tokio::time::sleep; // + assistant

use app::Backend;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let settings = Settings::from_env()?;
    let tasks = Tasks::new();
    let assistant = assistant::assistant(OpenAiProvider::from_env()?, tasks.clone())?; // + assistant
    let backend = Arc::new(Backend::new(tasks, settings.users, assistant.clone())); // + assistant
    let listener = TcpListener::bind(settings.listen).await?;
    writeln!(stdout(), "listening on http://{}", listener.local_addr()?)?;
    let service_for = |_| {
        let backend = Arc::clone(&backend);
        service_fn(move |request| app::handle(Arc::clone(&backend), request))
    };
    let connections = serve(listener, stopped(), service_for).await;
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
