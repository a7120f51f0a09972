//! A server on loopback that plays a cassette to a provider.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep_until};

use super::compare;
use super::error::CassetteError;
use super::file::{End, Interaction, joined};
use super::recording::Cassette;
use super::scrub::{Scrubber, scrubbed};
use crate::testing::FakeRequest;
use crate::testing::socket::{Answer, Client, Next, Server};

/// Largest piece of a body that is cut at random.
const MAX_PIECE: u64 = 48;

/// The settings for playing a [`Cassette`], created by [`Cassette::replay`] and [`Cassette::player`].
#[derive(Debug, Clone)]
#[must_use = "nothing is played before `start`"]
pub struct Replay {
    cassette: Cassette,
    timing: bool,
    cutting: Cutting,
    allow_unused: bool,
    ignored: Vec<String>,
}

/// The places where the body of an answer is cut.
#[derive(Debug, Clone, Copy)]
enum Cutting {
    AsRecorded,
    Random(u64),
    Bytes,
}

impl Cassette {
    /// Loads a cassette to play it. A relative path is relative to the working directory, which under `cargo
    /// test` is the package's folder.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`load`](Self::load).
    pub fn replay(path: impl AsRef<Path>) -> Result<Replay, CassetteError> {
        Ok(Self::load(path)?.player())
    }

    /// Returns the settings for playing the cassette.
    pub fn player(self) -> Replay {
        Replay::new(self)
    }
}

impl Replay {
    pub(super) fn new(cassette: Cassette) -> Self {
        Self {
            cassette,
            timing: false,
            cutting: Cutting::AsRecorded,
            allow_unused: false,
            ignored: Vec::new(),
        }
    }

    /// Waits as the provider did. Default: no waiting.
    pub fn with_timing(self) -> Self {
        Self { timing: true, ..self }
    }

    /// Cuts the bodies of answers into random pieces of 1 to 48 bytes. The same seed gives the same cuts. A
    /// provider must produce the same events for any cuts. Default: the recorded chunks.
    pub fn rechunked(self, seed: u64) -> Self {
        Self { cutting: Cutting::Random(seed), ..self }
    }

    /// Sends the bodies of answers byte by byte.
    pub fn byte_by_byte(self) -> Self {
        Self { cutting: Cutting::Bytes, ..self }
    }

    /// Allows unused interactions. Default: they fail the test.
    pub fn allow_unused(self) -> Self {
        Self { allow_unused: true, ..self }
    }

    /// Excludes a place of the requests' JSON bodies from the comparison. It is a JSON pointer (RFC 6901)
    /// such as `/instructions` or `/input/0/content`. Use it for values that change from run to run, such as
    /// a date in a prompt. Default: everything is compared.
    pub fn ignore(mut self, pointer: impl Into<String>) -> Self {
        self.ignored.push(pointer.into());
        self
    }

    /// Starts the server on a free port of 127.0.0.1. It must be called inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// Returns an error if no socket can be bound.
    pub async fn start(self) -> Result<Player, CassetteError> {
        let deck = Arc::new(Deck { replay: self, state: Mutex::default() });
        let server = Server::start(Arc::clone(&deck))
            .await
            .map_err(|error| CassetteError::io("no socket can be bound", error))?;
        Ok(Player { server, deck })
    }
}

/// A [`Cassette`] that is being played. Give its [`base_url`](Self::base_url) to the provider from which it
/// was recorded.
///
/// The n-th request is compared with the n-th recorded one and answered with its answer. A different request
/// is answered with 501 and recorded as a fault that lists the differences; it consumes no interaction.
///
/// Dropping the player ends its connections. It panics if there were faults or unused interactions, so that
/// the test fails. [`take_faults`](Self::take_faults) and [`Replay::allow_unused`] prevent that.
#[derive(Debug)]
pub struct Player {
    server: Server,
    deck: Arc<Deck>,
}

impl Player {
    /// Returns the base URL for the provider: a loopback address with the recorded path. A provider needs no
    /// key for it.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}{}", self.server.address, self.deck.replay.cassette.base_path)
    }

    /// Returns the number of unused interactions.
    #[must_use]
    pub fn unused(&self) -> usize {
        self.deck.replay.cassette.len() - self.deck.state().next
    }

    /// Returns the faults: requests that differ from the recorded ones, requests beyond the last interaction and,
    /// unless allowed, unused interactions. Dropping the player no longer panics because of faults that were taken.
    #[must_use]
    pub fn take_faults(&self) -> Vec<String> {
        let unused = self.unused();
        let mut state = self.deck.state();
        let mut faults = std::mem::take(&mut state.faults);
        if unused > 0 && !self.deck.replay.allow_unused && !state.unused_told {
            let all = self.deck.replay.cassette.len();
            faults.push(format!("{unused} of {all} interactions of the cassette were not asked for"));
            state.unused_told = true;
        }
        faults
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let faults = self.take_faults();
            assert!(faults.is_empty(), "{}", faults.join("\n"));
        }
    }
}

#[derive(Debug)]
struct Deck {
    replay: Replay,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: usize,
    faults: Vec<String>,
    unused_told: bool,
}

impl Deck {
    fn state(&self) -> MutexGuard<'_, State> {
        crate::sync::lock(&self.state)
    }

    /// Returns the interaction for this request, or a description of what is wrong with it.
    fn take(&self, request: &FakeRequest) -> Result<&Interaction, String> {
        let mut state = self.state();
        let number = state.next + 1;
        let Some(recorded) = self.replay.cassette.interactions.get(state.next) else {
            let all = self.replay.cassette.len();
            return Err(format!(
                "request {number}, {} {}: the cassette has {all} interactions",
                request.method, request.path
            ));
        };
        let asked = scrubbed(request, &Scrubber::new([request], []));
        let differences = compare::differences(&recorded.request, &asked, &self.replay.ignored);
        if !differences.is_empty() {
            return Err(format!("request {number} is not the recorded one:\n  {}", differences.join("\n  ")));
        }
        state.next += 1;
        Ok(recorded)
    }

    fn fault(&self, what: String) {
        let faults = &mut self.state().faults;
        // A repeated request is reported once.
        if !faults.contains(&what) {
            faults.push(what);
        }
    }

    /// Returns the pieces in which a body is sent, each at the time of its first byte.
    fn pieces(&self, chunks: &[(Duration, Bytes)]) -> Vec<(Duration, Bytes)> {
        let mut random = match self.replay.cutting {
            Cutting::AsRecorded => return chunks.to_vec(),
            Cutting::Random(seed) => Some(Random(seed)),
            Cutting::Bytes => None,
        };
        let mut body = joined(chunks).freeze();
        let mut ends = chunks.iter().scan(0, |end, (at, bytes)| {
            *end += bytes.len();
            Some((*at, *end))
        });
        let (mut at, mut end) = ends.next().unwrap_or_default();
        let (mut sent, mut pieces) = (0, Vec::new());
        while !body.is_empty() {
            while sent >= end
                && let Some(next) = ends.next()
            {
                (at, end) = next;
            }
            let length = random.as_mut().map_or(1, Random::length).min(body.len());
            pieces.push((at, body.split_to(length)));
            sent += length;
        }
        pieces
    }
}

impl Answer for Deck {
    async fn answer(&self, request: FakeRequest, to: &mut Client) -> io::Result<Next> {
        let began = Instant::now();
        let answer = match self.take(&request) {
            Ok(answer) => answer,
            Err(what) => {
                let told = to.error(501, &what);
                self.fault(what.clone());
                return told.await;
            }
        };
        let wait = async |at: Duration| {
            if self.replay.timing {
                sleep_until(began + at).await;
            }
        };
        wait(Duration::from_millis(answer.response.ms)).await;
        let headers = answer.response.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        to.head(answer.response.status, headers).await?;
        for (at, piece) in self.pieces(&answer.chunks) {
            wait(at).await;
            to.chunk(&piece).await?;
        }
        wait(Duration::from_millis(answer.end.ms)).await;
        match answer.end.how {
            End::Complete => {
                to.end().await?;
                Ok(Next::Keep)
            }
            End::Cut | End::Left => Ok(Next::Close),
        }
    }

    fn nonsense(&self, what: &'static str) {
        self.fault(what.to_owned());
    }
}

/// Pseudo-random numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn length(&mut self) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from(1 + (bits ^ bits >> 31) % MAX_PIECE).unwrap_or(1)
    }
}
