//! Tests of the headers that every response has.

use http::{Method, Request, header};
use http_body_util::Full;
use omniassist_server::http::PostedRun;
use omniassist_server::store::MemoryStore;

use super::{Answer, answer, builder, routes, serve};

fn check(name: &str, answer: &Answer) {
    let is_stream = answer.header("content-type").is_some_and(|kind| {
        kind.starts_with("text/event-stream") || kind.contains("ndjson") || kind.starts_with("text/plain")
    }) && answer.header("x-accel-buffering").is_some();
    let cache = if is_stream { "no-cache, no-store, no-transform" } else { "no-store" };
    assert_eq!(answer.header("cache-control"), Some(cache), "{name}");
    assert_eq!(answer.header("x-accel-buffering"), is_stream.then_some("no"), "{name}");
    if answer.status != 204 {
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{name}");
        assert!(answer.header("content-type").is_some(), "{name}");
    }
}

#[tokio::test]
async fn answers_and_refusals_have_them() {
    let open = serve(builder().1.allow_anonymous());
    let closed = serve(builder().1);
    let mut streams = 0;
    for route in routes::all() {
        let served = answer(&open, route.request()).await;
        check(&route.name(), &served);
        streams += usize::from(served.header("x-accel-buffering").is_some());
        assert_eq!(served.header("cross-origin-resource-policy"), Some("same-origin"), "{}", route.name());
        check(&route.name(), &answer(&closed, route.request()).await);

        let mut form = route.request();
        form.headers_mut().insert(header::CONTENT_TYPE, "text/plain".parse().unwrap());
        check(&route.name(), &answer(&open, form).await);
        let mut wrong = route.request();
        *wrong.method_mut() = Method::DELETE;
        let wrong = answer(&open, wrong).await;
        check(&route.name(), &wrong);
        assert_eq!(wrong.status, if route.status == 404 { 404 } else { 405 }, "{}", route.name());
        if route.body.is_some() {
            let mut broken = route.request();
            *broken.body_mut() = Full::from("{");
            let broken = answer(&open, broken).await;
            check(&route.name(), &broken);
            assert_eq!(broken.status, 400, "{}", route.name());
        }
    }
    assert!(streams >= 8, "{streams} streams");
    let mut text = routes::all().remove(0).request();
    *text.uri_mut() = "/?protocol=text".parse().unwrap();
    check("text", &answer(&open, text).await);
    let mut lines = routes::all().remove(0).request();
    lines.headers_mut().insert(header::ACCEPT, "application/x-ndjson".parse().unwrap());
    check("ndjson", &answer(&open, lines).await);
}

#[tokio::test]
async fn headers_of_stored_runs_are_ignored_without_a_store() {
    for (is_stored, status) in [(false, 200), (true, 400)] {
        let builder = builder().1.allow_anonymous();
        let service = serve(if is_stored { builder.store(MemoryStore::new()) } else { builder });
        for route in routes::all().into_iter().filter(|route| ["/", "/ag-ui"].contains(&route.path)) {
            let mut request = route.request();
            request.headers_mut().insert("idempotency-key", "".parse().unwrap());
            assert_eq!(answer(&service, request).await.status, status, "{}", route.name());
        }
    }
}

#[tokio::test]
async fn responses_of_a_handler_of_the_host_have_them_too() {
    let assistant = builder().1.allow_anonymous().build().unwrap();
    let read = |request: Request<Full<bytes::Bytes>>| PostedRun::read_for(request, &assistant);
    let posted = read(routes::all().remove(0).request()).await.unwrap();
    check("answer", &Answer::of(posted.respond(&assistant).await).await);
    let mut broken = routes::all().remove(0).request();
    *broken.body_mut() = Full::from("{");
    check("refusal", &Answer::of(read(broken).await.unwrap_err()).await);
}
