//! Users with credentials of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use omniassist_mcp::client::{McpAuth, McpServer};
use omniassist_server::Principal;

use super::http_server::{HttpServer, Lost};
use super::protocol::Protocol;
use super::{Desk, open};

/// Gives ann and bob tokens.
fn tokens() -> (McpAuth, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let auth = McpAuth::per_principal(move |user: Principal| {
        counted.fetch_add(1, Ordering::Relaxed);
        let token = matches!(user.id(), "ann" | "bob").then(|| format!("token-of-{}", user.id()));
        async move { token }
    });
    (auth, asked)
}

#[tokio::test]
async fn calls_of_two_users_never_cross() {
    let server = HttpServer::start(Protocol::new(["for_ann", "for_bob"]), Lost::NotFound).await;
    let (auth, asked) = tokens();
    let desk = Desk::new([open(McpServer::http("docs", &server.url)).auth(auth)]);
    let call = async |user: &str| {
        let result = desk.call_as(user, &format!("docs_for_{user}")).await.to_string();
        assert!(result.contains(" ran"), "{result}");
    };
    for _ in 0..125 {
        tokio::join!(call("ann"), call("bob"), call("bob"), call("ann"));
    }
    let authorizations = server.authorizations();
    assert_eq!(authorizations.len(), 500);
    for (authorization, tool) in authorizations {
        assert_eq!(authorization.strip_prefix("Bearer token-of-"), tool.strip_prefix("for_"));
    }
    // Each has one connection.
    assert_eq!((server.protocol.count("initialize"), asked.load(Ordering::Relaxed)), (2, 2));
}

#[tokio::test]
async fn for_a_user_without_a_token_the_tools_do_not_exist() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let desk = Desk::new([open(McpServer::http("docs", &server.url)).auth(tokens().0)]);
    assert!(desk.call_as("ann", "docs_look").await.to_string().contains("look ran"));
    let known = desk.call_as("eve", "docs_look").await.to_string().replace("docs_look", "x");
    assert!(desk.offered().is_empty());
    let unknown = desk.call_as("eve", "docs_none").await.to_string().replace("docs_none", "x");
    let without_id = |text: &str| text.split("\"is_error\"").nth(1).map(str::to_owned);
    assert_eq!(without_id(&known), without_id(&unknown), "{known} {unknown}");
    assert_eq!(server.protocol.calls("look"), 1);
}

#[tokio::test]
async fn the_user_who_waited_longest_makes_way_for_the_65th() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let auth = McpAuth::per_principal(async |user: Principal| Some(user.id().to_owned()));
    let desk = Desk::new([open(McpServer::http("docs", &server.url)).auth(auth)]);
    let call = async |number: usize| {
        let result = desk.call_as(&format!("user-{number}"), "docs_look").await.to_string();
        assert!(result.contains("look ran"), "{result}");
        server.protocol.count("initialize")
    };
    for number in 0..64 {
        assert_eq!(call(number).await, number + 1);
    }
    assert_eq!(call(0).await, 64);
    assert_eq!(call(64).await, 65);
    assert_eq!(call(0).await, 65, "user 1 made way, not user 0");
    assert_eq!(call(1).await, 66);
}

#[tokio::test]
async fn a_token_function_that_panics_gives_no_token() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let auth = McpAuth::per_principal(async |user: Principal| match user.id() {
        "eve" => panic!("no such user"),
        user => Some(user.to_owned()),
    });
    let desk = Desk::new([open(McpServer::http("docs", &server.url)).auth(auth)]);
    for _ in 0..2 {
        assert!(!desk.call_as("eve", "docs_look").await.to_string().contains("look ran"));
        assert!(desk.call_as("ann", "docs_look").await.to_string().contains("look ran"));
    }
}

#[tokio::test]
async fn a_token_that_is_refused_is_asked_for_again() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let (auth, asked) = tokens();
    let desk = Desk::new([open(McpServer::http("docs", &server.url)).auth(auth)]);
    desk.call_as("ann", "docs_look").await;
    server.revoke("Bearer token-of-ann");
    let result = desk.call_as("ann", "docs_look").await.to_string();
    assert!(result.contains("look ran"), "{result}");
    assert_eq!((asked.load(Ordering::Relaxed), server.protocol.calls("look")), (2, 2));
}

#[tokio::test]
async fn a_user_whose_token_the_server_does_not_accept_is_unauthenticated() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let docs = Arc::new(open(McpServer::http("docs", &server.url)).auth(tokens().0));
    let desk = Desk::new([Arc::clone(&docs)]);
    assert!(desk.call_as("ann", "docs_look").await.to_string().contains("look ran"));
    server.forget("Bearer token-of-ann");
    let result = desk.call_as("ann", "docs_look").await.to_string();
    assert!(result.contains("does not accept the credentials"), "{result}");
    let error = docs.read(&Principal::new("ann"), "x://plain").await.unwrap_err();
    assert!(error.is_unauthenticated() && !error.is_unreachable(), "{error:?}");
    desk.call_as("ann", "hello").await;
    assert!(desk.offered().is_empty(), "the tools do not exist for the user");
}

#[tokio::test]
async fn only_a_user_with_a_connection_makes_way_for_another() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let auth = McpAuth::per_principal(async |user: Principal| {
        (!user.id().starts_with("eve")).then(|| user.id().to_owned())
    });
    let desk = Desk::new([open(McpServer::http("docs", &server.url)).auth(auth)]);
    // These have no token, so they have no connection.
    for number in 0..20 {
        desk.call_as(&format!("eve-{number}"), "docs_look").await;
    }
    for number in 0..65 {
        desk.call_as(&format!("user-{number}"), "docs_look").await;
    }
    assert_eq!(server.protocol.count("initialize"), 65);
    assert!(desk.call_as("user-0", "docs_look").await.to_string().contains("look ran"));
    assert_eq!(server.protocol.count("initialize"), 66, "user 0 made way for user 64");
}
