//! Processes and servers that share one store of credentials.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use omniassist_mcp::client::{
    CredentialFuture, CredentialKey, CredentialStore, McpAuth, McpServer, MemoryCredentialStore, OAuth,
};
use omniassist_server::Principal;
use secrecy::SecretString;

use super::{Office, open, settings};
use crate::client::Desk;
use crate::client::http_server::{HttpServer, Lost};
use crate::client::protocol::Protocol;

/// A desk of another process, with the server of this name at a URL.
fn other(url: &str, oauth: OAuth) -> Desk {
    Desk::new([open(McpServer::http("docs", url)).auth(McpAuth::oauth(oauth))])
}

async fn state(desk: &Desk, user: &str) -> &'static str {
    let mut extensions = http::Extensions::new();
    extensions.insert(Principal::new(user));
    desk.assistant.visible_sources(&extensions).await[0].state.as_str()
}

#[tokio::test]
async fn the_tokens_for_one_url_are_not_sent_to_another() {
    let office = Office::open().await;
    office.authorize("ann").await;
    // The same name, the same store, and another server.
    let next = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let desk = other(&next.url, settings(&office.accounts, office.store.clone()));
    assert!(desk.call_as("ann", "docs_look").await.to_string().contains("There is no"));
    assert_eq!(next.protocol.count("initialize"), 0);
    assert_eq!(state(&desk, "ann").await, "authorization_needed");
    assert!(office.call("ann", "docs_look").await.contains("look ran"));
}

#[tokio::test]
async fn a_secret_of_the_application_can_be_replaced() {
    let office =
        Office::open_with(["look"], |oauth| oauth.client_with_secret("known", "secret-before")).await;
    office.accounts.expire_in(0);
    office.authorize("ann").await;
    office.accounts.expire_in(3600);
    let oauth = settings(&office.accounts, office.store.clone());
    let desk = other(&office.server.url, oauth.client_with_secret("known", "secret-after"));
    assert!(desk.call_as("ann", "docs_look").await.to_string().contains("look ran"));
    let sent = office.accounts.received("/token");
    // `known:secret-after`
    assert_eq!(sent.last().unwrap()["authorization"], "Basic a25vd246c2VjcmV0LWFmdGVy");
}

#[tokio::test]
async fn a_scope_that_another_process_asked_for_is_not_missing() {
    let office = Office::open().await;
    office.authorize("ann").await;
    let desk = other(&office.server.url, settings(&office.accounts, office.store.clone()));
    office.accounts.require("write");
    assert!(desk.call_as("ann", "docs_look").await.to_string().contains("has to authorize"));
    assert!(office.call("ann", "docs_look").await.contains("has to authorize"));
    assert_eq!(state(&desk, "ann").await, "authorization_needed");
    office.authorize("ann").await;
    assert_eq!(state(&desk, "ann").await, "ready");
    assert!(desk.call_as("ann", "docs_look").await.to_string().contains("look ran"));
}

/// A store of which a process reads an old value, until it removes what another process has written meanwhile.
#[derive(Clone)]
struct Overtaken {
    store: MemoryCredentialStore,
    read: Arc<Mutex<Option<SecretString>>>,
    is_old: Arc<AtomicBool>,
}

impl CredentialStore for Overtaken {
    fn get<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, Option<SecretString>> {
        Box::pin(async move {
            if self.is_old.load(Ordering::Relaxed) {
                return Ok(self.read.lock().unwrap().clone());
            }
            let value = self.store.get(key).await?;
            self.read.lock().unwrap().clone_from(&value);
            Ok(value)
        })
    }

    fn put<'a>(&'a self, key: &'a CredentialKey, value: SecretString) -> CredentialFuture<'a, ()> {
        self.store.put(key, value)
    }

    fn remove<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, Option<SecretString>> {
        self.is_old.store(false, Ordering::Relaxed);
        self.store.remove(key)
    }
}

#[tokio::test]
async fn tokens_that_another_process_renews_at_this_moment_stay() {
    let office = Office::open().await;
    office.authorize("ann").await;
    let store = Overtaken { store: office.store.clone(), read: Arc::default(), is_old: Arc::default() };
    let desk = || other(&office.server.url, settings(&office.accounts, store.clone()));
    let call = async |desk: Desk| desk.call_as("ann", "docs_look").await.to_string();
    assert!(call(desk()).await.contains("look ran"));
    office.accounts.revoke_access();
    // It renews them, and the refresh token that was read is of no use any more.
    assert!(office.call("ann", "docs_look").await.contains("look ran"));
    store.is_old.store(true, Ordering::Relaxed);
    let result = call(desk()).await;
    assert!(!store.is_old.load(Ordering::Relaxed) && result.contains("look ran"), "{result}");
    assert_eq!(office.state("ann").await, "ready");
}
