//! The provider: answers every request with a stream of one kind, on bare sockets.

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

/// The pause between two blocks of an endless answer. Without it, the system would grow its buffers to megabytes for every reader
/// that does not read, and be short of memory for the sockets of all others.
const BREATH: Duration = Duration::from_millis(20);

/// The pace of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// Deltas of a stream.
    pub(super) deltas: usize,
    /// Time between two; none at full speed.
    pub(super) every: Option<Duration>,
    /// At full speed: each delta is a write of its own, in place of one write for the answer.
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
                // The other side reports a connection that breaks.
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
                // Spread, so that streams which begin together do not tick together.
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

/// A whole answer.
fn at_once(api: Api, deltas: usize) -> String {
    let mut whole = String::from(HEAD) + &api.opening();
    let time = now();
    (0..deltas).for_each(|number| whole.push_str(&api.delta(time, number)));
    whole + &api.closing()
}

/// Reads one request, head and body; none when there is no more.
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

/// Bytes of the request at the head of a buffer, once its head is there.
fn request_length(buffer: &[u8]) -> Option<usize> {
    let end = memchr::memmem::find(buffer, b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(buffer.get(..end)?).to_ascii_lowercase();
    let body = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    Some(end + body.unwrap_or(0_usize))
}
