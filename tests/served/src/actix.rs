//! Serves a host with actix-web, as the documentation of `omniassist-actix` describes.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::ErrorInternalServerError;
use actix_web::http::StatusCode;
use actix_web::http::header::{HOST, HeaderName, HeaderValue};
use actix_web::middleware::{Next, from_fn};
use actix_web::{App, HttpMessage, HttpResponse, HttpServer, Responder, web};
use axum::Router;
use axum::body::Body;
use http_body_util::{BodyExt, Limited};
use omniassist_actix::bridge::Bridge;
use omniassist_actix::{BridgedRequest, BridgedResponse, CancellationToken};
use tower::ServiceExt;

use crate::host::{AnyError, Front, Host, Mounted, OWN_BODY, stopped};

/// The time limit of a shutdown, longer than the drain of any host.
const SHUTDOWN_SECONDS: u64 = 4;

pub(crate) fn main(host: &str) -> Result<(), AnyError> {
    actix_web::rt::System::new().block_on(async { serve(Host::named(host).await?).await })
}

async fn serve(host: Host) -> Result<(), AnyError> {
    let (assistant, drain) = (host.assistant(), host.drain);
    let (mounted, own, front) = (host.mounted, web::Data::new(host.own), host.front);
    let app = move || {
        App::new()
            .app_data(own.clone())
            .configure(|app| mount(app, mounted.clone()))
            .default_service(web::to(own_route))
            .wrap(from_fn(move |request, next| pass(front, request, next)))
    };
    let stop = CancellationToken::new();
    let server = HttpServer::new(app)
        .workers(2)
        .h1_allow_half_closed(false)
        .tcp_nodelay(true)
        .shutdown_signal(stop.cancelled())
        .shutdown_timeout(SHUTDOWN_SECONDS)
        .bind(("127.0.0.1", host.port))?;
    for address in server.addrs() {
        crate::announce(address)?;
    }
    let mut server = server.run();
    let drained = async {
        stopped().await;
        stop.cancel();
        if let Some(assistant) = &assistant {
            assistant.drain(drain).await;
        }
    };
    tokio::select! {
        ended = &mut server => ended?,
        () = drained => server.await?,
    }
    if let Some(assistant) = assistant {
        assistant.shutdown().await;
    }
    Ok(())
}

fn mount(app: &mut web::ServiceConfig, mounted: Mounted) {
    match mounted {
        Mounted::Below(path, assistant) => {
            app.service(omniassist_actix::scope(path, assistant));
        }
        Mounted::Root(assistant) => {
            app.service(omniassist_actix::scope("", assistant));
        }
        Mounted::Runtimes(transports) => {
            for (path, transport) in transports {
                let scope = web::scope(path)
                    .app_data(web::Data::new(transport))
                    .route("", web::post().to(post_message))
                    .route("/{chat_id}/stream", web::get().to(resume));
                app.service(scope);
            }
        }
    }
}

async fn post_message(transport: web::Data<Bridge>, request: BridgedRequest) -> impl Responder {
    BridgedResponse(match transport.read(request.0).await {
        Ok(posted) => transport.respond(posted),
        Err(refusal) => refusal,
    })
}

async fn resume(
    transport: web::Data<Bridge>,
    chat_id: web::Path<String>,
    request: BridgedRequest,
) -> impl Responder {
    BridgedResponse(transport.respond_reconnect(&chat_id, request.0.extensions()))
}

/// The host's guard or login, as a middleware of actix.
async fn pass(
    front: Front,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> actix_web::Result<ServiceResponse<EitherBody<impl MessageBody>>> {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let authority = request.uri().authority().map(|authority| authority.as_str());
    let is_admitted = front.admits(header(HOST.as_str()).or(authority));
    let principal = front.principal(header);
    if let Some(principal) = principal {
        request.extensions_mut().insert(principal);
    }
    let mut response = if is_admitted {
        next.call(request).await?.map_into_left_body()
    } else {
        request.into_response(HttpResponse::new(StatusCode::MISDIRECTED_REQUEST)).map_into_right_body()
    };
    for (name, value) in front.headers() {
        let (name, value) = (HeaderName::from_static(name), HeaderValue::from_static(value));
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

/// Answers from the host's own router. Both bodies are read whole, since none of them streams.
async fn own_route(router: web::Data<Router>, request: BridgedRequest) -> actix_web::Result<HttpResponse> {
    ask(router.get_ref().clone(), request).await.map_err(ErrorInternalServerError)
}

async fn ask(router: Router, request: BridgedRequest) -> Result<HttpResponse, AnyError> {
    let (parts, body) = request.0.into_parts();
    let body = Limited::new(body, OWN_BODY).collect().await?.to_bytes();
    let answer = router.oneshot(axum::http::Request::from_parts(parts, Body::from(body))).await?;
    let (parts, body) = answer.into_parts();
    let mut response = HttpResponse::build(StatusCode::from_u16(parts.status.as_u16())?);
    for (name, value) in &parts.headers {
        response.append_header((name.as_str(), value.as_bytes()));
    }
    Ok(response.body(axum::body::to_bytes(body, usize::MAX).await?))
}
