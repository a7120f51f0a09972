//! A backend with an assistant whose runs appear in OpenTelemetry: every run, step, model call and tool call is a span,
//! exported by OTLP over HTTP.
//!
//! The library only opens `tracing` spans; [`telemetry`] is the code that a host adds. `OTEL_EXPORTER_OTLP_ENDPOINT` is
//! the URL of the collector (default `http://localhost:4318`), and `OTEL_SERVICE_NAME` the name of the service. With
//! `OPENAI_API_KEY` the model is OpenAI's. Without it, a scripted model answers without a network.
//!
//! ```sh
//! curl -N http://127.0.0.1:3000/assistant -H 'content-type: application/json' \
//!   -d '{"messages":[{"id":"m1","role":"user","content":"Where is order 1001?"}]}'
//! ```

mod app;
mod telemetry;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::net::Ipv4Addr;

use omniassist_axum::OpenAiProvider;
use tokio::net::TcpListener;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let traces = telemetry::Traces::new(None)?;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::registry()
        .with(traces.layer())
        .with(tracing_subscriber::fmt::layer().with_filter(filter))
        .init();

    let app = if std::env::var_os("OPENAI_API_KEY").is_some() {
        app::router(OpenAiProvider::from_env()?)?
    } else {
        app::router(app::scripted())?
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 3000)).await?;
    tracing::info!("listening on http://{}", listener.local_addr()?);
    let connections = serving::serve_axum(listener, serving::stopped(), app).await;
    connections.shutdown().await;
    // Sending the rest blocks, so it runs on another thread.
    tokio::task::spawn_blocking(move || traces.shutdown()).await??;
    Ok(())
}
