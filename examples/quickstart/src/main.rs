//! A small back office with an assistant in it: orders, customers and tickets in an SQLite file, a page to work with
//! them, and beside it a chat that calls the back office's functions as tools.
//!
//! Read [`tools`] to see how functions become tools, [`app`] for how the assistant is built and mounted, and [`demo`]
//! for how a model provider is written. `cargo run -p quickstart -- --help` lists the settings.

mod api;
mod config;
mod demo;
mod discovery;
mod model;
mod store;
mod tools;

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt as _;
use omniassist_axum::seal::SealKeys;
use omniassist_axum::{Assistant, CancellationToken, LlmProvider, OpenAiEndpoint};
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

use config::Config;
use store::Store;

const SYSTEM_PROMPT: &str = "You are the assistant in the back office of a small shop for office furniture. \
     Use the tools for everything about orders, customers and tickets; never invent data. \
     When a tool fails, say why. Answer briefly.";
/// After Ctrl-C: how long answers that are under way may take to end. In production it is rather 25 s.
const DRAIN: Duration = Duration::from_secs(3);
/// How long the last words of answers that were cut may take to be written.
const LAST_WORDS: Duration = Duration::from_millis(500);

#[tokio::main]
async fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        None => {}
        Some("--help" | "-h") => {
            let printed = io::stdout().write_all(config::HELP.as_bytes());
            return if printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        Some(other) => return complain(&format!("unknown argument `{other}`; try --help"), 2),
    }
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let colours = io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(io::stderr).init();
    let config = match Config::read(|name| std::env::var(name).ok()) {
        Ok(config) => config,
        Err(error) => return complain(&error.to_string(), 2),
    };
    let chosen = match model::choose(config.source.clone(), &discovery::USUAL).await {
        Ok(chosen) => chosen,
        Err(error) => return complain(&error.to_string(), 2),
    };
    match serve(config, chosen).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error.to_string(), 1),
    }
}

fn complain(problem: &str, code: u8) -> ExitCode {
    // Where nobody reads standard error, the exit code has to do.
    let _ = writeln!(io::stderr(), "quickstart: {problem}");
    ExitCode::from(code)
}

async fn serve(config: Config, chosen: model::Chosen) -> Result<(), Box<dyn Error + Send + Sync>> {
    let path = config.database.clone();
    let store = tokio::task::spawn_blocking(move || Store::open(&path)).await?;
    let store = store.map_err(|error| format!("QUICKSTART_DB: {}: {error}", config.database.display()))?;
    let assistant = assistant(chosen.provider, store.clone(), config.show_work, config.seal_keys)?;
    // Never on a public address: there is no login here.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, config.port)).await;
    let listener =
        listener.map_err(|error| format!("PORT: cannot listen on 127.0.0.1:{}: {error}", config.port))?;

    tracing::info!(model = %chosen.answering.model, "{}", chosen.answering.note);
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;

    let app = app(&assistant, store, &chosen.answering);
    serve_until(stopped(), listener, app, &assistant).await?;
    tracing::info!("stopped");
    Ok(())
}

/// Serves until told to stop, and then lets the answers that are under way end, within limits.
async fn serve_until(
    stopped: impl Future<Output = ()>,
    listener: TcpListener,
    app: Router,
    assistant: &Assistant,
) -> io::Result<()> {
    let stop = CancellationToken::new();
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    // Else a token waits until the client has acknowledged the one before it.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let serving = axum::serve(listener, app).with_graceful_shutdown(stop.cancelled());
    let drained = async {
        stopped.await;
        stop.cancel();
        assistant.drain(DRAIN).await;
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        ended = async { serving.await } => ended?,
        () = drained => {}
    }
    // Where the last client left first, tools may still be winding up.
    assistant.shutdown().await;
    Ok(())
}

/// The assistant: a model, what it is told, the host's data and the tools that work on it. `show_work`: whether
/// OpenAI's clients are told of its tools and its reasoning. Without keys it makes one.
fn assistant(
    provider: Arc<dyn LlmProvider>,
    store: Store,
    show_work: bool,
    seal_keys: Option<SealKeys>,
) -> omniassist_axum::Result<Assistant> {
    let openai = OpenAiEndpoint::new().show_reasoning(show_work).show_server_tools(show_work);
    let builder = Assistant::builder(provider).allow_anonymous().system_prompt(SYSTEM_PROMPT).state(store);
    let mut builder = builder.openai_endpoint(openai).object(tools::ticket_object());
    if let Some(keys) = seal_keys {
        builder = builder.seal_keys(keys);
    }
    tools::all().into_iter().fold(builder, |builder, tool| builder.tool(tool)).build()
}

/// The back office that was there before, and the assistant mounted in it.
fn app(assistant: &Assistant, store: Store, answering: &api::Answering) -> Router {
    api::router(store, answering)
        .nest_service("/assistant", omniassist_axum::router(assistant.clone()))
        .layer(axum::middleware::from_fn(api::guard))
}

/// Ctrl-C, or on Unix the signal that a supervisor sends.
async fn stopped() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without a handler the system's own ends the process.
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        () = interrupted => {}
        () = terminated => {}
    }
}

#[cfg(test)]
mod tests;
