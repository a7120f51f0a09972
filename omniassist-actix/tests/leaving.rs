//! A client that goes away stops its run, also with actix's default for half-closed connections. `tests/adapters` has
//! the cases that all adapters have in common.

use std::time::Duration;

use actix_web::App;
use omniassist_actix::testing::{ScriptedProvider, Turn, text};
use omniassist_actix::{Assistant, Limits, scope};
use tokio::time::timeout;

use crate::client::{PATIENCE, Raw, asking};
use crate::serving::serve_app;

/// Half-closed connections are allowed by default: only the second keep-alive comment finds that nobody is there.
#[actix_web::test]
async fn is_noticed_by_keep_alives_where_half_closed_connections_are_allowed() {
    let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
    let mut limits = Limits::default();
    limits.keep_alive = Duration::from_millis(100);
    let assistant = Assistant::builder(model.clone()).allow_anonymous().limits(limits).build().unwrap();
    let served = assistant.clone();
    let server = serve_app(move || App::new().service(scope("/assistant", served.clone())), true);
    let mut client = Raw::post(server.address, "/assistant", &asking("hi")).await;
    client.until("so far").await;
    drop(client);
    timeout(PATIENCE, model.dropped()).await.expect("the run was dropped");
    assert_eq!(assistant.live_runs(), 0);
}
