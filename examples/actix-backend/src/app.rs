//! The backend: its routes, its login and its errors.

use std::fmt;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{StatusCode, header};
use actix_web::middleware::{Next, from_fn};
use actix_web::{HttpMessage, HttpResponse, Responder, ResponseError, web};
use omniassist_actix::{Assistant, Principal}; // + assistant
use serde::{Deserialize, Serialize};
use tasks::{TaskError, Tasks, User, Users};

#[derive(Deserialize)]
struct NewTask {
    title: String,
}

pub(crate) fn routes(app: &mut web::ServiceConfig, assistant: Assistant) {
    let assistant = omniassist_actix::scope("/assistant", assistant); // + assistant
    app.route("/health", web::get().to(|| async { "well" })).service(
        web::scope("")
            .wrap(from_fn(sign_in))
            .route("/tasks", web::get().to(list))
            .route("/tasks", web::post().to(add))
            .route("/tasks/{id}/done", web::post().to(finish))
            .service(assistant.extension::<User>().data::<Tasks>()), // + assistant
    );
}

async fn list(tasks: web::Data<Tasks>, user: web::ReqData<User>) -> impl Responder {
    web::Json(tasks.of(&user))
}

async fn add(
    tasks: web::Data<Tasks>,
    user: web::ReqData<User>,
    new: web::Json<NewTask>,
) -> Result<impl Responder, Refused> {
    Ok((web::Json(tasks.add(&user, &new.title)?), StatusCode::CREATED))
}

async fn finish(
    tasks: web::Data<Tasks>,
    user: web::ReqData<User>,
    id: web::Path<u32>,
) -> Result<impl Responder, Refused> {
    Ok(web::Json(tasks.finish(&user, *id)?))
}

async fn sign_in(
    users: web::Data<Users>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    let authorization = request.headers().get(header::AUTHORIZATION);
    let user = users.signed_in(authorization.and_then(|value| value.to_str().ok())).map_err(Refused)?;
    request.extensions_mut().insert(Principal::new(user.name())); // + assistant
    request.extensions_mut().insert(user);
    next.call(request).await
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

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ResponseError for Refused {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.0.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        HttpResponse::build(self.status_code()).json(Problem { error: self.0.to_string() })
    }
}
