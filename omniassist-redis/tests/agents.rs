//! Trees of agents at two servers.

use std::time::Duration;

use futures_util::StreamExt;
use http::Extensions;
use omniassist_redis::Redis;
use omniassist_server::agents::{AgentSession, Explore, Status};
use omniassist_server::store::MemoryStore;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::{Assistant, Principal};
use omniassist_test_databases::Redis as Server;
use tokio::time::sleep;

use crate::page::{read_until, watch};
use crate::tail::two;

fn session(assistant: &Assistant) -> AgentSession {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    let session = AgentSession::new(assistant.clone()).extensions(extensions).chat("c");
    session.explore(Explore::new().asks(false).sub_questions(0))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_is_shown_and_stopped_at_another_server() {
    let (server, store) = (Server::start(), MemoryStore::new());
    let redis = Redis::connect(&server.url()).unwrap();
    let model = ScriptedProvider::new().turn(text("begun ").then(Turn::pending()));
    let (first, other) = two(&store, &redis, model);
    let (here, there) = (session(&first), session(&other));
    let work = tokio::spawn(here.agent("Compare lamps").collect::<Vec<_>>());
    while there.tree_of_chat().await.unwrap().is_empty() {
        sleep(Duration::from_millis(10)).await;
    }
    let mut viewer = watch(&other, "c").await;
    read_until(&mut viewer, "begun ").await;
    sleep(Duration::from_millis(300)).await;
    let shown = there.tree_of_chat().await.unwrap();
    assert_eq!(shown, here.get_agent_tree());
    assert!(there.stop_agent(&shown[0].agent_id).await.unwrap());
    work.await.unwrap();
    read_until(&mut viewer, "data: [DONE]").await;
    let left = there.tree_of_chat().await.unwrap();
    assert_eq!((left[0].status, left), (Status::Cancelled, here.get_agent_tree()));
}
