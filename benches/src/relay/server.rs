//! The servers under load: a byte relay, and the assistant in each framework.

use std::error::Error;
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr};

use axum::serve::ListenerExt as _;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use omniassist_axum::{AnthropicProvider, Assistant, Limits, OpenAiChatProvider, OpenAiProvider};
use tokio::net::TcpListener;

use super::process;
use super::wire::Api;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// Hands the provider's bytes on, on hyper: what the others are compared with.
    Relay,
    Axum,
}

impl Target {
    pub(super) const ALL: [Self; 2] = [Self::Relay, Self::Axum];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Relay => "relay",
            Self::Axum => "axum",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }
}

/// Serves until the standard input is closed.
pub(super) fn serve(target: Target, api: Api, provider: SocketAddr) -> Result<(), Box<dyn Error>> {
    std::thread::spawn(|| {
        let mut rest = Vec::new();
        let _ = std::io::stdin().read_to_end(&mut rest);
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        process::announce(listener.local_addr()?)?;
        match target {
            Target::Relay => relay(listener, provider).await,
            Target::Axum => {
                // Else a token waits until the client has acknowledged the one before it.
                let listener = listener.tap_io(|stream| {
                    let _ = stream.set_nodelay(true);
                });
                Ok(axum::serve(listener, omniassist_axum::router(assistant(api, provider)?)).await?)
            }
        }
    })
}

async fn relay(listener: TcpListener, provider: SocketAddr) -> Result<(), Box<dyn Error>> {
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
            // A client that leaves is no matter here.
            let _ = connection.await;
        });
    }
}

fn assistant(api: Api, provider: SocketAddr) -> Result<Assistant, Box<dyn Error>> {
    let mut limits = Limits::default();
    limits.run_timeout = std::time::Duration::from_secs(3600);
    let builder = match api {
        Api::Responses => Assistant::builder(
            OpenAiProvider::builder()
                .base_url(format!("http://{provider}/v1"))
                .api_key("k")
                .model("m")
                .build()?,
        )
        .allow_anonymous(),
        Api::Chat => Assistant::builder(
            OpenAiChatProvider::builder()
                .base_url(format!("http://{provider}/v1"))
                .api_key("k")
                .model("m")
                .build()?,
        )
        .allow_anonymous(),
        Api::Anthropic => Assistant::builder(
            AnthropicProvider::builder()
                .base_url(format!("http://{provider}"))
                .api_key("k")
                .model("m")
                .build()?,
        )
        .allow_anonymous(),
    };
    Ok(builder.limits(limits).build()?)
}
