//! The delay of text on many WebSockets of agents.

use std::error::Error;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use axum::serve::ListenerExt as _;
use futures_util::{SinkExt, StreamExt, stream};
use omniassist_axum::agents::Explore;
use omniassist_axum::core::{FinishReason, LlmEvent, LlmPayload};
use omniassist_axum::{Assistant, Limits, LlmProvider, LlmStream};
use serde::Deserialize;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

const SOCKETS: usize = 200;
const TOKENS: u32 = 250;
const BETWEEN: Duration = Duration::from_millis(20);

/// The clock of the tokens, which begins with its first use.
fn since_start() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// A model that writes the time, 50 times a second.
#[derive(Debug)]
struct Clock;

impl LlmProvider for Clock {
    fn name(&self) -> &str {
        "clock"
    }

    fn stream(&self, _payload: LlmPayload) -> LlmStream {
        let start = Instant::now() + Duration::from_millis(delay_ms());
        let tokens = stream::iter(0..TOKENS).then(move |number| async move {
            tokio::time::sleep_until((start + BETWEEN * number).into()).await;
            let delta = format!("{} ", since_start().as_nanos());
            Ok(LlmEvent::TextDelta { block: 0, delta: delta.into() })
        });
        let end = [
            Ok(LlmEvent::TextEnd { block: 0, metadata: None }),
            Ok(LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false }),
        ];
        Box::pin(tokens.chain(stream::iter(end)))
    }
}

/// Spreads the beginnings of the answers, as those of users are.
fn delay_ms() -> u64 {
    u64::from(since_start().subsec_nanos()) % 1000
}

/// A frame of the server.
#[derive(Deserialize)]
struct Frame {
    r#type: String,
    #[serde(default)]
    delta: String,
}

/// Prints the time from a token of the model to its arrival at a client, with the provider, the server and the clients in one
/// process.
pub(crate) fn print() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(measure())
}

async fn measure() -> Result<(), Box<dyn Error>> {
    let mut limits = Limits::default();
    limits.max_runs_per_principal = SOCKETS;
    let assistant = Assistant::builder(Clock)
        .explore(Explore::new().asks(false).sub_questions(0))
        .limits(limits)
        .allow_anonymous()
        .build()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let listener = listener.tap_io(|tcp| {
        // A connection without the option is slow, and not wrong.
        let _ = tcp.set_nodelay(true);
    });
    let app = omniassist_axum::router(assistant);
    tokio::spawn(async move { axum::serve(listener, app).await });
    let mut clients = JoinSet::new();
    for _ in 0..SOCKETS {
        clients.spawn(async move { answer(address).await.map_err(|error| error.to_string()) });
    }
    let mut delays = Vec::with_capacity(SOCKETS * TOKENS as usize);
    while let Some(client) = clients.join_next().await {
        delays.extend(client??);
    }
    if delays.len() != SOCKETS * TOKENS as usize {
        return Err(format!("{} of {} tokens arrived", delays.len(), SOCKETS * TOKENS as usize).into());
    }
    delays.sort_unstable();
    let at = |part: usize| {
        let index = (delays.len() * part / 1000).min(delays.len().saturating_sub(1));
        delays.get(index).map_or(f64::NAN, |delay| delay.as_secs_f64() * 1e3)
    };
    let (median, most, longest) = (at(500), at(990), at(1000));
    writeln!(
        io::stdout(),
        "{SOCKETS} sockets, 50 tokens a second each: p50 {median:.2} ms, p99 {most:.2} ms, longest {longest:.2} ms"
    )?;
    Ok(())
}

/// Starts an agent, and returns the delays of its tokens.
async fn answer(address: std::net::SocketAddr) -> Result<Vec<Duration>, Box<dyn Error + Send + Sync>> {
    let socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    let (mut socket, _) = client_async(format!("ws://{address}/ws"), socket).await?;
    socket.send(Message::text(r#"{"type":"start-agent","prompt":"What time is it?"}"#)).await?;
    let mut delays = Vec::new();
    while let Some(message) = socket.next().await {
        let Message::Text(text) = message? else { continue };
        let now = since_start();
        let frame: Frame = serde_json::from_str(&text)?;
        match &*frame.r#type {
            "text-delta" => {
                for token in frame.delta.split_whitespace() {
                    delays.push(now.saturating_sub(Duration::from_nanos(token.parse()?)));
                }
            }
            "agent-completed" => break,
            "error" => return Err(text.to_string().into()),
            _ => {}
        }
    }
    Ok(delays)
}
