//! Tests of request bodies that arrive slowly, never end, or together use too much memory.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, header};
use http_body::{Body, Frame};
use omniassist_server::Principal;
use omniassist_server::bridge::Bridge;
use omniassist_server::core::Limits;
use omniassist_server::core::bridge::BridgeOptions;
use omniassist_server::http::AssistantService;
use tokio::time::{Instant, Sleep, sleep};

use super::{Answer, builder, routes, serve};
use crate::bridge::bus::Bus;

/// A body that sends one piece immediately, and the others with a pause before each.
struct Slow {
    left: usize,
    piece: usize,
    pause: Duration,
    wait: Option<Pin<Box<Sleep>>>,
    ends: bool,
}

impl Slow {
    /// Returns a body that sends `size` bytes and does not end.
    fn withheld(size: usize) -> Self {
        Self { left: size, piece: 64 * 1024, pause: Duration::ZERO, wait: None, ends: false }
    }

    fn paced(size: usize, piece: usize, pause: Duration) -> Self {
        Self { left: size, piece, pause, wait: None, ends: true }
    }
}

impl Body for Slow {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        static SPACES: [u8; 64 * 1024] = [b' '; 64 * 1024];
        if let Some(wait) = &mut self.wait {
            std::task::ready!(wait.as_mut().poll(cx));
            self.wait = None;
        }
        if self.left == 0 {
            return if self.ends { Poll::Ready(None) } else { Poll::Pending };
        }
        let size = self.piece.min(self.left);
        self.left -= size;
        if !self.pause.is_zero() {
            self.wait = Some(Box::pin(sleep(self.pause)));
        }
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&SPACES[..size])))))
    }
}

fn request(principal: Option<&str>, body: Slow) -> Request<Slow> {
    let mut request = Request::post("/").header(header::CONTENT_TYPE, "application/json").body(body).unwrap();
    if let Some(principal) = principal {
        request.extensions_mut().insert(Principal::new(principal));
    }
    request
}

async fn post(service: &AssistantService, principal: Option<&str>, body: Slow) -> Answer {
    Answer::of(service.handle(request(principal, body)).await).await
}

fn code(answer: &Answer) -> String {
    let body: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    body["error"]["code"].as_str().unwrap().to_owned()
}

/// Returns the answers to 100 clients that send 8 MiB less 16 bytes each, and do not end their bodies.
async fn hundred_withheld<F>(
    principal: Option<&str>,
    post: impl Fn(Request<Slow>) -> F,
) -> (Vec<Answer>, Duration)
where
    F: Future<Output = Answer> + Send + 'static,
{
    let began = Instant::now();
    let posts: Vec<_> =
        (0..100).map(|_| tokio::spawn(post(request(principal, Slow::withheld((8 << 20) - 16))))).collect();
    let mut answers = Vec::new();
    for post in posts {
        answers.push(post.await.unwrap());
    }
    (answers, began.elapsed())
}

fn count(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}

/// Posts to an assistant.
fn to_assistant(request: Request<Slow>, service: &AssistantService) -> impl Future<Output = Answer> + use<> {
    let service = service.clone();
    async move { Answer::of(service.handle(request).await).await }
}

/// Posts to a bridge.
fn to_bridge(request: Request<Slow>, bridge: &Bridge) -> impl Future<Output = Answer> + use<> {
    let bridge = bridge.clone();
    async move {
        let response =
            bridge.read(request).await.map_or_else(|refusal| refusal, |posted| bridge.respond(posted));
        Answer::of(response).await
    }
}

#[tokio::test(start_paused = true)]
async fn withheld_bodies_of_one_principal_are_closed_and_bounded() {
    let service = serve(builder().1.allow_anonymous());
    let bridge = Bridge::new(Bus::default(), BridgeOptions::new());
    are_closed_and_bounded(hundred_withheld(Some("ann"), |request| to_assistant(request, &service)).await);
    are_closed_and_bounded(hundred_withheld(Some("ann"), |request| to_bridge(request, &bridge)).await);
}

fn are_closed_and_bounded((answers, took): (Vec<Answer>, Duration)) {
    assert_eq!((count(&answers, 408), count(&answers, 429)), (4, 96));
    assert!(took <= Duration::from_secs(61), "{took:?}");
    for answer in answers {
        match answer.status {
            408 => {
                assert_eq!(code(&answer), "body_timeout");
                assert_eq!(answer.header("connection"), Some("close"));
            }
            _ => {
                assert_eq!(
                    (code(&answer).as_str(), answer.header("retry-after")),
                    ("too_many_uploads", Some("1"))
                );
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn withheld_bodies_of_all_clients_are_closed_and_bounded() {
    let service = serve(builder().1.allow_anonymous());
    let bridge = Bridge::new(Bus::default(), BridgeOptions::new());
    for (answers, took) in [
        hundred_withheld(None, |request| to_assistant(request, &service)).await,
        hundred_withheld(None, |request| to_bridge(request, &bridge)).await,
    ] {
        assert_eq!((count(&answers, 408), count(&answers, 503)), (32, 68));
        assert!(took <= Duration::from_secs(61), "{took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn memory_of_bodies_is_released() {
    let mut limits = Limits::default();
    limits.max_body_bytes_in_flight = 100;
    let service = serve(builder().1.allow_anonymous().limits(limits));
    for (size, status) in [(100, 400), (101, 503), (100, 400)] {
        let answer = post(&service, None, Slow::paced(size, 100, Duration::ZERO)).await;
        assert_eq!(answer.status, status, "{size}: {answer:?}");
    }
}

/// A body of spaces is not JSON. The status 400 shows that it was received completely.
#[tokio::test(start_paused = true)]
async fn slow_bodies_must_keep_the_pace() {
    let mut limits = Limits::default();
    (limits.body_timeout, limits.min_body_rate) = (Duration::from_secs(10), 100);
    let service = serve(builder().1.allow_anonymous().limits(limits));
    let second = Duration::from_secs(1);
    for (size, piece, pause, status) in [
        // Within the first period, any pace is accepted.
        (10, 1, Duration::from_millis(900), 400),
        // After it, 1,000 bytes are due in each period of 10 s.
        (3_000, 100, second, 400),
        (3_000, 99, second, 408),
        (1, 1, Duration::from_secs(11), 408),
    ] {
        let answer = post(&service, None, Slow::paced(size, piece, pause)).await;
        assert_eq!(answer.status, status, "{size} bytes, {piece} each {pause:?}: {answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_without_authentication_takes_no_memory() {
    let mut limits = Limits::default();
    limits.max_body_bytes_in_flight = 0;
    let service = serve(builder().1.limits(limits));
    let answer = post(&service, None, Slow::withheld(1 << 20)).await;
    assert_eq!(answer.status, 401);
}

#[tokio::test]
async fn encoded_bodies_are_refused_on_every_route() {
    let service = serve(builder().1.allow_anonymous());
    for route in routes::all().into_iter().filter(|route| route.body.is_some()) {
        for (encodings, is_refused) in [
            (&["gzip"][..], true),
            (&["identity, br"], true),
            (&["identity", "deflate"], true),
            (&["identity"], false),
            (&["IDENTITY , identity"], false),
        ] {
            let mut request = route.request();
            for encoding in encodings {
                request.headers_mut().append(header::CONTENT_ENCODING, encoding.parse().unwrap());
            }
            let answer = super::answer(&service, request).await;
            if is_refused {
                assert_eq!(answer.status, 415, "{} {encodings:?}", route.name());
                assert_eq!(route.code(&answer), "unsupported_content_encoding");
                assert_eq!(answer.header("accept-encoding"), Some("identity"));
            } else {
                assert_eq!(answer.status, route.status, "{} {encodings:?}: {}", route.name(), answer.body);
            }
        }
    }
}
