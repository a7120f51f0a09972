//! Tests of the widget's modules and their tag.

use std::fs;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use flate2::read::GzDecoder;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use omniassist_server::http::AssistantService;
use omniassist_server::testing::ScriptedProvider;
use omniassist_server::{Assistant, AssistantBuilder, widget};
use serde_json::Value;
use sha2::{Digest as _, Sha384};

const IMMUTABLE: &str = "public, max-age=31536000, immutable";
const PAGE: &str = "https://app.example.com";

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// Asks an assistant that admits no anonymous caller.
async fn ask(method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    asked(Assistant::builder(ScriptedProvider::new()), method, path, headers).await
}

async fn get(path: &str, headers: &[(&str, &str)]) -> Answer {
    ask("GET", path, headers).await
}

async fn asked(builder: AssistantBuilder, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "localhost");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let service = AssistantService::new(builder.build().unwrap());
    let (parts, body) = service.handle(request.body(Empty::<Bytes>::new()).unwrap()).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answer { status: parts.status, headers: parts.headers, body }
}

/// Returns the URL and the hash in the tag of the widget.
fn tagged(mount: &str) -> (String, String) {
    let tag = widget::tag(mount);
    assert!(tag.starts_with("<script type=\"module\" ") && tag.ends_with(" crossorigin></script>"), "{tag}");
    let attribute = |name: &str| tag.split_once(name).unwrap().1.split('"').nth(1).unwrap().to_owned();
    (attribute("src="), attribute("integrity="))
}

/// Returns what the build says of the modules, with their paths.
fn modules() -> Vec<(String, Value)> {
    let assets = format!("{}/assets/widget/assets.json", env!("CARGO_MANIFEST_DIR"));
    let assets: Value = serde_json::from_str(&fs::read_to_string(assets).unwrap()).unwrap();
    let folder = assets["folder"].as_str().unwrap();
    let files = assets["files"].as_array().unwrap();
    files
        .iter()
        .map(|file| (format!("/w/{folder}/{}", file["name"].as_str().unwrap()), file.clone()))
        .collect()
}

fn integrity(bytes: &[u8]) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(bytes)))
}

fn unpacked(gzip: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(gzip).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Returns the URL of the entry.
fn entry() -> String {
    tagged("").0
}

#[tokio::test]
async fn a_script_needs_no_principal_and_all_else_does() {
    for path in ["/widget.js", &entry()] {
        assert_eq!(get(path, &[]).await.status, 200, "{path}");
        // The host is checked before.
        let named = Assistant::builder(ScriptedProvider::new()).allowed_hosts(["shop.example"]);
        assert_eq!(asked(named, "GET", path, &[("host", "evil.example")]).await.status, 421, "{path}");
        assert_eq!(ask("POST", path, &[]).await.status, 401, "{path}");
    }
    assert_eq!(get("/manifest.json", &[]).await.status, 401);
    let open = Assistant::builder(ScriptedProvider::new()).allow_anonymous();
    let refused = asked(open, "POST", "/widget.js", &[]).await;
    assert_eq!(
        (refused.status, refused.header("allow")),
        (StatusCode::METHOD_NOT_ALLOWED, Some("GET, HEAD"))
    );
}

#[tokio::test]
async fn the_stable_url_loads_what_the_tag_names() {
    let loader = get("/widget.js", &[]).await;
    assert_eq!(loader.header("content-type"), Some("text/javascript; charset=utf-8"));
    assert_eq!(loader.header("cache-control"), Some("no-cache"));
    let text = std::str::from_utf8(&loader.body).unwrap();
    // Relative, so that it is right at any mount.
    assert_eq!(text, format!("export*from\".{}\";\n", entry()));

    let tag = loader.header("etag").unwrap();
    assert!(tag.starts_with('"'), "a strong tag: {tag}");
    let known = get("/widget.js", &[("if-none-match", tag)]).await;
    assert_eq!((known.status, known.body.len()), (StatusCode::NOT_MODIFIED, 0));
    assert_eq!((known.header("etag"), known.header("cache-control")), (Some(tag), Some("no-cache")));
    assert_eq!(get("/widget.js", &[("if-none-match", "\"other\"")]).await.status, 200);
}

#[tokio::test]
async fn the_hash_of_the_tag_is_that_of_the_module() {
    for mount in ["/assistant", "/a/b", "", "https://api.example.com/assistant/"] {
        let (url, hash) = tagged(mount);
        let module = get(url.strip_prefix(mount.trim_end_matches('/')).unwrap(), &[]).await;
        assert_eq!((module.status, integrity(&module.body)), (StatusCode::OK, hash), "{url}");
    }
}

#[tokio::test]
async fn each_module_is_the_same_in_each_coding() {
    for (url, file) in modules() {
        let plain = get(&url, &[]).await;
        assert_eq!(plain.header("content-encoding"), None, "{url}");
        assert_eq!(integrity(&plain.body), format!("sha384-{}", file["sha384"].as_str().unwrap()), "{url}");
        let gzip = get(&url, &[("accept-encoding", "gzip, deflate")]).await;
        assert_eq!(gzip.header("content-encoding"), Some("gzip"), "{url}");
        assert_eq!(unpacked(&gzip.body), plain.body, "{url}");
        // The build unpacks this one: no crate in the tree does.
        let brotli = get(&url, &[("accept-encoding", "gzip, deflate, br, zstd")]).await;
        assert_eq!(brotli.header("content-encoding"), Some("br"), "{url}");
        assert_eq!(brotli.body.len(), file["br"], "{url}");
        let tags = [&plain, &gzip, &brotli].map(|answer| answer.header("etag").unwrap());
        assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{tags:?}");
        for answer in [plain, gzip, brotli] {
            assert_eq!(answer.header("cache-control"), Some(IMMUTABLE));
            assert_eq!(answer.header("content-type"), Some("text/javascript; charset=utf-8"));
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(answer.header("vary"), Some("accept-encoding"));
            assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
        }
    }
}

#[tokio::test]
async fn refused_codings_are_not_sent() {
    for (accepted, coding) in [
        ("br;q=0, gzip", Some("gzip")),
        ("br;q=0, gzip;q=0", None),
        ("*;q=0", None),
        ("br;q=0.2, gzip;q=0.7", Some("gzip")),
        ("identity, br;q=0.5", None),
        ("deflate", None),
    ] {
        let answer = get(&entry(), &[("accept-encoding", accepted)]).await;
        assert_eq!(answer.header("content-encoding"), coding, "{accepted}");
    }
}

#[tokio::test]
async fn a_module_that_the_browser_has_is_not_sent_again() {
    for accepted in ["br", "gzip", "identity"] {
        let tag = get(&entry(), &[("accept-encoding", accepted)]).await.headers["etag"].clone();
        // As middleware may have weakened it.
        let weak = format!("\"other\", W/{}", tag.to_str().unwrap());
        let known = get(&entry(), &[("accept-encoding", accepted), ("if-none-match", &weak)]).await;
        assert_eq!((known.status, known.body.len()), (StatusCode::NOT_MODIFIED, 0), "{accepted}");
        assert_eq!(known.headers["etag"], tag);
        assert_eq!((known.header("vary"), known.header("content-encoding")), (Some("accept-encoding"), None));
        let head = ask("HEAD", &entry(), &[("accept-encoding", accepted), ("if-none-match", &weak)]).await;
        assert_eq!((head.status, head.header("content-length")), (StatusCode::NOT_MODIFIED, None));
        // The tag of one coding is not that of another.
        let other = if accepted == "br" { "gzip" } else { "br" };
        let other = get(&entry(), &[("accept-encoding", other), ("if-none-match", &weak)]).await;
        assert_eq!(other.status, 200, "{accepted}");
    }
}

#[tokio::test]
async fn head_has_the_headers_of_get() {
    for path in ["/widget.js", &entry()] {
        for accepted in ["br", "gzip", "identity"] {
            let headers = [("accept-encoding", accepted)];
            let (full, head) = (get(path, &headers).await, ask("HEAD", path, &headers).await);
            assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0), "{path}");
            let mut named = head.headers;
            assert_eq!(named.remove("content-length").unwrap(), full.body.len().to_string(), "{path}");
            assert_eq!(named, full.headers, "{path}");
        }
    }
}

#[tokio::test]
async fn other_folders_and_names_are_not_found() {
    let current = entry();
    let folder = current.strip_suffix("widget.js").unwrap();
    for path in [
        "/w/000000000000/widget.js",
        "/w//widget.js",
        &format!("{folder}other.js"),
        &format!("{folder}assets.json"),
    ] {
        let answer = get(path, &[]).await;
        assert_eq!(
            (answer.status, answer.header("cache-control")),
            (StatusCode::NOT_FOUND, Some("no-store")),
            "{path}"
        );
    }
    // Other paths below `/w` are those of a chat with this name, which need a principal.
    for path in ["/w", "/w/stream", "/w/agents", "/w/agents/a/stop", &format!("{folder}a/b.js")] {
        assert_eq!(get(path, &[]).await.status, 401, "{path}");
    }
    // A route of the whole assistant only.
    let open = Assistant::builder(ScriptedProvider::new()).allow_anonymous();
    assert_eq!(asked(open, "GET", "/agents/a/widget.js", &[]).await.status, 404);
}

#[tokio::test]
async fn pages_of_listed_origins_may_load_the_modules() {
    let listed = || Assistant::builder(ScriptedProvider::new()).allow_origin(PAGE);
    for path in ["/widget.js", &entry()] {
        let answer =
            asked(listed(), "GET", path, &[("origin", PAGE), ("sec-fetch-site", "cross-site")]).await;
        assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE), "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), None, "{path}");
        let varies: Vec<_> =
            answer.headers.get_all("vary").iter().map(|value| value.to_str().unwrap()).collect();
        assert!(varies.contains(&"origin"), "{path}: {varies:?}");
        let other = asked(listed(), "GET", path, &[("origin", "https://evil.example")]).await;
        assert_eq!(other.header("access-control-allow-origin"), None, "{path}");
        assert_eq!(other.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
    }
}
