//! A small backend with a [tower](https://docs.rs/tower) service and layers of `tower-http`, to which an assistant was
//! added. The added lines end with `+ assistant`. The tools are in [`assistant`].
//!
//! Run `OPENAI_API_KEY=… TOKENS=ann=secret cargo run -p tower-backend`, and then:
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
use std::time::Duration; // + assistant

use hyper_util::service::TowerToHyperService;
use omniassist_hyper::OpenAiProvider; // + assistant
use serving::{serve, stopped};
use tasks::{Settings, Tasks};
use tokio::net::TcpListener;
use tokio::time::sleep; // + assistant

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let settings = Settings::from_env()?;
    let tasks = Tasks::new();
    let assistant = assistant::assistant(OpenAiProvider::from_env()?, tasks.clone())?; // + assistant
    let app = app::service(tasks, settings.users, assistant.clone()); // + assistant
    let listener = TcpListener::bind(settings.listen).await?;
    writeln!(stdout(), "listening on http://{}", listener.local_addr()?)?;
    let connections = serve(listener, stopped(), |_| TowerToHyperService::new(app.clone())).await;
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
