//! A small actix-web backend to which an assistant was added. The added lines end with `+ assistant`. The tools are in
//! [`assistant`].
//!
//! Run `OPENAI_API_KEY=… TOKENS=ann=secret cargo run -p actix-backend`, and then:
//!
//! ```sh
//! curl -N http://127.0.0.1:3000/assistant -H 'authorization: Bearer secret' -H 'content-type: application/json' \
//!   -d '{"messages":[{"id":"m1","role":"user","content":"Remind me to call the bank."}]}'
//! ```

mod app;
mod assistant; // + assistant

use std::error::Error;
use std::io::{Write, stdout};
use std::time::Duration;

use actix_web::{App, HttpServer, web};
use omniassist_actix::OpenAiProvider; // + assistant
use serving::stopped;
use tasks::{Settings, Tasks};

#[actix_web::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let settings = Settings::from_env()?;
    let (users, tasks) = (web::Data::new(settings.users), web::Data::new(Tasks::new()));
    let assistant = assistant::assistant(OpenAiProvider::from_env()?)?; // + assistant
    let (shared, draining) = (assistant.clone(), assistant.clone()); // + assistant
    let server = HttpServer::new(move || {
        App::new()
            .app_data(users.clone())
            .app_data(tasks.clone())
            .configure(|app| app::routes(app, shared.clone())) // + assistant
    })
    .client_request_timeout(Duration::from_secs(30))
    .keep_alive(Duration::from_secs(30))
    .h1_allow_half_closed(false) // + assistant: a client that disconnects ends its run at once
    .tcp_nodelay(true) // + assistant: sends each token at once
    .shutdown_signal(async move {
        stopped().await;
        draining.drain(settings.shutdown).await; // + assistant: running answers get a deadline, and clients learn of it
    })
    .shutdown_timeout(3)
    .bind(settings.listen)?;
    for address in server.addrs() {
        writeln!(stdout(), "listening on http://{address}")?;
    }
    server.run().await?;
    assistant.shutdown().await; // + assistant
    Ok(())
}
