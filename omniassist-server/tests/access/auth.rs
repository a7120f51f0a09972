//! Tests of authentication.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::stream;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use omniassist_server::access::{AuthFuture, bearer};
use omniassist_server::bridge::Bridge;
use omniassist_server::core::TranscriptItem;
use omniassist_server::core::bridge::BridgeOptions;
use omniassist_server::http::{AssistantBody, PostedRun};
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Assistant, AuthError, AuthRequest, Authenticate, Principal, Tool, ToolError};
use serde_json::json;

use super::{Answer, answer, builder, routes, serve};
use crate::bridge::bus::Bus;
use crate::spans::Recorder;

/// An authentication hook that finds users by their tokens. `eve` is forbidden, and `lost` causes a failure.
async fn tokens(request: AuthRequest) -> Result<Option<Principal>, AuthError> {
    match request.bearer() {
        None => Ok(None),
        Some("eve") => Err(AuthError::forbidden()),
        Some("lost") => {
            Err(AuthError::unavailable().with_source("canary: the session store is not reachable"))
        }
        Some(name) if name.chars().all(char::is_alphabetic) => Ok(Some(Principal::new(name))),
        Some(_) => Err(AuthError::unauthenticated()),
    }
}

#[tokio::test]
async fn an_anonymous_request_is_refused_on_every_route() {
    let (model, builder) = builder();
    let service = serve(builder);
    for route in routes::all() {
        let answer = answer(&service, route.request()).await;
        assert_eq!(answer.status, 401, "{}", route.name());
        assert_eq!(route.code(&answer), "unauthenticated");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
    assert!(model.payloads().is_empty());
    assert_eq!(service.assistant().live_runs(), 0);
}

#[tokio::test]
async fn each_of_the_three_ways_admits_a_request() {
    let by_name = serve(builder().1);
    let by_hook = serve(builder().1.authenticate(tokens));
    let by_choice = serve(builder().1.allow_anonymous());
    for route in routes::all() {
        for principal in [Principal::new("ada"), Principal::anonymous()] {
            let mut request = route.request();
            request.extensions_mut().insert(principal);
            assert_eq!(answer(&by_name, request).await.status, route.status, "{}", route.name());
        }
        let mut request = route.request();
        request.headers_mut().insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer ada"));
        assert_eq!(answer(&by_hook, request).await.status, route.status, "{}", route.name());
        assert_eq!(answer(&by_choice, route.request()).await.status, route.status, "{}", route.name());
    }
}

#[tokio::test]
async fn errors_of_the_hook_have_the_format_of_the_route() {
    let service = serve(builder().1.authenticate(tokens));
    let cases = [
        (None, 401, "unauthenticated"),
        (Some("Basic ada"), 401, "unauthenticated"),
        (Some("Bearer 7"), 401, "unauthenticated"),
        (Some("Bearer eve"), 403, "forbidden"),
        (Some("Bearer lost"), 503, "authentication_unavailable"),
    ];
    for route in routes::all() {
        for (credentials, status, code) in cases {
            let mut request = route.request();
            if let Some(credentials) = credentials {
                request.headers_mut().insert(header::AUTHORIZATION, HeaderValue::from_static(credentials));
            }
            let answer = answer(&service, request).await;
            assert_eq!((answer.status, route.code(&answer).as_str()), (status, code), "{}", route.name());
            assert_eq!(answer.header("www-authenticate").is_some(), status == 401);
            assert!(!format!("{answer:?}").contains("canary"), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn the_hook_sets_the_principal() {
    async fn who(user: Principal) -> Result<String, ToolError> {
        Ok(user.to_string())
    }
    let model = ScriptedProvider::new().otherwise(|payload| {
        let asked = matches!(payload.transcript.last(), Some(TranscriptItem::Result(_)));
        if asked { text("Done.") } else { call("who", json!({})) }
    });
    let tool = Tool::new("who", "Who asks", who);
    let builder = Assistant::builder(model).tool(tool).authenticate(tokens);
    let service = serve(builder.allow_anonymous());
    let ask = |token: Option<&'static str>, principal: Option<&str>| {
        let mut request = routes::all().remove(0).request();
        if let Some(token) = token {
            request.headers_mut().insert(header::AUTHORIZATION, HeaderValue::from_static(token));
        }
        if let Some(principal) = principal {
            request.extensions_mut().insert(Principal::new(principal));
        }
        answer(&service, request)
    };
    let cases = [
        (Some("Bearer ada"), None, "ada"),
        (Some("Bearer ada"), Some("bob"), "ada"),
        (None, Some("bob"), "bob"),
        (None, None, "anonymous"),
    ];
    for (token, principal, wanted) in cases {
        let answer = ask(token, principal).await;
        assert!(answer.body.contains(&format!("\"output\":\"{wanted}\"")), "{wanted}: {}", answer.body);
    }
    assert_eq!(ask(Some("Bearer 7"), Some("bob")).await.status, 401, "a wrong token is refused");
}

/// A hook that counts its calls.
struct Counting(Arc<AtomicUsize>);

impl Authenticate for Counting {
    fn authenticate<'a>(&'a self, parts: &'a Parts) -> AuthFuture<'a> {
        Box::pin(async move {
            self.0.fetch_add(1, Ordering::SeqCst);
            let knows = parts.headers.contains_key("x-session");
            if knows { Ok(Some(Principal::new("ada"))) } else { Err(AuthError::unauthenticated()) }
        })
    }
}

#[tokio::test]
async fn the_hook_is_called_once_before_the_body_is_read() {
    let asked = Arc::new(AtomicUsize::new(0));
    let (_, builder) = builder();
    let service = serve(builder.authenticate(Counting(Arc::clone(&asked))));
    for (index, route) in routes::all().into_iter().enumerate() {
        let (parts, _) = route.request().into_parts();
        let (asked_by_then, expected) = (Arc::clone(&asked), index + 1);
        let body = StreamBody::new(stream::once(async move {
            // The unread body is discarded before the answer is sent.
            assert_eq!(asked_by_then.load(Ordering::SeqCst), expected, "the body was read first");
            Ok::<_, std::io::Error>(Frame::data(Bytes::new()))
        }));
        let response = service.handle(Request::from_parts(parts, Box::pin(body))).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(asked.load(Ordering::SeqCst), index + 1, "{}", route.name());
    }
}

#[tokio::test]
async fn the_host_sets_the_challenge() {
    let hook = |_: AuthRequest| async {
        let challenge = HeaderValue::from_static("Bearer realm=\"shop\"");
        Err(AuthError::unauthenticated().with_challenge(challenge))
    };
    let service = serve(builder().1.authenticate(hook));
    let answer = answer(&service, routes::all().remove(0).request()).await;
    assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"shop\""));
}

#[tokio::test]
async fn the_log_has_one_hint_and_the_cause_of_a_failure() {
    let (recorder, _guard) = Recorder::install();
    let request = || routes::all().remove(0).request();
    let service = serve(builder().1);
    answer(&service, request()).await;
    answer(&service.clone(), request()).await;
    let warnings = recorder.events_saying("refused a request without a principal");
    assert_eq!(warnings.len(), 1);
    for way in ["extensions", "AssistantBuilder::authenticate", "AssistantBuilder::allow_anonymous"] {
        assert!(warnings[0]["message"].contains(way), "{way}");
    }

    let service = serve(builder().1.authenticate(tokens));
    answer(&service, request()).await;
    assert_eq!(
        recorder.events_saying("refused a request without a principal").len(),
        1,
        "a refusal by the hook adds no hint"
    );
    let mut lost = request();
    lost.headers_mut().insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer lost"));
    answer(&service, lost).await;
    let events = recorder.events_saying("a request was refused");
    assert!(events.iter().any(|fields| fields["error"].contains("canary")), "{events:?}");
}

#[tokio::test]
async fn a_handler_of_the_host_has_the_same_rule() {
    async fn chat(assistant: &Assistant, request: Request<Full<Bytes>>) -> Response<AssistantBody> {
        match PostedRun::read_for(request, assistant).await {
            Ok(posted) => posted.respond(assistant).await,
            Err(refusal) => refusal,
        }
    }
    let request = |token: Option<&'static str>| {
        let mut request = routes::all().remove(0).request();
        if let Some(token) = token {
            request.headers_mut().insert(header::AUTHORIZATION, HeaderValue::from_static(token));
        }
        request
    };
    let hooked = builder().1.authenticate(tokens).build().unwrap();
    for (token, status) in
        [(None, 401), (Some("Bearer eve"), 403), (Some("Bearer lost"), 503), (Some("Bearer ada"), 200)]
    {
        assert_eq!(Answer::of(chat(&hooked, request(token)).await).await.status, status, "{token:?}");
    }
    let open = builder().1.allow_anonymous().build().unwrap();
    assert_eq!(Answer::of(chat(&open, request(None)).await).await.status, 200);

    // A bridge does not authenticate, so the assistant does.
    let closed = builder().1.build().unwrap();
    let bridge = Bridge::new(Bus::default(), BridgeOptions::new());
    let posted = bridge.read(request(None)).await.unwrap();
    assert_eq!(posted.clone().respond(&closed).await.status(), StatusCode::UNAUTHORIZED);
    let mut named = posted;
    named.extensions.insert(Principal::new("ada"));
    assert_eq!(named.respond(&closed).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn runs_in_process_need_no_principal() {
    let (_, builder) = builder();
    let assistant = builder.build().unwrap();
    let request = omniassist_server::core::RunRequest::prompt("hi");
    assert!(assistant.run(request.clone()).text().await.is_ok());
    assert!(assistant.try_run(request, http::Extensions::new()).await.is_ok());
}

#[tokio::test]
async fn a_hook_that_panics_is_a_failure_of_the_server() {
    async fn broken(_: AuthRequest) -> Result<Option<Principal>, AuthError> {
        panic!("canary")
    }
    let service = serve(builder().1.allow_anonymous().authenticate(broken));
    for route in routes::all() {
        let answer = answer(&service, route.request()).await;
        assert_eq!(answer.status, 500, "{}", route.name());
        assert!(answer.body.contains("internal") && !answer.body.contains("canary"), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_disconnect_drops_the_hook() {
    struct Sets(Arc<AtomicUsize>);
    impl Drop for Sets {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&dropped);
    let hook = move |_: AuthRequest| {
        let sets = Sets(Arc::clone(&counter));
        async move {
            let _sets = sets;
            std::future::pending().await
        }
    };
    let service = serve(builder().1.authenticate(hook));
    let mut handling = Box::pin(service.handle(routes::all().remove(0).request()));
    assert!(futures_util::poll!(handling.as_mut()).is_pending());
    assert_eq!(dropped.load(Ordering::SeqCst), 0);
    drop(handling);
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[test]
fn a_bearer_token_is_read_once() {
    let token = |values: &[&str]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, value.parse().unwrap());
        }
        bearer(&headers).map(str::to_owned)
    };
    assert_eq!(token(&["Bearer abc"]).as_deref(), Some("abc"));
    assert_eq!(token(&["bearer  a b"]).as_deref(), Some("a b"));
    for values in
        [&[][..], &["Basic abc"], &["Bearer"], &["Bearer "], &["Bearerabc"], &["Bearer a", "Bearer b"]]
    {
        assert_eq!(token(values), None, "{values:?}");
    }
}

#[test]
fn no_secret_is_printed() {
    let request = Request::get("/x?token=canary").header("authorization", "Bearer canary").body(()).unwrap();
    let printed = format!("{:?}", AuthRequest::new(&request.into_parts().0));
    assert!(printed.contains("/x") && !printed.contains("canary"), "{printed}");
}
