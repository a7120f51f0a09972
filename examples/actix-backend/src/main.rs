//! A small actix-web backend to which an assistant was added. The lines that were added end in `+ assistant`; its
//! tools are in [`assistant`].
//!
//! `OPENAI_API_KEY=… TOKENS=ann=secret cargo run -p actix-backend`, and then:
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

use actix_web::{App, HttpServer, web};
use omniassist_actix::OpenAiProvider; // + assistant
use tasks::{Tasks, Users};

#[actix_web::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let users = web::Data::new(Users::parse(&std::env::var("TOKENS").unwrap_or_default()));
    let tasks = web::Data::new(Tasks::new());
    let assistant = assistant::assistant(OpenAiProvider::from_env()?)?; // + assistant
    let shared = assistant.clone(); // + assistant
    HttpServer::new(move || {
        App::new()
            .app_data(users.clone())
            .app_data(tasks.clone())
            .configure(|app| app::routes(app, shared.clone())) // + assistant
    })
    .h1_allow_half_closed(false) // + assistant: a client that leaves is noticed at once
    .bind(("127.0.0.1", 3000))?
    .run()
    .await?;
    assistant.shutdown().await; // + assistant
    Ok(())
}
