//! The backend's own routes and errors.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode, header};
use serde::{Deserialize, Serialize};
use tasks::{TaskError, Tasks, User};
use tower::BoxError;

/// The largest request body of these routes, in bytes.
const LONGEST_BODY: usize = 64 * 1024;

pub(crate) type Body = BoxBody<Bytes, BoxError>;

#[derive(Deserialize)]
struct NewTask {
    title: String,
}

/// Answers a request. Errors become responses.
pub(crate) async fn answer(tasks: Tasks, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    Ok(route(&tasks, request).await.unwrap_or_else(Refused::into_response))
}

async fn route(tasks: &Tasks, request: Request<Incoming>) -> Result<Response<Body>, Refused> {
    let path = request.uri().path().to_owned();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    match (request.method(), segments.as_slice()) {
        (_, ["health"]) => Ok(Response::new(full("well"))),
        (&Method::GET, ["tasks"]) => Ok(json(StatusCode::OK, &tasks.of(user(&request)?))),
        (&Method::POST, ["tasks"]) => {
            let user = user(&request)?.clone();
            let new = read(request).await?;
            Ok(json(StatusCode::CREATED, &tasks.add(&user, &new.title)?))
        }
        (&Method::POST, ["tasks", id, "done"]) => {
            let id = id.parse().map_err(|_| Refused::NotFound)?;
            Ok(json(StatusCode::OK, &tasks.finish(user(&request)?, id)?))
        }
        _ => Err(Refused::NotFound),
    }
}

/// Returns the signed-in user.
fn user(request: &Request<Incoming>) -> Result<&User, Refused> {
    request.extensions().get().ok_or(Refused::Task(TaskError::SignedOut))
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
pub(crate) enum Refused {
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
    pub(crate) fn into_response(self) -> Response<Body> {
        let (status, error) = match self {
            Self::Task(error) => (error.status(), error.to_string()),
            Self::NotFound => (404, "There is nothing here.".to_owned()),
            Self::Unreadable => (400, "This is not a task.".to_owned()),
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        json(status, &Problem { error })
    }
}
