//! The backend: its routes, its login and its errors.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use omniassist_axum::{Assistant, Principal}; // + assistant
use serde::{Deserialize, Serialize};
use tasks::{Task, TaskError, Tasks, User, Users};

#[derive(Deserialize)]
struct NewTask {
    title: String,
}

pub(crate) fn router(tasks: Tasks, users: Users, assistant: Assistant) -> Router {
    Router::new()
        .route("/tasks", get(list).post(add))
        .route("/tasks/{id}/done", post(finish))
        .nest_service("/assistant", omniassist_axum::router(assistant)) // + assistant
        .route_layer(from_fn_with_state(Arc::new(users), sign_in))
        .route("/health", get(|| async { "well" }))
        .with_state(tasks)
}

async fn list(State(tasks): State<Tasks>, Extension(user): Extension<User>) -> Json<Vec<Task>> {
    Json(tasks.of(&user))
}

async fn add(
    State(tasks): State<Tasks>,
    Extension(user): Extension<User>,
    Json(new): Json<NewTask>,
) -> Result<(StatusCode, Json<Task>), Refused> {
    Ok((StatusCode::CREATED, Json(tasks.add(&user, &new.title)?)))
}

async fn finish(
    State(tasks): State<Tasks>,
    Extension(user): Extension<User>,
    Path(id): Path<u32>,
) -> Result<Json<Task>, Refused> {
    Ok(Json(tasks.finish(&user, id)?))
}

async fn sign_in(
    State(users): State<Arc<Users>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Refused> {
    let authorization = request.headers().get(header::AUTHORIZATION);
    let user = users.signed_in(authorization.and_then(|value| value.to_str().ok()))?;
    request.extensions_mut().insert(Principal::new(user.name())); // + assistant
    request.extensions_mut().insert(user);
    Ok(next.run(request).await)
}

/// An error as a response.
#[derive(Debug)]
struct Refused(TaskError);

#[derive(Serialize)]
struct Problem {
    error: String,
}

impl From<TaskError> for Refused {
    fn from(error: TaskError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(Problem { error: self.0.to_string() })).into_response()
    }
}
