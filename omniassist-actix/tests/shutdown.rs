//! Tests of the documented graceful shutdown, with streams that do not end by themselves.

use std::net::SocketAddr;
use std::time::Duration;

use actix_web::{App, HttpServer};
use omniassist_actix::testing::{ScriptedProvider, Turn, text};
use omniassist_actix::{Assistant, CancellationToken, scope};
use reqwest::StatusCode;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::client::{PATIENCE, Raw, ask, asking, chunks};

struct Served {
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
}

/// Serves with the documented pattern and another deadline.
fn serve(assistant: Assistant, deadline: Duration) -> Served {
    let stop = CancellationToken::new();
    let (stopped, mounted, draining) = (stop.clone(), assistant.clone(), assistant.clone());
    let server = HttpServer::new(move || App::new().service(scope("/assistant", mounted.clone())))
        .workers(2)
        .h1_allow_half_closed(false)
        .shutdown_signal(async move {
            stopped.cancelled().await;
            draining.drain(deadline).await;
        })
        .shutdown_timeout(3)
        .bind(("127.0.0.1", 0))
        .unwrap();
    let address = server.addrs()[0];
    let server = server.run();
    let serving = actix_web::rt::spawn(async move {
        server.await?;
        assistant.shutdown().await;
        Ok(())
    });
    Served { address, stop, serving }
}

async fn ended(serving: JoinHandle<std::io::Result<()>>) {
    timeout(Duration::from_secs(60), serving).await.expect("the server ends").unwrap().unwrap();
}

#[actix_web::test]
async fn endless_streams_get_an_error_and_the_server_ends() {
    let model = ScriptedProvider::new().otherwise(|_| text("So far").then(Turn::pending()));
    let assistant = Assistant::builder(model.clone()).allow_anonymous().build().unwrap();
    let Served { address, stop, serving } = serve(assistant, Duration::from_millis(200));
    let mut responses = Vec::new();
    for number in 0..20 {
        let body = asking("hi").replace("\"c\"", &format!("\"c{number}\""));
        let mut client = Raw::post(address, "/assistant", &body).await;
        client.until("So far").await;
        responses.push(client);
    }
    stop.cancel();
    for response in responses {
        let rest = response.end().await;
        assert!(rest.contains("server_shutdown"), "{rest}");
        assert!(rest.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"), "{rest}");
    }
    ended(serving).await;
    assert_eq!(model.drops(), 20);
    assert!(TcpStream::connect(address).await.is_err(), "the port is closed");
}

#[actix_web::test]
async fn an_answer_that_ends_in_time_is_complete_and_the_server_then_ends() {
    let slow =
        text("So far").then(Turn::delay(Duration::from_millis(150))).then(Turn::text(", and the rest"));
    let assistant = Assistant::builder(ScriptedProvider::new().turn(slow)).allow_anonymous().build().unwrap();
    let Served { address, stop, serving } = serve(assistant, Duration::from_secs(3600));
    let response = ask(&format!("http://{address}/assistant")).await;
    stop.cancel();
    let chunks = chunks(response).await;
    assert_eq!(chunks.last().unwrap()["type"], "finish");
    ended(serving).await;
}

/// The rest of the application still runs. Connections of the assistant end with their answers.
#[actix_web::test]
async fn a_draining_assistant_closes_its_connections() {
    let model = ScriptedProvider::new().turn(text("So far").then(Turn::pending()));
    let assistant = Assistant::builder(model).allow_anonymous().build().unwrap();
    let Served { address, stop, serving } = serve(assistant.clone(), Duration::ZERO);
    let mut busy = Raw::post(address, "/assistant", &asking("hi")).await;
    busy.until("So far").await;
    let draining = actix_web::rt::spawn(async move { assistant.drain(Duration::from_secs(3600)).await });
    let url = format!("http://{address}/assistant");
    let told = async {
        loop {
            let response = reqwest::get(format!("{url}/manifest.json")).await.unwrap();
            if response.headers().contains_key("connection") {
                return response;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    let told = timeout(PATIENCE, told).await.expect("connections are closed");
    assert_eq!((told.status(), &told.headers()["connection"]), (StatusCode::OK, &"close".parse().unwrap()));
    let seen = Raw::post(address, "/assistant", &asking("hi")).await.end().await;
    assert!(seen.starts_with("HTTP/1.1 503 "), "{seen}");
    drop(busy);
    draining.await.unwrap();
    stop.cancel();
    ended(serving).await;
}
