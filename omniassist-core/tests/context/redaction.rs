use super::{bullets, compress, messages};
use omniassist_core::ContextMessage;
use omniassist_core::context::ContextCompressor;
use serde_json::{Value, json};

const CANARY: &str = "c4n4ry";

/// Returns data with the canary in each position from which it must be removed.
fn secrets() -> Vec<(&'static str, Value)> {
    let c = CANARY;
    vec![
        ("form", json!({"form": "f", "fields": {"password": c}})),
        ("form", json!({"form": "f", "fields": {"New-Password": c}})),
        ("form", json!({"form": "f", "fields": {"user[password]": c}})),
        ("form", json!({"form": "f", "fields": {"a": {"type": "password", "value": c, "defaultValue": c}}})),
        ("form", json!({"form": "f", "fields": {"password": {"value": c, "label": "Password"}}})),
        ("form", json!({"form": "f", "fields": [{"name": "a", "type": "PASSWORD", "value": c}]})),
        (
            "form",
            json!({"form": "f", "fields": [{"name": "a", "attributes": {"type": "password"}, "value": c}]}),
        ),
        ("form", json!({"form": "f", "fields": [{"name": "passwd", "value": c}]})),
        ("form", json!({"form": "f", "fields": [{"name": "x1", "label": "Card number", "value": c}]})),
        (
            "form",
            json!({"form": "f", "fields": [{"name": "a", "autocomplete": "billing cc-number", "value": c}]}),
        ),
        (
            "form",
            json!({"form": "f", "fields": [{"name": "a", "autoComplete": "current-password", "value": c}]}),
        ),
        ("form", json!({"form": "f", "fields": [{"name": "a", "autocomplete": "new-password", "value": c}]})),
        (
            "form",
            json!({"form": "f", "fields": [{"name": "a", "autocomplete": "one-time-code", "value": c}]}),
        ),
        ("form", json!({"form": "f", "fields": [{"name": "a", "sensitive": true, "value": c}]})),
        ("form", json!({"form": "f", "fields": [{"name": "a", "type": "password"}], "values": {"a": c}})),
        ("form", json!({"form": "f", "types": {"a": "password"}, "values": {"a": c}})),
        (
            "form",
            json!({"form": "f", "schema": {"properties": {"a": {"format": "password"}}}, "values": {"a": c}}),
        ),
        ("form", json!({"form": "f", "fields": [["password", c]]})),
        (
            "form",
            json!({"form": "f", "fields": {"cc-number": c, "cc_exp": c, "ccCsc": c, "cvv": c, "CVC": c}}),
        ),
        ("event", json!([format!("token={c}&password"), c])),
        ("form", json!({"form": "f", "field": "password", "value": c})),
        ("form", json!({"form": "f", "name": "password", "value": c})),
        ("form", json!({"form": "f", "id": "a", "type": "password", "value": c})),
        ("form", json!({"form": "f", "errors": {"password": format!("{c} is too weak")}})),
        (
            "form",
            json!({"form": "f", "errors": [{"field": "password", "message": format!("{c} is too weak")}]}),
        ),
        ("form", json!({"form": "change-password", "fields": {"current_password": c}})),
        ("form", json!({"form": format!("/f?token={c}"), "fields": {}})),
        ("navigation", json!(format!("/a?token={c}"))),
        ("navigation", json!({"path": format!("/a?x=1&access_token={c}&y=2")})),
        ("navigation", json!({"path": "/cb", "search": format!("?code={c}")})),
        ("navigation", json!({"path": "/cb", "search": format!("api_key={c}")})),
        ("navigation", json!({"path": format!("/cb#id_token={c}")})),
        ("navigation", json!({"path": "/cb", "from": format!("/a?TOKEN={c}")})),
        ("navigation", json!({"path": "/cb", "title": format!("/a?token={c}")})),
        ("navigation", json!({"path": "/cb", "params": {"token": c, "code": c}})),
        ("navigation", json!({"path": "/cb", "query": {"filter": {"apiKey": [c]}}})),
        ("navigation", json!({"url": format!("https://ann:{c}@h.test/a")})),
        ("navigation", json!({"url": format!("https://{c}@h.test/a")})),
        ("navigation", json!({"url": format!("/login?next=%2Fa%3Ftoken%3D{c}")})),
        ("navigation", json!({"url": format!("/login?next=https%3A%2F%2Fann%3A{c}%40h.test")})),
        ("navigation", json!({"url": format!("/a;jsessionid={c}?x=1")})),
        (
            "navigation",
            json!({"to": {"pathname": "/a", "search": format!("?otp={c}"), "hash": format!("#secret={c}")}}),
        ),
        ("navigation", json!({"path": format!("/reset?%70assword={c}")})),
        ("event", json!({"authorization": format!("Bearer {c}")})),
        ("event", json!({"headers": [{"name": "X-Api-Key", "value": c}]})),
        ("event", json!({"a": [{"b": {"clientSecret": {"deep": [c]}}}]})),
        ("event", json!({"otp": [c], "pin": {"v": c}, "ssn": c})),
        ("event", json!({"body": format!("{{\"user\":\"a\",\"password\":\"{c}\"}}")})),
        ("event", json!({"body": format!("{{\"user\":\"a\",\"password\":\"{c}")})),
        ("event", json!({"body": json!(json!({"token": c}).to_string()).to_string()})),
        ("event", json!({"body": format!("user=a&password={c}")})),
        ("event", json!(format!("password={c} and more {c}"))),
        ("event", json!({format!("/a?token={c}"): 1})),
        ("event", json!({"old": c, "new": c, "field": "token"})),
        ("event", json!({"property": "password", "value": c})),
        ("event", json!({"setting": "apiKey", "newValue": c})),
        ("event", json!({"target": {"name": "password"}, "value": c})),
        ("event", json!({"target": {"id": "a", "type": "password"}, "data": c})),
        ("form", json!({"form": "f", "field": {"name": "a", "type": "password"}, "value": c})),
        ("form", json!({"form": "f", "fields": {"pass1": c, "pass2": c}})),
        ("navigation", json!({"path": "/cb", "query": [{"key": "code", "value": c}]})),
        ("navigation", json!({"url": format!("https://h.test/o?X-Goog-Signature={c}")})),
        ("event", json!({"dsn": format!("AccountName=a;AccountKey={c};EndpointSuffix=h.test")})),
        ("API token of the user", json!(c)),
        ("otp", json!(c)),
        ("customer-number", json!(c)),
        ("event", json!({"customerNumber": c})),
        ("event", json!({"customer": {"CUSTOMER-NUMBER": c}})),
        ("event", json!({"url": format!("/a?customer_number={c}")})),
        ("host", json!({"password": c, "url": format!("/a?token={c}")})),
    ]
}

fn compressor() -> ContextCompressor {
    ContextCompressor::new()
        .redact(["customer number", ""])
        .template("host", |message: &ContextMessage| message.data.to_string())
}

#[test]
fn a_secret_is_never_shown() {
    for (kind, data) in secrets() {
        let given = messages([(kind, data.clone())]);
        let compressed = compressor().compress(&given);
        let block = compressed.block().unwrap().as_str();
        assert!(!block.contains(CANARY), "{data} gives {block}");
        assert!(compressed.receipt().redacted > 0, "{data}");
        assert!(!format!("{compressed:?}").contains(CANARY), "{data}");
        assert!(!format!("{:?}", compressed.summary_request()).contains(CANARY), "{data}");
        assert!(!serde_json::to_string(compressed.receipt()).unwrap().contains(CANARY), "{data}");
    }
}

#[test]
fn no_secret_is_shown_among_several() {
    let given: Vec<_> =
        secrets().into_iter().map(|(kind, data)| ContextMessage::new("1", kind, data)).collect();
    let compressed = compressor().window(usize::MAX).max_bytes(0).compress(&given);
    assert!(!format!("{compressed:?}{:?}", compressor()).contains(CANARY));
    assert!(!format!("{:?}", compressed.summary_request().unwrap()).contains(CANARY));
}

#[test]
fn a_declaration_of_a_secret_applies_to_all_messages() {
    let compressed = compress([
        ("form", json!({"form": "f", "fields": {"x": CANARY}})),
        ("form", json!({"form": "g", "fields": [{"name": "x", "type": "password", "value": CANARY}]})),
    ]);
    assert_eq!(bullets(&compressed), ["Form f: x = [redacted]", "Form g: x = [redacted]"]);
}

#[test]
fn ordinary_values_are_shown() {
    let compressed = compress([
        (
            "form",
            json!({"form": "change-password", "event": "changed", "fields": {"password": "", "show_password": true, "email": "a@b.test"}}),
        ),
        ("form", json!({"name": "password-reset", "fields": [{"name": "user", "value": "ann"}]})),
        ("navigation", json!({"name": "reset-password", "path": "/reset", "previous": "/a"})),
        ("event", json!({"name": "token_refreshed", "data": {"ms": 3}})),
        ("event", json!({"code": "DE", "key": "k", "cc": "bob@b.test", "shopping": 1, "author": "ann"})),
        ("event", json!({"url": "https://h.test:8080/@ann?state=open&page=2"})),
        ("event", json!({"target": {"label": "Forgot password?"}, "text": "Forgot password?"})),
        ("event", json!({"target": {"id": "password-help"}, "page": "/login"})),
        ("event", json!({"property": "price", "value": 3})),
        ("token", json!("")),
    ]);
    insta::assert_snapshot!(bullets(&compressed).join("\n"), @r#"
    Form change-password (changed): email = "a@b.test", password = "", show_password = true
    Form password-reset: user = "ann"
    Opened /reset ("reset-password") from /a
    event: data = {"ms":3}, name = "token_refreshed"
    event: author = "ann", cc = "bob@b.test", code = "DE", key = "k", shopping = 1
    event: url = "https://h.test:8080/@ann?state=open&page=2"
    event: target = {"label":"Forgot password?"}, text = "Forgot password?"
    event: page = "/login", target = {"id":"password-help"}
    event: property = "price", value = 3
    token: ""
    "#);
    assert_eq!(compressed.receipt().redacted, 0);
}

#[test]
fn secrets_are_removed_before_merging_and_truncation() {
    let compressed = compress([
        ("navigation", json!({"path": "/a", "from": format!("/b?token={CANARY}")})),
        ("navigation", json!({"path": "/a?x=1"})),
        ("event", json!(format!("{}&token={CANARY}", "x".repeat(505)))),
    ]);
    assert!(!format!("{compressed:?}").contains("c4n"));
    assert_eq!(bullets(&compressed)[0], "Opened /a?x=1 from /b?token=[redacted] ×2");
}

#[test]
fn the_rest_of_a_message_with_a_secret_is_kept() {
    let compressed = compress([(
        "event",
        json!({"a": [1, {"token": "t", "b": "x"}, "y"], "url": "https://u:p@h.test/?q=1&token=t&r=2", "z": null}),
    )]);
    insta::assert_snapshot!(bullets(&compressed).join("\n"), @r#"event: a = [1,{"b":"x","token":"[redacted]"},"y"], url = "https://[redacted]@h.test/?q=1&token=[redacted]&r=2", z = null"#);
    assert_eq!(compressed.receipt().redacted, 3);
}
