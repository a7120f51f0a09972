//! An assistant whose conversations are in the tables of a help desk. Its runs are in a file of their own.
//!
//! Run `OPENAI_API_KEY=… cargo run -p own-tables`, and then:
//!
//! ```sh
//! curl -N http://127.0.0.1:3000/assistant -H 'x-customer: ann' -H 'content-type: application/json' \
//!   -d '{"id":"c1","messages":[{"id":"m1","role":"user","content":"My printer does not print."}]}'
//! curl http://127.0.0.1:3000/assistant/threads -H 'x-customer: ann'
//! sqlite3 target/desk.db 'select id, cast(body as text) from note'
//! ```

use std::error::Error;
use std::io::{self, Write};

use axum::Router;
use omniassist_axum::{Assistant, AuthRequest, OpenAiProvider, Principal, SqliteStore};
use own_tables::OwnTables;
use serving::{serve_axum, stopped};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let assistant = Assistant::builder(OpenAiProvider::from_env()?)
        .store(SqliteStore::open("target/runs.db")?)
        .conversations(OwnTables::open("target/desk.db")?)
        // In place of a login.
        .authenticate(async |request: AuthRequest| {
            let customer = request.headers().get("x-customer").and_then(|name| name.to_str().ok());
            Ok(customer.map(Principal::new))
        })
        .build()?;
    let app = Router::new().nest_service("/assistant", omniassist_axum::router(assistant.clone()));
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    let connections = serve_axum(listener, stopped(), app).await;
    assistant.shutdown().await;
    connections.shutdown().await;
    Ok(())
}
