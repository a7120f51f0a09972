//! Authentication, origins and host names.

use omniassist_server::core::Limits;
use omniassist_server::testing::ScriptedProvider;
use omniassist_server::{Assistant, AssistantBuilder, AuthError, AuthRequest, Principal};
use serde_json::{Value, json};

use crate::host::Host;
use crate::stage::{closed, invoice, model_routes, run, says};
use crate::transport::Transport;
use crate::wire::{Answer, Ask};

const APP: &str = "https://app.example.com";

/// Returns an assistant with the access rules of `set`.
fn guarded(model: &ScriptedProvider, set: impl FnOnce(AssistantBuilder) -> AssistantBuilder) -> Assistant {
    set(closed(model.clone()).object(invoice())).build().unwrap()
}

fn open(model: &ScriptedProvider) -> Assistant {
    guarded(model, AssistantBuilder::allow_anonymous)
}

/// Returns the code of an error of any dialect that has codes.
fn code(answer: &Answer) -> Value {
    let body = answer.json();
    let code = body.pointer("/error/code").or_else(|| body.pointer("/details/code"));
    code.cloned().unwrap_or_else(|| body["error"].clone())
}

pub(crate) async fn anonymous_requests_are_refused(on: Transport) {
    let model = says("{}");
    let host = Host::start(on, &guarded(&model, |builder| builder)).await;
    for asked in model_routes("/assistant") {
        let answer = host.ask(&asked).await.whole().await;
        assert_eq!(answer.status(), 401, "{}: {}", asked.path, answer.text());
    }
    for path in ["/assistant/manifest.json", "/assistant/types.d.ts", "/assistant/v1/models"] {
        assert_eq!(host.ask(&Ask::get(path)).await.whole().await.status(), 401, "{path}");
    }
    assert!(model.payloads().is_empty());
    // The backend's own authentication is enough.
    for asked in model_routes("/assistant") {
        let path = asked.path.clone();
        assert_eq!(host.ask(&asked.user("ann")).await.whole().await.status(), 200, "{path}");
    }
}

pub(crate) async fn a_hook_authenticates_requests(on: Transport) {
    async fn session(request: AuthRequest) -> Result<Option<Principal>, AuthError> {
        match request.bearer() {
            Some("secret-of-ada") => Ok(Some(Principal::new("ada"))),
            Some(_) => Err(AuthError::unauthenticated()),
            None => Ok(None),
        }
    }
    let model = says("Hello");
    let host = Host::start(on, &guarded(&model, |builder| builder.authenticate(session))).await;
    let with = |secret: &str| run("/assistant").header("authorization", format!("Bearer {secret}"));
    assert_eq!(host.ask(&with("secret-of-ada")).await.whole().await.words(), "Hello");
    for refused in [with("another"), run("/assistant")] {
        let answer = host.ask(&refused).await.whole().await;
        assert_eq!(answer.status(), 401);
        assert!(answer.header("www-authenticate").is_some(), "{answer:?}");
    }
    assert_eq!(model.payloads().len(), 1);
}

pub(crate) async fn a_refusal_reaches_a_client_that_is_still_sending(on: Transport) {
    let model = says("Hello");
    let host = Host::start(on, &guarded(&model, |builder| builder)).await;
    let large = run("/assistant").padded(6 << 20).pieces(50_000);
    for asked in [large.clone(), large.clone().unannounced()] {
        assert_eq!(host.ask(&asked).await.whole().await.status(), 401);
    }
    let foreign = large.header("sec-fetch-site", "cross-site").user("ann");
    assert_eq!(host.ask(&foreign).await.whole().await.status(), 403);
    assert!(model.payloads().is_empty());
    assert!(6 << 20 < Limits::default().max_body_bytes);
}

pub(crate) async fn pages_of_other_origins_are_refused(on: Transport) {
    let model = says("{}");
    let host = Host::start(on, &open(&model)).await;
    let mut foreign = Vec::new();
    for asked in model_routes("/assistant") {
        foreign.push(asked.clone().header("sec-fetch-site", "cross-site"));
        foreign.push(asked.clone().header("sec-fetch-site", "same-site").header("origin", "http://a.b"));
        foreign.push(asked.clone().header("origin", "https://evil.example"));
        foreign.push(asked.header("origin", "null"));
    }
    foreign.push(Ask::json("/assistant/c/stop", &json!({})).header("sec-fetch-site", "cross-site"));
    for asked in foreign {
        let answer = host.ask(&asked).await.whole().await;
        assert_eq!(answer.status(), 403, "{asked:?}");
        assert!(answer.head.headers.iter().all(|(name, _)| !name.starts_with("access-control-")));
    }
    let refused = host.ask(&run("/assistant").header("sec-fetch-site", "cross-site")).await.whole().await;
    assert_eq!(code(&refused), "origin_not_allowed");
    assert!(model.payloads().is_empty());
}

pub(crate) async fn pages_of_the_own_origin_are_accepted(on: Transport) {
    let host = Host::start(on, &open(&says("Hello"))).await;
    let own = format!("http://{}", host.address);
    for asked in [
        run("/assistant").header("sec-fetch-site", "same-origin").header("origin", &own),
        run("/assistant").header("sec-fetch-site", "none"),
        run("/assistant").header("origin", &own),
    ] {
        let answer = host.ask(&asked).await.whole().await;
        assert_eq!(answer.words(), "Hello", "{asked:?}");
    }
}

pub(crate) async fn pages_of_listed_origins_are_accepted(on: Transport) {
    let model = says("Hello");
    let listed = guarded(&model, |builder| builder.allow_anonymous().allow_origin(APP));
    let host = Host::start(on, &listed).await;
    let asked = run("/assistant").header("origin", APP).header("sec-fetch-site", "cross-site");
    let answer = host.ask(&asked).await.whole().await;
    assert_eq!(answer.words(), "Hello");
    assert_eq!(answer.header("access-control-allow-origin"), Some(APP));
    assert_eq!(answer.header("vary"), Some("origin"));
}

pub(crate) async fn preflights_are_answered(on: Transport) {
    let model = says("Hello");
    // A preflight has no credentials.
    let listed = guarded(&model, |builder| builder.allow_origin(APP));
    let host = Host::start(on, &listed).await;
    for path in ["/assistant", "/assistant/completion", "/assistant/v1/chat/completions", "/assistant/c/stop"]
    {
        let preflight = |origin: &str| {
            Ask::new("OPTIONS", path)
                .header("origin", origin)
                .header("sec-fetch-site", "cross-site")
                .header("access-control-request-method", "POST")
                .header("access-control-request-headers", "content-type, x-evil")
        };
        let answer = host.ask(&preflight(APP)).await.whole().await;
        assert_eq!((answer.status(), answer.text()), (204, ""), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), Some(APP));
        assert_eq!(answer.header("access-control-allow-methods"), Some("GET, HEAD, POST, DELETE"));
        assert_eq!(answer.header("access-control-allow-headers"), Some("content-type"));
        assert_eq!(host.ask(&preflight("https://evil.example")).await.whole().await.status(), 403);
    }
    assert!(model.payloads().is_empty());
}

/// A page may point its own host name to this machine. Its requests then contain that name as the host.
pub(crate) async fn foreign_host_names_are_refused(on: Transport) {
    let model = says("Hello");
    let host = Host::start(on, &open(&model)).await;
    for name in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "192.168.0.1"] {
        let answer = host.ask(&run("/assistant").host(name)).await.whole().await;
        assert_eq!((answer.status(), code(&answer)), (421, json!("host_not_allowed")), "{name}");
        let manifest = host.ask(&Ask::get("/assistant/manifest.json").host(name)).await.whole().await;
        assert_eq!(manifest.status(), 421, "{name}");
    }
    assert!(model.payloads().is_empty());
    for name in ["localhost", "LOCALHOST:81", "127.0.0.1", "[::1]:8080", "app.localhost"] {
        let status = host.ask(&run("/assistant").host(name)).await.whole().await.status();
        assert_eq!(status, 200, "{name}");
    }
}

pub(crate) async fn only_listed_hosts_are_accepted(on: Transport) {
    let listed = guarded(&says("Hello"), |builder| {
        builder.allow_anonymous().allowed_hosts(["shop.example", "*.b.example"])
    });
    let host = Host::start(on, &listed).await;
    for (name, status) in [
        ("shop.example", 200),
        ("Shop.Example.:8080", 200),
        ("a.b.example", 200),
        ("b.example", 421),
        ("other.example", 421),
        // Requests from this machine may name it.
        ("localhost", 200),
    ] {
        let answer = host.ask(&run("/assistant").host(name)).await.whole().await;
        assert_eq!(answer.status(), status, "{name}");
    }
}

pub(crate) async fn content_types_of_forms_are_refused(on: Transport) {
    let model = says("Hello");
    let host = Host::start(on, &open(&model)).await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        for asked in model_routes("/assistant").into_iter().chain([Ask::post("/assistant/c/stop", "x=y")]) {
            let answer = host.ask(&asked.header("content-type", kind)).await.whole().await;
            assert_eq!(answer.status(), 415, "{kind}");
        }
    }
    assert!(model.payloads().is_empty());
}

pub(crate) async fn duplicate_keys_are_refused(on: Transport) {
    let host = Host::start(on, &open(&says("Hello"))).await;
    let message = r#"{"id":"m1","role":"user","content":"hi"}"#;
    let body = format!(r#"{{"messages":[{message}],"messages":[{message}]}}"#);
    let answer = host.ask(&Ask::post("/assistant", body)).await.whole().await;
    assert_eq!(answer.status(), 400, "{}", answer.text());
}

pub(crate) async fn every_answer_has_the_security_headers(on: Transport) {
    let host = Host::start(on, &open(&says("{}"))).await;
    let refusals = [
        Ask::get("/assistant/nowhere"),
        Ask::get("/assistant"),
        Ask::post("/assistant", "{"),
        run("/assistant").header("sec-fetch-site", "cross-site"),
        run("/assistant").host("evil.example"),
    ];
    let others = [Ask::get("/assistant/manifest.json"), Ask::get("/assistant/types.d.ts")];
    for asked in model_routes("/assistant").into_iter().chain(refusals).chain(others) {
        let answer = host.ask(&asked).await.whole().await;
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{asked:?}");
        let streams = answer.header("x-accel-buffering").is_some();
        let cache = if streams { "no-cache, no-store, no-transform" } else { "no-store" };
        assert_eq!(answer.header("cache-control"), Some(cache), "{asked:?}");
    }
    // The backend's own answers are unchanged.
    let health = host.ask(&Ask::get("/health")).await.whole().await;
    assert_eq!((health.header("cache-control"), health.header("x-content-type-options")), (None, None));
}
