//! Tests of name resolution and proxies.

use std::process::Command;

use super::*;

const CHILD: &str = "OMNIASSIST_TEST_BASE_URL";

/// Returns an error and all its sources as a log prints them.
fn chain(error: &Error) -> String {
    let mut chain = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        chain.push_str(&format!(": {error}"));
        source = error.source();
    }
    chain
}

/// Sends a request from a separate process whose environment sets the proxy. Its output ends with the error.
async fn ask_through(proxy: &FakeProvider, base_url: &str) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "transport::network::the_process_behind_a_proxy", "--nocapture"]);
    let address = format!("http://{}", proxy.address());
    child.env_remove("NO_PROXY").env_remove("no_proxy").env("ALL_PROXY", address).env(CHILD, base_url);
    let output = tokio::task::spawn_blocking(move || child.output().unwrap()).await.unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
#[allow(clippy::print_stdout, reason = "the test that starts this process reads its output")]
async fn the_process_behind_a_proxy() {
    let Ok(base_url) = std::env::var(CHILD) else { return };
    let heard = hear(ask(&base_url, once())).await;
    println!("{:?} {:?} {}", heard.kind(), heard.error().status(), chain(heard.error()));
}

#[tokio::test]
async fn a_proxy_that_requires_credentials_is_a_connect_error() {
    let proxy = serve([Reply::html(407, "who are you?")]).await;
    let said = ask_through(&proxy, "http://provider.invalid/v1").await;
    assert!(said.contains("Some(Auth) Some(407)"), "{said}");

    let proxy = serve([Reply::status(407).content_length(0)]).await;
    let said = ask_through(&proxy, "https://provider.invalid/v1").await;
    assert!(said.contains("Some(Connect) None") && said.contains("proxy auth"), "{said}");
    let request = proxy.request(1).await;
    assert_eq!(request.method, "CONNECT");
    assert_eq!(request.header("authorization"), None, "the proxy must not receive the key");
}

#[tokio::test]
async fn an_unknown_name_and_a_closed_port_have_different_errors() {
    // Resolvers reject labels of more than 63 bytes without a network request.
    let unknown = hear(ask(&format!("http://{}.invalid/v1", "x".repeat(64)), once())).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = hear(ask(&format!("http://{closed}/v1"), once())).await;
    for heard in [&unknown, &closed] {
        assert_eq!(heard.kind(), Some(ProviderErrorKind::Connect), "{heard:?}");
        assert!(heard.took < Duration::from_secs(5), "{:?}", heard.took);
    }
    assert!(chain(unknown.error()).contains("dns"), "{}", chain(unknown.error()));
    assert!(chain(closed.error()).contains("refused"), "{}", chain(closed.error()));
}
