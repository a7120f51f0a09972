//! Tests of fault 56 for connections whose TLS handshake fails, against a real TLS server on loopback. Each attempt is
//! one handshake, which the server counts.

use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use omniassist_server::core::{Limits, LlmPayload, RunEvent, RunRequest, TranscriptItem};
use omniassist_server::testing::{FakeProvider, Reply, chat_sse};
use omniassist_server::{Assistant, Error, LlmProvider, OpenAiChatProvider, ProviderErrorKind};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

const KEY: &str = "sk-canary-0123456789";

pub(crate) type Authority = CertifiedIssuer<'static, KeyPair>;

pub(crate) fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::new([]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Returns a server's side of TLS, with a certificate for this name that was valid from 2020 until this year.
pub(crate) fn acceptor(authority: &Authority, name: &str, until: i32) -> TlsAcceptor {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    let certificate = params.signed_by(&key, authority).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// The behaviour of a server on a connection.
#[derive(Clone)]
enum Front {
    /// Decrypts TLS in front of a provider.
    Tls(TlsAcceptor, std::net::SocketAddr),
    /// Reads the client's first bytes and closes the connection.
    Cut,
    /// Reads them and resets the connection.
    Reset,
    /// Reads them and does not answer.
    Stall,
    /// Answers in plain HTTP.
    Plain,
}

impl Front {
    async fn serve(self, mut stream: TcpStream) {
        if let Self::Tls(acceptor, provider) = self {
            if let Ok(mut stream) = acceptor.accept(stream).await {
                let mut provider = TcpStream::connect(provider).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut provider).await;
            }
            return;
        }
        let mut hello = [0; 4096];
        let _ = stream.read(&mut hello).await;
        match self {
            Self::Reset => stream.set_zero_linger().unwrap(),
            Self::Stall => tokio::time::sleep(Duration::from_secs(60)).await,
            Self::Plain => {
                let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
                stream.write_all(answer).await.unwrap();
            }
            Self::Tls(..) | Self::Cut => {}
        }
    }
}

/// A server on loopback that counts its connections.
struct Server {
    port: u16,
    connections: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    async fn start(front: Front) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                counter.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(front.clone().serve(stream));
            }
        });
        Self { port, connections, task }
    }

    fn base_url(&self, scheme: &str) -> String {
        format!("{scheme}://localhost:{}/v1", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn limits() -> Limits {
    let mut limits = super::ask::limits();
    limits.connect_timeout = Duration::from_millis(500);
    limits
}

fn provider(base_url: &str, root: Option<&Authority>) -> OpenAiChatProvider {
    let builder = OpenAiChatProvider::builder().base_url(base_url).api_key(KEY).limits(limits());
    match root {
        Some(root) => builder.root_certificate(root.pem()).build().unwrap(),
        None => builder.build().unwrap(),
    }
}

/// Returns an error with its sources, as in a log.
fn chain(error: &Error) -> String {
    let mut chain = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(error) = source {
        chain.push_str(&format!(": {error}"));
        source = error.source();
    }
    chain
}

/// Sends requests to such a server with the provider and with an assistant. Returns the error's kind, its text in a
/// log, and the code that a client receives.
async fn ask(front: Front, scheme: &str, root: Option<&Authority>) -> (ProviderErrorKind, String, String) {
    let server = Server::start(front).await;
    let provider = provider(&server.base_url(scheme), root);
    let start = Instant::now();
    let items: Vec<_> = provider.stream(LlmPayload::new([TranscriptItem::user("hi")])).collect().await;
    let [Err(error)] = &items[..] else { panic!("{items:?}") };
    let kind = error.provider_kind().unwrap();
    let asked = server.connections.swap(0, Ordering::Relaxed);
    let wanted = if error.is_retryable() { 1 + limits().max_retries as usize } else { 1 };
    assert_eq!(asked, wanted, "connections: {error:?}");
    let log = chain(error);
    for secret in [KEY, "/v1", &server.port.to_string()] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }

    let assistant = Assistant::builder(provider).limits(limits()).build().unwrap();
    let events: Vec<RunEvent> = assistant.run(RunRequest::prompt("hi")).collect().await;
    assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1, "{events:?}");
    let Some(RunEvent::Error { code, message }) = events.last() else { panic!("{events:?}") };
    assert_eq!(message, code.safe_message());
    assert_eq!(server.connections.load(Ordering::Relaxed), wanted);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    (kind, log, code.as_str().to_owned())
}

#[tokio::test]
async fn fault_56_an_untrusted_certificate_fails_the_connection() {
    let (own, other) = (authority("own"), authority("other"));
    let model = FakeProvider::start().await.unwrap();
    let tls = |name, until| Front::Tls(acceptor(&own, name, until), model.address());
    for (front, root, why) in [
        (tls("localhost", 2999), None, "UnknownIssuer"),
        (tls("localhost", 2999), Some(&other), "UnknownIssuer"),
        (tls("localhost", 2021), Some(&own), "certificate expired"),
        (tls("provider.example", 2999), Some(&own), "not valid for name"),
    ] {
        let (kind, log, code) = ask(front, "https", root).await;
        assert_eq!((kind, code.as_str()), (ProviderErrorKind::Connect, "provider_unavailable"), "{log}");
        assert!(log.contains(why), "{log}");
    }
    assert!(model.events().is_empty(), "no byte of a request was sent: {:?}", model.events());
}

#[tokio::test]
async fn fault_56_an_incomplete_handshake_fails_the_connection() {
    for (front, expected) in [
        (Front::Cut, (ProviderErrorKind::Connect, "provider_unavailable")),
        (Front::Reset, (ProviderErrorKind::Connect, "provider_unavailable")),
        (Front::Plain, (ProviderErrorKind::Connect, "provider_unavailable")),
        (Front::Stall, (ProviderErrorKind::Timeout, "timeout")),
    ] {
        let (kind, log, code) = ask(front, "https", None).await;
        assert_eq!((kind, code.as_str()), expected, "{log}");
    }
}

#[tokio::test]
async fn fault_56_plain_http_on_a_port_with_tls_is_an_error() {
    let model = FakeProvider::start().await.unwrap();
    let tls = Front::Tls(acceptor(&authority("own"), "localhost", 2999), model.address());
    let (kind, log, code) = ask(tls, "http", None).await;
    assert_eq!((kind, code.as_str()), (ProviderErrorKind::Protocol, "provider_error"), "{log}");
    assert!(model.events().is_empty());
}

#[tokio::test]
async fn a_server_with_a_certificate_of_an_added_root_is_trusted() {
    let (own, other) = (authority("own"), authority("other"));
    let model = FakeProvider::start().await.unwrap();
    let server = Server::start(Front::Tls(acceptor(&own, "localhost", 2999), model.address())).await;
    // One file can contain several certificates, and the setter can be called more than once.
    let bundle = format!("{}\n# ours\n{}", other.pem(), own.pem());
    let builder = || OpenAiChatProvider::builder().base_url(server.base_url("https")).limits(limits());
    for builder in [
        builder().root_certificate(bundle),
        builder().root_certificate(own.pem()).root_certificate(other.pem()),
    ] {
        model.reply(Reply::sse(chat_sse::text("Hello, world")));
        let assistant = Assistant::builder(builder.build().unwrap()).build().unwrap();
        assert_eq!(assistant.run(RunRequest::prompt("hi")).text().await.unwrap(), "Hello, world");
    }
}

#[test]
fn an_invalid_certificate_is_a_configuration_error() {
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for pem in [
        "",
        "certificate",
        "/etc/ssl/ca.pem",
        broken,
        "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
    ] {
        let error = OpenAiChatProvider::builder().api_key(KEY).root_certificate(pem).build().unwrap_err();
        assert!(error.is_configuration(), "{pem}: {error:?}");
    }
}
