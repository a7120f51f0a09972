use std::net::SocketAddr;

use actix_web::dev::Service;
use actix_web::{App, HttpMessage, HttpResponse, HttpServer, web};
use tokio::sync::oneshot;

use super::{HEALTH, Mount, NOWHERE, REGION, Region, Serving, USER, User};
use crate::transport::Transport;

/// Serves with actix, which has its own runtime on its own thread.
pub(super) async fn serve(transport: Transport, mounts: Vec<Mount>) -> (SocketAddr, Serving) {
    let (started, starting) = oneshot::channel();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let server = HttpServer::new(move || {
                let mounts = mounts.clone();
                App::new()
                    .app_data(REGION)
                    .route("/health", web::get().to(|| async { HEALTH }))
                    .configure(|app| mount(app, mounts))
                    .default_service(web::to(|| async { HttpResponse::NotFound().body(NOWHERE) }))
                    .wrap_fn(|request, next| {
                        // The backend's authentication, as a middleware.
                        let user = request.headers().get(USER);
                        let user = user.map(|user| User(user.to_str().unwrap().to_owned()));
                        if let Some(user) = user {
                            request.extensions_mut().insert(user.principal());
                            request.extensions_mut().insert(user);
                        }
                        next.call(request)
                    })
            });
            let server = server.workers(1).disable_signals().h1_allow_half_closed(false).tcp_nodelay(true);
            let server = if transport.is_http2() {
                server.bind_auto_h2c(("127.0.0.1", 0)).unwrap()
            } else {
                server.bind(("127.0.0.1", 0)).unwrap()
            };
            let address = server.addrs()[0];
            let server = server.run();
            let _ = started.send((address, server.handle()));
            server.await.unwrap();
        });
    });
    let (address, handle) = starting.await.expect("actix starts");
    (address, Serving::Actix(handle))
}

fn mount(app: &mut web::ServiceConfig, mounts: Vec<Mount>) {
    for (path, assistant) in mounts {
        app.service(omniassist_actix::scope(&path, assistant).extension::<User>().app_data::<Region>());
    }
}
