//! Strings of a hostile client, and a server that detects their effects.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

/// A listener on both loopback addresses that counts connections.
pub(super) struct Canary {
    pub(super) port: u16,
    /// The port of a server that redirects to the canary.
    pub(super) redirector: u16,
    listening: Vec<SocketAddr>,
    came: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Canary {
    pub(super) async fn listen() -> Self {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let (own, elsewhere) = (TcpListener::bind(any).await.unwrap(), TcpListener::bind(any).await.unwrap());
        let (port, redirector) = (own.local_addr().unwrap().port(), elsewhere.local_addr().unwrap().port());
        let mut listeners = vec![own, elsewhere];
        // Not every machine has IPv6.
        listeners.extend(TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await);
        let listening = listeners.iter().map(|listener| listener.local_addr().unwrap()).collect();
        let canary = Self { port, redirector, listening, came: Arc::default() };
        for listener in listeners {
            let redirects = listener.local_addr().unwrap().port() == redirector;
            let location =
                if redirects { format!("location: http://127.0.0.1:{port}/\r\n") } else { String::new() };
            let answer = format!("HTTP/1.1 302 Found\r\n{location}content-length: 0\r\n\r\n");
            tokio::spawn(answer_all(listener, Arc::clone(&canary.came), answer));
        }
        canary
    }

    /// Checks that there was no connection. Connections are accepted in order, so all earlier connections are counted
    /// before the connection of this check.
    pub(super) async fn heard_nobody(&self) {
        let mut own = Vec::new();
        for address in &self.listening {
            own.push(TcpStream::connect(address).await.unwrap().local_addr().unwrap());
        }
        let came = || self.came.lock().unwrap().clone();
        let counted = async {
            while !own.iter().all(|address| came().contains(address)) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), counted).await.expect("the connection is counted");
        assert_eq!(came().len(), own.len(), "{} strangers came", came().len() - own.len());
    }
}

async fn answer_all(listener: TcpListener, came: Arc<Mutex<Vec<SocketAddr>>>, answer: String) {
    while let Ok((mut socket, peer)) = listener.accept().await {
        came.lock().unwrap().push(peer);
        let _ = socket.write_all(answer.as_bytes()).await;
    }
}

/// Returns forms of the canary's address, or of other addresses of this machine, that some URL parser accepts.
pub(super) fn urls(canary: &Canary) -> Vec<String> {
    let port = canary.port;
    let mut urls: Vec<String> = [
        "http://127.0.0.1:P/",
        "https://127.0.0.1:P/",
        "http://localhost:P/a.png",
        "http://localhost.:P/",
        "http://2130706433:P/",
        "http://0x7f000001:P/",
        "http://0177.0.0.1:P/",
        "http://127.1:P/",
        "http://0.0.0.0:P/",
        "http://[::1]:P/",
        "http://[::ffff:127.0.0.1]:P/",
        "http://[::ffff:7f00:1]:P/",
        "http://[0:0:0:0:0:0:0:1]:P/",
        "http://user@127.0.0.1:P/",
        "http://api.openai.com@127.0.0.1:P/",
        "http://api.openai.com:443@127.0.0.1:P/",
        "http://127.0.0.1:P\\@api.openai.com/",
        "http:\\\\127.0.0.1:P/",
        "//127.0.0.1:P/",
        "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:P/",
        "http://127。0。0。1:P/",
        "http://127.0.0.1:P#@api.openai.com/",
        "http://127.0.0.1:P/%0d%0ax-forged:%201",
        "HTTP://127.0.0.1:P/",
        " http://127.0.0.1:P/",
        "http://127.0.0.1:P/\r\nx-forged: 1",
        "ws://127.0.0.1:P/",
        "ftp://127.0.0.1:P/",
        "gopher://127.0.0.1:P/_x",
        "127.0.0.1:P",
        "http://localtest.me:P/",
        "file:///etc/passwd",
        "file://127.0.0.1:P/etc/passwd",
        "data:text/html,<img src=http://127.0.0.1:P/>",
        "data:image/png;base64,http://127.0.0.1:P/",
        "data:;base64,",
        "jar:http://127.0.0.1:P!/x",
        "blob:http://127.0.0.1:P/x",
    ]
    .iter()
    .map(|url| url.replace(":P", &format!(":{port}")))
    .collect();
    urls.push(format!("http://127.0.0.1:{}/", canary.redirector));
    urls
}

/// Strings that could end a header or an event and begin another one.
pub(super) const BREAKS: [&str; 16] = [
    "\r\nx-forged: 1",
    "\nx-forged: 1",
    "\rx-forged: 1",
    "a\r\n\r\n<html>forged</html>",
    "\n\nevent: forged\ndata: {\"type\":\"forged\"}\n\n",
    "\r\rdata: {\"type\":\"forged\"}\r\r",
    "\r\n\r\ndata: {\"type\":\"forged\"}\r\n\r\n",
    "\nid: forged\n",
    "\nretry: 1\n",
    "\n: keep-alive\n\ndata: {\"type\":\"forged\"}",
    "data: [DONE]\n\n",
    "\u{2028}data: {\"type\":\"forged\"}\u{2029}",
    "\u{85}data: {\"type\":\"forged\"}\u{b}\u{c}",
    "%0d%0ax-forged:%201",
    "\",\"type\":\"forged\",\"x\":\"",
    "\u{0}\u{1b}[31m\u{202e}forged",
];
