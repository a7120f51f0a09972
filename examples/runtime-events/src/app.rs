//! The runtime over HTTP, with three settings: the defaults, all events of a flow, and another name for the start of a
//! step.

use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use omniassist_axum::bridge::Bridge;
use omniassist_axum::core::bridge::BridgeOptions;

use crate::player::Player;

/// Mounts each transport of the runtime at its path, and a route with the number of runs.
pub fn router(player: &Player) -> Router {
    let chats = transports(player).map(|(path, transport)| (path, chat(transport)));
    chats.into_iter().fold(runs(player), |router, (path, chat)| router.nest(path, chat))
}

/// Returns the transports of the runtime with their paths.
#[must_use]
pub fn transports(player: &Player) -> [(&'static str, Bridge); 4] {
    let whole_flow =
        BridgeOptions::new().send_flow_metadata(true).send_node_outputs(true).until_flow_ends(true);
    let plain = BridgeOptions::new().send_reasoning(false).send_step_markers(false);
    let literal = BridgeOptions::new().literal_step_start(true);
    [("/chat", BridgeOptions::new()), ("/flow", whole_flow), ("/plain", plain), ("/literal", literal)]
        .map(|(path, options)| (path, Bridge::new(player.clone(), options)))
}

/// Returns the route `GET /runs` with the number of logs that are being played.
pub fn runs(player: &Player) -> Router {
    Router::new().route("/runs", get(playing)).with_state(player.clone())
}

fn chat(transport: Bridge) -> Router {
    Router::new().route("/", post(post_message)).route("/{chat_id}/stream", get(resume)).with_state(transport)
}

/// Runs the request that `DefaultChatTransport` posts.
async fn post_message(State(transport): State<Bridge>, request: Request) -> Response {
    match transport.read(request).await {
        Ok(posted) => transport.respond(posted).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

/// Answers the request that `useChat` sends with `resume: true`.
async fn resume(State(transport): State<Bridge>, Path(chat_id): Path<String>, request: Request) -> Response {
    transport.respond_reconnect(&chat_id, request.extensions()).into_response()
}

async fn playing(State(player): State<Player>) -> Json<usize> {
    Json(player.runs())
}
