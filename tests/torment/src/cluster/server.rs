//! A server of the cluster, which is killed, stopped and cut off.

use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use omniassist_server::core::Limits;
use omniassist_server::http::AssistantService;
use omniassist_server::seal::SealKeys;
use omniassist_server::{Assistant, PeerAddr, Principal};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tracing_subscriber::EnvFilter;

use super::database::Url;
use crate::shape::{self, Tempo};

/// The header with the name of the user.
pub(crate) const USER: &str = "x-user";

/// The keys that the servers share.
const KEYS: &str = "torment:5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

/// The time between two signs of life of an answer.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// The time for the last bytes of answers after the drain.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Serves until SIGTERM, or until the harness has ended. Prints its port.
pub(crate) fn run(url: &str, ledger: &str, word_ms: &str, tool_ms: &str, redis: Option<&str>) {
    // A server must not outlive the harness.
    std::thread::spawn(|| {
        drop(std::io::stdin().read_to_end(&mut Vec::new()));
        std::process::exit(0);
    });
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(std::io::stderr).init();
    let ms = |text: &str| Duration::from_millis(text.parse().unwrap());
    let tempo = Tempo { word: ms(word_ms), tool: ms(tool_ms) };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(serve(url, redis, ledger, tempo));
}

async fn serve(url: &str, redis: Option<&str>, ledger: &str, tempo: Tempo) {
    let mut limits = Limits::default();
    limits.keep_alive = KEEP_ALIVE;
    let builder =
        Assistant::builder(shape::model(tempo)).limits(limits).seal_keys(SealKeys::parse(KEYS).unwrap());
    let builder = shape::equip(builder, ledger, None, tempo);
    let assistant = Url::parse(url).add_to(redis, builder).await.build().unwrap();
    let service = AssistantService::new(assistant.clone());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    std::io::stdout().flush().unwrap();
    let connections = serving::serve(listener, serving::stopped(), |peer| {
        let service = service.clone();
        service_fn(move |mut request: Request<Incoming>| {
            let service = service.clone();
            async move {
                let user =
                    request.headers().get(USER).and_then(|user| user.to_str().ok()).map(Principal::new);
                if let Some(user) = user {
                    request.extensions_mut().insert(user);
                }
                request.extensions_mut().insert(PeerAddr(peer));
                Ok::<_, std::convert::Infallible>(service.handle(request).await)
            }
        })
    })
    .await;
    assistant.shutdown().await;
    drop(timeout(LAST_WORDS, connections.shutdown()).await);
}
