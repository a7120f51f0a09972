//! Serves an OmniAssist assistant with [hyper], over HTTP/1 and HTTP/2, or with anything that mounts a tower
//! [`Service`](tower_service::Service).
//!
//! Everything that is needed to build an assistant and its tools is re-exported from this crate. [Serving](#serving) shows
//! the loop that accepts connections.
//!
//! ```
//! use omniassist_hyper::{Args, Assistant, LlmProvider, State, Tool, ToolError};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
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
//! fn app(model: impl LlmProvider) -> Result<omniassist_hyper::Standalone, omniassist_hyper::Error> {
//!     let assistant = Assistant::builder(model)
//!         .system_prompt("You help with orders.")
//!         .state(Orders)
//!         .tool(Tool::new("order_status", "Look up an order by its number", order_status))
//!         .allow_anonymous()
//!         .build()?;
//!     Ok(omniassist_hyper::service(assistant))
//! }
//! ```
//!
//! # Mounting
//!
//! - Below a path, before the application's own service: [`nest("/assistant", assistant, own)`](nest). Both
//!   `/assistant` and `/assistant/` begin a run. Requests that are not below the path go to the service unchanged.
//! - At the root: [`service(assistant)`](service) is the whole application, or the fallback of its routing.
//! - In a handler of the application: [`PostedRun`](http::PostedRun).
//!
//! [`http`] lists the routes of the assistant, and every error that they answer.
//!
//! In an application that matches paths itself, the assistant is another match arm:
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
//! [`nest`] and [`service`] return services of both hyper and tower. They can be wrapped in layers, and every framework
//! that takes a tower service can mount them:
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
//!         // From the application's authentication.
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
//! # Further features
//!
//! The [`guide`] explains:
//!
//! - the [context](guide#context) of a page (`context`, `add_context`) and
//!   [long conversations](guide#long-conversations) (`history`);
//! - the [current user](guide#the-current-user-in-the-system-prompt) in the system prompt (`RunContext::extensions`);
//! - the [progress](guide#progress-of-a-tool) of a tool (`ToolContext::progress`) and
//!   [tools from other systems](guide#tools-from-other-systems) (`tool_source`);
//! - the [question](guide#the-question-of-an-approval) of an approval (`?ai-sdk=7`) and
//!   [errors](guide#errors-in-a-page) in a page (`error.message` is JSON);
//! - [stored chats](guide#stored-chats) (`store`), [limits and budgets](guide#limits-and-budgets) (`rate_limit`,
//!   `token_budget`) and [agents](guide#agents) (`agent`);
//! - [files](guide#files) that users attach, with the cargo feature `files`;
//! - [CORS preflights](guide#middleware-around-the-assistant) and other middleware.
//!
//! The cargo feature `sqlite` adds `SqliteStore`, which keeps conversations and runs in a file. The feature `postgres` adds
//! `PostgresStore`, which many servers share. The feature `redis` adds `RedisTail`, `RedisRateLimit` and `RedisTokenBudget`,
//! by which several servers share the text of running answers, rate limits and token budgets.
//!
//! # Application data in tools
//!
//! Tools take values from the request's extensions as [`Extension<T>`](Extension) parameters. The application inserts
//! them before the request reaches the service. Values for the whole application are given to the builder with
//! `.state(value)`, and tools take them as [`State<T>`](State).
//!
//! # Authentication
//!
//! A request needs a [`Principal`]: the user or service that it acts for. The application inserts one into the
//! request's extensions, as above, or the assistant gets a hook with [`authenticate`](AssistantBuilder::authenticate).
//! Requests without a principal are answered 401, unless [`allow_anonymous`](AssistantBuilder::allow_anonymous) is set.
//! See [`access`] for details.
//!
//! # Pages of other origins (CORS)
//!
//! Pages of the application's own origin may use the assistant. Other origins are listed with
//! [`allow_origin`](AssistantBuilder::allow_origin); CORS middleware of the application does not replace that list.
//!
//! The peer's address lets the assistant detect pages that point their own name at 127.0.0.1 (DNS rebinding). Set it
//! with [`Nested::peer`] or [`Standalone::peer`], or insert a [`PeerAddr`] into the request's extensions. Requests from
//! this machine must then name this machine, or one of the [`allowed_hosts`](AssistantBuilder::allowed_hosts).
//!
//! # Cancellation
//!
//! A client that disconnects drops the response body, and with it the run: the connection to the model closes and every
//! tool's cancellation token fires. A run of a stored conversation goes on instead. Over HTTP/1, hyper notices a
//! disconnect at once unless
//! [`half_close`](https://docs.rs/hyper/1/hyper/server/conn/http1/struct.Builder.html#method.half_close) is enabled.
//!
//! # Serving
//!
//! The assistant bounds request bodies and runs. The server must set the other limits:
//!
//! | limit | set by | protects from |
//! |---|---|---|
//! | request head, idle connection | `header_read_timeout` (default 30 s), in force only with a `timer` | clients that hold connections open |
//! | buffer of a connection, and size of a head | `max_buf_size` (default 400 KiB), for example 32 KiB | uploads that hold memory |
//! | request body | [`Limits::body_timeout`] and others of [`Limits`] | clients that withhold a body |
//! | unread response | [`Limits::write_timeout`] ends the run; the socket's write timeout closes the connection | clients that stop reading |
//! | number of connections | the operating system or a proxy | floods |
//!
//! `auto::Builder` detects HTTP/2 from the first bytes of a connection, and waits for them without a timeout. Use
//! `http1_only()`, or `http2_only()` where TLS has negotiated HTTP/2.
//!
//! A graceful shutdown alone waits until every response has ended, which for streams can take very long.
//! [`Assistant::drain`] gives runs a deadline, and tells the clients of the remaining runs to send their message again:
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
//! use tokio_io_timeout::TimeoutStream;
//!
//! async fn serve(listener: TcpListener, assistant: Assistant, stopped: impl Future<Output = ()>) {
//!     let timeout = Duration::from_secs(30);
//!     let mut server = auto::Builder::new(TokioExecutor::new()).http1_only();
//!     server.http1().timer(TokioTimer::new()).header_read_timeout(timeout).max_buf_size(32 * 1024);
//!     let app = omniassist_hyper::service(assistant.clone());
//!     let graceful = GracefulShutdown::new();
//!     let mut stopped = pin!(stopped);
//!     loop {
//!         let accepted = tokio::select! {
//!             accepted = listener.accept() => accepted,
//!             () = &mut stopped => break,
//!         };
//!         let Ok((socket, peer)) = accepted else {
//!             // For example, the process has no file descriptors left.
//!             tokio::time::sleep(Duration::from_secs(1)).await;
//!             continue;
//!         };
//!         // Otherwise a token waits until the client has acknowledged the previous one.
//!         let _ = socket.set_nodelay(true);
//!         let mut socket = TimeoutStream::new(socket);
//!         socket.set_write_timeout(Some(timeout));
//!         let app = app.clone().peer(peer);
//!         let connection = server.serve_connection(TokioIo::new(Box::pin(socket)), app).into_owned();
//!         let connection = graceful.watch(connection);
//!         tokio::spawn(async move {
//!             // A client that disconnects is an error here.
//!             let _ = connection.await;
//!         });
//!     }
//!     drop(listener);
//!     let drained = async {
//!         assistant.drain(Duration::from_secs(25)).await;
//!         // Time to write the last events; a client that does not read them is not waited for.
//!         tokio::time::sleep(Duration::from_secs(1)).await;
//!     };
//!     tokio::select! {
//!         () = graceful.shutdown() => {}
//!         () = drained => {}
//!     }
//!     // Tools of runs that ended early may still be winding up.
//!     assistant.shutdown().await;
//! }
//! ```
//!
//! With the cargo feature `ws`, the agents' WebSocket needs `serve_connection_with_upgrades` in place of
//! `serve_connection`.
//!
//! `stopped` is `tokio::signal::ctrl_c()` and, on Unix, `signal(SignalKind::terminate())`. The supervisor of the
//! process must wait longer than the deadline of `drain`: 25 s fit into the 30 s of Kubernetes. The code needs
//!
//! ```toml
//! hyper-util = { version = "0.1", features = ["http1", "server-auto", "server-graceful", "service", "tokio"] }
//! tokio-io-timeout = "1"
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod mounted;
mod nested;
mod standalone;

pub use mounted::{MountedBody, MountedFuture};
pub use nested::{Nested, nest};
#[cfg(feature = "postgres")]
pub use omniassist_postgres::{
    PostgresOptions, PostgresRateLimit, PostgresReplayGuard, PostgresStore, PostgresTokenBudget,
};
#[cfg(feature = "redis")]
pub use omniassist_redis::{Redis, RedisRateLimit, RedisTail, RedisTokenBudget};
pub use omniassist_server::core::{self, ContextMessage, Limits, LlmEvent, LlmPayload, RunRequest};
#[doc(inline)]
pub use omniassist_server::*;
#[cfg(feature = "sqlite")]
pub use omniassist_sqlite::SqliteStore;
pub use standalone::{Standalone, service};
