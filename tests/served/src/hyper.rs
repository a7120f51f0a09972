//! Serves a host with hyper, as the documentation of `omniassist-hyper` describes.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HOST, HeaderName, HeaderValue};

use hyper::service::{Service, service_fn};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use omniassist_hyper::bridge::Bridge;
use omniassist_hyper::http::strip_prefix;
use omniassist_hyper::{nest, service};
use tokio::net::TcpListener;
use tokio_io_timeout::TimeoutStream;

use crate::host::{AnyError, Host, LAST_WORDS, Mounted, stopped};

/// Time for a request head to arrive, between two requests, and for a client to read.
const TIMEOUT: Duration = Duration::from_secs(30);

type AnyBody = UnsyncBoxBody<Bytes, AnyError>;

pub(crate) fn main(host: &str) -> Result<(), AnyError> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async { serve(Host::named(host).await?).await })
}

async fn serve(host: Host) -> Result<(), AnyError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, host.port)).await?;
    crate::announce(listener.local_addr()?)?;
    let host = Arc::new(host);
    let graceful = GracefulShutdown::new();
    let mut stopped = pin!(stopped());
    loop {
        let (socket, peer) = tokio::select! {
            accepted = listener.accept() => accepted?,
            () = &mut stopped => break,
        };
        // Otherwise, a token waits until the client has acknowledged the previous one.
        socket.set_nodelay(true)?;
        let mut socket = TimeoutStream::new(socket);
        socket.set_write_timeout(Some(TIMEOUT));
        let host = Arc::clone(&host);
        let app = service_fn(move |request| answer(Arc::clone(&host), peer, request));
        let mut server = auto::Builder::new(TokioExecutor::new()).http1_only();
        server.http1().timer(TokioTimer::new()).header_read_timeout(TIMEOUT);
        let connection =
            server.serve_connection_with_upgrades(TokioIo::new(Box::pin(socket)), app).into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that disconnects causes an error.
            let _ = connection.await;
        });
    }
    drop(listener);
    let assistant = host.assistant();
    let drained = async {
        if let Some(assistant) = &assistant {
            assistant.drain(host.drain).await;
        }
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        () = graceful.shutdown() => {}
        () = drained => {}
    }
    if let Some(assistant) = assistant {
        assistant.shutdown().await;
    }
    Ok(())
}

/// Applies the host's guard or login, and routes the request by its path.
async fn answer(
    host: Arc<Host>,
    peer: SocketAddr,
    mut request: Request<Incoming>,
) -> Result<Response<AnyBody>, Infallible> {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let authority = request.uri().authority().map(|authority| authority.as_str());
    let is_admitted = host.front.admits(header(HOST.as_str()).or(authority));
    let principal = host.front.principal(header);
    if let Some(principal) = principal {
        request.extensions_mut().insert(principal);
    }
    let mut response = if is_admitted {
        route(&host, peer, request).await?
    } else {
        let mut response = Response::new(Empty::new());
        *response.status_mut() = StatusCode::MISDIRECTED_REQUEST;
        boxed(response)
    };
    for (name, value) in host.front.headers() {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    Ok(response)
}

async fn route(
    host: &Host,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Result<Response<AnyBody>, Infallible> {
    let own = TowerToHyperService::new(host.own.clone());
    match &host.mounted {
        Mounted::Below(path, assistant) => {
            nest(path, assistant.clone(), own).peer(peer).call(request).await.map(boxed)
        }
        Mounted::Root(assistant) => service(assistant.clone()).peer(peer).call(request).await.map(boxed),
        Mounted::Runtimes(transports) => {
            let below = |(path, transport): &'_ (&str, Bridge)| {
                strip_prefix(request.uri(), path).map(|uri| (uri.path().to_owned(), transport.clone()))
            };
            match transports.iter().find_map(below) {
                Some((path, transport)) => Ok(chat(&transport, &path, request).await),
                None => own.call(request).await.map(boxed),
            }
        }
    }
}

/// Answers for the agent runtime like a handler of the host.
async fn chat(transport: &Bridge, path: &str, request: Request<Incoming>) -> Response<AnyBody> {
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    match (request.method(), segments.as_slice()) {
        (&Method::POST, [""]) => boxed(match transport.read(request).await {
            Ok(posted) => transport.respond(posted),
            Err(refusal) => refusal,
        }),
        (&Method::GET, [chat_id, "stream"]) => {
            boxed(transport.respond_reconnect(chat_id, request.extensions()))
        }
        _ => {
            let mut response = Response::new(Empty::new());
            *response.status_mut() = StatusCode::NOT_FOUND;
            boxed(response)
        }
    }
}

fn boxed<B>(response: Response<B>) -> Response<AnyBody>
where
    B: hyper::body::Body<Data = Bytes, Error: Into<AnyError>> + Send + 'static,
{
    response.map(|body| body.map_err(Into::into).boxed_unsync())
}
