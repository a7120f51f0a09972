//! Serves the examples with hyper, which closes the connections of clients that send nothing. `axum::serve` has no such
//! timeouts.

use std::error::Error;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
pub use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

/// The longest time that a client may take to send the head of a request. A connection without a request ends after
/// the same time.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// The size of hyper's buffer for a connection, which a request head must fit in. hyper's default is 400 KiB for each
/// connection that sends a file.
const MAX_READ: usize = 32 * 1024;

/// Serves HTTP/1 and HTTP/2 until `stopped` completes, and returns the open connections. `service_for` makes the service
/// of a client with this address.
pub async fn serve<S, B>(
    listener: TcpListener,
    stopped: impl Future<Output = ()>,
    service_for: impl Fn(SocketAddr) -> S,
) -> GracefulShutdown
where
    S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let connections = GracefulShutdown::new();
    let mut stopped = pin!(stopped);
    loop {
        let (socket, peer) = tokio::select! {
            accepted = accept(&listener) => accepted,
            () = &mut stopped => return connections,
        };
        let service = service_for(peer);
        let has_request = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&has_request);
        let service = service_fn(move |request| {
            seen.store(true, Ordering::Relaxed);
            service.call(request)
        });
        let watcher = connections.watcher();
        tokio::spawn(async move {
            let mut server = auto::Builder::new(TokioExecutor::new());
            server.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(MAX_READ);
            server.http2().timer(TokioTimer::new()).keep_alive_interval(HEAD_TIMEOUT);
            let connection =
                server.serve_connection_with_upgrades(TokioIo::new(socket), service).into_owned();
            let mut connection = pin!(watcher.watch(connection));
            // The builder waits without a limit for the first bytes, which tell HTTP/1 from HTTP/2.
            let ended = timeout(HEAD_TIMEOUT, &mut connection).await;
            if ended.is_err() && has_request.load(Ordering::Relaxed) {
                // A client that disconnects early is an error here.
                drop(connection.await);
            }
        });
    }
}

/// Serves an axum application like [`serve`]. Its requests carry the address of the client.
#[cfg(feature = "axum")]
pub async fn serve_axum(
    listener: TcpListener,
    stopped: impl Future<Output = ()>,
    app: axum::Router,
) -> GracefulShutdown {
    use axum::Extension;
    use axum::extract::ConnectInfo;
    use hyper_util::service::TowerToHyperService;

    let service_for = |peer| TowerToHyperService::new(app.clone().layer(Extension(ConnectInfo(peer))));
    serve(listener, stopped, service_for).await
}

/// Returns the port in the variable `PORT`. One that is empty or not set means the default.
///
/// # Errors
///
/// Returns a text that names the variable if it has no port.
pub fn port(default: u16) -> Result<u16, String> {
    read_port(&std::env::var("PORT").unwrap_or_default(), default)
}

fn read_port(text: &str, default: u16) -> Result<u16, String> {
    if text.is_empty() {
        return Ok(default);
    }
    text.parse().map_err(|_| format!("PORT: `{text}` is not a number from 0 to 65535"))
}

/// Waits for the next client. It tries again if the process has no sockets left.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((socket, peer)) => {
                // Without this, a token of the assistant waits until the client has acknowledged the token before it.
                drop(socket.set_nodelay(true));
                return (socket, peer);
            }
            Err(_) => sleep(Duration::from_secs(1)).await,
        }
    }
}

/// Waits for Ctrl-C or, on Unix, for the signal `SIGTERM`.
pub async fn stopped() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without a handler, the default handler ends the process.
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
mod tests {
    use std::future::pending;
    use std::net::Ipv4Addr;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::*;

    #[test]
    fn an_error_names_the_variable_of_the_port() {
        assert_eq!((read_port("", 3001), read_port("0", 3001)), (Ok(3001), Ok(0)));
        for text in ["abc", "99999", " 3000"] {
            let problem = format!("PORT: `{text}` is not a number from 0 to 65535");
            assert_eq!(read_port(text, 3001), Err(problem));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_complete_request_head_is_closed() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let empty = |_| async { Ok::<_, hyper::Error>(Response::new(String::new())) };
        tokio::spawn(async move { serve(listener, pending(), |_| service_fn(empty)).await });
        for text in [
            "",
            "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n",
            "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nS",
        ] {
            let mut socket = TcpStream::connect(address).await.unwrap();
            socket.write_all(text.as_bytes()).await.unwrap();
            let start = Instant::now();
            // The server may reset the connection.
            drop(socket.read_to_end(&mut Vec::new()).await);
            let took = start.elapsed();
            assert!(took >= HEAD_TIMEOUT && took <= HEAD_TIMEOUT * 2, "{text:?}: {took:?}");
        }
    }

    #[tokio::test]
    async fn a_request_head_over_the_buffer_is_refused() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let empty = |_| async { Ok::<_, hyper::Error>(Response::new(String::new())) };
        tokio::spawn(async move { serve(listener, pending(), |_| service_fn(empty)).await });
        let (start, end) = ("GET / HTTP/1.1\r\nconnection: close\r\nx: ", "\r\n\r\n");
        for (length, status) in [(MAX_READ - 1, "200"), (MAX_READ + 1, "431")] {
            let value = "x".repeat(length - start.len() - end.len());
            let mut socket = TcpStream::connect(address).await.unwrap();
            socket.write_all(format!("{start}{value}{end}").as_bytes()).await.unwrap();
            let mut head = [0; 12];
            socket.read_exact(&mut head).await.unwrap();
            assert_eq!(str::from_utf8(&head).unwrap(), format!("HTTP/1.1 {status}"), "{length} bytes");
        }
    }
}
