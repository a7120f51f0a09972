//! The load on a server, and its cost.

use std::error::Error;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::client::{Answer, Connection, Keep};
use super::process::Process;
use super::server::Target;
use super::wire::Api;
use super::wish::Wish;

/// Streams that are opened at the same time.
const AT_ONCE: usize = 500;

/// The processes of one measurement: a server and its provider.
pub(super) struct Bench {
    pub(super) server: Process,
    provider: Process,
}

/// The cost of streams.
#[derive(Debug, Clone, Default)]
pub(super) struct Cost {
    /// Microseconds of processor time of the server for each delta.
    pub(super) cpu: f64,
    /// Microseconds of processor time of the server for each request.
    pub(super) cpu_per_request: f64,
    /// The median of the microseconds from the provider's write to the client's read.
    pub(super) p50: f64,
    /// The 99th percentile of the same time.
    pub(super) p99: f64,
    /// The median of the microseconds from a post to its first delta.
    pub(super) first: f64,
}

/// The streams of a provider.
#[derive(Debug, Clone, Copy)]
pub(super) struct Streams {
    /// The number of deltas of a stream.
    pub(super) deltas: usize,
    /// Microseconds between two deltas; 0 for full speed.
    pub(super) every_us: u64,
    /// `true` to write each delta separately at full speed too.
    pub(super) token_writes: bool,
}

impl Bench {
    pub(super) fn start(target: Target, api: Api, streams: Streams) -> Result<Self, Box<dyn Error>> {
        Self::start_as(target, api, streams, &[], Process::start)
    }

    /// Starts like [`start`](Self::start), with an assistant that has a tool.
    pub(super) fn start_with_tool(
        target: Target,
        api: Api,
        streams: Streams,
    ) -> Result<Self, Box<dyn Error>> {
        Self::start_as(target, api, streams, &["tool"], Process::start)
    }

    /// Starts like [`start`](Self::start), with the server on the first core alone.
    pub(super) fn start_pinned(target: Target, api: Api, streams: Streams) -> Result<Self, Box<dyn Error>> {
        Self::start_as(target, api, streams, &[], Process::start_pinned)
    }

    /// Starts like [`start`](Self::start), with the server under callgrind.
    pub(super) fn start_counted(
        target: Target,
        api: Api,
        streams: Streams,
        report: &str,
    ) -> Result<Self, Box<dyn Error>> {
        Self::start_as(target, api, streams, &[], |arguments| Process::start_counted(arguments, report))
    }

    /// Starts the provider, and with `start` the server. `more` are the last arguments of `serve`.
    pub(super) fn start_as(
        target: Target,
        api: Api,
        streams: Streams,
        more: &[&str],
        start: impl Fn(&[&str]) -> Result<Process, Box<dyn Error>>,
    ) -> Result<Self, Box<dyn Error>> {
        let provider = Self::provider(api, streams)?;
        let address = provider.address.to_string();
        let server = start(&[&["serve", target.name(), api.name(), &address], more].concat())?;
        Ok(Self { server, provider })
    }

    fn provider(api: Api, streams: Streams) -> Result<Process, Box<dyn Error>> {
        let (deltas, every) = (streams.deltas.to_string(), streams.every_us.to_string());
        let writes: &[&str] = if streams.token_writes { &["token"] } else { &[] };
        Process::start(&[&["provide", api.name(), &deltas, &every], writes].concat())
    }

    /// Starts another server with the same provider.
    #[cfg(feature = "postgres")]
    pub(super) fn beside(&self, more: &[&str]) -> Result<Process, Box<dyn Error>> {
        let address = self.provider.address.to_string();
        Process::start(&[&["serve", "axum", Api::Responses.name(), &address], more].concat())
    }

    /// Ends the server and the provider.
    pub(super) fn end(self) -> Result<(), Box<dyn Error>> {
        self.server.end()?;
        drop(self.provider);
        Ok(())
    }

    /// Sends `requests` requests from each of `connections` clients.
    pub(super) async fn ask(
        &self,
        connections: usize,
        requests: usize,
        wish: Wish,
        keep: Keep,
    ) -> Result<Vec<Answer>, Box<dyn Error>> {
        let address = self.server.address;
        let clients: Vec<_> = (0..connections)
            .map(|_| {
                tokio::spawn(async move {
                    let mut answers = Vec::new();
                    let mut connection =
                        Connection::open(address).await.map_err(|error| error.to_string())?;
                    for _ in 0..requests {
                        answers.push(connection.ask(wish, keep).await.map_err(|error| error.to_string())?);
                    }
                    Ok::<_, String>(answers)
                })
            })
            .collect();
        let mut answers = Vec::new();
        for client in clients {
            answers.extend(client.await??);
        }
        Ok(answers)
    }

    /// Measures the streams of `connections` clients that send `requests` requests each.
    pub(super) async fn cost(
        &self,
        connections: usize,
        requests: usize,
        deltas: usize,
    ) -> Result<Cost, Box<dyn Error>> {
        // A warm-up opens connections to the provider, and fills pools and buffers.
        self.ask(connections.min(16), 1, Wish::Usual, Keep::default()).await?;
        let before = self.server.cpu()?;
        let answers =
            self.ask(connections, requests, Wish::Usual, Keep { latencies: true, body: false }).await?;
        let nanos = self.server.cpu()? - before;
        if let Some(answer) = answers.iter().find(|answer| answer.deltas != deltas) {
            return Err(format!("{} of {deltas} deltas arrived", answer.deltas).into());
        }
        let total: usize = answers.iter().map(|answer| answer.deltas).sum();
        let latencies: Vec<u64> =
            answers.iter().flat_map(|answer| answer.latencies.iter().copied()).collect();
        let firsts: Vec<u64> = answers.iter().filter_map(|answer| answer.first).collect();
        Ok(Cost {
            cpu: micros(nanos) / as_f64(total),
            cpu_per_request: micros(nanos) / as_f64(answers.len()),
            p50: at(&latencies, 50),
            p99: at(&latencies, 99),
            first: at(&firsts, 50),
        })
    }

    /// Returns the server's memory in bytes, without streams and with each of these numbers of open, nearly silent
    /// streams.
    pub(super) async fn memory(&self, streams: &[usize]) -> Result<Vec<(usize, u64)>, Box<dyn Error>> {
        self.ask_and_leave(64).await?;
        self.settle().await?;
        let mut open: Vec<Connection> = Vec::new();
        let mut points = vec![(0, self.server.rss()?)];
        for &goal in streams {
            while open.len() < goal {
                open.append(&mut self.begin((goal - open.len()).min(AT_ONCE)).await?);
            }
            sleep(Duration::from_secs(2)).await;
            points.push((goal, self.server.rss()?));
        }
        Ok(points)
    }

    /// Opens `streams` streams, reads the first delta of each, and disconnects.
    pub(super) async fn ask_and_leave(&self, streams: usize) -> Result<(), Box<dyn Error>> {
        self.begin(streams).await.map(drop)
    }

    /// Opens `streams` streams and reads the first delta of each.
    async fn begin(&self, streams: usize) -> Result<Vec<Connection>, Box<dyn Error>> {
        let address = self.server.address;
        let mut begun = JoinSet::new();
        for _ in 0..streams {
            begun.spawn(async move {
                let begin = async {
                    let mut connection = Connection::open(address).await?;
                    connection.begin(Wish::Usual).await?;
                    Ok(connection)
                };
                begin.await.map_err(|error: Box<dyn Error>| error.to_string())
            });
        }
        Ok(begun.join_all().await.into_iter().collect::<Result<_, _>>()?)
    }

    /// Waits until the server is idle.
    ///
    /// # Errors
    ///
    /// Fails if the server is busy for two minutes.
    pub(super) async fn settle(&self) -> Result<(), Box<dyn Error>> {
        for _ in 0..240 {
            let before = self.server.cpu()?;
            sleep(Duration::from_millis(500)).await;
            // An idle server uses at most a hundredth of the time.
            if self.server.cpu()? - before < 5_000_000 {
                return Ok(());
            }
        }
        Err("the server was busy for two minutes".into())
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub(super) fn as_f64(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub(super) fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1000.0
}

#[expect(clippy::cast_precision_loss, reason = "bytes of memory stay far below 2^52")]
pub(super) fn kilobytes(bytes: u64) -> f64 {
    bytes as f64 / 1024.0
}

/// Returns a percentile of the values.
pub(super) fn at(values: &[u64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    #[expect(clippy::cast_precision_loss, reason = "microseconds of one measurement")]
    sorted.get(index).map_or(f64::NAN, |value| *value as f64)
}
