//! The backend: its routes, its login and its errors.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode, header};
use omniassist_hyper::http::{AssistantService, strip_prefix}; // + assistant
use omniassist_hyper::{Assistant, Principal}; // + assistant
use serde::{Deserialize, Serialize};
use tasks::{TaskError, Tasks, User, Users};

/// The largest request body of the backend's own routes, in bytes.
const LONGEST_BODY: usize = 64 * 1024;

pub(crate) type Body = BoxBody<Bytes, Box<dyn Error + Send + Sync>>;

pub(crate) struct Backend {
    tasks: Tasks,
    users: Users,
    assistant: AssistantService, // + assistant
}

#[derive(Deserialize)]
struct NewTask {
    title: String,
}

impl Backend {
    pub(crate) fn new(tasks: Tasks, users: Users, assistant: Assistant) -> Self {
        let assistant = AssistantService::new(assistant); // + assistant
        Self { tasks, users, assistant }
    }
}

/// Answers a request. Errors become responses.
pub(crate) async fn handle(
    backend: Arc<Backend>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    Ok(route(&backend, request).await.unwrap_or_else(Refused::into_response))
}

async fn route(backend: &Backend, mut request: Request<Incoming>) -> Result<Response<Body>, Refused> {
    if request.uri().path() == "/health" {
        return Ok(Response::new(full("well")));
    }
    let user = sign_in(backend, &request)?;
    // + assistant, to the end of this block
    if let Some(uri) = strip_prefix(request.uri(), "/assistant") {
        *request.uri_mut() = uri;
        request.extensions_mut().insert(Principal::new(user.name()));
        request.extensions_mut().insert(user);
        let response = backend.assistant.handle(request).await;
        return Ok(response.map(|body| body.map_err(Into::into).boxed()));
    }
    let path = request.uri().path().to_owned();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    match (request.method(), segments.as_slice()) {
        (&Method::GET, ["tasks"]) => Ok(json(StatusCode::OK, &backend.tasks.of(&user))),
        (&Method::POST, ["tasks"]) => {
            let new = read(request).await?;
            Ok(json(StatusCode::CREATED, &backend.tasks.add(&user, &new.title)?))
        }
        (&Method::POST, ["tasks", id, "done"]) => {
            let id = id.parse().map_err(|_| Refused::NotFound)?;
            Ok(json(StatusCode::OK, &backend.tasks.finish(&user, id)?))
        }
        _ => Err(Refused::NotFound),
    }
}

fn sign_in(backend: &Backend, request: &Request<Incoming>) -> Result<User, Refused> {
    let authorization = request.headers().get(header::AUTHORIZATION);
    Ok(backend.users.signed_in(authorization.and_then(|value| value.to_str().ok()))?)
}

async fn read(request: Request<Incoming>) -> Result<NewTask, Refused> {
    let body = Limited::new(request.into_body(), LONGEST_BODY).collect().await;
    let body = body.map_err(|_| Refused::Unreadable)?.to_bytes();
    serde_json::from_slice(&body).map_err(|_| Refused::Unreadable)
}

fn json(status: StatusCode, value: &impl Serialize) -> Response<Body> {
    // These values are made of strings and numbers, which always become JSON.
    let mut response = Response::new(full(serde_json::to_vec(value).unwrap_or_default()));
    *response.status_mut() = status;
    let media_type = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    response
}

fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed()
}

/// An error as a response.
#[derive(Debug)]
enum Refused {
    Task(TaskError),
    NotFound,
    Unreadable,
}

#[derive(Serialize)]
struct Problem {
    error: String,
}

impl From<TaskError> for Refused {
    fn from(error: TaskError) -> Self {
        Self::Task(error)
    }
}

impl Refused {
    fn into_response(self) -> Response<Body> {
        let (status, error) = match self {
            Self::Task(error) => (error.status(), error.to_string()),
            Self::NotFound => (404, "There is nothing here.".to_owned()),
            Self::Unreadable => (400, "This is not a task.".to_owned()),
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        json(status, &Problem { error })
    }
}
