//! The three adapters, each served as in its documentation.

use std::error::Error;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZero;
use std::thread::available_parallelism;

use actix_web::{App, HttpServer};
use axum::serve::ListenerExt as _;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use omniassist_server::Assistant;
use tokio::runtime::Runtime;

/// The adapter that serves the assistant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Adapter {
    Axum,
    Actix,
    Hyper,
}

impl Adapter {
    pub(super) const ALL: [Self; 3] = [Self::Axum, Self::Actix, Self::Hyper];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Axum => "axum",
            Self::Actix => "actix",
            Self::Hyper => "hyper",
        }
    }

    /// Returns the adapters with these names, or all adapters if there are no names.
    pub(super) fn named(names: &[&str]) -> Result<Vec<Self>, String> {
        if names.is_empty() {
            return Ok(Self::ALL.to_vec());
        }
        let named = |name: &&str| {
            let adapter = Self::ALL.into_iter().find(|adapter| adapter.name() == *name);
            adapter.ok_or_else(|| format!("unknown adapter {name}: the adapters are axum, actix and hyper"))
        };
        names.iter().map(named).collect()
    }

    /// Serves the assistant at `/`, on this thread and one more for each core, until the process ends.
    pub(super) fn serve(self, listener: TcpListener, assistant: Assistant) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Axum => runtime()?.block_on(serve_axum(listener, omniassist_axum::router(assistant))),
            Self::Actix => {
                let server = move || App::new().service(omniassist_actix::scope("", assistant.clone()));
                let server = HttpServer::new(server).workers(cores()).disable_signals();
                let server = server.h1_allow_half_closed(false).tcp_nodelay(true).listen(listener)?;
                Ok(actix_web::rt::System::new().block_on(server.run())?)
            }
            Self::Hyper => {
                let app = omniassist_hyper::service(assistant);
                runtime()?.block_on(async {
                    let listener = tokio(listener)?;
                    loop {
                        let (socket, peer) = listener.accept().await?;
                        socket.set_nodelay(true)?;
                        let app = app.clone().peer(peer);
                        tokio::spawn(async move {
                            let mut server = auto::Builder::new(TokioExecutor::new());
                            server.http1().timer(TokioTimer::new());
                            // A client that disconnects causes an error.
                            let _ = server.serve_connection(TokioIo::new(socket), app).await;
                        });
                    }
                })
            }
        }
    }
}

/// Serves an application of axum as [`Adapter::serve`] does.
pub(super) async fn serve_axum(listener: TcpListener, app: axum::Router) -> Result<(), Box<dyn Error>> {
    // Otherwise, a token waits until the client has acknowledged the previous one.
    let listener = tokio(listener)?.tap_io(|stream| drop(stream.set_nodelay(true)));
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, app).await?)
}

/// Returns a runtime with a thread for each core.
pub(super) fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(cores()).enable_all().build()
}

/// Converts the socket for tokio.
pub(super) fn tokio(listener: TcpListener) -> std::io::Result<tokio::net::TcpListener> {
    listener.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(listener)
}

fn cores() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}
