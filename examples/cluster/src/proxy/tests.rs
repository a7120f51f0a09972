#![allow(clippy::unwrap_used)]

use std::convert::Infallible;
use std::net::Ipv4Addr;

use axum::routing::post;
use futures_util::{StreamExt, stream};
use http_body_util::BodyExt;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::*;

/// Serves a router on a port of its own.
async fn serve(app: Router) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serving::serve_axum(listener, std::future::pending(), app));
    address
}

fn named(name: &'static str) -> Router {
    Router::new().route("/name", post(move |body: String| async move { format!("{name} got {body}") }))
}

async fn ask(proxy: SocketAddr) -> (StatusCode, String) {
    let request = Request::post("/name").header("host", "localhost").body("x".into()).unwrap();
    let response = connect(proxy).await.unwrap().send_request(request).await.unwrap();
    let status = response.status();
    (status, String::from_utf8(response.collect().await.unwrap().to_bytes().into()).unwrap())
}

#[tokio::test]
async fn requests_go_to_the_servers_in_turn_and_pass_a_dead_one() {
    let dead = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap().local_addr().unwrap();
    let servers = [serve(named("a")).await, dead, serve(named("b")).await];
    let proxy = serve(Proxy::new(servers).router()).await;
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(ask(proxy).await.1);
    }
    assert_eq!(answers, ["a got x", "b got x", "b got x"]);
    let proxy = serve(Proxy::new([dead]).router()).await;
    assert_eq!(ask(proxy).await.0, StatusCode::BAD_GATEWAY);
}

/// Neither side waits for the end of the other, and a client that leaves is noticed.
#[tokio::test]
async fn bodies_are_streamed_in_both_directions() {
    let echo = |body: Body| async { Body::from_stream(body.into_data_stream()) };
    let proxy = serve(Proxy::new([serve(Router::new().route("/", post(echo))).await]).router()).await;
    let (send, sent) = mpsc::channel::<&str>(1);
    let body =
        stream::unfold(sent, |mut sent| async { Some((Ok::<_, Infallible>(sent.recv().await?), sent)) });
    let request = Request::post("/").header("host", "localhost").body(Body::from_stream(body)).unwrap();
    send.send("one").await.unwrap();
    let response = connect(proxy).await.unwrap().send_request(request).await.unwrap();
    let mut answer = Body::new(response.into_body()).into_data_stream();
    assert_eq!(answer.next().await.unwrap().unwrap(), "one");
    send.send("two").await.unwrap();
    assert_eq!(answer.next().await.unwrap().unwrap(), "two");
    drop(answer);
    send.closed().await;
}
