//! Tests of answers to pages of other origins.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, header};
use http_body_util::Full;
use omniassist_server::store::MemoryStore;
use omniassist_server::{AuthError, AuthRequest, Cors, Principal};

use super::{Answer, answer, builder, routes, serve};

const APP: &str = "https://app.example.com";

/// Returns a request with these headers.
fn with(mut request: Request<Full<Bytes>>, headers: &[(&'static str, &str)]) -> Request<Full<Bytes>> {
    for (name, value) in headers {
        request.headers_mut().append(*name, HeaderValue::from_str(value).unwrap());
    }
    request
}

fn preflight(path: &str, origin: &str, headers: &str) -> Request<Full<Bytes>> {
    let request = Request::options(path).body(Full::default()).unwrap();
    let headers = [
        ("origin", origin),
        ("sec-fetch-site", "cross-site"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", headers),
    ];
    with(request, &headers)
}

fn cors_headers(answer: &Answer) -> Vec<String> {
    let names = answer.headers.keys().map(|name| name.as_str().to_owned());
    names.filter(|name| name.starts_with("access-control-")).collect()
}

#[tokio::test]
async fn a_listed_page_can_send_the_headers_of_the_clients() {
    let refusing = |_: AuthRequest| async { Err::<Option<Principal>, _>(AuthError::unauthenticated()) };
    let cors = Cors::new().allow_origin(APP).allow_header("X-Tenant").max_age(Duration::from_secs(60));
    let service = serve(builder().1.authenticate(refusing).cors(cors));
    for path in routes::all().iter().map(|route| route.path) {
        let asked = "content-type, Authorization,x-stainless-lang, x-tenant, x-evil, content-type, a b";
        let answer = answer(&service, preflight(path, APP, asked)).await;
        assert_eq!((answer.status, answer.body.as_str()), (204, ""), "a preflight must need no credentials");
        assert_eq!(answer.header("access-control-allow-origin"), Some(APP));
        assert_eq!(answer.header("access-control-allow-methods"), Some("GET, HEAD, POST, DELETE"));
        assert_eq!(
            answer.header("access-control-allow-headers"),
            Some("content-type, authorization, x-stainless-lang, x-tenant")
        );
        assert_eq!(answer.header("access-control-max-age"), Some("60"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        assert_eq!(
            answer.header("vary"),
            Some("origin, access-control-request-method, access-control-request-headers")
        );
    }
    let nothing = answer(&service, preflight("/", APP, "x-evil")).await;
    assert_eq!(nothing.header("access-control-allow-headers"), None);
}

#[tokio::test]
async fn stored_runs_have_more_headers_and_methods() {
    const STORED: [&str; 4] =
        ["location", "x-omniassist-run", "x-workflow-run-id", "x-workflow-stream-tail-index"];
    for is_stored in [false, true] {
        let (_, mut builder) = builder();
        if is_stored {
            builder = builder.store(MemoryStore::new());
        }
        let service = serve(builder.allow_origin(APP));
        let asked = answer(&service, preflight("/", APP, "content-type, prefer")).await;
        let methods = asked.header("access-control-allow-methods").unwrap();
        for method in ["PATCH", "PUT"] {
            assert_eq!(methods.contains(method), is_stored, "{methods}");
        }
        let headers = asked.header("access-control-allow-headers").unwrap();
        assert_eq!(headers.contains("prefer"), is_stored, "{headers}");
        let mut post = with(routes::all().remove(0).request(), &[("origin", APP)]);
        post.extensions_mut().insert(Principal::new("ada"));
        let posted = answer(&service, post).await;
        let exposed = posted.header("access-control-expose-headers").unwrap();
        for name in STORED {
            assert_eq!(exposed.split(", ").any(|exposed| exposed == name), is_stored, "{exposed}");
        }
    }
}

#[tokio::test]
async fn other_pages_get_no_permission() {
    for builder in [builder().1, builder().1.allow_origin(APP)] {
        let service = serve(builder.allow_anonymous());
        for origin in
            ["https://evil.example", "null", "http://app.example.com", "https://app.example.com.evil.example"]
        {
            for path in routes::all().iter().map(|route| route.path) {
                let answer = answer(&service, preflight(path, origin, "content-type")).await;
                assert_eq!(answer.status, 403, "{origin} {path}");
                assert!(cors_headers(&answer).is_empty(), "{answer:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_listed_page_reads_answers_and_refusals_alike() {
    let service = serve(builder().1.allow_origin(APP));
    for route in routes::all() {
        for (named, status) in [(true, route.status), (false, 401)] {
            let mut request = with(route.request(), &[("origin", APP), ("sec-fetch-site", "cross-site")]);
            if named {
                request.extensions_mut().insert(Principal::new("ada"));
            }
            let answer = answer(&service, request).await;
            assert_eq!(answer.status, status, "{}", route.name());
            assert_eq!(
                cors_headers(&answer),
                ["access-control-allow-origin", "access-control-expose-headers"]
            );
            assert_eq!(answer.header("access-control-allow-origin"), Some(APP));
            let exposed = answer.header("access-control-expose-headers").unwrap();
            for name in [
                "x-vercel-ai-ui-message-stream",
                "x-request-id",
                "x-should-retry",
                "retry-after",
                "www-authenticate",
            ] {
                assert!(exposed.split(", ").any(|exposed| exposed == name), "{exposed}");
            }
        }
    }
}

#[tokio::test]
async fn cookies_are_allowed_only_by_the_host() {
    let cors = Cors::new().allow_origin(APP).allow_credentials(true).expose_header("X-Trace");
    let service = serve(builder().1.allow_anonymous().cors(cors));
    let asked = answer(&service, preflight("/", APP, "content-type")).await;
    assert_eq!(asked.header("access-control-allow-credentials"), Some("true"));
    let posted = answer(&service, with(routes::all().remove(0).request(), &[("origin", APP)])).await;
    assert_eq!(posted.header("access-control-allow-credentials"), Some("true"));
    assert!(posted.header("access-control-expose-headers").unwrap().ends_with(", x-trace"));
    let other = with(routes::all().remove(7).request(), &[("origin", "https://evil.example")]);
    assert!(cors_headers(&answer(&service, other).await).is_empty());
}

#[tokio::test]
async fn requests_without_an_origin_get_no_permission_and_vary() {
    let service = serve(builder().1.allow_anonymous().allow_origin(APP));
    let answer = answer(&service, routes::all().remove(0).request()).await;
    assert_eq!(answer.headers.get_all(header::VARY).iter().count(), 1);
    assert!(cors_headers(&answer).is_empty());
}

#[tokio::test]
async fn requests_of_old_browsers_are_checked_by_origin_and_host() {
    let service = serve(builder().1.allow_anonymous());
    for (origin, host, status) in [
        ("https://a.com", "a.com", 200),
        ("https://a.com", "a.com:443", 200),
        ("http://a.com", "a.com", 200),
        ("http://a.com", "a.com:80", 200),
        ("http://a.com:8080", "A.com:8080", 200),
        ("http://[::1]:3000", "[0::1]:3000", 200),
        ("https://a.com", "b.com", 403),
        ("https://a.com", "a.com:80", 403),
        ("http://a.com", "a.com:443", 403),
        ("http://a.com:8080", "a.com", 403),
        ("http://a.com:8080", "a.com:8081", 403),
        ("http://localhost:3000", "127.0.0.1:3000", 403),
    ] {
        let mut request = routes::all().remove(0).request();
        request.headers_mut().insert(header::HOST, HeaderValue::from_str(host).unwrap());
        let answer = answer(&service, with(request, &[("origin", origin)])).await;
        assert_eq!(answer.status, status, "{origin} {host}");
    }
}

#[tokio::test]
async fn a_listed_origin_is_written_as_browsers_do() {
    for (listed, origin) in [
        ("HTTPS://App.Example.com:443", "https://app.example.com"),
        ("http://localhost:80", "http://localhost"),
        ("http://localhost:443", "http://localhost:443"),
        ("tauri://localhost", "tauri://localhost"),
        ("chrome-extension://abcdefghijklmnop", "chrome-extension://abcdefghijklmnop"),
    ] {
        let service = serve(builder().1.allow_anonymous().allow_origin(listed));
        let answer = answer(&service, preflight("/", origin, "content-type")).await;
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin), "{listed}");
    }
}

#[test]
fn the_error_names_an_invalid_origin() {
    for origin in [
        "*",
        "",
        "app.example.com",
        "https://",
        "https://app.example.com/",
        "https://app.example.com/path",
        "https://user@app.example.com",
        "https://app.example.com:99999",
        "https://*.example.com",
        "//app.example.com",
        "https://münchen.example",
        "https://app.example.com https://b.example.com",
        "NULL",
    ] {
        let error = builder().1.allow_origin(origin).build().unwrap_err();
        assert!(error.is_configuration());
        assert!(error.to_string().contains(&format!("`{origin}`")), "{error}");
    }
    for origin in
        ["https://app.example.com", "HTTP://LOCALHOST:5173", "null", "tauri://localhost", "http://[::1]:3000"]
    {
        assert!(builder().1.allow_origin(origin).build().is_ok(), "{origin}");
    }
    for (cors, name) in [
        (Cors::new().allow_header("*"), "`*`"),
        (Cors::new().allow_header("x tenant"), "`x tenant`"),
        (Cors::new().expose_header("x\r\nset-cookie: a"), "set-cookie"),
    ] {
        let error = builder().1.cors(cors).build().unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}
