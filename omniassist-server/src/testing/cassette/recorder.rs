//! A proxy on loopback that records requests and answers.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Uri};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::error::CassetteError;
use super::file::{End, EndLine, Interaction, ResponseLine, joined, ms};
use super::recording::Cassette;
use super::scrub::{Scrubber, scrubbed};
use crate::testing::FakeRequest;
use crate::testing::socket::{Answer, Client, Next, Server};

/// Time that [`Recorder::finish`] waits for unfinished answers.
const GRACE: Duration = Duration::from_secs(1);
/// Largest body of an answer; a larger one fails the recording.
const MAX_BODY: usize = 64 << 20;

/// Headers of a single connection (RFC 9110, section 7.6.1), headers that are written anew, and the one that
/// requests compression. Secrets could not be found in a compressed answer.
const HOP: [&str; 11] = [
    "accept-encoding",
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A recorder of [`Cassette`]s: a proxy on loopback that forwards requests to a provider and records the
/// answers byte for byte, with their timing.
///
/// Give its [`base_url`](Self::base_url) to the provider instead of the address of the API. Key, model and all other
/// settings stay the same: headers are forwarded and not stored. The [module's
/// documentation](crate::testing::cassette#secrets) lists what is removed; [`redact`](Self::redact) adds more.
///
/// It must be started, and lives, inside a tokio runtime. Dropping it ends its connections and writes
/// nothing. An answer that a client stops reading is dropped upstream too.
///
/// ```no_run
/// use futures_util::StreamExt;
/// use omniassist_server::core::{LlmPayload, TranscriptItem};
/// use omniassist_server::testing::Recorder;
/// use omniassist_server::{LlmProvider, OpenAiProvider};
///
/// # async fn record() -> Result<(), Box<dyn std::error::Error>> {
/// let recorder = Recorder::start("https://api.openai.com/v1").await?;
/// let provider = OpenAiProvider::builder()
///     .api_key(std::env::var("OPENAI_API_KEY")?)
///     .base_url(recorder.base_url())
///     .build()?;
/// let _: Vec<_> = provider.stream(LlmPayload::new([TranscriptItem::user("Hello")])).collect().await;
/// recorder.finish().await?.save("tests/cassettes/hello.jsonl")?;
/// # Ok(())
/// # }
/// ```
pub struct Recorder {
    server: Server,
    proxy: Arc<Proxy>,
    base_path: String,
}

impl Recorder {
    /// Starts to record the API at `upstream`, the base URL that the provider would otherwise use
    /// (`https://api.openai.com/v1`).
    ///
    /// # Errors
    ///
    /// Returns an error if `upstream` is not an absolute `http:` or `https:` URL without query and
    /// credentials, or if no socket or HTTP client can be set up.
    pub async fn start(upstream: &str) -> Result<Self, CassetteError> {
        let wrong = || CassetteError::other("the upstream's base URL is not an absolute http: or https: URL");
        let uri: Uri = upstream.trim().parse().map_err(|_| wrong())?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(wrong());
        };
        if uri.query().is_some() || authority.as_str().contains('@') {
            return Err(CassetteError::other("the upstream's base URL has a query or credentials"));
        }
        let mut client =
            reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).referer(false);
        if crate::transport::is_loopback(authority.host()) {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| {
            CassetteError::other("the HTTP client cannot be set up").with_source(error.without_url())
        })?;
        let proxy = Arc::new(Proxy {
            client,
            origin: format!("{scheme}://{authority}"),
            tape: Mutex::default(),
            under_way: watch::Sender::new(()),
        });
        let server = Server::start(Arc::clone(&proxy))
            .await
            .map_err(|error| CassetteError::io("no socket can be bound", error))?;
        Ok(Self { server, proxy, base_path: uri.path().trim_end_matches('/').to_owned() })
    }

    /// Returns the base URL for the provider.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}{}", self.server.address, self.base_path)
    }

    /// Adds a value that must not appear anywhere in the file. It may be called at any time before
    /// [`finish`](Self::finish).
    pub fn redact(&self, secret: impl Into<String>) -> &Self {
        self.proxy.tape().secrets.push(secret.into());
        self
    }

    /// Ends the recording. Unfinished answers get one second to end; after that they count as answers that
    /// the client did not read to their end.
    ///
    /// # Errors
    ///
    /// Returns an error if a request could not be recorded: the provider was unreachable, the client
    /// disconnected before the answer began, an answer was larger than 64 MiB, or a request was not HTTP/1.1.
    pub async fn finish(self) -> Result<Cassette, CassetteError> {
        let _ = timeout(GRACE, self.proxy.under_way.closed()).await;
        drop(self.server);
        let tape = std::mem::take(&mut *self.proxy.tape());
        if let Some(failure) = tape.failure {
            return Err(failure);
        }
        let scrubber = Scrubber::new(tape.takes.iter().map(|take| &take.request), tape.secrets);
        let interactions = tape.takes.into_iter().map(|take| take.into_interaction(&scrubber));
        Ok(Cassette { base_path: self.base_path, interactions: interactions.collect::<Result<_, _>>()? })
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let recorded = self.proxy.tape().takes.len();
        f.debug_struct("Recorder")
            .field("base_url", &self.base_url())
            .field("recorded", &recorded)
            .finish_non_exhaustive()
    }
}

struct Proxy {
    client: reqwest::Client,
    /// Scheme and authority of the provider.
    origin: String,
    tape: Mutex<Tape>,
    /// Has a receiver for each answer that has not ended.
    under_way: watch::Sender<()>,
}

/// The recording with its secrets. It never leaves the process in this form.
#[derive(Default)]
struct Tape {
    takes: Vec<Take>,
    secrets: Vec<String>,
    failure: Option<CassetteError>,
}

/// A request and the part of its answer that has arrived.
struct Take {
    request: FakeRequest,
    began: Instant,
    head: Option<(u16, HeaderMap, Duration)>,
    chunks: Vec<(Duration, Bytes)>,
    bytes: usize,
    end: Option<(End, Duration)>,
}

impl Take {
    fn into_interaction(self, scrubber: &Scrubber) -> Result<Interaction, CassetteError> {
        let Some((status, headers, head_at)) = self.head else {
            return Err(CassetteError::other("a client left before the answer began"));
        };
        let last_at = self.chunks.last().map_or(head_at, |(at, _)| *at);
        let (end, end_at) = self.end.unwrap_or((End::Left, last_at));
        let mut body = joined(&self.chunks);
        scrubber.blot(&mut body);
        let mut body = body.freeze();
        let chunks = self.chunks.iter().map(|(at, bytes)| (*at, body.split_to(bytes.len()))).collect();
        let headers = scrubber.headers(&headers).collect();
        Ok(Interaction {
            request: scrubbed(&self.request, scrubber),
            response: ResponseLine { ms: ms(head_at), status, headers },
            chunks,
            end: EndLine { ms: ms(end_at), how: end },
        })
    }
}

impl Proxy {
    fn tape(&self) -> MutexGuard<'_, Tape> {
        crate::sync::lock(&self.tape)
    }

    fn fail(&self, failure: CassetteError) {
        self.tape().failure.get_or_insert(failure);
    }

    fn note(&self, at: usize, write: impl FnOnce(&mut Take)) {
        if let Some(take) = self.tape().takes.get_mut(at) {
            write(take);
        }
    }

    async fn send(&self, request: &FakeRequest) -> reqwest::Result<reqwest::Response> {
        let method = reqwest::Method::from_bytes(request.method.as_bytes()).unwrap_or(reqwest::Method::POST);
        let url = format!("{}{}", self.origin, request.path);
        let headers: HeaderMap = end_to_end(&request.headers).map(|(n, v)| (n.clone(), v.clone())).collect();
        self.client.request(method, url).headers(headers).body(request.body.clone()).send().await
    }
}

fn end_to_end(headers: &HeaderMap) -> impl Iterator<Item = (&HeaderName, &http::HeaderValue)> {
    headers.iter().filter(|(name, _)| !HOP.contains(&name.as_str()))
}

impl Answer for Proxy {
    async fn answer(&self, request: FakeRequest, to: &mut Client) -> io::Result<Next> {
        let began = Instant::now();
        let at = {
            let takes = &mut self.tape().takes;
            let request = request.clone();
            takes.push(Take { request, began, head: None, chunks: Vec::new(), bytes: 0, end: None });
            takes.len() - 1
        };
        let _under_way = self.under_way.subscribe();
        let mut response = match self.send(&request).await {
            Ok(response) => response,
            Err(error) => {
                let failure = CassetteError::other("the provider could not be reached");
                self.fail(failure.with_source(error.without_url()));
                return to.error(502, "the provider could not be reached").await;
            }
        };
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        self.note(at, |take| take.head = Some((status, headers.clone(), take.began.elapsed())));
        let kept = end_to_end(&headers).map(|(name, value)| (name.as_str(), value.as_bytes()));
        to.head(status, kept).await?;
        loop {
            // The answer is recorded before the client receives it, since the client may disconnect after its
            // last byte.
            match response.chunk().await {
                Ok(Some(bytes)) => {
                    self.chunk(at, &bytes);
                    to.chunk(&bytes).await?;
                }
                Ok(None) => {
                    self.note(at, |take| take.end = Some((End::Complete, take.began.elapsed())));
                    to.end().await?;
                    return Ok(Next::Keep);
                }
                Err(_) => {
                    self.note(at, |take| take.end = Some((End::Cut, take.began.elapsed())));
                    return Ok(Next::Close);
                }
            }
        }
    }

    fn nonsense(&self, _: &'static str) {
        self.fail(CassetteError::other("something that is no HTTP/1.1 request came"));
    }
}

impl Proxy {
    fn chunk(&self, at: usize, bytes: &Bytes) {
        let mut room = true;
        self.note(at, |take| {
            take.bytes += bytes.len();
            room = take.bytes <= MAX_BODY;
            if room {
                take.chunks.push((take.began.elapsed(), bytes.clone()));
            }
        });
        if !room {
            self.fail(CassetteError::other("an answer is larger than 64 MiB"));
        }
    }
}
