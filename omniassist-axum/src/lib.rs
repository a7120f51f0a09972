//! Mounts an OmniAssist assistant in an [axum] application.
//!
//! Everything that is needed to build an assistant and its tools is re-exported from this crate.
//!
//! ```
//! use axum::Router;
//! use omniassist_axum::{Args, Assistant, LlmProvider, State, Tool, ToolError};
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
//! fn app(model: impl LlmProvider) -> Result<Router, omniassist_axum::Error> {
//!     let assistant = Assistant::builder(model)
//!         .system_prompt("You help with orders.")
//!         .state(Orders)
//!         .tool(Tool::new("order_status", "Look up an order by its number", order_status))
//!         .allow_anonymous()
//!         .build()?;
//!     Ok(Router::new().nest_service("/assistant", omniassist_axum::router(assistant)))
//! }
//! ```
//!
//! # Mounting
//!
//! - Below a path: `nest_service("/assistant", router(assistant))`. Both `/assistant` and `/assistant/` begin a run.
//! - At the root, behind the application's own routes: `fallback_service(router(assistant))`.
//! - In a handler of the application: the [`AssistantRequest`] extractor.
//!
//! [`http`] lists the routes of the assistant, and every error that they answer.
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
//! Tools take values from the request's extensions as [`Extension<T>`](Extension) parameters. The layers of the
//! application insert them. Values for the whole application are given to the builder with `.state(value)`, and tools
//! take them as [`State<T>`](State).
//!
//! # Authentication
//!
//! A request needs a [`Principal`]: the user or service that it acts for. A layer of the application inserts one into
//! the request's extensions, or the assistant gets a hook with [`authenticate`](AssistantBuilder::authenticate).
//! Requests without a principal are answered 401, unless [`allow_anonymous`](AssistantBuilder::allow_anonymous) is set.
//! See [`access`] for details.
//!
//! ```
//! use axum::Router;
//! use axum::extract::Request;
//! use axum::middleware::{Next, from_fn};
//! use axum::response::Response;
//! use omniassist_axum::{Assistant, Principal};
//!
//! async fn authenticate(mut request: Request, next: Next) -> Response {
//!     let user_id = String::from("ann"); // from the application's session
//!     request.extensions_mut().insert(Principal::new(&user_id));
//!     next.run(request).await
//! }
//!
//! fn app(assistant: Assistant) -> Router {
//!     Router::new()
//!         .nest_service("/assistant", omniassist_axum::router(assistant))
//!         .layer(from_fn(authenticate))
//! }
//! ```
//!
//! # Pages of other origins (CORS)
//!
//! Pages of the application's own origin may use the assistant. Other origins are listed with
//! [`allow_origin`](AssistantBuilder::allow_origin); CORS middleware of the application does not replace that list.
//!
//! # Serving
//!
//! `axum::serve` sets no timeouts: a client that sends half a request head, sends nothing between two requests, or
//! stops reading a response keeps its connection open without limit. The assistant bounds request bodies and runs, but
//! not connections. Serve with [`hyper_util`](https://docs.rs/hyper-util) and set these timeouts, or put a proxy with
//! such timeouts in front:
//!
//! ```
//! use std::pin::pin;
//! use std::time::Duration;
//!
//! use axum::Router;
//! use axum::serve::Listener;
//! use hyper::body::Incoming;
//! use hyper::service::service_fn;
//! use hyper::Request;
//! use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
//! use hyper_util::server::conn::auto;
//! use hyper_util::server::graceful::GracefulShutdown;
//! use omniassist_axum::{Assistant, PeerAddr};
//! use tokio::net::TcpListener;
//! use tokio_io_timeout::TimeoutStream;
//! use tower_service::Service;
//!
//! async fn serve(mut listener: TcpListener, app: Router, assistant: Assistant, stopped: impl Future<Output = ()>) {
//!     // `auto` without `http1_only` would wait for a client's first bytes without a timeout.
//!     let mut server = auto::Builder::new(TokioExecutor::new()).http1_only();
//!     // For a request head to arrive, and for the next request on an idle connection.
//!     server.http1().timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(30)).max_buf_size(32 * 1024);
//!     let connections = GracefulShutdown::new();
//!     let mut stopped = pin!(stopped);
//!     loop {
//!         let (socket, peer) = tokio::select! {
//!             accepted = Listener::accept(&mut listener) => accepted,
//!             () = &mut stopped => break,
//!         };
//!         // Otherwise a token waits until the client has acknowledged the previous one.
//!         let _ = socket.set_nodelay(true);
//!         // For a client that stops reading.
//!         let mut socket = TimeoutStream::new(socket);
//!         socket.set_write_timeout(Some(Duration::from_secs(30)));
//!         let app = app.clone();
//!         let service = service_fn(move |mut request: Request<Incoming>| {
//!             request.extensions_mut().insert(PeerAddr(peer));
//!             app.clone().call(request)
//!         });
//!         let connection = server.serve_connection(TokioIo::new(Box::pin(socket)), service).into_owned();
//!         let connection = connections.watch(connection);
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
//!         () = connections.shutdown() => {}
//!         () = drained => {}
//!     }
//!     // Tools of runs that ended early may still be winding up.
//!     assistant.shutdown().await;
//! }
//! ```
//!
//! This needs
//!
//! ```toml
//! hyper = "1"
//! hyper-util = { version = "0.1", features = ["http1", "server-auto", "server-graceful", "service", "tokio"] }
//! tokio-io-timeout = "1"
//! tower-service = "0.3"
//! ```
//!
//! With the cargo feature `ws`, the agents' WebSocket needs `serve_connection_with_upgrades` in place of
//! `serve_connection`.
//!
//! | limit | set by | protects from |
//! |---|---|---|
//! | request head, idle connection | `header_read_timeout`, with a `timer` | clients that hold connections open |
//! | buffer of a connection, and size of a head | `max_buf_size` (default 400 KiB), for example 32 KiB | uploads that hold memory |
//! | request body | [`Limits::body_timeout`] and others of [`Limits`] | clients that withhold a body |
//! | unread response | [`Limits::write_timeout`] ends the run; the socket's write timeout closes the connection | clients that stop reading |
//! | number of connections | the operating system or a proxy | floods |
//!
//! The [`PeerAddr`] lets the assistant detect pages that point their own name at 127.0.0.1 (DNS rebinding). With
//! `axum::serve`, use `app.into_make_service_with_connect_info::<SocketAddr>()` for that. Behind a proxy on the same
//! machine, list the names of the server with [`allowed_hosts`](AssistantBuilder::allowed_hosts).
//!
//! `stopped` is `tokio::signal::ctrl_c()` and, on Unix, `signal(SignalKind::terminate())`. A graceful shutdown alone
//! waits until every response has ended, which for streams can take very long. [`Assistant::drain`] gives runs a
//! deadline and tells the clients of the remaining runs to send their message again. The supervisor of the process
//! must wait longer than that deadline: 25 s fit into the 30 s of Kubernetes.
//!
//! # In production
//!
//! - **Concurrent runs:** 4 for each named principal and 10,000 in all by default ([`Limits`]). Further runs are
//!   answered 429 or 503, with `Retry-After`.
//! - **Rates and budgets:** see [`throttle`]. The cargo feature `rate-limit` adds a rate limit for each principal.
//! - **Stored conversations:** [`AssistantBuilder::on_finish`] receives each run that ended, with its messages.
//! - **Audit:** see [`audit`]. A record of each decision goes to a file, to `tracing` or to a table of your database.
//! - **Metrics:** see [`observe`], and [`Assistant::live_runs`] as a gauge. Spans are emitted with `tracing`.
//! - **Compression:** streams have `content-encoding: identity`, so tower-http's `CompressionLayer` does not hold events
//!   back. It compresses the other responses.
//! - **Panics** in tools, hooks and providers are caught and reported as errors, unless the application is built with
//!   `panic = "abort"`.
//! - **Several assistants** in one process share nothing.
//!
//! # Cancellation
//!
//! A client that disconnects drops the response body, and with it the run: the connection to the model closes and every
//! tool's cancellation token fires. A run of a stored conversation goes on instead.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod extract;
mod router;

pub use extract::AssistantRequest;
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
pub use router::router;
