//! The shape whose client is another process: the server in the child, and the client in the harness.

use std::convert::Infallible;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use omniassist_server::Principal;
use omniassist_server::http::AssistantService;
use tokio::net::TcpListener;

use crate::child::{CHAT, question, say};
use crate::shape::Shape;
use crate::store::{Store, runs};

/// Marks an answer that ended before its end.
pub(crate) const CUT: &str = "@cut";

/// Serves connections, one after the other, until the run of the chat has ended.
pub(crate) async fn serve<S: Store>(store: &S, service: &AssistantService) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    say(&format!("@port {}", listener.local_addr().unwrap().port()));
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        let answer = service_fn(async |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Principal::new("ada"));
            Ok::<_, Infallible>(service.handle(request).await)
        });
        // The client shows if it got its answer.
        drop(http1::Builder::new().serve_connection(TokioIo::new(socket), answer).await);
        if runs(store, Shape::Port).await.iter().flatten().any(|run| run.state.is_ended()) {
            say("@state ended");
            return;
        }
    }
}

/// Posts the question to a port, again while the answer is cut and the server lives. Returns the lines of the answers.
pub(crate) fn ask(port: u16) -> Vec<String> {
    let mut lines = Vec::new();
    while let Ok(socket) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
        let from = lines.len();
        post(&socket, &mut lines);
        if lines[from..].iter().any(|line| line == "data: [DONE]") {
            break;
        }
        lines.push(CUT.to_owned());
    }
    lines
}

fn post(mut socket: &TcpStream, lines: &mut Vec<String>) {
    let body = question(CHAT, "m1", &Shape::Port.question(1)).to_string();
    let head = "POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json";
    let length = body.len();
    // A server that has died gives no lines.
    drop(write!(socket, "{head}\r\nidempotency-key: m1\r\ncontent-length: {length}\r\n\r\n{body}"));
    for line in BufReader::new(socket).lines().map_while(Result::ok) {
        match line.strip_prefix("HTTP/1.1 ").filter(|status| !status.starts_with("200")) {
            Some(status) => lines.push(format!("@status {status}")),
            None => lines.push(line),
        }
    }
}
