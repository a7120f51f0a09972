//! An assistant that uses a warehouse by its OpenAPI document: `cargo run -p openapi`. Without a key, the demo of the
//! quickstart answers; `cargo run -p quickstart -- --help` lists the settings.
//!
//! ```sh
//! curl -N http://127.0.0.1:3000/assistant -H 'content-type: application/json' \
//!   -d '{"messages":[{"id":"m1","role":"user","content":"Show the stock of the article lamp"}]}'
//! ```

mod warehouse;

use std::error::Error;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Router;
use omniassist_axum::{Assistant, LlmProvider};
use omniassist_openapi::{Auth, OpenApi};
use quickstart::Settings;
use tokio::net::TcpListener;

/// Builds an assistant whose tools are the operations of the document.
fn assistant(
    model: Arc<dyn LlmProvider>,
    warehouse: &str,
) -> Result<Assistant, Box<dyn Error + Send + Sync>> {
    let tools = OpenApi::from_json("warehouse", include_str!("warehouse.json"))?
        .server(warehouse)
        .allow_hosts(["127.0.0.1"]) // Internal addresses are refused unless they are named.
        .auth("token", Auth::bearer(warehouse::TOKEN)) // The model never sees it.
        .except(["delete*"]) // These operations are no tools. All others but GET need the user's approval.
        .tools()?;
    Ok(Assistant::builder(model).tool_source(tools).allow_anonymous().build()?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let settings = Settings::from_env().await?;
    let warehouse = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let assistant = assistant(settings.model(), &format!("http://{}", warehouse.local_addr()?))?;
    tokio::spawn(async move { axum::serve(warehouse, warehouse::router()).await });

    let app = Router::new().nest_service("/assistant", omniassist_axum::router(assistant));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port())).await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    serving::serve_axum(listener, serving::stopped(), app).await.shutdown().await;
    Ok(())
}
