use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use http::Extensions;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::sync::lock;

/// A connection after its upgrade.
pub(super) trait Socket: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Socket for S {}

pub(super) type BoxSocket = Pin<Box<dyn Socket>>;

/// The upgraded connection of a request, for an adapter whose server is not hyper. The adapter inserts it into the
/// request's extensions, and connects the other end to its own connection if the answer has the status 101.
///
/// The service itself takes the connection of hyper, and of frameworks on hyper.
#[derive(Clone)]
pub struct SocketUpgrade(Arc<Mutex<Option<BoxSocket>>>);

impl SocketUpgrade {
    /// Creates the upgrade to this socket.
    pub fn new(socket: impl AsyncRead + AsyncWrite + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::pin(socket)))))
    }
}

impl fmt::Debug for SocketUpgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SocketUpgrade").finish_non_exhaustive()
    }
}

/// A connection that is about to be upgraded.
pub(super) enum Upgrade {
    Hyper(OnUpgrade),
    Ready(BoxSocket),
}

impl Upgrade {
    /// Takes the connection of a request, if its server can upgrade it.
    pub(super) fn take(extensions: &mut Extensions) -> Option<Self> {
        match extensions.remove::<SocketUpgrade>() {
            Some(SocketUpgrade(socket)) => lock(&socket).take().map(Self::Ready),
            None => extensions.remove().map(Self::Hyper),
        }
    }

    /// Waits until the answer was written.
    pub(super) async fn socket(self) -> Option<BoxSocket> {
        match self {
            Self::Ready(socket) => Some(socket),
            Self::Hyper(upgrade) => match upgrade.await {
                Ok(upgraded) => Some(Box::pin(TokioIo::new(upgraded))),
                Err(error) => {
                    tracing::warn!(
                        %error,
                        "a connection was not upgraded to a WebSocket; hyper's server needs `with_upgrades` on its connection, \
                         and that of hyper-util `serve_connection_with_upgrades`"
                    );
                    None
                }
            },
        }
    }
}
