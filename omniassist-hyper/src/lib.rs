//! Serves an OmniAssist assistant with [hyper], over HTTP/1 and HTTP/2, or with anything that mounts a tower
//! [`Service`](tower_service::Service).
//!
//! One crate to add: what is needed to build an assistant and its tools is re-exported from here.
//!
//! ```
//! use http_body_util::Full;
//! use hyper::body::{Bytes, Incoming};
//! use hyper::service::service_fn;
//! use hyper::{Request, Response};
//! use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
//! use hyper_util::server::conn::auto;
//! use omniassist_hyper::{Args, Assistant, LlmProvider, State, Tool, ToolError};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use std::convert::Infallible;
//! use tokio::net::TcpListener;
//!
//! #[derive(Clone)]
//! struct Orders;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct OrderQuery {
//!     /// Number of the order.
//!     number: u32,
//! }
//!
//! async fn order_status(Args(query): Args<OrderQuery>, State(_orders): State<Orders>) -> Result<String, ToolError> {
//!     Ok(format!("Order {} is on its way.", query.number))
//! }
//!
//! /// The application as it was.
//! async fn shop(_request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
//!     Ok(Response::new(Full::from("Welcome.")))
//! }
//!
//! async fn serve(listener: TcpListener, model: impl LlmProvider) -> Result<(), Box<dyn std::error::Error>> {
//!     let assistant = Assistant::builder(model)
//!         .system_prompt("You help with orders.")
//!         .state(Orders)
//!         .tool(Tool::new("order_status", "Look up an order by its number", order_status))
//!         .allow_anonymous()
//!         .build()?;
//!     let app = omniassist_hyper::nest("/assistant", assistant, service_fn(shop));
//!     loop {
//!         let (socket, peer) = listener.accept().await?;
//!         socket.set_nodelay(true)?;
//!         let app = app.clone().peer(peer);
//!         tokio::spawn(async move {
//!             let mut server = auto::Builder::new(TokioExecutor::new());
//!             server.http1().timer(TokioTimer::new());
//!             // A client that leaves is an error here.
//!             let _ = server.serve_connection(TokioIo::new(socket), app).await;
//!         });
//!     }
//! }
//! ```
//!
//! # Mounting
//!
//! - Below a path, before the application's own service: [`nest("/assistant", assistant, own)`](nest). Both
//!   `/assistant` and `/assistant/` run it; what is not below the path goes to the service as it came.
//! - At the root: [`service(assistant)`](service) is the whole application, or what your own routing falls back to.
//! - In a handler of your own: [`PostedRun`](http::PostedRun).
//!
//! Where requests are routed by hand, the assistant is one more arm:
//!
//! ```
//! use http_body_util::{BodyExt, Full};
//! use http_body_util::combinators::BoxBody;
//! use hyper::body::{Bytes, Incoming};
//! use hyper::{Request, Response};
//! use omniassist_hyper::http::{AssistantService, CutAnswer};
//!
//! async fn route(assistant: &AssistantService, request: Request<Incoming>) -> Response<BoxBody<Bytes, CutAnswer>> {
//!     match request.uri().path() {
//!         "/health" => Response::new(Full::from("well").map_err(|never| match never {}).boxed()),
//!         _ => assistant.handle(request).await.map(BodyExt::boxed),
//!     }
//! }
//! ```
//!
//! ## With tower
//!
//! [`nest`] and [`service`] give services of hyper and of tower alike, so layers go around them, and whatever
//! framework takes a tower service takes them:
//!
//! ```
//! use http_body_util::Full;
//! use hyper::body::{Bytes, Incoming};
//! use hyper::{Request, Response};
//! use hyper_util::service::TowerToHyperService;
//! use omniassist_hyper::{Assistant, Principal};
//! use std::convert::Infallible;
//! use tower::{ServiceBuilder, service_fn};
//!
//! async fn shop(_request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
//!     Ok(Response::new(Full::from("Welcome.")))
//! }
//!
//! # fn app(assistant: Assistant) {
//! let app = ServiceBuilder::new()
//!     .map_request(|mut request: Request<Incoming>| {
//!         // What your authentication found out.
//!         request.extensions_mut().insert(Principal::new("ann"));
//!         request
//!     })
//!     .layer_fn(move |own| omniassist_hyper::nest("/assistant", assistant.clone(), own))
//!     .service(service_fn(shop));
//! // For `serve_connection`:
//! let app = TowerToHyperService::new(app);
//! # }
//! ```
//!
//! # The host's data in tools
//!
//! What is put into a request's extensions before it comes here, tools take as [`Extension<T>`](Extension)
//! parameters, and a [`Principal`] put there is who the run is for. Values for the whole application are given to the
//! builder with `.state(value)` and taken as [`State<T>`](State).
//!
//! # Whose request it is
//!
//! A layer of the application puts a [`Principal`] into the request's extensions, or the assistant gets a hook of its own
//! with [`authenticate`](AssistantBuilder::authenticate). Without either, requests are answered 401, unless
//! [`allow_anonymous`](AssistantBuilder::allow_anonymous) says otherwise. [`access`] tells the rest.
//!
//! # Which pages may use it
//!
//! Those of the application itself. Pages of other origins are listed with
//! [`allow_origin`](AssistantBuilder::allow_origin); a CORS layer does not replace that list. Tell the service who is
//! at the other end of each connection, with [`Nested::peer`] or [`Standalone::peer`], or a [`PeerAddr`] in the request's
//! extensions: requests from this machine must then name this machine, or one of the
//! [`allowed_hosts`](AssistantBuilder::allowed_hosts), and pages that point their own name at 127.0.0.1 are found out.
//!
//! # Cancellation
//!
//! A client that goes away drops the response body, and with it the run: the connection to the model closes and every
//! tool's cancellation token fires. Hyper notices at once, over HTTP/1 as long as its
//! [`half_close`](https://docs.rs/hyper/1/hyper/server/conn/http1/struct.Builder.html#method.half_close) is off, as it is by default.
//!
//! # Shutting down
//!
//! `hyper_util`'s `GracefulShutdown` waits until every response has ended: with streamed answers, that is as long as a
//! model talks, and for ever where a client does not read. Beside it, [`Assistant::drain`] gives the runs a deadline,
//! and tells the clients of those that are left to send their message again:
//!
//! ```
//! use std::pin::pin;
//! use std::time::Duration;
//!
//! use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
//! use hyper_util::server::conn::auto;
//! use hyper_util::server::graceful::GracefulShutdown;
//! use omniassist_hyper::Assistant;
//! use tokio::net::TcpListener;
//!
//! async fn serve(
//!     listener: TcpListener,
//!     assistant: Assistant,
//!     stopped: impl Future<Output = ()>,
//! ) -> std::io::Result<()> {
//!     let app = omniassist_hyper::service(assistant.clone());
//!     let graceful = GracefulShutdown::new();
//!     let mut stopped = pin!(stopped);
//!     loop {
//!         let socket = tokio::select! {
//!             accepted = listener.accept() => accepted?.0,
//!             () = &mut stopped => break,
//!         };
//!         let mut server = auto::Builder::new(TokioExecutor::new());
//!         server.http1().timer(TokioTimer::new());
//!         let connection = server.serve_connection(TokioIo::new(socket), app.clone()).into_owned();
//!         let connection = graceful.watch(connection);
//!         tokio::spawn(async move {
//!             // A client that leaves is an error here.
//!             let _ = connection.await;
//!         });
//!     }
//!     drop(listener);
//!     let drained = async {
//!         assistant.drain(Duration::from_secs(25)).await;
//!         // For the last words to be written; a client that does not read them is not waited for.
//!         tokio::time::sleep(Duration::from_secs(1)).await;
//!     };
//!     tokio::select! {
//!         () = graceful.shutdown() => {}
//!         () = drained => {}
//!     }
//!     // Where the last client left first, tools may still be winding up.
//!     assistant.shutdown().await;
//!     Ok(())
//! }
//! ```
//!
//! `stopped` is `tokio::signal::ctrl_c()` and, on Unix, `signal(SignalKind::terminate())`. Whoever supervises the process
//! must give it some seconds more than the deadline: 25 s fit into the 30 s of Kubernetes.

mod mounted;
mod nested;
mod standalone;

pub use mounted::{MountedBody, MountedFuture};
pub use nested::{Nested, nest};
pub use omniassist_server::core::{self, ContextMessage, Limits, LlmEvent, LlmPayload, RunRequest};
#[doc(inline)]
pub use omniassist_server::*;
pub use standalone::{Standalone, service};
