//! A shop whose page and assistant share one cart. For pages that speak AG-UI or CopilotKit: the page shows the cart,
//! the assistant fills it ([`tools`]), both see each change at once; paying waits for the user's approval, and the
//! assistant asks for what it does not know with a form.
//!
//! `OPENAI_API_KEY=… cargo run -p shared-cart` serves it on `http://127.0.0.1:3000`: AG-UI on `/ag-ui`, CopilotKit's
//! runtime on `/copilotkit`. `PORT`, `OPENAI_BASE_URL` and `OMNIASSIST_MODEL` set what they say.

mod tools;

use std::error::Error;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use omniassist_axum::{Assistant, LlmProvider, OpenAiProvider};
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

const SYSTEM_PROMPT: &str =
    "You help in a small tea shop. The cart is on the user's page; change it with your tools.";

/// The assistant of the shop. Whose cart it is, the posted state says; nothing is kept here.
fn assistant(provider: impl LlmProvider) -> omniassist_axum::Result<Assistant> {
    let builder = Assistant::builder(provider).allow_anonymous().system_prompt(SYSTEM_PROMPT);
    tools::all().into_iter().fold(builder, |builder, tool| builder.tool(tool)).build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(io::stderr).init();
    let mut provider = OpenAiProvider::builder().api_key(std::env::var("OPENAI_API_KEY").unwrap_or_default());
    if let Ok(url) = std::env::var("OPENAI_BASE_URL") {
        provider = provider.base_url(url);
    }
    if let Ok(model) = std::env::var("OMNIASSIST_MODEL") {
        provider = provider.model(model);
    }
    let assistant = assistant(provider.build()?)?;
    let app = Router::new().fallback_service(omniassist_axum::router(assistant.clone()));
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    let port = std::env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    tokio::select! {
        ended = async { axum::serve(listener, app).await } => ended?,
        _ = tokio::signal::ctrl_c() => {}
    }
    assistant.shutdown().await;
    Ok(())
}

#[cfg(test)]
mod tests;
