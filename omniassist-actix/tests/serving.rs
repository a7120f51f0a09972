//! A server of actix with one worker.

use actix_web::body::MessageBody;
use actix_web::dev::{ServerHandle, ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::{App, Error, HttpServer, web};

/// A server. Dropping it stops the server.
pub(crate) struct Served {
    pub(crate) base: String,
    pub(crate) address: std::net::SocketAddr,
    pub(crate) handle: ServerHandle,
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.handle.stop(false));
    }
}

/// Serves what `configure` registers, over HTTP/1 and HTTP/2, with half-closed connections not allowed.
pub(crate) fn serve(configure: impl Fn(&mut web::ServiceConfig) + Clone + Send + 'static) -> Served {
    serve_app(move || App::new().configure(configure.clone()), false)
}

pub(crate) fn serve_app<T, B>(
    app: impl Fn() -> App<T> + Clone + Send + 'static,
    allow_half_closed: bool,
) -> Served
where
    T: ServiceFactory<
            ServiceRequest,
            Config = (),
            Response = ServiceResponse<B>,
            Error = Error,
            InitError = (),
        > + 'static,
    B: MessageBody + 'static,
{
    let server = HttpServer::new(app)
        .workers(1)
        .disable_signals()
        .h1_allow_half_closed(allow_half_closed)
        .bind_auto_h2c(("127.0.0.1", 0))
        .unwrap();
    let address = server.addrs()[0];
    let server = server.run();
    let handle = server.handle();
    actix_web::rt::spawn(server);
    Served { base: format!("http://{address}"), address, handle }
}
