//! What is done to a server, and what it costs.

use std::error::Error;
use std::time::Duration;

use super::client::{Answer, Connection};
use super::process::Process;
use super::server::Target;
use super::wire::Api;

/// One measurement of one server, started anew with its provider.
pub(super) struct Bench {
    pub(super) server: Process,
    provider: Process,
}

/// What streams cost.
#[derive(Debug, Clone, Default)]
pub(super) struct Cost {
    /// Microseconds of processor time of the server for each delta.
    pub(super) cpu: f64,
    /// The same for each request.
    pub(super) cpu_per_request: f64,
    /// Microseconds from the provider's write to the client's read: the median, and the 99th of a hundred.
    pub(super) p50: f64,
    pub(super) p99: f64,
    /// Microseconds from a post to its first delta, the median.
    pub(super) first: f64,
}

/// How a provider paces its streams: deltas of each, and microseconds between two (0: at full speed).
#[derive(Debug, Clone, Copy)]
pub(super) struct Streams {
    pub(super) deltas: usize,
    pub(super) every_us: u64,
}

impl Bench {
    pub(super) fn start(target: Target, api: Api, streams: Streams) -> Result<Self, Box<dyn Error>> {
        let provider = Self::provider(api, streams)?;
        let address = provider.address.to_string();
        let server = Process::start(&["serve", target.name(), api.name(), &address])?;
        Ok(Self { server, provider })
    }

    /// As [`start`](Self::start), with the server's instructions counted.
    pub(super) fn start_counted(
        target: Target,
        api: Api,
        streams: Streams,
        report: &str,
    ) -> Result<Self, Box<dyn Error>> {
        let provider = Self::provider(api, streams)?;
        let address = provider.address.to_string();
        let server = Process::start_counted(&["serve", target.name(), api.name(), &address], report)?;
        Ok(Self { server, provider })
    }

    fn provider(api: Api, streams: Streams) -> Result<Process, Box<dyn Error>> {
        let (deltas, every) = (streams.deltas.to_string(), streams.every_us.to_string());
        Process::start(&["provide", api.name(), &deltas, &every])
    }

    /// Ends both.
    pub(super) fn end(self) -> Result<(), Box<dyn Error>> {
        self.server.end()?;
        drop(self.provider);
        Ok(())
    }

    /// Has `connections` clients ask `requests` times each.
    pub(super) async fn ask(
        &self,
        connections: usize,
        requests: usize,
        note_latencies: bool,
    ) -> Result<Vec<Answer>, Box<dyn Error>> {
        let address = self.server.address;
        let clients: Vec<_> = (0..connections)
            .map(|_| {
                tokio::spawn(async move {
                    let mut answers = Vec::new();
                    let mut connection =
                        Connection::open(address).await.map_err(|error| error.to_string())?;
                    for _ in 0..requests {
                        answers
                            .push(connection.ask(note_latencies).await.map_err(|error| error.to_string())?);
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

    /// What the streams of `connections` clients cost, each asking `requests` times.
    pub(super) async fn cost(
        &self,
        connections: usize,
        requests: usize,
        deltas: usize,
    ) -> Result<Cost, Box<dyn Error>> {
        // Connections to the provider, pools and buffers are there before anything counts.
        self.ask(connections.min(16), 1, false).await?;
        let before = self.server.cpu()?;
        let answers = self.ask(connections, requests, true).await?;
        let nanos = self.server.cpu()? - before;
        if let Some(answer) = answers.iter().find(|answer| answer.deltas != deltas) {
            return Err(format!("{} deltas came of {deltas}", answer.deltas).into());
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

    /// Bytes of memory for each of `streams` that are open and nearly silent.
    pub(super) async fn memory(&self, streams: &[usize]) -> Result<Vec<(usize, u64)>, Box<dyn Error>> {
        self.ask_and_leave(64).await?;
        let mut open: Vec<Connection> = Vec::new();
        let mut points = vec![(0, self.server.rss()?)];
        for &goal in streams {
            while open.len() < goal {
                let mut connection = Connection::open(self.server.address).await?;
                connection.begin().await?;
                open.push(connection);
            }
            tokio::time::sleep(Duration::from_secs(2)).await;
            points.push((goal, self.server.rss()?));
        }
        Ok(points)
    }

    async fn ask_and_leave(&self, streams: usize) -> Result<(), Box<dyn Error>> {
        for _ in 0..streams {
            Connection::open(self.server.address).await?.begin().await?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub(super) fn as_f64(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1000.0
}

/// The value that this many of a hundred are not above.
fn at(values: &[u64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    #[expect(clippy::cast_precision_loss, reason = "microseconds of one measurement")]
    sorted.get(index).map_or(f64::NAN, |value| *value as f64)
}
