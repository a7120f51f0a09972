//! Credentials: where they go, and where they never appear.

use omniassist_openapi::{Auth, OpenApi};
use omniassist_server::Principal;
use serde_json::{Value, json};

use crate::server::{Received, Server, call, call_as, document, json_reply, reply, schema, tool};

const SECRET: &str = "s3cret/\"+token";

fn secured(scheme: &Value) -> Value {
    // The parameters are those of the schemes, which the document lists too.
    let parameter = |location: &str| json!({ "name": "the-key", "in": location, "schema": {} });
    let parameters = json!([parameter("query"), parameter("header"), parameter("cookie")]);
    let operation = json!({ "operationId": "one", "parameters": parameters, "security": [{ "s": [] }] });
    let mut document = document("3.1.0", &json!({ "/a": { "get": operation } }));
    let unused = json!({ "type": "http", "scheme": "bearer" });
    document["components"] = json!({ "securitySchemes": { "s": scheme, "unused": unused } });
    document
}

fn in_header(received: &Received) -> String {
    received.header("the-key").to_owned()
}

fn authorization(received: &Received) -> String {
    received.header("authorization").to_owned()
}

fn target(received: &Received) -> String {
    received.target.clone()
}

fn cookie(received: &Received) -> String {
    received.header("cookie").to_owned()
}

type Schemes = Vec<(Value, Auth, &'static str, fn(&Received) -> String, String)>;

fn schemes() -> Schemes {
    let key = |location: &str| json!({ "type": "apiKey", "in": location, "name": "the-key" });
    let encoded = "s3cret%2F%22%2Btoken";
    let bearer = || Auth::bearer(SECRET);
    vec![
        (key("header"), Auth::api_key(SECRET), SECRET, in_header, SECRET.to_owned()),
        (key("query"), Auth::api_key(SECRET), SECRET, target, format!("/a?the-key={encoded}")),
        (key("cookie"), Auth::api_key(SECRET), SECRET, cookie, format!("the-key={encoded}")),
        (
            json!({ "type": "http", "scheme": "Bearer" }),
            bearer(),
            SECRET,
            authorization,
            format!("Bearer {SECRET}"),
        ),
        (
            json!({ "type": "oauth2", "flows": {} }),
            bearer(),
            SECRET,
            authorization,
            format!("Bearer {SECRET}"),
        ),
        (
            json!({ "type": "http", "scheme": "basic" }),
            Auth::basic("ann", "pass:word"),
            "ann:pass:word",
            authorization,
            "Basic YW5uOnBhc3M6d29yZA==".to_owned(),
        ),
    ]
}

#[tokio::test]
async fn each_scheme_is_sent_for_all_users_and_per_user() {
    let server = Server::start().await;
    for (scheme, auth, secret, place, expected) in schemes() {
        let per_user =
            Auth::per_principal(
                move |user: Principal| async move { (user.id() == "ann").then(|| secret.into()) },
            );
        for auth in [auth, per_user] {
            let one = tool(&server.open(&secured(&scheme)).auth("s", auth).tools().unwrap(), "t_one");
            let before = server.received().len();
            call_as("ann", &one, &json!({})).await.unwrap();
            assert_eq!(place(&server.last()), expected, "{scheme}");
            assert_eq!(server.received().len(), before + 1);
        }
        let nobody = Auth::per_principal(async |_: Principal| None);
        let one = tool(&server.open(&secured(&scheme)).auth("s", nobody).tools().unwrap(), "t_one");
        let before = server.received().len();
        let error = call_as("bob", &one, &json!({})).await.unwrap_err();
        assert_eq!(error.text(), "The user has no access to this server. Nothing was sent.");
        assert_eq!(server.received().len(), before);
    }
}

#[test]
fn parameters_that_are_credentials_are_not_offered() {
    for (scheme, auth, ..) in schemes() {
        let open = OpenApi::from_json("t", &secured(&scheme).to_string()).unwrap();
        let tools = open.server("https://erp.test").auth("s", auth).tools().unwrap();
        let properties = schema(&tool(&tools, "t_one"))["properties"].clone();
        let arguments: Vec<&str> = properties.as_object().unwrap().keys().map(String::as_str).collect();
        // The other two parameters are not the credentials, and their names tell no secret.
        let bound = scheme["in"].as_str().map(|location| format!("{location}_the-key"));
        let all = ["cookie_the-key", "header_the-key", "query_the-key"];
        let others: Vec<&str> = all.into_iter().filter(|name| Some(*name) != bound.as_deref()).collect();
        assert_eq!(arguments, others, "{scheme}");
    }
}

#[test]
fn the_case_of_letters_counts_in_names_of_the_query_and_not_of_headers() {
    for (location, offered) in [("header", false), ("query", true)] {
        let mut document = secured(&json!({ "type": "apiKey", "in": location, "name": "the-key" }));
        document["paths"]["/a"]["get"]["parameters"] =
            json!([{ "name": "The-Key", "in": location, "schema": {} }]);
        let open = OpenApi::from_json("t", &document.to_string()).unwrap().server("https://erp.test");
        let one = tool(&open.auth("s", Auth::api_key(SECRET)).tools().unwrap(), "t_one");
        assert_eq!(schema(&one)["properties"].get("The-Key").is_some(), offered, "{location}");
    }
}

#[tokio::test]
async fn a_server_that_repeats_credentials_does_not_tell_them_to_the_model() {
    let server = Server::start().await;
    for (scheme, auth, secret, place, sent) in schemes() {
        let open = server.open(&secured(&scheme)).auth("s", auth).secret_header("x-other", "other-secret");
        let one = tool(&open.tools().unwrap(), "t_one");
        let told = format!("{sent} {secret} other-secret pass:word");
        server.reply(json_reply(&json!({ "headers": [told] })));
        server.reply(reply(200, "text/plain", told.clone()));
        server.reply(reply(401, "text/plain", told.clone()));
        let json = call(&one, &json!({})).await.unwrap().to_string();
        let text = call(&one, &json!({})).await.unwrap().to_string();
        let error = call(&one, &json!({})).await.unwrap_err().text().to_owned();
        assert_eq!((place(&server.last()), server.last().header("x-other")), (sent, "other-secret"));
        for seen in [json, text, error] {
            for secret in ["s3cret", "other-secret", "YW5uOnBhc3M6d29yZA", "ann:pass:word"] {
                assert!(!seen.contains(secret), "{scheme} {seen}");
            }
            assert!(seen.contains("[redacted]"), "{seen}");
            let has_password = scheme["scheme"] == "basic";
            assert_ne!(seen.contains("pass:word"), has_password, "{scheme} {seen}");
        }
    }
}

#[tokio::test]
async fn the_credentials_in_a_secret_header_are_removed_alone_too() {
    let server = Server::start().await;
    for (name, value, secret) in [
        ("Authorization", "Bearer abcdefghijkl", "abcdefghijkl"),
        ("cookie", "theme=dark; session=abcdefghijkl", "abcdefghijkl"),
    ] {
        let open = server.open(&secured(&json!({ "type": "http", "scheme": "bearer" })));
        let open = open.auth("s", Auth::bearer("s3cret")).secret_header(name, value);
        let one = tool(&open.tools().unwrap(), "t_one");
        server.reply(json_reply(&json!({ "is": secret, "theme": "dark", "scheme": "Bearer" })));
        let seen = call(&one, &json!({})).await.unwrap();
        assert_eq!(seen, json!({ "is": "[redacted]", "theme": "dark", "scheme": "Bearer" }), "{name}");
    }
}

#[tokio::test]
async fn a_secret_that_is_cut_off_is_removed_too() {
    let server = Server::start().await;
    let one = server.open(&secured(&json!({ "type": "http", "scheme": "bearer" })));
    let one = one.auth("s", Auth::bearer("abcdefghijkl")).max_response_bytes(20);
    let one = tool(&one.tools().unwrap(), "t_one");
    server.reply(reply(200, "text/plain", "0123456789 abcdefghijkl"));
    let seen = call(&one, &json!({})).await.unwrap().to_string();
    assert!(!seen.contains("abc") && seen.contains("0123456789"), "{seen}");
}

#[tokio::test]
async fn a_secret_that_is_a_number_is_removed() {
    let server = Server::start().await;
    let one = server.open(&secured(&json!({ "type": "http", "scheme": "bearer" })));
    let one = tool(&one.auth("s", Auth::bearer("12345678")).tools().unwrap(), "t_one");
    server.reply(json_reply(&json!({ "code": 12_345_678, "other": 1_234_567 })));
    let seen = call(&one, &json!({})).await.unwrap();
    assert_eq!(seen, json!({ "code": "[redacted]", "other": 1_234_567 }));
}

#[test]
fn the_url_of_a_server_holds_no_credentials() {
    let document = secured(&json!({ "type": "http", "scheme": "basic" })).to_string();
    for url in ["https://ann@erp.test", "https://ann:word@erp.test/v1"] {
        let error = OpenApi::from_json("t", &document).unwrap().server(url).tools().unwrap_err();
        assert!(error.is_configuration() && error.to_string().contains("`Auth::basic`"), "{error}");
    }
}

#[tokio::test]
async fn the_first_alternative_with_all_credentials_is_used() {
    let server = Server::start().await;
    let mut document = secured(&json!({ "type": "http", "scheme": "bearer" }));
    document["components"]["securitySchemes"]["t"] =
        json!({ "type": "apiKey", "in": "header", "name": "x-t" });
    document["paths"]["/b"] = json!({ "get": { "operationId": "two", "security": [{ "s": [] }] } });
    for (security, expected) in [
        (json!([{}, { "s": [], "t": [] }, { "s": [] }]), ["Bearer token", ""]),
        (json!([{ "t": [] }, {}]), ["", ""]),
        (json!([]), ["", ""]),
    ] {
        document["paths"]["/a"]["get"]["security"] = security;
        let one = tool(&server.open(&document).auth("s", Auth::bearer("token")).tools().unwrap(), "t_one");
        call(&one, &json!({})).await.unwrap();
        assert_eq!([server.last().header("authorization"), server.last().header("x-t")], expected);
    }
    // The security of the document is for operations without their own.
    document["security"] = json!([{ "s": [], "t": [] }]);
    document["paths"]["/a"]["get"].as_object_mut().unwrap().remove("security");
    let open = server.open(&document).auth("s", Auth::bearer("token")).auth("t", Auth::api_key("key"));
    call(&tool(&open.tools().unwrap(), "t_one"), &json!({})).await.unwrap();
    assert_eq!([server.last().header("authorization"), server.last().header("x-t")], ["Bearer token", "key"]);
    let open = server.open(&document).auth("s", Auth::bearer("token")).tools().unwrap();
    assert_eq!(
        open.skipped()[0].reason(),
        "there are no credentials for its security: s and t; set them with `auth`"
    );
}

#[tokio::test]
async fn names_of_the_models_choice_cannot_be_those_of_credentials() {
    let server = Server::start().await;
    let mut document = secured(&json!({ "type": "apiKey", "in": "query", "name": "the-key" }));
    document["paths"]["/a"]["get"]["parameters"] =
        json!([{ "name": "filter", "in": "query", "schema": { "type": "object" } }]);
    let one = tool(&server.open(&document).auth("s", Auth::api_key("secret")).tools().unwrap(), "t_one");
    let error = call(&one, &json!({ "filter": { "the-key": "mine" } })).await.unwrap_err();
    assert_eq!(error.text(), "`the-key` is not an argument of this tool.");
    assert!(server.received().is_empty());
    call(&one, &json!({ "filter": { "other": "1" } })).await.unwrap();
    assert_eq!(server.last().target, "/a?other=1&the-key=secret");
}

#[test]
fn credentials_that_do_not_fit_are_refused() {
    let open = |scheme: &Value| {
        OpenApi::from_json("t", &secured(scheme).to_string()).unwrap().server("https://erp.test")
    };
    let (key, bearer) = (
        json!({ "type": "apiKey", "in": "query", "name": "k" }),
        json!({ "type": "http", "scheme": "bearer" }),
    );
    for (open, reason) in [
        (open(&bearer).auth("x", Auth::bearer("t")), "is no security scheme"),
        (open(&bearer).auth("s", Auth::api_key("t")), "needs `Auth::bearer`"),
        (open(&key).auth("s", Auth::basic("a", "b")), "needs `Auth::api_key`"),
        (
            open(&json!({ "type": "http", "scheme": "basic" })).auth("s", Auth::bearer("t")),
            "needs `Auth::basic`",
        ),
        (
            open(&bearer).auth("s", Auth::bearer("t")).auth("unused", Auth::bearer("t")),
            "\"unused\" is in the `security` of no operation",
        ),
        (open(&json!({ "type": "mutualTLS" })).auth("s", Auth::bearer("t")), "cannot use"),
        (open(&key).secret_header("a b", "t"), "`secret_header`"),
        (open(&key).secret_header("a", "t\n"), "`secret_header`"),
    ] {
        let error = open.tools().unwrap_err();
        assert!(error.is_configuration() && error.to_string().contains(reason), "{error}");
    }
    let shown = format!("{:?} {:?}", Auth::bearer(SECRET), open(&key).secret_header("a", SECRET));
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
fn security_that_tools_cannot_use_is_named_as_such() {
    let mut document = secured(&json!({ "type": "http", "scheme": "digest" }));
    for (security, reason) in [
        (json!([{ "s": [] }]), "tools cannot use its security: s"),
        (json!([{ "s": [], "unused": [] }]), "tools cannot use its security: s and unused"),
        (
            json!([{ "s": [] }, { "unused": [] }]),
            "there are no credentials for its security: unused; set them with `auth`",
        ),
    ] {
        document["paths"]["/a"]["get"]["security"] = security;
        let open = OpenApi::from_json("t", &document.to_string()).unwrap().server("https://erp.test");
        assert_eq!(open.tools().unwrap().skipped()[0].reason(), reason);
    }
}

#[tokio::test]
async fn a_secret_header_takes_the_place_of_a_parameter() {
    let server = Server::start().await;
    let parameter = |name: &str| json!({ "name": name, "in": "header", "required": true, "schema": {} });
    let operation =
        json!({ "operationId": "one", "parameters": [parameter("X-Api-Key"), parameter("X-Tenant")] });
    let document = document("3.1.0", &json!({ "/a": { "get": operation } }));
    let open = || server.open(&document).secret_header("x-tenant", "acme");
    let skipped = open().tools().unwrap();
    assert!(skipped.skipped()[0].reason().contains("send it with `secret_header`"), "{skipped:?}");
    let one = tool(&open().secret_header("x-api-key", SECRET).tools().unwrap(), "t_one");
    assert_eq!(schema(&one)["properties"], json!({}));
    call(&one, &json!({})).await.unwrap();
    let received = server.last();
    assert_eq!((received.header("x-api-key"), received.header("x-tenant")), (SECRET, "acme"));
}

#[tokio::test]
async fn a_secret_cookie_stays_beside_the_cookies_of_arguments() {
    let server = Server::start().await;
    let parameter = |name: &str| json!({ "name": name, "in": "cookie", "schema": {} });
    let spread = json!({ "name": "more", "in": "cookie", "explode": true, "schema": { "type": "object" } });
    let parameters = json!([parameter("locale"), parameter("s"), spread]);
    let operation = json!({ "operationId": "one", "parameters": parameters });
    let document = document("3.1.0", &json!({ "/a": { "get": operation } }));
    let one = tool(&server.open(&document).secret_header("cookie", "s=1; t=2").tools().unwrap(), "t_one");
    call(&one, &json!({ "locale": "de" })).await.unwrap();
    assert_eq!(server.last().header("cookie"), "s=1; t=2; locale=de");
    call(&one, &json!({})).await.unwrap();
    assert_eq!(server.last().header("cookie"), "s=1; t=2");
    for arguments in [json!({ "s": "7" }), json!({ "more": { "t": "7" } })] {
        let error = call(&one, &arguments).await.unwrap_err();
        assert!(error.to_string().contains("is not an argument of this tool"), "{error}");
    }
}
