//! Tests of error responses of providers.

use std::time::Duration;

use omniassist_server::ProviderErrorKind;
use omniassist_server::provider::error_from_response;

#[test]
fn the_status_and_the_body_determine_the_kind() {
    use ProviderErrorKind::{Auth, ContextOverflow, RateLimited, Response, Timeout, Unavailable};
    let cases: &[(u16, &str, ProviderErrorKind, Option<&str>)] = &[
        (
            401,
            r#"{"error":{"code":"invalid_api_key","message":"m","type":"invalid_request_error"}}"#,
            Auth,
            Some("invalid_api_key"),
        ),
        (403, "", Auth, None),
        (
            404,
            r#"{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}"#,
            Response,
            Some("not_found_error"),
        ),
        (404, r#"{"error":"Specified model not found"}"#, Response, None),
        (
            400,
            r#"{"code":"invalid-argument","error":"Incorrect API key provided."}"#,
            Auth,
            Some("invalid-argument"),
        ),
        (
            400,
            r#"{"error":{"code":"context_length_exceeded","message":"m"}}"#,
            ContextOverflow,
            Some("context_length_exceeded"),
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"too long","type":"exceed_context_size_error","n_ctx":8192}}"#,
            ContextOverflow,
            Some("exceed_context_size_error"),
        ),
        (
            413,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens"}}"#,
            ContextOverflow,
            None,
        ),
        (413, "<html>too large</html>", Response, None),
        (408, "", Timeout, None),
        (402, r#"{"error":{"message":"Insufficient Balance"}}"#, RateLimited, Some("insufficient_quota")),
        (
            429,
            r#"{"error":{"code":"rate_limit_exceeded","type":"tokens","message":"m"}}"#,
            RateLimited,
            Some("rate_limit_exceeded"),
        ),
        (
            429,
            r#"{"error":{"code":null,"type":"insufficient_quota","message":"m"}}"#,
            RateLimited,
            Some("insufficient_quota"),
        ),
        (500, "oops", Unavailable, None),
        (
            503,
            r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#,
            Unavailable,
            Some("unavailable_error"),
        ),
        (
            501,
            r#"{"error":{"code":501,"message":"m","type":"not_supported_error"}}"#,
            Response,
            Some("not_supported_error"),
        ),
        (
            429,
            r#"{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34s"}]}}"#,
            RateLimited,
            Some("RESOURCE_EXHAUSTED"),
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]"#,
            Auth,
            Some("INVALID_ARGUMENT"),
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
            Auth,
            Some("API_KEY_INVALID"),
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8).","status":"INVALID_ARGUMENT"}}"#,
            ContextOverflow,
            Some("INVALID_ARGUMENT"),
        ),
        (
            503,
            r#"{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}"#,
            Unavailable,
            Some("UNAVAILABLE"),
        ),
        (
            403,
            r#"{"error":{"code":403,"message":"m","status":"PERMISSION_DENIED"}}"#,
            Auth,
            Some("PERMISSION_DENIED"),
        ),
    ];
    for (status, body, kind, code) in cases {
        let error = error_from_response(*status, body.as_bytes());
        assert_eq!(error.provider_kind(), Some(*kind), "{status} {body}");
        assert_eq!(error.code(), *code, "{status} {body}");
        assert_eq!(error.status(), Some(*status));
    }
    let quota = error_from_response(429, br#"{"error":{"type":"insufficient_quota"}}"#);
    assert!(!quota.is_retryable());
    assert!(error_from_response(429, b"").is_retryable());
}

#[test]
fn a_quoted_key_is_redacted_and_the_detail_is_bounded() {
    let body =
        br#"{"error":{"message":"Incorrect API key provided: sk-proj-abcDEF123456_x. Ask the task-force."}}"#;
    let error = error_from_response(401, body);
    assert_eq!(error.detail(), Some("Incorrect API key provided: [redacted] Ask the task-force."));
    let long = format!(r#"{{"error":{{"message":"{}"}}}}"#, "é".repeat(4000));
    assert_eq!(error_from_response(400, long.as_bytes()).detail().map(str::len), Some(2048));
    assert!(!format!("{error} {error:?}").contains("sk-proj"));
    let google = error_from_response(400, br#"{"error":{"message":"Bad key AIzaSyA1234567890abc, AIza."}}"#);
    assert_eq!(google.detail(), Some("Bad key [redacted], AIza."));
}

#[test]
fn a_code_with_a_line_break_does_not_forge_a_line_of_a_log() {
    let error = error_from_response(400, br#"{"error":{"code":"x\nERROR forged\u001b[0m"}}"#);
    assert_eq!(error.code(), Some("x\nERROR forged\u{1b}[0m"));
    assert!(error.to_string().contains(r"[x\nERROR forged\u{1b}[0m]"), "{error}");
}

#[test]
fn the_details_of_google_contain_the_delay() {
    let wait = |delay: &str| {
        let body = format!(
            r#"{{"error":{{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{{"@type":"x"}},{{"retryDelay":"{delay}"}}]}}}}"#
        );
        error_from_response(429, body.as_bytes()).retry_after()
    };
    assert_eq!(wait("34s"), Some(Duration::from_secs(34)));
    assert_eq!(wait("0.5s"), Some(Duration::from_millis(500)));
    let other = error_from_response(500, br#"{"status":"error","message":"m","details":["x", 1]}"#);
    assert_eq!((other.detail(), other.code()), (Some("m"), None));
    for odd in ["", "34", "-1s", "NaNs", "1e300s", "soon"] {
        assert_eq!(wait(odd), None, "{odd}");
    }
}

#[test]
fn a_router_passes_on_the_error_of_the_provider_of_the_model() {
    let report = |status: u16, raw: serde_json::Value| {
        let metadata = serde_json::json!({"provider_name": "P", "raw": raw});
        let error =
            serde_json::json!({"message": "Provider returned error", "code": status, "metadata": metadata});
        error_from_response(status, serde_json::json!({ "error": error }).to_string().as_bytes())
    };
    let anthropic =
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#;
    let parsed: serde_json::Value = serde_json::from_str(anthropic).unwrap();
    for raw in [anthropic.into(), parsed, "prompt is too long: 9 > 8".into()] {
        let error = report(400, raw);
        assert_eq!(error.provider_kind(), Some(ProviderErrorKind::ContextOverflow));
        assert_eq!(error.detail(), Some("prompt is too long: 9 > 8"));
    }
    // The status is that of the router, and an empty report changes nothing.
    let busy = report(502, r#"{"error":{"code":400,"message":"m","type":"overloaded_error"}}"#.into());
    assert_eq!((busy.status(), busy.provider_kind()), (Some(502), Some(ProviderErrorKind::Unavailable)));
    for raw in [serde_json::Value::Null, 1.into(), serde_json::json!({})] {
        assert_eq!(report(400, raw).detail(), Some("Provider returned error"));
    }
}

#[test]
fn the_levels_of_an_error_are_bounded() {
    for (open, close) in [("{\"error\":", "}"), ("[", "]"), ("{\"metadata\":{\"raw\":", "}}")] {
        let levels = 64 * 1024 / (open.len() + close.len());
        let body = format!("{}1{}", open.repeat(levels), close.repeat(levels));
        assert_eq!(error_from_response(400, body.as_bytes()).status(), Some(400));
    }
}

#[test]
fn a_conversation_that_is_too_long_is_recognised_by_the_words_of_each_server() {
    for message in [
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "The input (210000 tokens) is longer than the model's context length (200000 tokens).",
        "The decoder prompt (length 9001) is longer than the maximum model length of 8192.",
        "prompt token count of 140000 exceeds the limit of 128000",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        "Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)",
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
        "prompt too long; exceeded max context length by 12 tokens",
        "Input is too long for requested model.",
        "Please reduce the length of the messages or completion.",
    ] {
        let body = serde_json::json!({"error": {"message": message, "type": "invalid_request_error"}});
        let error = error_from_response(400, body.to_string().as_bytes());
        assert_eq!(error.provider_kind(), Some(ProviderErrorKind::ContextOverflow), "{message}");
    }
    for message in [
        "max_tokens exceeds the limit of 8192",
        "Range of max_tokens should be [1, 8192]",
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got 140.",
        "document.title: String should have at most 500 characters",
    ] {
        let body = serde_json::json!({"error": {"message": message, "type": "invalid_request_error"}});
        let error = error_from_response(400, body.to_string().as_bytes());
        assert_eq!(error.provider_kind(), Some(ProviderErrorKind::Response), "{message}");
    }
}
