use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use omniassist_server::Assistant;
use omniassist_server::http::{MountPath, strip_prefix};

use crate::{MountedBody, MountedFuture, Standalone, service};

/// Mounts an assistant below a path, and `own` for every other request. The result is a service of hyper if `own` is
/// one, and of tower if `own` is one.
///
/// The path is compared without decoding, in whole segments. It begins with a slash, which may be left out; a slash at its
/// end does not count. With `""` or `"/"`,
/// `own` never gets a request. The assistant gets the path below the mount point; `own` gets the request unchanged.
///
/// ```
/// use http_body_util::{BodyExt, Full};
/// use hyper::body::Bytes;
/// use hyper::service::{Service, service_fn};
/// use hyper::{Request, Response};
/// use omniassist_hyper::Assistant;
/// use omniassist_hyper::testing::ScriptedProvider;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let own = service_fn(|_: Request<Full<Bytes>>| async {
///     Ok::<_, std::convert::Infallible>(Response::new(Full::from("Welcome.")))
/// });
/// let assistant = Assistant::builder(ScriptedProvider::new()).allow_anonymous().build()?;
/// let app = omniassist_hyper::nest("/assistant", assistant, own);
///
/// let home = app.call(Request::get("/").body(Full::default())?).await?;
/// assert_eq!(home.into_body().collect().await?.to_bytes(), "Welcome.");
/// let manifest = app.call(Request::get("/assistant/manifest.json").body(Full::default())?).await?;
/// assert_eq!(manifest.headers()["content-type"], "application/json");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn nest<S>(path: &str, assistant: Assistant, own: S) -> Nested<S> {
    let path = format!("/{}", path.trim_start_matches('/'));
    Nested { mount: MountPath::new(path.as_str()), path: path.into(), assistant: service(assistant), own }
}

/// A service with an assistant below a path. Created by [`nest`]; cloning also clones the application's own service.
#[derive(Clone)]
pub struct Nested<S> {
    path: Arc<str>,
    mount: MountPath,
    assistant: Standalone,
    own: S,
}

impl<S> Nested<S> {
    /// Sets the address of the peer, for the clone that serves one connection; see [`PeerAddr`](crate::PeerAddr).
    /// Default: the `PeerAddr` in the request's extensions, if any.
    #[must_use]
    pub fn peer(mut self, address: SocketAddr) -> Self {
        self.assistant = self.assistant.peer(address);
        self
    }

    /// Returns `true` if the request is for the assistant, and cuts the mount point off its path.
    fn is_below<B>(&self, request: &mut Request<B>) -> bool {
        let below = strip_prefix(request.uri(), &self.path);
        let is_below = below.is_some();
        if let Some(uri) = below {
            *request.uri_mut() = uri;
            request.extensions_mut().get_or_insert_with(|| self.mount.clone());
        }
        is_below
    }
}

impl<S, B, R> hyper::service::Service<Request<B>> for Nested<S>
where
    S: hyper::service::Service<Request<B>, Response = Response<R>>,
    B: Body<Data: Send> + Send + 'static,
{
    type Response = Response<MountedBody<R>>;
    type Error = S::Error;
    type Future = MountedFuture<S::Future>;

    fn call(&self, mut request: Request<B>) -> Self::Future {
        if self.is_below(&mut request) {
            MountedFuture::assistant(tower_service::Service::call(&mut self.assistant.clone(), request))
        } else {
            MountedFuture::own(self.own.call(request))
        }
    }
}

impl<S, B, R> tower_service::Service<Request<B>> for Nested<S>
where
    S: tower_service::Service<Request<B>, Response = Response<R>>,
    B: Body<Data: Send> + Send + 'static,
{
    type Response = Response<MountedBody<R>>;
    type Error = S::Error;
    type Future = MountedFuture<S::Future>;

    /// The assistant is always ready.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.own.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        if self.is_below(&mut request) {
            MountedFuture::assistant(tower_service::Service::call(&mut self.assistant, request))
        } else {
            MountedFuture::own(self.own.call(request))
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for Nested<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nested").field("path", &self.path).field("own", &self.own).finish_non_exhaustive()
    }
}
