//! Tests of two principals. On every route, the runs of one must be invisible to the other.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use omniassist_server::http::{AssistantBody, AssistantService};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::{Assistant, ObjectEndpoint, Principal};
use serde_json::{Value, json};

use super::routes::{self, Route};
use super::{Answer, Invoice, answer};
use crate::ag_ui::{input, user};

/// Returns a service whose model never ends its answers to ada, and answers other users immediately.
fn service() -> AssistantService {
    let model = ScriptedProvider::new().otherwise(|payload| {
        let is_held = format!("{payload:?}").contains("hold it");
        if is_held { text("so far").then(Turn::pending()) } else { text("{\"total\":1}") }
    });
    let invoice = ObjectEndpoint::new::<Invoice>("invoice", "Read the invoice.");
    AssistantService::new(Assistant::builder(model).allow_anonymous().object(invoice).build().unwrap())
}

fn of(principal: Option<&str>, mut request: Request<Full<Bytes>>) -> Request<Full<Bytes>> {
    if let Some(name) = principal {
        request.extensions_mut().insert(Principal::new(name));
    }
    request
}

fn post(path: &str, body: &Value) -> Request<Full<Bytes>> {
    crate::ag_ui::post(path, body, "unused")
}

/// Starts a run of ada's in each chat that the routes name.
async fn hold(service: &AssistantService) -> Vec<http::Response<AssistantBody>> {
    let posted = json!({"id": "chat-1", "messages": [user("hold it")]});
    let ag_ui = input(&[user("hold it")]);
    let mut held = Vec::new();
    for (path, body) in [("/", &posted), ("/ag-ui", &ag_ui)] {
        held.push(service.handle(of(Some("ada"), post(path, body))).await);
    }
    held
}

/// Returns `true` for routes whose answers depend on a chat's runs and are otherwise constant.
fn tells(route: &Route) -> bool {
    let asked = route.body.as_ref().and_then(|body| body["method"].as_str()).unwrap_or_default();
    ["stop", "stream", "connect"].iter().any(|word| route.path.contains(word) || asked.contains(word))
        || route.method == http::Method::GET
}

#[tokio::test]
async fn a_chat_of_another_principal_looks_unknown() {
    let (with_run, without) = (service(), service());
    let held = hold(&with_run).await;
    assert_eq!(with_run.assistant().live_runs(), 2);
    let mut compared = 0;
    for stranger in [Some("bob"), Some("Ada"), Some("ada "), Some(""), None] {
        for route in routes::all() {
            let there = answer(&with_run, of(stranger, route.request())).await;
            let nothing = answer(&without, of(stranger, route.request())).await;
            assert_eq!(there.status, nothing.status, "{stranger:?} {}", route.name());
            if tells(&route) {
                assert_eq!(there, nothing, "{stranger:?} {}", route.name());
                compared += 1;
            }
            assert_eq!(with_run.assistant().live_runs(), 2, "{stranger:?} {}", route.name());
        }
    }
    println!("{compared} answers are the same, byte for byte");
    assert!(compared >= 5 * 12);
    drop(held);
}

#[tokio::test(start_paused = true)]
async fn an_own_run_is_stopped() {
    let stops: Vec<Route> = routes::all()
        .into_iter()
        .filter(|route| {
            let asked = route.body.as_ref().and_then(|body| body["method"].as_str());
            route.path.contains("stop") || asked == Some("agent/stop")
        })
        .collect();
    assert_eq!(stops.len(), 3);
    for route in stops {
        let service = service();
        let held = hold(&service).await;
        let stopped = answer(&service, of(Some("ada"), route.request())).await;
        let body: Value = serde_json::from_str(&stopped.body).unwrap();
        assert_eq!(body["stopped"], true, "{}", route.name());
        let mut ended = 0;
        for response in held {
            ended +=
                usize::from(tokio::time::timeout(Duration::from_secs(5), Answer::of(response)).await.is_ok());
        }
        assert_eq!(ended, 1, "{}: only the named run must end", route.name());
    }
}

#[tokio::test]
async fn a_post_to_a_chat_of_another_principal_starts_an_own_chat() {
    let service = service();
    let held = hold(&service).await;
    for (path, body) in
        [("/", json!({"id": "chat-1", "messages": [user("hold it")]})), ("/ag-ui", input(&[user("hold it")]))]
    {
        let mine = service.handle(of(Some("bob"), post(path, &body))).await;
        assert_eq!(mine.status(), 200);
        assert_eq!(service.assistant().live_runs(), 3, "{path}: no run must replace the other");
        drop(mine);
    }
    assert_eq!(service.assistant().live_runs(), 2);
    drop(held);
}
