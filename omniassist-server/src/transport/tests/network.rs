//! The network on the way to a provider: names and proxies.

use std::sync::Arc;

use reqwest::dns::{Name, Resolve, Resolving};

use super::super::sender::client;
use super::*;

/// An error with all that caused it, as a log prints it.
fn chain(error: &Error) -> String {
    let mut chain = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        chain.push_str(&format!(": {error}"));
        source = error.source();
    }
    chain
}

/// A resolver that knows no name; what the system's does with one depends on the network.
struct NobodyKnows;

impl Resolve for NobodyKnows {
    fn resolve(&self, name: Name) -> Resolving {
        let error = format!("no address for {}", name.as_str());
        Box::pin(async { Err(error.into()) })
    }
}

async fn through_proxy(proxy: &FakeProvider, base_url: &str) -> Heard {
    let proxy = reqwest::Proxy::all(format!("http://{}", proxy.address())).unwrap();
    let recipe = move || client(&limits()).proxy(proxy.clone());
    let transport = Transport::with_clients(limits(), recipe, false).unwrap();
    hear(ask_on(&transport, base_url)).await
}

#[tokio::test]
async fn a_proxy_that_wants_credentials_says_so() {
    let proxy = serve([Reply::html(407, "who are you?")]).await;
    let heard = through_proxy(&proxy, "http://provider.invalid/v1").await;
    assert_eq!((heard.kind(), heard.error().status()), (Some(ProviderErrorKind::Auth), Some(407)));

    let proxy = serve([Reply::status(407).content_length(0)]).await;
    let heard = through_proxy(&proxy, "https://provider.invalid/v1").await;
    assert_eq!(heard.kind(), Some(ProviderErrorKind::Connect), "{heard:?}");
    assert!(chain(heard.error()).contains("proxy auth"), "{}", chain(heard.error()));
    let request = proxy.request(1).await;
    assert_eq!(request.method, "CONNECT");
    assert_eq!(request.header("x-api-key"), None, "the key is not for the proxy");
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_told_from_a_port_that_nobody_serves() {
    let recipe = || client(&limits()).no_proxy().dns_resolver(Arc::new(NobodyKnows));
    let transport = Transport::with_clients(limits(), recipe, false).unwrap();
    let base_url = "http://no-such-provider.invalid/v1";
    let unknown = hear(ask_on(&transport, base_url)).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = format!("http://{closed}/v1");
    let transport = Transport::new(limits(), &closed.parse().unwrap(), &[]).unwrap();
    let closed = hear(ask_on(&transport, &closed)).await;
    for heard in [&unknown, &closed] {
        assert_eq!(heard.kind(), Some(ProviderErrorKind::Connect), "{heard:?}");
        assert!(heard.took < Duration::from_secs(5), "{:?}", heard.took);
    }
    let told = chain(unknown.error());
    assert!(told.contains("dns") && told.contains("no address"), "{told}");
    assert!(chain(closed.error()).contains("refused"), "{}", chain(closed.error()));
}
