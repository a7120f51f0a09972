//! Tests of the documented graceful shutdown, with streams that do not end by themselves.

use std::net::SocketAddr;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use omniassist_hyper::testing::{ScriptedProvider, Turn, text};
use omniassist_hyper::{Assistant, CancellationToken};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::client::{asking, chunks, post, until, versions};

/// Serves with the documented pattern and another deadline.
async fn serve(
    listener: TcpListener,
    assistant: Assistant,
    stopped: CancellationToken,
    deadline: Duration,
) -> std::io::Result<()> {
    let app = omniassist_hyper::service(assistant.clone());
    let graceful = GracefulShutdown::new();
    loop {
        let socket = tokio::select! {
            accepted = listener.accept() => accepted?.0,
            () = stopped.cancelled() => break,
        };
        let mut server = auto::Builder::new(TokioExecutor::new());
        server.http1().timer(TokioTimer::new());
        let connection = server.serve_connection(TokioIo::new(socket), app.clone()).into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            let _ = connection.await;
        });
    }
    drop(listener);
    let drained = async {
        assistant.drain(deadline).await;
        sleep(Duration::from_millis(200)).await;
    };
    tokio::select! {
        () = graceful.shutdown() => {}
        () = drained => {}
    }
    assistant.shutdown().await;
    Ok(())
}

async fn start(
    assistant: Assistant,
    deadline: Duration,
) -> (SocketAddr, CancellationToken, JoinHandle<std::io::Result<()>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stopped = CancellationToken::new();
    (address, stopped.clone(), tokio::spawn(serve(listener, assistant, stopped, deadline)))
}

async fn ended(serving: JoinHandle<std::io::Result<()>>) {
    timeout(Duration::from_secs(60), serving).await.expect("the server ends").unwrap().unwrap();
}

#[tokio::test]
async fn endless_streams_get_an_error_and_the_server_ends() {
    for client in versions() {
        let model = ScriptedProvider::new().otherwise(|_| text("So far").then(Turn::pending()));
        let assistant = Assistant::builder(model.clone()).allow_anonymous().build().unwrap();
        let (address, stop, serving) = start(assistant, Duration::from_millis(200)).await;
        let mut responses = Vec::new();
        for number in 0..20 {
            let body = asking("hi").replace("\"c\"", &format!("\"c{number}\""));
            let mut response = post(&client, &format!("http://{address}"), body).await;
            until(&mut response, "So far").await;
            responses.push(response);
        }
        stop.cancel();
        for response in responses {
            let rest = response.text().await.expect("the response is complete");
            assert!(rest.contains("server_shutdown") && rest.ends_with("data: [DONE]\n\n"), "{rest}");
        }
        ended(serving).await;
        assert_eq!(model.drops(), 20);
        assert!(TcpStream::connect(address).await.is_err(), "the port is closed");
    }
}

#[tokio::test]
async fn an_answer_that_ends_in_time_is_complete_and_the_server_then_ends() {
    for client in versions() {
        let slow = text("So far").then(Turn::delay(Duration::from_millis(150))).then(text(", and the rest"));
        let assistant =
            Assistant::builder(ScriptedProvider::new().turn(slow)).allow_anonymous().build().unwrap();
        let (address, stop, serving) = start(assistant, Duration::from_secs(3600)).await;
        let response = post(&client, &format!("http://{address}"), asking("hi")).await;
        stop.cancel();
        assert_eq!(chunks(response).await.last().unwrap()["type"], "finish");
        drop(client);
        ended(serving).await;
    }
}
