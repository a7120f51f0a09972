//! URLs that servers name: a listener counts the connections to internal addresses, and must see none.

#[path = "../../../../omniassist-openapi/tests/internal_hosts.rs"]
mod internal_hosts;

use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use internal_hosts::{Canary, HOSTS, INTERNAL, look_up};
use omniassist_mcp::client::{McpAuth, McpError, McpServer, MemoryCredentialStore, OAuth};
use omniassist_server::Principal;
use omniassist_server::outbound::OutboundPolicy;
use serde_json::{Value, json};

use super::{Accounts, REDIRECT};
use crate::client::http_server::{HttpServer, Lost};
use crate::client::protocol::Protocol;
use crate::client::{Desk, open};

/// The name of the authorization server, which is the one host of the own network that the settings allow.
const NAME: &str = "accounts.test";

/// The members of documents and headers that name a URL.
const MEMBERS: [&str; 4] =
    ["resource_metadata", "authorization_servers", "registration_endpoint", "token_endpoint"];

struct Site {
    accounts: Accounts,
    server: HttpServer,
}

impl Site {
    async fn open() -> Self {
        let accounts = Accounts::start_as(NAME).await;
        let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
        server.require(&accounts);
        Self { accounts, server }
    }

    /// Returns a policy that allows the authorization server, and the port of a canary.
    fn policy(&self, port: u16) -> OutboundPolicy {
        let policy =
            OutboundPolicy::new().allow_http().allow_internal_host(NAME).timeout(Duration::from_secs(5));
        policy.allow_port(self.accounts.port).allow_port(port).resolver(async |host: String| match &*host {
            NAME => Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]),
            _ => look_up(host).await,
        })
    }

    fn server(&self, policy: OutboundPolicy) -> McpServer {
        let oauth = OAuth::new(MemoryCredentialStore::new()).redirect(REDIRECT).outbound(policy);
        open(McpServer::http("docs", &self.server.url)).auth(McpAuth::oauth(oauth))
    }

    /// Lets ann authorize the application.
    async fn authorize(&self, policy: OutboundPolicy) -> Result<(), McpError> {
        self.authorize_at(&self.server(policy), "ann").await
    }

    async fn authorize_at(&self, server: &McpServer, user: &str) -> Result<(), McpError> {
        let principal = Principal::new(user);
        let url = server.authorization_url(&principal).await?;
        let query = self.accounts.allow(&url, user).await;
        server.finish_authorization(&principal, &query).await
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns the value of a member that names a URL.
fn naming(member: &str, url: &str) -> Value {
    if member == "authorization_servers" { json!([url]) } else { json!(url) }
}

#[tokio::test]
async fn no_document_or_header_leads_to_an_internal_address() {
    let port = free_port();
    let canary = Canary::on(port, &["127.0.0.1", "127.0.0.2", "::1"]);
    let mut forms = 0;
    for member in MEMBERS {
        let site = Site::open().await;
        site.authorize(site.policy(port)).await.unwrap();
        let server = site.server(site.policy(port));
        for host in HOSTS {
            for scheme in ["http", "https"] {
                site.accounts.say(member, naming(member, &format!("{scheme}://{host}:{port}/x")));
                // A user whom the server has not refused before.
                let outcome = site.authorize_at(&server, &format!("user-{forms}")).await;
                // The document has another place too, on the server itself.
                assert!(member == "resource_metadata" || outcome.is_err(), "{member} {host}");
                forms += 1;
            }
        }
    }
    assert_eq!((forms, canary.connections()), (512, 0));
}

#[tokio::test]
async fn each_of_the_urls_is_one_that_the_client_would_open() {
    let port = free_port();
    let canary = Canary::on(port, &["127.0.0.1"]);
    for member in MEMBERS {
        let site = Site::open().await;
        site.accounts.say(member, naming(member, &format!("http://localhost:{port}/x")));
        let policy = site.policy(port).allow_internal_host("localhost").timeout(Duration::from_millis(200));
        let _ = site.authorize(policy).await;
        assert!(canary.connections() > 0, "{member}");
    }
}

#[tokio::test]
async fn redirects_lead_nowhere() {
    let port = free_port();
    let canary = Canary::on(port, &["127.0.0.1", "127.0.0.2"]);
    let paths = ["/.well-known/oauth-authorization-server", "/register", "/token"];
    for path in paths {
        let site = Site::open().await;
        for status in [301, 302, 303, 307, 308] {
            for target in
                [format!("http://localhost:{port}/"), format!("//127.0.0.2:{port}/"), "/elsewhere".to_owned()]
            {
                site.accounts.redirect(path, status, &target);
                assert!(site.authorize(site.policy(port)).await.is_err(), "{path} {status} {target}");
            }
        }
        // A redirect of metadata within the same server is followed, and finds nothing. The others are not.
        assert_eq!(site.accounts.received("/elsewhere").is_empty(), path != paths[0], "{path}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn a_name_that_changes_its_address_reaches_no_internal_server() {
    let site = Site::open().await;
    let canary = Canary::on(site.accounts.port, &["127.0.0.2"]);
    let looked_up = Arc::new(AtomicUsize::new(0));
    for start in 0..2 {
        looked_up.store(start, Ordering::Relaxed);
        let count = Arc::clone(&looked_up);
        let policy = OutboundPolicy::new()
            .allow_http()
            .allow_address(Ipv4Addr::LOCALHOST)
            .allow_port(site.accounts.port)
            .resolver(move |_| {
                let is_allowed = count.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
                async move { Ok(vec![if is_allowed { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { INTERNAL }]) }
            });
        assert!(site.authorize(policy).await.is_err());
        assert!(looked_up.load(Ordering::Relaxed) > start);
    }
    assert_eq!(canary.connections(), 0);
    assert!(site.accounts.received("/token").is_empty());
}

#[tokio::test]
async fn documents_are_bounded() {
    let site = Site::open().await;
    site.accounts.say("padding", "x".repeat(300 << 10).into());
    assert!(site.authorize(site.policy(1)).await.is_err());
}

#[tokio::test]
async fn a_server_behind_the_guard_is_not_internal_in_any_form() {
    let port = free_port();
    let canary = Canary::on(port, &["127.0.0.1", "127.0.0.2", "::1"]);
    let policy = OutboundPolicy::new().allow_http().allow_port(port).resolver(look_up);
    let servers: Vec<_> = HOSTS
        .iter()
        .flat_map(|host| ["http", "https"].map(|scheme| format!("{scheme}://{host}:{port}/mcp")))
        .enumerate()
        .map(|(number, url)| open(McpServer::http(format!("s{number}"), url)).outbound(policy.clone()))
        .collect();
    assert_eq!(servers.len(), 128);
    let desk = Desk::new(servers);
    desk.until(|desk| {
        let sources = desk.assistant.tools().sources();
        sources.iter().all(|source| source.state.as_str() == "unavailable")
    })
    .await;
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn the_guard_of_a_server_allows_what_it_is_told_to() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let port = server.url.trim_end_matches("/mcp").rsplit(':').next().unwrap().parse().unwrap();
    let resolver =
        async |_: String| -> io::Result<Vec<IpAddr>> { Ok(vec![INTERNAL, Ipv4Addr::LOCALHOST.into()]) };
    let policy = OutboundPolicy::new().allow_port(port).resolver(resolver);
    let url = format!("http://tools.test:{port}/mcp");
    let allowed = policy.clone().allow_http().allow_address(Ipv4Addr::LOCALHOST);
    let desk = Desk::new([open(McpServer::http("docs", &url)).outbound(allowed)]).ready().await;
    assert!(desk.call("docs_look").await.to_string().contains("look ran"));
    let desk = Desk::new([open(McpServer::http("docs", &url)).outbound(policy)]);
    desk.until(|desk| desk.assistant.tools().sources()[0].state.as_str() == "unavailable").await;
    assert_eq!(server.protocol.count("initialize"), 1);
}
