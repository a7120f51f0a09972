//! The playground, which needs the address of the peer from each framework.

use omniassist_server::playground::Playground;

use crate::host::Host;
use crate::stage::{closed, says};
use crate::transport::Transport;
use crate::wire::Ask;

pub(crate) async fn this_machine_is_admitted_without_a_proxy(on: Transport) {
    let assistant = closed(says("Hello")).playground(Playground::new()).build().unwrap();
    let host = Host::start(on, &assistant).await;
    let page = || Ask::get("/assistant/playground");
    let served = host.ask(&page()).await.whole().await;
    assert_eq!((served.status(), served.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(served.header("content-security-policy").unwrap().starts_with("default-src 'none'; "));
    assert_eq!(host.ask(&Ask::get("/assistant/playground/page.js")).await.whole().await.status(), 200);
    let forwarded = page().header("x-forwarded-for", "203.0.113.7");
    let refused = host.ask(&forwarded).await.whole().await;
    assert_eq!(refused.status(), 403);
    assert!(refused.text().contains("playground_not_admitted"), "{}", refused.text());

    let off = Host::start(on, &closed(says("Hello")).allow_anonymous().build().unwrap()).await;
    assert_eq!(off.ask(&page()).await.whole().await.status(), 404);
}
