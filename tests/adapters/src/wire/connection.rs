use std::net::{Shutdown, SocketAddr};

use tokio::net::TcpStream;

use super::http2::Connected;
use super::{Ask, Exchange, http1, soon};
use crate::host::Host;

/// A connection of a client. After it is dropped, exchanges that are under way keep the socket open.
pub(crate) struct Connection {
    wire: Wire,
    /// A second handle to the socket.
    socket: std::net::TcpStream,
    address: SocketAddr,
}

enum Wire {
    Http1(http1::Shared),
    Http2(Connected),
}

impl Connection {
    pub(super) async fn open_to(host: &Host) -> (TcpStream, std::net::TcpStream) {
        let stream = soon("a connection opens", TcpStream::connect(host.address)).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let stream = stream.into_std().unwrap();
        let second = stream.try_clone().unwrap();
        (TcpStream::from_std(stream).unwrap(), second)
    }

    pub(crate) async fn open(host: &Host) -> Self {
        let (stream, socket) = Self::open_to(host).await;
        let wire = if host.transport.is_http2() {
            Wire::Http2(Connected::new(stream).await)
        } else {
            Wire::Http1(http1::shared(stream))
        };
        Self { wire, socket, address: host.address }
    }

    /// Sends a request. Over HTTP/1 this waits until the whole request is sent, and answers arrive in the order of the
    /// requests.
    pub(crate) async fn ask(&mut self, ask: &Ask) -> Exchange {
        let authority = ask.host.clone().unwrap_or_else(|| self.address.to_string());
        match &mut self.wire {
            Wire::Http1(shared) => {
                soon("the server reads the request", async {
                    shared.lock().await.send(ask, &authority).await;
                })
                .await;
                Exchange::http1(http1::Answering::new(shared.clone(), ask))
            }
            Wire::Http2(connected) => Exchange::http2(connected.send(ask, &authority).await),
        }
    }

    /// Shuts down the sending half. The receiving half stays open.
    pub(crate) fn half_close(&self) {
        self.socket.shutdown(Shutdown::Write).unwrap();
    }

    /// Closes the socket with everything that is under way on it.
    pub(crate) fn hang_up(self, exchange: Exchange) {
        if let Wire::Http2(connected) = &self.wire {
            connected.driving.abort();
        }
        drop(exchange);
    }
}
