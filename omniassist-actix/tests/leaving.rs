//! A client that disconnects stops its run, also with actix's default for half-closed connections. `tests/adapters` has
//! the cases that all adapters share.

use std::time::Duration;

use actix_web::App;
use omniassist_actix::testing::{ScriptedProvider, Turn, text};
use omniassist_actix::{Assistant, Limits, scope};
use tokio::time::timeout;

use crate::client::{PATIENCE, Raw, asking};
use crate::serving::serve_app;

/// Half-closed connections are allowed by default, so only the second keep-alive comment reveals the disconnect.
#[actix_web::test]
async fn a_disconnect_is_noticed_by_keep_alives_if_half_closed_connections_are_allowed() {
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
