//! The tokens of a user, from the first call to the last.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use omniassist_mcp::client::{McpAuth, McpServer};
use omniassist_server::Principal;
use omniassist_server::outbound::OutboundPolicy;
use serde_json::json;

use super::accounts::form;
use super::{Office, open, settings};
use crate::client::Desk;

const NEEDED: &str = "The user has to authorize the access to this server first. The call did not run.";

fn renewals(office: &Office) -> Vec<String> {
    let requests = office.accounts.received("/token");
    requests.iter().filter_map(|sent| sent.get("refresh_token").cloned()).collect()
}

#[tokio::test]
async fn a_token_is_renewed_once_for_all_who_wait() {
    let office = Office::open().await;
    office.accounts.expire_in(0);
    office.authorize("ann").await;
    office.accounts.expire_in(3600);
    // Each has connections of its own, and all have the authorizations of one server.
    let desks: Vec<_> = (0..8).map(|_| Desk::new([Arc::clone(&office.docs)])).collect();
    for renewed in 1..=2 {
        let calls = desks.iter().map(|desk| desk.call_as("ann", "docs_look"));
        for result in join_all(calls).await {
            assert!(result.to_string().contains("look ran"), "{result}");
        }
        // First the token has expired, and then all connections find it refused.
        assert_eq!(renewals(&office).len(), renewed);
        office.accounts.revoke_access();
    }
    let sent = &office.accounts.received("/token")[1];
    assert_eq!(sent["resource"], office.server.url);
}

#[tokio::test]
async fn a_call_whose_token_is_refused_runs_with_the_next_one() {
    let office = Office::open().await;
    office.authorize("ann").await;
    assert!(office.call("ann", "docs_look").await.contains("look ran"));
    for round in 1..=2 {
        office.accounts.revoke_access();
        let result = office.call("ann", "docs_look").await;
        // A token that is refused at once again is not renewed for ever.
        assert_eq!(result.contains("look ran"), round == 1, "{result}");
    }
    // The second renewal uses the token of the first.
    assert_eq!(renewals(&office).len(), 1);
    assert_eq!(office.server.protocol.calls("look"), 2);
}

#[tokio::test]
async fn a_tool_whose_token_is_gone_says_so_and_the_next_run_has_no_tools() {
    let office = Office::open().await;
    office.authorize("ann").await;
    assert!(office.call("ann", "docs_look").await.contains("look ran"));
    office.accounts.revoke();
    let result = office.call("ann", "docs_look").await;
    assert!(result.contains(NEEDED), "{result}");
    assert_eq!(office.state("ann").await, "authorization_needed");
    assert!(office.call("ann", "docs_look").await.contains("There is no"));
    assert!(office.desk.offered().is_empty());
    // The refresh token was refused, so it is never sent again.
    assert_eq!(renewals(&office).len(), 1);
    office.authorize("ann").await;
    assert!(office.call("ann", "docs_look").await.contains("look ran"));
}

#[tokio::test]
async fn an_authorization_server_that_fails_costs_no_token() {
    let office = Office::open().await;
    office.accounts.expire_in(0);
    office.authorize("ann").await;
    office.accounts.expire_in(3600);
    office.accounts.fail(true);
    assert!(office.call("ann", "docs_look").await.contains("There is no"));
    assert_eq!(office.state("ann").await, "ready");
    office.accounts.fail(false);
    assert!(office.call("ann", "docs_look").await.contains("look ran"));
}

#[tokio::test]
async fn an_application_that_is_forgotten_is_registered_again() {
    let office = Office::open().await;
    office.accounts.expire_in(0);
    office.authorize("ann").await;
    office.accounts.expire_in(3600);
    office.accounts.forget_application(true);
    assert!(office.call("ann", "docs_look").await.contains("There is no"));
    assert_eq!(office.state("ann").await, "authorization_needed");
    office.accounts.forget_application(false);
    office.authorize("ann").await;
    assert!(office.call("ann", "docs_look").await.contains("look ran"));
    assert_eq!(office.accounts.received("/register").len(), 2);
}

#[tokio::test]
async fn a_client_id_of_the_settings_that_is_refused_costs_no_token() {
    let office = Office::open_with(["look"], |oauth| oauth.client("known")).await;
    office.accounts.expire_in(0);
    office.authorize("ann").await;
    office.accounts.expire_in(3600);
    office.accounts.forget_application(true);
    assert!(office.call("ann", "docs_look").await.contains("There is no"));
    office.accounts.forget_application(false);
    assert!(office.call("ann", "docs_look").await.contains("look ran"));
}

#[tokio::test]
async fn a_call_under_way_ends_when_the_user_is_forgotten() {
    let office = Office::open_with(["hang"], |oauth| oauth).await;
    office.authorize("ann").await;
    let call = office.call("ann", "docs_hang");
    let forget = async {
        while office.server.protocol.calls("hang") == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        office.docs.forget_authorization(&Principal::new("ann")).await.unwrap();
    };
    let both = async { tokio::join!(call, forget).0 };
    let result = tokio::time::timeout(Duration::from_secs(10), both).await.unwrap();
    assert!(result.contains("is_error"), "{result}");
    assert!(office.call("ann", "docs_hang").await.contains("There is no"));
}

#[tokio::test]
async fn processes_that_share_a_store_share_the_renewal() {
    let office = Office::open().await;
    office.authorize("ann").await;
    let oauth = settings(&office.accounts, office.store.clone());
    let other = Desk::new([open(McpServer::http("docs", &office.server.url)).auth(McpAuth::oauth(oauth))]);
    let call = async |desk: &Desk| {
        let result = desk.call_as("ann", "docs_look").await.to_string();
        assert!(result.contains("look ran"), "{result}");
    };
    tokio::join!(call(&office.desk), call(&other));
    office.accounts.revoke_access();
    call(&office.desk).await;
    // It knows the old token, and finds the new one in the store.
    call(&other).await;
    assert_eq!(renewals(&office).len(), 1);
}

#[tokio::test]
async fn another_authorization_server_receives_no_token_of_the_first() {
    let next = super::Accounts::start().await;
    // Both are allowed.
    let policy = (1024..=u16::MAX).fold(OutboundPolicy::new(), OutboundPolicy::allow_port);
    let policy = policy.allow_internal_host("127.0.0.1");
    let office = Office::open_with(["look"], |oauth| oauth.outbound(policy.clone())).await;
    office.accounts.expire_in(0);
    office.authorize("ann").await;
    office.accounts.say("authorization_servers", json!([next.url]));
    assert!(office.call("ann", "docs_look").await.contains("There is no"));
    assert_eq!(office.state("ann").await, "authorization_needed");
    assert!(renewals(&office).is_empty() && next.received("/token").is_empty());
    // The user can authorize there, where the application is registered again.
    let url = office.docs.authorization_url(&Principal::new("ann")).await.unwrap();
    assert!(url.starts_with(&next.url));
    assert_eq!((office.accounts.received("/register").len(), next.received("/register").len()), (1, 1));
}

#[tokio::test]
async fn a_code_is_sent_only_to_the_authorization_server_that_gave_it() {
    let next = super::Accounts::start().await;
    let policy = (1024..=u16::MAX).fold(OutboundPolicy::new(), OutboundPolicy::allow_port);
    let policy = policy.allow_internal_host("127.0.0.1");
    let office = Office::open_with(["look"], |oauth| oauth.outbound(policy.clone())).await;
    // The redirect does not name its server.
    for accounts in [&office.accounts, &next] {
        accounts.say("authorization_response_iss_parameter_supported", false.into());
    }
    let ann = Principal::new("ann");
    let url = office.docs.authorization_url(&ann).await.unwrap();
    let query = office.accounts.allow(&url, "ann").await;
    let query = query.split('&').filter(|part| !part.starts_with("iss=")).collect::<Vec<_>>().join("&");
    office.accounts.say("authorization_servers", json!([next.url]));
    let error = office.docs.finish_authorization(&ann, &query).await.unwrap_err();
    assert!(error.is_authorization_failed(), "{error:?}");
    assert!(office.accounts.received("/token").is_empty() && next.received("/token").is_empty());
}

#[tokio::test]
async fn a_scope_that_is_missing_is_asked_for_with_those_before() {
    let office = Office::open().await;
    office.authorize("ann").await;
    assert!(office.call("ann", "docs_look").await.contains("look ran"));
    office.accounts.require("write");
    let result = office.call("ann", "docs_look").await;
    assert!(result.contains(NEEDED), "{result}");
    assert_eq!(office.state("ann").await, "authorization_needed");
    let url = office.docs.authorization_url(&Principal::new("ann")).await.unwrap();
    assert_eq!(form(url.split_once('?').unwrap().1)["scope"], "read write");
    let query = office.accounts.allow(&url, "ann").await;
    office.docs.finish_authorization(&Principal::new("ann"), &query).await.unwrap();
    let result = office.call("ann", "docs_look").await;
    assert!(result.contains("look ran"), "{result}");
    assert_eq!((office.state("ann").await, office.server.protocol.calls("look")), ("ready", 2));
}

#[tokio::test]
async fn a_scope_that_does_not_help_is_asked_for_once() {
    let office = Office::open().await;
    office.authorize("ann").await;
    // The server requires what the authorization server never grants.
    office.accounts.require("admin");
    office.accounts.say("grants", json!("read"));
    assert!(office.call("ann", "docs_look").await.contains(NEEDED));
    office.authorize("ann").await;
    for _ in 0..3 {
        let result = office.call("ann", "docs_look").await;
        assert!(result.contains("The server refuses this user."), "{result}");
    }
    assert_eq!(office.state("ann").await, "ready");
    assert_eq!(office.server.protocol.calls("look"), 0);
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_secret_is_logged() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing_subscriber::util::SubscriberInitExt::set_default(subscriber);
    let office =
        Office::open_with(["look"], |oauth| oauth.client_with_secret("known", "secret-of-client")).await;
    office.accounts.expire_in(0);
    office.authorize("ann").await;
    office.accounts.expire_in(3600);
    assert!(office.call("ann", "docs_look").await.contains("look ran"));
    office.accounts.revoke();
    assert!(office.call("ann", "docs_look").await.contains(NEEDED));
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("rmcp"), "the log has what the protocol crate writes elsewhere");
    assert!(
        log.contains("the user has to authorize the access to the server"),
        "operators read why a call failed"
    );
    let sent = office.accounts.received("/token");
    assert_eq!(sent.len(), 3);
    let secrets = ["code", "code_verifier", "refresh_token", "authorization"];
    let secrets = sent.iter().flat_map(|sent| secrets.iter().filter_map(|name| sent.get(*name)));
    for secret in secrets.map(String::as_str).chain(["secret-of-client", "ann-2", "ann-3", "refresh-ann"]) {
        assert!(!log.contains(secret), "{secret}");
    }
}
