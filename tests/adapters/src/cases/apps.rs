//! Apps of a source of tools: the headers of their documents, and a call.

use omniassist_server::RunContext;
use omniassist_server::tool::source::{
    AppCall, AppDocument, AppError, AppOrigin, DocumentFuture, ResourceFuture, SourceApps, SourceSlot,
    ToolSource,
};
use omniassist_server::tool::{Tool, ToolError};
use serde_json::json;

use crate::host::Host;
use crate::stage::{assistant, says};
use crate::transport::Transport;
use crate::wire::Ask;

struct Shop;

impl ToolSource for Shop {
    fn name(&self) -> &str {
        "shop"
    }

    fn attach(&self, slot: SourceSlot) {
        let refresh = Tool::new("refresh", "Reads the orders again", async || Ok::<_, ToolError>("3 orders"));
        slot.offer([refresh.visible_to(|caller| AppCall::is_of(caller, "shop"))]);
    }

    fn apps(&self) -> Option<&dyn SourceApps> {
        Some(self)
    }
}

impl SourceApps for Shop {
    fn document<'a>(&'a self, _: &'a RunContext, uri: &'a str) -> DocumentFuture<'a> {
        Box::pin(async move {
            match uri {
                "ui://orders/list.html" => {
                    Ok(AppDocument::new("<p>").connect(AppOrigin::parse("https://api.example.com")))
                }
                _ => Err(AppError::not_found()),
            }
        })
    }

    fn resource<'a>(&'a self, _: &'a RunContext, uri: &'a str) -> ResourceFuture<'a> {
        Box::pin(async move { Ok(json!({ "contents": [{ "uri": uri, "text": "a note" }] })) })
    }
}

async fn host(on: Transport) -> Host {
    Host::start(on, &assistant(says("Hello")).tool_source(Shop).build().unwrap()).await
}

pub(crate) async fn the_document_of_an_app_has_no_origin(on: Transport) {
    let host = host(on).await;
    let answer = host.ask(&Ask::get("/assistant/apps/shop/orders/list.html")).await.whole().await;
    assert_eq!((answer.status(), answer.text()), (200, "<p>"));
    assert_eq!(
        answer.header("content-security-policy"),
        Some(
            "sandbox allow-scripts allow-forms; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
             img-src data:; font-src data:; media-src data:; connect-src https://api.example.com; frame-src 'none'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
        )
    );
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name), Some(value));
    }
    assert!(answer.header("permissions-policy").is_some_and(|features| features.contains("camera=()")));
    let head = host.ask(&Ask::new("HEAD", "/assistant/apps/shop/orders/list.html")).await.whole().await;
    assert_eq!((head.status(), head.text()), (200, ""));
    assert_eq!(head.header("content-security-policy"), answer.header("content-security-policy"));
    let unknown = host.ask(&Ask::get("/assistant/apps/shop/orders/other.html")).await.whole().await;
    assert_eq!((unknown.status(), &unknown.json()["error"]["code"]), (404, &json!("app_not_found")));
}

pub(crate) async fn an_app_calls_a_tool_and_reads_a_resource(on: Transport) {
    let host = host(on).await;
    let call = Ask::json("/assistant/apps/shop/call", &json!({ "name": "refresh" }));
    let answer = host.ask(&call).await.whole().await;
    assert_eq!((answer.status(), answer.json()), (200, json!({ "output": "3 orders" })));
    let read = Ask::json("/assistant/apps/shop/read", &json!({ "uri": "shop://note" }));
    let answer = host.ask(&read).await.whole().await;
    assert_eq!((answer.status(), &answer.json()["contents"][0]["text"]), (200, &json!("a note")));
}
