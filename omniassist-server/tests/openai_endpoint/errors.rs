//! Tests of refusals and failures in the format of OpenAI.

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::Full;
use omniassist_server::core::Limits;
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Error, OpenAiEndpoint, ProviderErrorKind};
use serde_json::json;

use super::{answer, ask, asking, builder, error, post, service};

#[tokio::test]
async fn errors_name_the_invalid_parameter() {
    let model = ScriptedProvider::new();
    let service = service(&model);
    for (body, param, code) in [
        ("{".to_owned(), None, "invalid_json"),
        (
            asking(json!({"messages": [{"role": "user", "content": 5}]})).to_string(),
            Some("messages[0].content"),
            "invalid_request",
        ),
        (asking(json!({"n": 2})).to_string(), Some("n"), "invalid_request"),
        (asking(json!({"modalities": ["audio"]})).to_string(), Some("modalities"), "invalid_request"),
        (
            asking(json!({"tools": [{"type": "function", "function": {"name": "ping"}}]})).to_string(),
            Some("tools[0]"),
            "invalid_tool",
        ),
        (
            asking(json!({"response_format": {"type": "json_schema", "json_schema": {
                "name": "a", "schema": {"type": "object", "oneOf": [{"type": "object"}]},
            }}}))
            .to_string(),
            Some("response_format.json_schema.schema"),
            "invalid_tool",
        ),
    ] {
        let error = error(service.handle(post(body.clone())).await, 400).await;
        assert_eq!(error["type"], "invalid_request_error", "{body}");
        assert_eq!((error["param"].as_str(), error["code"].as_str()), (param, Some(code)), "{body}");
    }
    let mut request = post("{}");
    request.headers_mut().insert(header::CONTENT_TYPE, "text/plain".parse().unwrap());
    error(service.handle(request).await, 415).await;
    assert!(model.payloads().is_empty());
}

#[tokio::test]
async fn size_and_nesting_are_bounded() {
    let body = asking(json!({"metadata": {"a": "b"}})).to_string();
    let mut limits = Limits::default();
    limits.max_body_bytes = body.len();
    limits.max_json_depth = 3;
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let service = AssistantService::new(builder(&model).limits(limits).build().unwrap());
    answer(service.handle(post(body.clone())).await).await;
    assert_eq!(error(service.handle(post(format!("{body} "))).await, 413).await["code"], "body_too_large");
    let deeper = r#"{"model":"omniassist","x":[[[]]],"messages":[]}"#;
    assert_eq!(error(service.handle(post(deeper)).await, 400).await["code"], "limit_exceeded");
}

#[tokio::test]
async fn paths_and_methods() {
    let model = ScriptedProvider::new();
    let service = service(&model);
    for (method, path, status, allow) in [
        (Method::GET, "/v1/chat/completions", 405, Some("POST")),
        (Method::POST, "/v1/models", 405, Some("GET, HEAD")),
        (Method::DELETE, "/v1/models/omniassist", 405, Some("GET, HEAD")),
        (Method::POST, "/v1/embeddings", 404, None),
        (Method::POST, "/v1/responses", 404, None),
        (Method::GET, "/v1/models/gpt-4o", 404, None),
    ] {
        let request = Request::builder().method(method).uri(path).body(Full::<Bytes>::default()).unwrap();
        let response = service.handle(request).await;
        assert_eq!(
            response.headers().get(header::ALLOW).map(|value| value.to_str().unwrap()),
            allow,
            "{path}"
        );
        error(response, status).await;
    }
}

#[tokio::test]
async fn models() {
    let get = |path: &str| Request::get(path).body(Full::<Bytes>::default()).unwrap();
    let model = ScriptedProvider::new().with_model("secret-model").otherwise(|_| text("Hi"));
    let named = OpenAiEndpoint::new().model("acme/shop:1");
    let service = AssistantService::new(builder(&model).openai_endpoint(named.clone()).build().unwrap());
    let list = answer(service.handle(get("/v1/models")).await).await;
    assert_eq!(list["object"], "list");
    assert_eq!(
        list["data"],
        json!([{"id": "acme/shop:1", "object": "model", "created": 0, "owned_by": "omniassist"}])
    );
    for path in ["/v1/models/acme/shop:1", "/v1/models/acme%2Fshop%3A1"] {
        assert_eq!(answer(service.handle(get(path)).await).await["id"], "acme/shop:1");
    }
    let mine = answer(ask(&service, &asking(json!({"model": "acme/shop:1"}))).await).await;
    assert_eq!(mine["model"], "acme/shop:1");
    let other = error(ask(&service, &asking(json!({}))).await, 404).await;
    assert_eq!((&other["code"], &other["param"]), (&json!("model_not_found"), &json!("model")));

    let any = AssistantService::new(builder(&model).openai_endpoint(named.any_model(true)).build().unwrap());
    let whatever = answer(ask(&any, &asking(json!({"model": "gpt-4o"}))).await).await;
    assert_eq!(whatever["model"], "gpt-4o");
    assert!(
        model.payloads().iter().all(|payload| payload.model.is_none()),
        "the model name of a client must not reach the provider"
    );

    for (name, good) in
        [("a".repeat(128), true), ("a".repeat(129), false), (String::new(), false), ("a b".into(), false)]
    {
        let built = builder(&model).openai_endpoint(OpenAiEndpoint::new().model(name)).build();
        assert_eq!(built.is_ok(), good);
        assert!(good || built.unwrap_err().is_configuration());
    }
}

#[tokio::test]
async fn failures_have_the_status_of_the_openai_api() {
    use ProviderErrorKind::{
        Auth, Connect, ContextOverflow, Interrupted, RateLimited, Response, Timeout, TooLarge, Unavailable,
    };
    for (kind, status, code, retry) in [
        (RateLimited, 429, "rate_limit_exceeded", true),
        (Unavailable, 503, "provider_unavailable", true),
        (Connect, 503, "provider_unavailable", true),
        (Timeout, 504, "timeout", true),
        (Interrupted, 502, "stream_interrupted", true),
        (Response, 502, "provider_error", false),
        (Auth, 500, "provider_auth", false),
        (ContextOverflow, 400, "context_length_exceeded", false),
        (TooLarge, 500, "limit_exceeded", false),
    ] {
        for stream in [false, true] {
            let failure = Error::provider(kind).with_detail("secret").with_status(418);
            let model = ScriptedProvider::new().turn(Turn::error(failure));
            let response = ask(&service(&model), &asking(json!({ "stream": stream }))).await;
            let repeats = !response.headers().contains_key("x-should-retry");
            assert_eq!(repeats, retry, "{kind:?}");
            assert!(!response.headers().contains_key("retry-after"));
            let error = error(response, status).await;
            assert_eq!(error["code"], code);
            assert!(error["param"].is_null() && !error.to_string().contains("secret"));
        }
    }
}

#[tokio::test]
async fn a_failed_run_with_executed_tools_must_not_be_retried() {
    for stream in [false, true] {
        let model = ScriptedProvider::new()
            .turn(call("ping", json!({})))
            .turn(Turn::error(Error::provider(ProviderErrorKind::Unavailable)));
        let response = ask(&service(&model), &asking(json!({ "stream": stream }))).await;
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()["x-should-retry"], "false");
    }
}
