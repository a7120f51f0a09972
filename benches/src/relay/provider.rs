//! The provider of a measurement. It answers each request with the wanted stream, on plain sockets.

use std::error::Error;
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep};

use super::process;
use super::wire::{self, Api, now};
use super::wish::Wish;

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// The largest distance between the first deltas of streams.
const SPREAD: Duration = Duration::from_secs(1);

/// The pause between two blocks of an endless answer. Without it, the system's buffers would grow to megabytes for
/// every client that does not read, and memory for the other sockets would be short.
const BREATH: Duration = Duration::from_millis(20);

/// The pace of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// The number of deltas of a stream.
    pub(super) deltas: usize,
    /// The time between two deltas; `None` at full speed.
    pub(super) every: Option<Duration>,
    /// `true` to write each delta separately at full speed, instead of the whole answer in one write.
    pub(super) token_writes: bool,
}

/// Serves until the standard input is closed.
pub(super) fn serve(api: Api, pace: Pace) -> Result<(), Box<dyn Error>> {
    process::end_with_input();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        process::announce(listener.local_addr()?)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(async move {
                // The server or its client reports a broken connection.
                let _ = answer_all(stream, api, pace).await;
            });
        }
    })
}

async fn answer_all(mut stream: TcpStream, api: Api, pace: Pace) -> std::io::Result<()> {
    let usual = (pace.every.is_none() && !pace.token_writes).then(|| at_once(api, pace.deltas));
    let mut received = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut received).await? {
        match (Wish::of_request(&request), &usual, pace.every) {
            (Wish::Usual, Some(usual), _) => stream.write_all(usual.as_bytes()).await?,
            (Wish::Usual, None, None) => {
                stream.write_all((String::from(HEAD) + &api.opening()).as_bytes()).await?;
                for number in 0..pace.deltas {
                    stream.write_all(api.delta(now(), number).as_bytes()).await?;
                }
                stream.write_all(api.closing().as_bytes()).await?;
            }
            (Wish::Usual, None, Some(every)) => {
                stream.write_all((String::from(HEAD) + &api.opening()).as_bytes()).await?;
                // The first deltas of simultaneous streams are spread over time.
                let first = every.min(SPREAD).mul_f64(f64::from(stream.peer_addr()?.port() % 97) / 97.0);
                let mut ticks = interval_at(Instant::now() + first, every);
                ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
                for number in 0..pace.deltas {
                    ticks.tick().await;
                    stream.write_all(api.delta(now(), number).as_bytes()).await?;
                }
                stream.write_all(api.closing().as_bytes()).await?;
            }
            (Wish::Deltas(deltas), ..) => stream.write_all(at_once(api, deltas).as_bytes()).await?,
            (Wish::Arguments(bytes), ..) => {
                stream.write_all((String::from(HEAD) + &wire::call(bytes)).as_bytes()).await?;
            }
            (Wish::Endless, ..) => {
                stream.write_all((String::from(HEAD) + &api.opening()).as_bytes()).await?;
                let block: String = (0..16).map(|number| api.delta(now(), number)).collect();
                loop {
                    stream.write_all(block.as_bytes()).await?;
                    sleep(BREATH).await;
                }
            }
        }
    }
    Ok(())
}

/// Returns a whole answer.
fn at_once(api: Api, deltas: usize) -> String {
    let mut whole = String::from(HEAD) + &api.opening();
    let time = now();
    (0..deltas).for_each(|number| whole.push_str(&api.delta(time, number)));
    whole + &api.closing()
}

/// Reads the head and the body of one request. Returns `None` at the end of the connection.
pub(super) async fn read_request(
    stream: &mut TcpStream,
    received: &mut Vec<u8>,
) -> std::io::Result<Option<Vec<u8>>> {
    loop {
        if let Some(length) = request_length(received)
            && received.len() >= length
        {
            return Ok(Some(received.drain(..length).collect()));
        }
        if stream.read_buf(received).await? == 0 {
            return Ok(None);
        }
    }
}

/// Returns the length of the first request in a buffer, or `None` if its head is incomplete.
fn request_length(buffer: &[u8]) -> Option<usize> {
    let end = memchr::memmem::find(buffer, b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(buffer.get(..end)?).to_ascii_lowercase();
    let body = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    Some(end + body.unwrap_or(0_usize))
}
