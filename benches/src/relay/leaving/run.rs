//! One run whose client leaves.

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use omniassist_server::{Assistant, CancellationToken, OpenAiProvider, Tool, ToolError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{sleep, timeout};

use super::phase::Phase;
use super::provider::{self, Seen};
use crate::relay::client::Connection;

/// The longest time that a run may continue without its client.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The time in which the server reads an answer that the provider has sent.
const TAKEN: Duration = Duration::from_millis(20);

/// The times at which each part was released, counted from the client's close.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left {
    /// The end of the provider's connection; `None` if none was open.
    pub(super) closed: Option<Duration>,
    /// The cancellation of the tool's token; `None` if no tool ran.
    pub(super) fired: Option<Duration>,
    /// The call of `on_run_end`.
    pub(super) ended: Duration,
}

/// A provider, and the reports about the runs of one assistant.
pub(super) struct Stage {
    provider: SocketAddr,
    pub(super) seen: UnboundedReceiver<Seen>,
    tell: UnboundedSender<Told>,
    told: UnboundedReceiver<Told>,
}

#[derive(Debug, Clone, Copy)]
enum Told {
    ToolBegan,
    TokenFired(Instant),
    RunEnded(Instant),
}

impl Stage {
    pub(super) async fn new() -> std::io::Result<Self> {
        let (see, seen) = unbounded_channel();
        let (tell, told) = unbounded_channel();
        Ok(Self { provider: provider::start(see).await?, seen, tell, told })
    }

    /// Returns an assistant that uses this provider and reports its runs.
    pub(super) fn assistant(&self) -> omniassist_server::Result<Assistant> {
        let model = OpenAiProvider::builder()
            .base_url(format!("http://{}/v1", self.provider))
            .api_key("k")
            .model("m");
        let tell = self.tell.clone();
        let wait = move |token: CancellationToken| {
            let tell = tell.clone();
            async move {
                let _ = tell.send(Told::ToolBegan);
                token.cancelled().await;
                let _ = tell.send(Told::TokenFired(Instant::now()));
                Ok::<_, ToolError>("unused")
            }
        };
        let tell = self.tell.clone();
        Assistant::builder(model.build()?)
            .tool(Tool::new("wait", "Waits until it is cancelled", wait))
            .tool(Tool::new("look", "Looks", async || Ok::<_, ToolError>("seen")))
            .on_run_end(move |_| {
                let _ = tell.send(Told::RunEnded(Instant::now()));
            })
            .allow_anonymous()
            .build()
    }

    /// Posts as a client and disconnects in this phase.
    pub(super) async fn leave(&mut self, server: SocketAddr, phase: Phase) -> Result<Left, Box<dyn Error>> {
        let mut client = Connection::open(server).await?;
        timeout(PATIENCE, client.until(phase.name(), phase.last_read()))
            .await
            .map_err(|_| "no answer began")??;
        loop {
            match self.seen().await? {
                Seen::Asked { again: false } => break,
                // The previous run's second request.
                _ if phase == Phase::Steps => {}
                other => return Err(format!("the provider saw {other:?}").into()),
            }
        }
        match phase {
            Phase::Tool if !matches!(self.told().await?, Told::ToolBegan) => {
                return Err("the run ended before its tool began".into());
            }
            Phase::Retry => sleep(TAKEN).await,
            _ => {}
        }
        let leaving = Instant::now();
        drop(client);
        let mut left = Left { closed: None, fired: None, ended: Duration::ZERO };
        loop {
            match self.told().await? {
                Told::ToolBegan => return Err("a tool began".into()),
                Told::TokenFired(at) => left.fired = Some(at.saturating_duration_since(leaving)),
                Told::RunEnded(at) => {
                    left.ended = at.saturating_duration_since(leaving);
                    break;
                }
            }
        }
        // The run may end before its tool.
        if phase == Phase::Tool && left.fired.is_none() {
            match self.told().await? {
                Told::TokenFired(at) => left.fired = Some(at.saturating_duration_since(leaving)),
                other => return Err(format!("{other:?}").into()),
            }
        }
        let mut is_open = matches!(phase, Phase::FirstByte | Phase::Text);
        if phase == Phase::Steps {
            // The next request may be under way.
            sleep(TAKEN).await;
            is_open = matches!(self.seen.try_recv(), Ok(Seen::Asked { again: true }));
        }
        if is_open {
            match self.seen().await? {
                Seen::Gone { at } => left.closed = Some(at.saturating_duration_since(leaving)),
                Seen::Asked { .. } => return Err("the provider was asked again".into()),
            }
        }
        Ok(left)
    }

    async fn seen(&mut self) -> Result<Seen, &'static str> {
        let seen = timeout(PATIENCE, self.seen.recv()).await;
        seen.ok().flatten().ok_or("the provider's connection was not closed within 10 s")
    }

    async fn told(&mut self) -> Result<Told, &'static str> {
        let told = timeout(PATIENCE, self.told.recv()).await;
        told.ok().flatten().ok_or("the run was not over within 10 s")
    }
}
