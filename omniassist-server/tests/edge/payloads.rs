//! What a hostile client puts into its strings, and a server that tells whether anybody fell for it.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

/// Listens on loopback, in both families, and counts who comes.
pub(super) struct Canary {
    pub(super) port: u16,
    /// Where the answer is a redirection to the canary.
    pub(super) redirector: u16,
    connections: Arc<AtomicUsize>,
}

impl Canary {
    pub(super) async fn listen() -> Self {
        let connections = Arc::new(AtomicUsize::new(0));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        count(
            listener,
            Arc::clone(&connections),
            String::from("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
        );
        // Not every machine has IPv6.
        if let Ok(listener) = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await {
            count(listener, Arc::clone(&connections), String::new());
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let redirector = listener.local_addr().unwrap().port();
        let location =
            format!("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:{port}/\r\ncontent-length: 0\r\n\r\n");
        count(listener, Arc::clone(&connections), location);
        Self { port, redirector, connections }
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Shows that it counts.
    pub(super) async fn sings(&self) {
        let before = self.connections();
        for port in [self.port, self.redirector] {
            drop(TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.unwrap());
        }
        let counted = async {
            while self.connections() < before + 2 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(10), counted).await.expect("the canary counts");
    }
}

fn count(listener: TcpListener, connections: Arc<AtomicUsize>, answer: String) {
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            connections.fetch_add(1, Ordering::SeqCst);
            let _ = socket.write_all(answer.as_bytes()).await;
        }
    });
}

/// Ways to name the canary, or something else of this machine, that some reader of URLs takes for it.
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

/// Ways to end a header or an event and to begin another one.
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
