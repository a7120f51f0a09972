//! The client that the application is at an authorization server.

use std::sync::Arc;

use omniassist_mcp::client::{McpAuth, McpServer};
use omniassist_server::Principal;
use omniassist_server::outbound::OutboundPolicy;
use serde_json::{Value, json};

use super::accounts::{Accounts, form};
use super::{Desk, Office, REDIRECT, open, settings};

const METADATA: &str = "https://app.example.com/client.json";

fn client_of(url: &str) -> String {
    form(url.split_once('?').unwrap().1)["client_id"].clone()
}

#[tokio::test]
async fn the_application_is_registered_once() {
    let office = Office::open().await;
    for user in ["ann", "bob", "ann"] {
        office.authorize(user).await;
    }
    let registrations = office.accounts.received("/register");
    assert_eq!(registrations.len(), 1);
    let sent: Value = serde_json::from_str(&registrations[0]["json"]).unwrap();
    assert_eq!((&sent["redirect_uris"], &sent["client_name"]), (&json!([REDIRECT]), &json!("OmniAssist")));
    assert_eq!(sent["token_endpoint_auth_method"], "none");
    assert!(office.accounts.received("/token").iter().all(|sent| sent["client_id"] == "registered"));
}

#[tokio::test]
async fn the_kind_of_the_application_is_that_of_its_redirect() {
    for (redirect, kind) in [(REDIRECT, "native"), ("https://app.test/back", "web")] {
        let office = Office::open_with(["look"], |oauth| oauth.redirect(redirect)).await;
        office.docs.authorization_url(&Principal::new("ann")).await.unwrap();
        let sent: Value = serde_json::from_str(&office.accounts.received("/register")[0]["json"]).unwrap();
        assert_eq!(sent["application_type"], kind, "{sent}");
    }
}

#[tokio::test]
async fn a_document_is_the_client_where_it_is_accepted() {
    for (is_accepted, id) in [(true, METADATA), (false, "registered")] {
        let office = Office::open_with(["look"], |oauth| oauth.client_metadata(METADATA)).await;
        office.accounts.say("client_id_metadata_document_supported", is_accepted.into());
        let url = office.docs.authorization_url(&Principal::new("ann")).await.unwrap();
        assert_eq!(client_of(&url), id);
        assert_eq!(office.accounts.received("/register").is_empty(), is_accepted);
        office.authorize("ann").await;
        assert_eq!(office.accounts.received("/token")[0]["client_id"], id);
    }
}

#[tokio::test]
async fn a_client_that_is_set_is_used_everywhere() {
    let office =
        Office::open_with(["look"], |oauth| oauth.client_metadata(METADATA).client_with_secret("known", "s"))
            .await;
    office.accounts.say("client_id_metadata_document_supported", true.into());
    let url = office.docs.authorization_url(&Principal::new("ann")).await.unwrap();
    assert_eq!(client_of(&url), "known");
    office.accounts.expire_in(0);
    office.authorize("ann").await;
    assert!(!office.call("ann", "docs_look").await.is_empty());
    let sent = office.accounts.received("/token");
    assert!(
        sent.len() >= 2 && sent.iter().all(|sent| sent["authorization"] == "Basic a25vd246cw=="),
        "{sent:?}"
    );
    assert!(office.accounts.received("/register").is_empty());
}

#[tokio::test]
async fn a_secret_is_sent_to_its_issuer_only() {
    let office = Office::open().await;
    let desk = |issuer: &str| {
        let oauth = settings(&office.accounts, office.store.clone());
        let oauth = oauth.client_with_secret("known", "s").issuer(issuer);
        open(McpServer::http("docs", &office.server.url)).auth(McpAuth::oauth(oauth))
    };
    let ann = Principal::new("ann");
    let error = desk("https://accounts.example.com").authorization_url(&ann).await.unwrap_err();
    assert!(error.is_authorization_failed(), "{error}");
    let docs = desk(&office.accounts.url);
    let url = docs.authorization_url(&ann).await.unwrap();
    let query = office.accounts.allow(&url, "ann").await;
    docs.finish_authorization(&ann, &query).await.unwrap();
    assert_eq!(office.accounts.received("/token").len(), 1);
}

#[tokio::test]
async fn metadata_of_another_origin_cannot_name_the_issuer() {
    let (office, other) = (Office::open().await, Accounts::start().await);
    let issuer = office.accounts.url.clone();
    let policy = OutboundPolicy::new().allow_internal_host("127.0.0.1").allow_port(office.accounts.port);
    let oauth = settings(&office.accounts, office.store.clone()).outbound(policy.allow_port(other.port));
    let oauth = oauth.client_with_secret("known", "s").issuer(issuer.clone());
    let docs = Arc::new(open(McpServer::http("docs", &office.server.url)).auth(McpAuth::oauth(oauth)));
    let ann = Principal::new("ann");
    office.accounts.expire_in(0);
    let url = docs.authorization_url(&ann).await.unwrap();
    let query = office.accounts.allow(&url, "ann").await;
    docs.finish_authorization(&ann, &query).await.unwrap();

    let elsewhere = format!("{}/.well-known/elsewhere", other.url);
    office.accounts.say("authorization_servers", json!([elsewhere]));
    other.say("issuer", issuer.into());
    assert!(docs.authorization_url(&ann).await.unwrap_err().is_authorization_failed());
    Desk::new([Arc::clone(&docs)]).call_as("ann", "docs_look").await;
    assert_eq!(other.received("/.well-known/elsewhere").len(), 2, "a new authorization, and a renewal");
    assert!(other.received("/token").is_empty(), "{:?}", other.received("/token"));
}
