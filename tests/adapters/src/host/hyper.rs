use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::net::SocketAddr;

use http_body_util::Full;
use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use omniassist_hyper::{PeerAddr, nest};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::{HEALTH, Mount, NOWHERE, REGION, Serving, USER, User};
use crate::transport::Transport;

pub(super) async fn serve(transport: Transport, mounts: Vec<Mount>) -> (SocketAddr, Serving) {
    let mut mounts = mounts.into_iter();
    match (mounts.next(), mounts.next(), mounts.next()) {
        (Some((path, assistant)), None, None) => {
            listen(transport, nest(&path, assistant, service_fn(own))).await
        }
        (Some((path, assistant)), Some((second_path, second)), None) => {
            let rest = nest(&second_path, second, service_fn(own));
            listen(transport, nest(&path, assistant, rest)).await
        }
        _ => panic!("one or two assistants"),
    }
}

async fn own(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, body) = match request.uri().path() {
        "/health" => (StatusCode::OK, HEALTH),
        _ => (StatusCode::NOT_FOUND, NOWHERE),
    };
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert("content-type", "text/plain; charset=utf-8".parse().unwrap());
    Ok(response)
}

async fn listen<S, B>(transport: Transport, app: S) -> (SocketAddr, Serving)
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            connections.spawn(connection(transport, socket, app.clone()));
        }
    });
    (address, Serving::Tokio(serving.abort_handle()))
}

fn connection<S, B>(
    transport: Transport,
    socket: TcpStream,
    app: S,
) -> impl Future<Output = ()> + Send + 'static
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let peer = PeerAddr(socket.peer_addr().unwrap());
    let app = service_fn(move |request| app.call(identify(request, peer)));
    async move {
        let socket = TokioIo::new(socket);
        // A client that disconnects causes an error.
        let _ = if transport.is_http2() {
            let mut server = http2::Builder::new(TokioExecutor::new());
            server.timer(TokioTimer::new()).serve_connection(socket, app).await
        } else {
            http1::Builder::new().timer(TokioTimer::new()).serve_connection(socket, app).with_upgrades().await
        };
    }
}

/// The backend's authentication, as a service around the others.
fn identify(mut request: Request<Incoming>, peer: PeerAddr) -> Request<Incoming> {
    let user = request.headers().get(USER).map(|user| User(user.to_str().unwrap().to_owned()));
    if let Some(user) = user {
        request.extensions_mut().insert(user.principal());
        request.extensions_mut().insert(user);
    }
    request.extensions_mut().insert(REGION);
    request.extensions_mut().insert(peer);
    request
}
