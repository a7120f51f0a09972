//! Tests of the downloads of files that a conversation names by URL. All servers listen on loopback. The host allows
//! 127.0.0.1, and 127.0.0.2 stands for internal addresses.

use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header;
use omniassist_server::Assistant;
use omniassist_server::core::TranscriptItem;
use omniassist_server::core::transcript::UserContent;
use omniassist_server::files::{FetchPolicy, FileLimits};
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{FakeProvider, Reply, ScriptedProvider, text};
use serde_json::{Value, json};

use super::store::Memory;
use crate::faults::{acceptor, authority};

use super::{Answer, PDF, PNG, chat, request, serve, upload};

const ALLOWED: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const INTERNAL: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

async fn look_up(host: String) -> io::Result<Vec<IpAddr>> {
    match host.as_str() {
        "cdn.test" => Ok(vec![INTERNAL, ALLOWED]),
        "internal.test" | "internal.test." => Ok(vec![INTERNAL, IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1))]),
        "broken.test" => panic!("a resolver that panics"),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

fn policy(server: &FakeProvider) -> FetchPolicy {
    let policy = FetchPolicy::new().allow_http().allow_port(server.address().port());
    policy.allow_address(ALLOWED).resolver(look_up).timeout(Duration::from_secs(5))
}

fn assistant(policy: FetchPolicy, limits: FileLimits) -> (ScriptedProvider, AssistantService) {
    let model = ScriptedProvider::new().otherwise(|_| text("Seen."));
    let builder =
        Assistant::builder(model.clone()).fetch_files(policy).file_limits(limits).files(Memory::default());
    (model, serve(builder))
}

/// Returns a file server, and a model and a service that can download from it.
async fn served() -> (FakeProvider, ScriptedProvider, AssistantService) {
    let server = FakeProvider::start().await.unwrap();
    let (model, service) = assistant(policy(&server), FileLimits::default());
    (server, model, service)
}

fn file(content: impl Into<bytes::Bytes>) -> Reply {
    Reply::sse(content).header("content-type", "image/jpeg")
}

fn redirect(to: impl Into<String>) -> Reply {
    Reply::status(302).header("location", to)
}

fn url(server: &FakeProvider, path: &str) -> String {
    format!("http://cdn.test:{}/{path}", server.address().port())
}

fn message(id: &str, urls: &[String]) -> Value {
    let files = urls
        .iter()
        .map(|url| json!({ "type": "file", "mediaType": "image/jpeg", "filename": "mine", "url": url }));
    let parts: Vec<Value> = [json!({ "type": "text", "text": "Look." })].into_iter().chain(files).collect();
    json!({ "id": id, "role": "user", "parts": parts })
}

async fn ask(service: &AssistantService, url: &str) -> Answer {
    chat(service, "ann", json!([message("m1", &[url.to_owned()])])).await
}

/// Returns the files and notes of the last request to the model.
fn sent(model: &ScriptedProvider) -> Vec<String> {
    let payload = model.payloads().pop().unwrap();
    let content = payload.transcript.iter().filter_map(|item| match item {
        TranscriptItem::User { content } => Some(content.clone()),
        _ => None,
    });
    let content = content.flatten().map(|content| match content {
        UserContent::File { url, .. } => url.to_string(),
        UserContent::Text { text } => text.to_string(),
        _ => String::new(),
    });
    content.filter(|text| text != "Look.").collect()
}

fn data(media_type: &str, content: &[u8]) -> String {
    format!("data:{media_type};base64,{}", STANDARD.encode(content))
}

/// Returns the message of a refusal before the model was called.
fn refused(answer: &Answer, model: &ScriptedProvider) -> String {
    assert_eq!(answer.error(), (400, "file_not_fetched".to_owned()), "{:?}", answer.body);
    assert!(model.payloads().is_empty());
    answer.json()["error"]["message"].as_str().unwrap().to_owned()
}

const NOT_DOWNLOADED: &str = "messages[0].parts[1].url: the file could not be downloaded.";

#[tokio::test]
async fn the_model_receives_the_content_of_a_file_at_a_url() {
    let (server, model, service) = served().await;
    server.reply(file(PNG));
    let picture = url(&server, "a.png?token=1");
    let stored = upload(&service, "/files", "", PDF).await.file()["url"].as_str().unwrap().to_owned();
    let urls = [picture.clone(), format!("http://shop.test{stored}"), picture];
    let answer = chat(&service, "ann", json!([message("m1", &urls)])).await;
    assert_eq!(answer.status, 200, "{:?}", answer.body);
    // The media type comes from the content. A repeated URL is downloaded once.
    let png = data("image/png", PNG);
    assert_eq!(sent(&model), [png.clone(), data("application/pdf", PDF), png]);
    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].method.as_str()), (1, "GET"));
    assert_eq!(requests[0].path, "/a.png?token=1");
    let names: Vec<&str> = requests[0].headers.keys().map(http::HeaderName::as_str).collect();
    assert_eq!(names, ["accept", "user-agent", "host"], "{:?}", requests[0].headers);
}

#[tokio::test]
async fn text_has_the_type_that_the_server_states() {
    let (server, model, service) = served().await;
    server.reply(Reply::sse("# Title").header("content-type", "text/markdown; charset=utf-8"));
    assert_eq!(ask(&service, &url(&server, "a")).await.status, 200);
    assert_eq!(sent(&model), [data("text/markdown", b"# Title")]);
}

#[tokio::test]
async fn clients_of_other_protocols_receive_the_same_answers() {
    let (server, model, service) = served().await;
    let post = async |path: &str, body: Value| {
        let mut request = request("ann", "POST", path, body.to_string());
        request.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
        Answer::of(service.handle(request).await).await
    };
    let openai = async |url: &str| {
        let content = json!([{ "type": "image_url", "image_url": { "url": url } }]);
        let messages = json!([{ "role": "user", "content": content }]);
        post("/v1/chat/completions", json!({ "model": "omniassist", "messages": messages })).await
    };
    let ag_ui = async |url: &str| {
        let source = json!({ "type": "url", "value": url, "mimeType": "image/png" });
        let messages =
            json!([{ "id": "m1", "role": "user", "content": [{ "type": "image", "source": source }] }]);
        let body = json!({
            "threadId": "t", "runId": "r", "messages": messages, "tools": [], "context": [], "state": {},
            "forwardedProps": {},
        });
        post("/ag-ui", body).await
    };
    let gone = "http://gone.test/a.png";
    for answer in [openai(gone).await, ag_ui(gone).await] {
        assert_eq!(refused(&answer, &model), "messages[0].parts[0].url: the file could not be downloaded.");
    }
    server.reply(file(PNG)).reply(file(PNG));
    let picture = url(&server, "a.png");
    assert_eq!(openai(&picture).await.status, 200);
    assert_eq!(sent(&model), [data("image/png", PNG)]);
    assert_eq!(ag_ui(&picture).await.status, 200);
    assert_eq!(sent(&model), [data("image/png", PNG)]);
}

#[tokio::test]
async fn internal_servers_are_not_contacted_and_are_reported_like_missing_servers() {
    let (server, model, _) = served().await;
    let port = server.address().port();
    let elsewhere = TcpListener::bind((INTERNAL, port)).unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    // This policy does not allow 127.0.0.1.
    let policy = || FetchPolicy::new().allow_http().allow_port(port);
    let (own, system) = (assistant(policy().resolver(look_up), FileLimits::default()), policy());
    let system = assistant(system, FileLimits::default());
    let hosts = [
        "127.0.0.1",
        "127.0.0.2",
        "2130706433",
        "0x7f.1",
        "017700000001",
        "127.0.0.1.",
        "0.0.0.0",
        "10.0.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fd00:ec2::254]",
    ];
    for host in
        hosts.into_iter().chain(["internal.test", "internal.test.", "gone.test", "broken.test", "cdn.test"])
    {
        let answer = ask(&own.1, &format!("http://{host}:{port}/a.png")).await;
        assert_eq!(refused(&answer, &own.0), NOT_DOWNLOADED, "{host}");
    }
    for host in ["localhost", "LOCALHOST."] {
        let answer = ask(&system.1, &format!("http://{host}:{port}/a.png")).await;
        assert_eq!(refused(&answer, &system.0), NOT_DOWNLOADED, "{host}");
    }
    assert!(server.events().is_empty() && model.payloads().is_empty());
    assert_eq!(elsewhere.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn a_host_with_a_changing_address_reaches_no_internal_server() {
    let server = FakeProvider::start().await.unwrap();
    let port = server.address().port();
    let elsewhere = TcpListener::bind((INTERNAL, port)).unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let policy = policy(&server).resolver(move |_| {
        let address = if count.fetch_add(1, Ordering::Relaxed) == 0 { ALLOWED } else { INTERNAL };
        async move { Ok(vec![address]) }
    });
    let (model, service) = assistant(policy, FileLimits::default());
    // The redirect names the same host, which now resolves to another address.
    server.reply(redirect("/again"));
    assert_eq!(refused(&ask(&service, &url(&server, "a")).await, &model), NOT_DOWNLOADED);
    // Each connection resolves the host once and uses the checked address.
    assert_eq!((asked.load(Ordering::Relaxed), server.requests().len()), (2, 1));
    assert_eq!(elsewhere.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn each_redirect_is_checked() {
    let (server, model, service) = served().await;
    let port = server.address().port();
    let elsewhere = TcpListener::bind((INTERNAL, port)).unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    for target in [
        format!("http://127.0.0.2:{port}/"),
        format!("//internal.test:{port}/"),
        format!("http://user:secret@cdn.test:{port}/"),
        "http://cdn.test:1/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "gopher://cdn.test/".to_owned(),
        "http://[".to_owned(),
    ] {
        server.reply(redirect(target.clone()));
        let answer = ask(&service, &url(&server, "a")).await;
        assert_eq!(refused(&answer, &model), NOT_DOWNLOADED, "{target}");
    }
    assert_eq!(elsewhere.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);

    // Four redirects are refused. Three redirects are followed.
    server.reply(redirect("b")).reply(redirect("/c")).reply(redirect(url(&server, "d"))).reply(redirect("e"));
    assert_eq!(refused(&ask(&service, &url(&server, "a")).await, &model), NOT_DOWNLOADED);
    server.reply(redirect("b")).reply(redirect("/c")).reply(redirect(url(&server, "d"))).reply(file(PNG));
    assert_eq!(ask(&service, &url(&server, "a")).await.status, 200);
    assert_eq!(sent(&model), [data("image/png", PNG)]);
}

#[tokio::test]
async fn urls_that_the_policy_excludes_are_refused_with_the_reason() {
    let server = FakeProvider::start().await.unwrap();
    let port = server.address().port();
    let all = || FetchPolicy::new().allow_address(ALLOWED).resolver(look_up);
    let hosts = || all().only_hosts(["CDN.test", "*.cdn.test"]).allow_http().allow_port(port);
    for (policy, url, reason) in [
        (all(), format!("http://cdn.test:{port}/a"), "the URL must begin with https://"),
        (all(), "https://user@cdn.test/a".to_owned(), "the URL must not hold a user name or password"),
        (all(), "https://cdn.test:8443/a".to_owned(), "the port of the URL is not allowed"),
        (all().allow_http(), "http://cdn.test:443/a".to_owned(), "the port of the URL is not allowed"),
        (hosts(), format!("http://acdn.test:{port}/"), "the host of the URL is not allowed"),
        (hosts(), format!("http://.cdn.test:{port}/"), "the host of the URL is not allowed"),
        (hosts(), format!("http://127.0.0.1:{port}/"), "the host of the URL is not allowed"),
        (hosts(), format!("http://a.cdn.test:{port}/"), "the file could not be downloaded"),
    ] {
        let (model, service) = assistant(policy, FileLimits::default());
        let expected = format!("messages[0].parts[1].url: {reason}.");
        assert_eq!(refused(&ask(&service, &url).await, &model), expected, "{url}");
    }
    let (_, service) = assistant(hosts(), FileLimits::default());
    server.reply(file(PNG));
    assert_eq!(ask(&service, &format!("http://CDN.test.:{port}/")).await.status, 400);
    assert_eq!(ask(&service, &url(&server, "a")).await.status, 200);
}

#[tokio::test]
async fn a_file_of_one_byte_more_than_the_limit_is_refused() {
    let server = FakeProvider::start().await.unwrap();
    let (model, service) = assistant(policy(&server).max_bytes(PNG.len()), FileLimits::default());
    let more = [PNG, b"\0"].concat();
    let size = more.len() as u64;
    let expected = format!("messages[0].parts[1].url: the file is larger than {} bytes.", PNG.len());
    for reply in [file(more.clone()), file(more.clone()).chunked_by(7), file(more).content_length(size)] {
        server.reply(reply);
        assert_eq!(refused(&ask(&service, &url(&server, "a")).await, &model), expected);
    }
    server.reply(file(PNG).chunked_by(7)).reply(file(PNG).content_length(PNG.len() as u64));
    for _ in 0..2 {
        assert_eq!(ask(&service, &url(&server, "a")).await.status, 200);
        assert_eq!(sent(&model), [data("image/png", PNG)]);
    }
}

#[tokio::test]
async fn only_complete_files_of_accepted_types_are_used() {
    let (server, model, service) = served().await;
    let html = Reply::html(200, "<!doctype html><title>A</title>");
    let svg = Reply::sse("<svg xmlns=\"http://www.w3.org/2000/svg\"/>").header("content-type", "image/png");
    let unaccepted =
        |kind: &str| format!("messages[0].parts[1].url: files of the type {kind} are not accepted.");
    for (reply, expected) in [
        (html, unaccepted("text/html")),
        (svg, unaccepted("image/svg+xml")),
        (file(b"\0\x01\x02".as_slice()), unaccepted("application/octet-stream")),
        (file(PNG).cut_after(8), NOT_DOWNLOADED.to_owned()),
        (Reply::status(404), NOT_DOWNLOADED.to_owned()),
        (Reply::status(304), NOT_DOWNLOADED.to_owned()),
        (Reply::raw("no HTTP"), NOT_DOWNLOADED.to_owned()),
    ] {
        server.reply(reply);
        assert_eq!(refused(&ask(&service, &url(&server, "a")).await, &model), expected);
    }
}

#[tokio::test]
async fn certificates_are_verified_and_a_redirect_to_http_is_refused() {
    let server = FakeProvider::start().await.unwrap();
    let root = authority("files");
    let (acceptor, address) = (acceptor(&root, "cdn.test", 2100), server.address());
    let listener = tokio::net::TcpListener::bind((ALLOWED, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let front = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut server = tokio::net::TcpStream::connect(address).await.unwrap();
            let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
        }
    });
    let policy = || {
        FetchPolicy::new()
            .allow_port(port)
            .allow_port(address.port())
            .allow_address(ALLOWED)
            .resolver(look_up)
    };
    let picture = format!("https://cdn.test:{port}/a.png");
    let (model, service) = assistant(policy(), FileLimits::default());
    assert_eq!(refused(&ask(&service, &picture).await, &model), NOT_DOWNLOADED);
    assert!(server.requests().is_empty());

    let (model, service) = assistant(policy().root_certificate(root.pem()), FileLimits::default());
    server.reply(redirect(url(&server, "a")));
    assert_eq!(refused(&ask(&service, &picture).await, &model), NOT_DOWNLOADED);
    assert_eq!(server.requests().len(), 1);
    server.reply(file(PNG));
    assert_eq!(ask(&service, &picture).await.status, 200);
    assert_eq!(sent(&model), [data("image/png", PNG)]);
    front.abort();

    let builder = Assistant::builder(model).fetch_files(FetchPolicy::new().root_certificate("none"));
    assert!(builder.build().unwrap_err().to_string().contains("`root_certificate`"));
}

#[tokio::test]
async fn a_download_from_a_slow_server_times_out() {
    let server = FakeProvider::start().await.unwrap();
    let policy = policy(&server).timeout(Duration::from_millis(100));
    let (model, service) = assistant(policy, FileLimits::default());
    for reply in [Reply::silence(), file(PNG).stall_after(8)] {
        server.reply(reply);
        assert_eq!(refused(&ask(&service, &url(&server, "a")).await, &model), NOT_DOWNLOADED);
    }
}

#[tokio::test]
async fn an_older_file_that_is_unavailable_becomes_a_note() {
    let (server, model, service) = served().await;
    server.reply(Reply::status(404));
    let turns = json!([message("m1", &[url(&server, "a")]), message("m2", &[])]);
    assert_eq!(chat(&service, "ann", turns).await.status, 200);
    assert_eq!(sent(&model), ["[The attached file \"mine\" is no longer available.]"]);
}

#[tokio::test]
async fn the_files_and_bytes_of_a_run_are_limited_to_the_newest() {
    const NOTE: &str = "[The attached file \"mine\" is no longer available.]";
    let server = FakeProvider::start().await.unwrap();
    server.otherwise(file(PNG));
    let mut bytes = FileLimits::default();
    bytes.max_run_bytes = 2 * PNG.len();
    let cases = [
        (
            policy(&server).max_files(2),
            FileLimits::default(),
            "a message may name 2 files to download".to_owned(),
        ),
        (policy(&server), bytes, format!("the files of a message may have {} bytes together", 2 * PNG.len())),
    ];
    for (policy, limits, reason) in cases {
        let (model, service) = assistant(policy, limits);
        let urls = ["a", "b", "c"].map(|path| url(&server, path));
        let answer = chat(&service, "ann", json!([message("m1", &urls)])).await;
        assert_eq!(refused(&answer, &model), format!("messages[0].parts[3].url: {reason}."));
        let turns = json!([message("m1", &urls[..2]), message("m2", &urls[2..])]);
        assert_eq!(chat(&service, "ann", turns).await.status, 200);
        let png = data("image/png", PNG);
        assert_eq!(sent(&model), [png.as_str(), NOTE, png.as_str()]);
    }
}

#[tokio::test]
async fn a_file_counts_each_time_that_it_is_sent() {
    let server = FakeProvider::start().await.unwrap();
    server.otherwise(file(PNG));
    let mut limits = FileLimits::default();
    limits.max_run_bytes = 2 * PNG.len();
    let (model, service) = assistant(policy(&server), limits);
    let urls = ["a", "a", "a"].map(|path| url(&server, path));
    let answer = chat(&service, "ann", json!([message("m1", &urls)])).await;
    let reason = format!("the files of a message may have {} bytes together", 2 * PNG.len());
    assert_eq!(refused(&answer, &model), format!("messages[0].parts[3].url: {reason}."));
    let turns = json!([message("m1", &urls[..2]), message("m2", &urls[2..])]);
    assert_eq!(chat(&service, "ann", turns).await.status, 200);
    let png = data("image/png", PNG);
    let note = "[The attached file \"mine\" is no longer available.]";
    assert_eq!(sent(&model), [png.as_str(), note, png.as_str()]);
}
