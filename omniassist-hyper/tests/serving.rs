//! A server of hyper for the tests.

use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;

use http_body_util::Full;
use hyper::body::{Body, Bytes, Incoming};
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;

/// The address of an application, which is served over HTTP/1 and HTTP/2.
#[derive(Clone)]
pub(crate) struct Served {
    pub(crate) base: String,
    pub(crate) address: SocketAddr,
}

pub(crate) async fn serve<S, B>(app: S) -> Served
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>, Data: Send> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let app = app.clone();
            tokio::spawn(async move {
                let mut server = auto::Builder::new(TokioExecutor::new());
                server.http1().timer(TokioTimer::new());
                let _ = server.serve_connection(TokioIo::new(socket), app).await;
            });
        }
    });
    Served { base: format!("http://{address}"), address }
}

/// The host's own service, which answers with the path of the request.
pub(crate) async fn own(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::from(format!("own {}", request.uri().path()))))
}
