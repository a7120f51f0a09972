//! The authorization of a user.

use std::collections::HashMap;
use std::sync::Arc;

use omniassist_mcp::client::{
    CredentialFuture, CredentialKey, CredentialStore, McpAuth, McpServer, MemoryCredentialStore, OAuth,
};
use omniassist_server::Principal;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::accounts::form;
use super::{Office, REDIRECT, open, settings};

fn query_of(url: &str) -> HashMap<String, String> {
    form(url.split_once('?').unwrap().1)
}

#[tokio::test]
async fn a_user_authorizes_and_then_has_the_tools() {
    let office = Office::open().await;
    let ann = Principal::new("ann");
    assert_eq!(office.state("ann").await, "authorization_needed");
    let before = office.call("ann", "docs_look").await;
    assert!(before.contains("There is no") && office.desk.offered().is_empty(), "{before}");

    let url = office.docs.authorization_url(&ann).await.unwrap();
    let asked = query_of(&url);
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(
        (asked["resource"].as_str(), asked["redirect_uri"].as_str()),
        (office.server.url.as_str(), REDIRECT)
    );
    assert_eq!(asked["scope"], "read", "the server has said what it requires");
    let query = office.accounts.allow(&url, "ann").await;
    office.docs.finish_authorization(&ann, &query).await.unwrap();

    assert_eq!((office.state("ann").await, office.state("bob").await), ("ready", "authorization_needed"));
    assert!(office.call("ann", "docs_look").await.contains("look ran"));
    assert!(office.call("bob", "docs_look").await.contains("There is no"));
    let sent = &office.accounts.received("/token")[0];
    assert_eq!(sent["resource"], office.server.url);
    assert!(office.server.protocol.calls("look") == 1);

    office.docs.forget_authorization(&ann).await.unwrap();
    assert_eq!(office.state("ann").await, "authorization_needed");
    assert!(office.call("ann", "docs_look").await.contains("There is no"));
}

#[tokio::test]
async fn a_user_without_a_call_is_led_by_the_refusal_of_the_server() {
    const PLACE: &str = "/.well-known/oauth-protected-resource/elsewhere";
    let office = Office::open().await;
    let origin = office.server.url.strip_suffix("/mcp").unwrap();
    office.accounts.say("resource_metadata", format!("{origin}{PLACE}").into());
    office.accounts.answer_posts_only();
    office.docs.authorization_url(&Principal::new("ann")).await.unwrap();
    assert!(!office.accounts.received(PLACE).is_empty(), "only the refusal names this place");
}

#[tokio::test]
async fn a_state_is_for_one_user_one_server_and_one_use() {
    let office = Office::open().await;
    let (ann, bob) = (Principal::new("ann"), Principal::new("bob"));
    let other = open(McpServer::http("other", &office.server.url))
        .auth(McpAuth::oauth(settings(&office.accounts, office.store.clone())));
    let url = office.docs.authorization_url(&ann).await.unwrap();
    let bobs = office.docs.authorization_url(&bob).await.unwrap();
    let query = office.accounts.allow(&url, "ann").await;
    let forged = query.replace(&format!("state={}", query_of(&url)["state"]), "state=forged");
    let swapped = query.replace(&query_of(&url)["state"], &query_of(&bobs)["state"]);
    assert!(office.docs.finish_authorization(&bob, &query).await.unwrap_err().is_authorization_failed());
    assert!(other.finish_authorization(&ann, &query).await.unwrap_err().is_authorization_failed());
    for wrong in [&*forged, &*swapped, "", "code=1", "state=1", &*format!("{query}&{query}")] {
        let error = office.docs.finish_authorization(&ann, wrong).await.unwrap_err();
        assert!(error.is_authorization_failed(), "{wrong}");
    }
    assert!(office.docs.finish_authorization(&Principal::anonymous(), &query).await.is_err());
    assert!(office.accounts.received("/token").is_empty());

    office.docs.finish_authorization(&ann, &format!("?{query}")).await.unwrap();
    assert!(office.docs.finish_authorization(&ann, &query).await.is_err());
    assert_eq!(office.accounts.received("/token").len(), 1);
    assert!(office.docs.authorization_url(&Principal::anonymous()).await.is_err());
}

/// A store in which authorizations have begun some time ago.
struct Old(MemoryCredentialStore, u64);

impl CredentialStore for Old {
    fn get<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, Option<SecretString>> {
        self.0.get(key)
    }

    fn put<'a>(&'a self, key: &'a CredentialKey, value: SecretString) -> CredentialFuture<'a, ()> {
        let mut value: Value = serde_json::from_str(value.expose_secret()).unwrap();
        if let Some(created) = value.pointer_mut("/state/created_at") {
            *created = (created.as_u64().unwrap() - self.1).into();
        }
        self.0.put(key, value.to_string().into())
    }

    fn remove<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, Option<SecretString>> {
        self.0.remove(key)
    }
}

#[tokio::test]
async fn an_authorization_ends_after_ten_minutes() {
    let office = Office::open().await;
    let ann = Principal::new("ann");
    for (age, is_accepted) in [(590, true), (600, false)] {
        let oauth = settings(&office.accounts, Old(office.store.clone(), age));
        let docs = open(McpServer::http("docs", &office.server.url)).auth(McpAuth::oauth(oauth));
        let url = docs.authorization_url(&ann).await.unwrap();
        let query = office.accounts.allow(&url, "ann").await;
        assert_eq!(docs.finish_authorization(&ann, &query).await.is_ok(), is_accepted, "{age}");
    }
}

#[tokio::test]
async fn only_the_issuer_that_was_found_is_answered() {
    let office = Office::open().await;
    let ann = Principal::new("ann");
    for issuer in ["https://evil.test", "", "{}/"] {
        office.accounts.say("iss", issuer.replace("{}", &office.accounts.url).into());
        let url = office.docs.authorization_url(&ann).await.unwrap();
        let query = office.accounts.allow(&url, "ann").await;
        let error = office.docs.finish_authorization(&ann, &query).await.unwrap_err();
        assert!(error.is_authorization_failed(), "{issuer}");
        // The state is used up.
        let url = query_of(&url);
        let own = query.replace(&format!("iss={issuer}"), &format!("iss={}", office.accounts.url));
        assert!(office.docs.finish_authorization(&ann, &own).await.is_err(), "{url:?}");
    }
    let url = office.docs.authorization_url(&ann).await.unwrap();
    let query = office.accounts.allow(&url, "ann").await;
    let without = query.split('&').filter(|part| !part.starts_with("iss=")).collect::<Vec<_>>().join("&");
    assert!(office.docs.finish_authorization(&ann, &without).await.is_err());
    // The user declines.
    let state = query_of(&office.docs.authorization_url(&ann).await.unwrap())["state"].clone();
    let declined = format!("error=access_denied&state={state}&iss={}", office.accounts.url);
    let error = office.docs.finish_authorization(&ann, &declined).await.unwrap_err();
    assert!(format!("{error:?}").contains("access_denied"));
    assert!(office.accounts.received("/token").is_empty());
}

#[tokio::test]
async fn metadata_that_cannot_be_trusted_begins_nothing() {
    let wrong = [
        ("code_challenge_methods_supported", json!(["plain"])),
        ("code_challenge_methods_supported", Value::Null),
        ("issuer", json!("https://other.test")),
        ("issuer", Value::Null),
        ("response_types_supported", json!(["token"])),
        ("authorization_endpoint", json!("javascript:alert(1)")),
        ("authorization_endpoint", json!("http://other.test/authorize")),
        ("resource", json!("https://other.test/mcp")),
        ("authorization_servers", json!([])),
    ];
    for (member, value) in wrong {
        let office = Office::open().await;
        office.accounts.say(member, value.clone());
        let error = office.docs.authorization_url(&Principal::new("ann")).await.unwrap_err();
        assert!(error.is_authorization_failed(), "{member} {value}: {error:?}");
        assert!(office.accounts.received("/authorize").is_empty());
    }
}

#[tokio::test]
async fn a_store_that_fails_is_told_apart() {
    struct Broken;
    impl CredentialStore for Broken {
        fn get<'a>(&'a self, _: &'a CredentialKey) -> CredentialFuture<'a, Option<SecretString>> {
            Box::pin(async { Err("no disk".into()) })
        }
        fn put<'a>(&'a self, _: &'a CredentialKey, _: SecretString) -> CredentialFuture<'a, ()> {
            Box::pin(async { Err("no disk".into()) })
        }
        fn remove<'a>(&'a self, _: &'a CredentialKey) -> CredentialFuture<'a, Option<SecretString>> {
            Box::pin(async { Err("no disk".into()) })
        }
    }
    let office = Office::open().await;
    let oauth = OAuth::new(Broken).redirect(REDIRECT);
    let docs = Arc::new(open(McpServer::http("docs", &office.server.url)).auth(McpAuth::oauth(oauth)));
    let error = docs.authorization_url(&Principal::new("ann")).await.unwrap_err();
    assert!(error.is_credential_store() && !error.is_authorization_needed());
}
