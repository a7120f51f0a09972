//! Serves the assistant through one adapter, or over standard input and output.

use std::future::pending;
use std::io::{self, Write};
use std::net::SocketAddr;

use actix_web::{App, HttpServer};
use axum::Router;
use hyper_util::service::TowerToHyperService;
use omniassist_server::{Assistant, Principal};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::AnyError;

const PATH: &str = "/assistant";

/// Prints the address for the parent process.
fn announce(address: SocketAddr) -> io::Result<()> {
    writeln!(io::stdout(), "listening on http://{address}{PATH}/mcp")
}

/// Returns a listener on a free port.
pub(crate) async fn bind() -> io::Result<TcpListener> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    announce(listener.local_addr()?)?;
    Ok(listener)
}

pub(crate) fn axum(assistant: Assistant) -> Result<(), AnyError> {
    Runtime::new()?.block_on(async {
        let app = Router::new().nest_service(PATH, omniassist_axum::router(assistant));
        let app = app.into_make_service_with_connect_info::<SocketAddr>();
        Ok(::axum::serve(bind().await?, app).await?)
    })
}

pub(crate) fn hyper(assistant: Assistant) -> Result<(), AnyError> {
    Runtime::new()?.block_on(async {
        let own = TowerToHyperService::new(Router::new());
        let service = omniassist_hyper::nest(PATH, assistant, own);
        serving::serve(bind().await?, pending(), move |peer| service.clone().peer(peer)).await;
        Ok(())
    })
}

pub(crate) fn actix(assistant: Assistant) -> Result<(), AnyError> {
    actix_web::rt::System::new().block_on(async {
        let app = move || App::new().service(omniassist_actix::scope(PATH, assistant.clone()));
        let server = HttpServer::new(app).workers(2).h1_allow_half_closed(false).bind("127.0.0.1:0")?;
        for address in server.addrs() {
            announce(address)?;
        }
        Ok(server.run().await?)
    })
}

pub(crate) fn stdio(assistant: Assistant) -> Result<(), AnyError> {
    let user = Principal::new("local");
    Runtime::new()?.block_on(async { Ok(crate::host::expose().serve_stdio(assistant, user).await?) })
}
