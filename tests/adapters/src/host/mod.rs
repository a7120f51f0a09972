//! Backends that mount an assistant beside their own routes, users and data, each in the way of its framework.

mod actix;
mod axum;
mod hyper;

use std::net::SocketAddr;

use omniassist_server::{Assistant, Principal};

use crate::transport::Transport;
use crate::wire::{Ask, Connection, Exchange};

/// The header with the user of a request.
pub(crate) const USER: &str = "x-user";

/// The result of the backend's authentication, for its tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User(pub(crate) String);

impl User {
    fn principal(&self) -> Principal {
        Principal::new(self.0.as_str())
    }
}

/// The state that all requests of the backend share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Region(pub(crate) &'static str);

/// The backend's region.
const REGION: Region = Region("north");

/// The answer to `GET /health`, a route of the backend.
pub(crate) const HEALTH: &str = "well";

/// The backend's answer to an unknown path.
pub(crate) const NOWHERE: &str = "nowhere";

/// An assistant and the path at which it is mounted.
pub(crate) type Mount = (String, Assistant);

/// A backend that listens on its own port. Dropping it stops the backend.
pub(crate) struct Host {
    pub(crate) transport: Transport,
    pub(crate) address: SocketAddr,
    _serving: Serving,
}

enum Serving {
    Tokio(tokio::task::AbortHandle),
    Actix(actix_web::dev::ServerHandle),
}

impl Drop for Serving {
    fn drop(&mut self) {
        match self {
            Self::Tokio(task) => task.abort(),
            // The call stops the server. The future only waits for its end.
            Self::Actix(server) => drop(server.stop(false)),
        }
    }
}

impl Host {
    /// Mounts one assistant at `/assistant`.
    pub(crate) async fn start(transport: Transport, assistant: &Assistant) -> Self {
        Self::mounted(transport, &[("/assistant", assistant)]).await
    }

    /// Mounts one or two assistants. An assistant at `/` serves every path that is not the backend's.
    pub(crate) async fn mounted(transport: Transport, mounts: &[(&str, &Assistant)]) -> Self {
        let mounts = mounts.iter().map(|(path, assistant)| ((*path).to_owned(), (*assistant).clone()));
        let mounts: Vec<Mount> = mounts.collect();
        let (address, serving) = match transport {
            Transport::Axum => axum::serve(mounts).await,
            Transport::ActixHttp1 | Transport::ActixHttp2 => actix::serve(transport, mounts).await,
            Transport::HyperHttp1 | Transport::HyperHttp2 => hyper::serve(transport, mounts).await,
        };
        Self { transport, address, _serving: serving }
    }

    /// Opens a new connection.
    pub(crate) async fn connect(&self) -> Connection {
        Connection::open(self).await
    }

    /// Sends a request on a new connection.
    pub(crate) async fn ask(&self, ask: &Ask) -> Exchange {
        self.connect().await.ask(ask).await
    }
}
