//! The measured servers: a byte relay, and the assistant with each adapter.

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use omniassist_core::Limits;
use omniassist_server::{
    AnthropicProvider, Args, Assistant, AssistantBuilder, OpenAiChatProvider, OpenAiProvider, Tool, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::hosts::{self, Adapter};
use super::process;
use super::wire::Api;
use crate::stages::seals;

/// A measured server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// A hyper server that forwards the provider's bytes. The other servers are compared with it.
    Relay,
    /// The assistant with an adapter.
    Assistant(Adapter),
    /// The assistant with axum. Its spans and events are formatted and discarded.
    Traced,
}

impl Target {
    /// All servers, the relay first.
    pub(super) const ALL: [Self; 5] = [
        Self::Relay,
        Self::Assistant(Adapter::Axum),
        Self::Assistant(Adapter::Actix),
        Self::Assistant(Adapter::Hyper),
        Self::Traced,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Relay => "relay",
            Self::Assistant(adapter) => adapter.name(),
            Self::Traced => "axum-traced",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    /// Returns the servers with these names, or all adapters if there are no names.
    pub(super) fn adapters_or(names: &[&str]) -> Result<Vec<Self>, String> {
        if names.is_empty() {
            return Ok(Adapter::ALL.map(Self::Assistant).to_vec());
        }
        let named = |name: &&str| Self::named(name).ok_or_else(|| format!("there is no server {name}"));
        names.iter().map(named).collect()
    }
}

/// Serves until the standard input is closed. With `has_tool`, the assistant has the tool `take`.
pub(super) fn serve(
    target: Target,
    api: Api,
    provider: SocketAddr,
    has_tool: bool,
) -> Result<(), Box<dyn Error>> {
    let listener = listen()?;
    match target {
        Target::Relay => hosts::runtime()?.block_on(async { relay(hosts::tokio(listener)?, provider).await }),
        Target::Assistant(adapter) => adapter.serve(listener, assistant(api, provider, has_tool)?),
        Target::Traced => {
            tracing_subscriber::fmt().with_writer(io::sink).init();
            Adapter::Axum.serve(listener, assistant(api, provider, has_tool)?)
        }
    }
}

/// Opens the port of a server, announces it, and lets the process end with its standard input.
pub(super) fn listen() -> Result<TcpListener, Box<dyn Error>> {
    process::end_with_input();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    process::announce(listener.local_addr()?)?;
    Ok(listener)
}

async fn relay(listener: tokio::net::TcpListener, provider: SocketAddr) -> Result<(), Box<dyn Error>> {
    let client: Client<HttpConnector, Full<bytes::Bytes>> =
        Client::builder(TokioExecutor::new()).build_http();
    let uri: hyper::Uri = format!("http://{provider}/").parse()?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (client, uri) = (client.clone(), uri.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let (client, uri) = (client.clone(), uri.clone());
            async move {
                let body = request.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
                let mut request = Request::new(Full::new(body));
                *request.method_mut() = hyper::Method::POST;
                *request.uri_mut() = uri;
                client.request(request).await.map_err(io::Error::other)
            }
        });
        tokio::spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service);
            // A client that disconnects causes an error.
            let _ = connection.await;
        });
    }
}

fn assistant(api: Api, provider: SocketAddr, has_tool: bool) -> Result<Assistant, Box<dyn Error>> {
    let mut builder = builder(api, provider)?;
    if has_tool {
        builder = builder.tool(Tool::new("take", "Takes a text", take));
    }
    Ok(builder.build()?)
}

/// Returns the builder of the assistant of all servers.
pub(super) fn builder(api: Api, provider: SocketAddr) -> Result<AssistantBuilder, Box<dyn Error>> {
    let mut limits = Limits::default();
    limits.run_timeout = Duration::from_secs(3600);
    // Clients that do not read must stay connected during the measurement.
    limits.write_timeout = Duration::from_secs(3600);
    // All clients of a store have the same principal.
    limits.max_runs_per_principal = usize::MAX;
    let base = format!("http://{provider}/v1");
    let builder = match api {
        Api::Responses => {
            Assistant::builder(OpenAiProvider::builder().base_url(base).api_key("k").model("m").build()?)
        }
        Api::Chat => {
            Assistant::builder(OpenAiChatProvider::builder().base_url(base).api_key("k").model("m").build()?)
        }
        Api::Anthropic => {
            let base = format!("http://{provider}");
            Assistant::builder(AnthropicProvider::builder().base_url(base).api_key("k").model("m").build()?)
        }
    };
    Ok(builder.allow_anonymous().limits(limits).seal_keys(seals::keys()?))
}

#[derive(Deserialize, JsonSchema)]
struct Taken {
    text: String,
}

async fn take(Args(taken): Args<Taken>) -> Result<usize, ToolError> {
    Ok(taken.text.len())
}
