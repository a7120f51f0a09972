//! The runtime over HTTP: once with the defaults, once with everything of a flow, once for clients with another name for
//! the start of a step.

use axum::extract::{Extension, Path, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use omniassist_axum::core::dialect::ai_sdk::runtime::TransportOptions;
use omniassist_axum::http::PostedRun;
use omniassist_axum::runtime::RuntimeTransport;

use crate::player::Player;

pub(crate) fn router(player: &Player) -> Router {
    let whole_flow =
        TransportOptions::new().send_flow_metadata(true).send_node_outputs(true).until_flow_ends(true);
    let plain = TransportOptions::new().send_reasoning(false).send_step_markers(false);
    Router::new()
        .nest("/chat", chat(player, TransportOptions::new()))
        .nest("/flow", chat(player, whole_flow))
        .nest("/plain", chat(player, plain))
        .nest("/literal", chat(player, TransportOptions::new().literal_step_start(true)))
        .route("/runs", get(runs))
        .layer(Extension(player.clone()))
}

fn chat(player: &Player, options: TransportOptions) -> Router {
    Router::new()
        .route("/", post(post_message))
        .route("/{chat_id}/stream", get(resume))
        .with_state(RuntimeTransport::new(player.clone(), options))
}

/// What `DefaultChatTransport` posts.
async fn post_message(State(transport): State<RuntimeTransport>, request: Request) -> Response {
    match PostedRun::read(request, transport.limits()).await {
        Ok(posted) => transport.respond(posted).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

/// What `useChat` asks for with `resume: true`.
async fn resume(
    State(transport): State<RuntimeTransport>,
    Path(chat_id): Path<String>,
    request: Request,
) -> Response {
    transport.respond_reconnect(&chat_id, request.extensions()).into_response()
}

/// How many logs are being played.
async fn runs(Extension(player): Extension<Player>) -> Json<usize> {
    Json(player.runs())
}
