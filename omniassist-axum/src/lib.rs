//! Mounts an OmniAssist assistant in an [axum] application.
//!
//! One crate to add: what is needed to build an assistant and its tools is re-exported from here.
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
//! - Below a path: `nest_service("/assistant", router(assistant))`. Both `/assistant` and `/assistant/` run it.
//! - At the root, behind the application's own routes: `fallback_service(router(assistant))`.
//! - In a handler of your own: the [`AssistantRequest`] extractor.
//!
//! # The host's data in tools
//!
//! What the application's layers put into a request's extensions, tools take as
//! [`Extension<T>`](Extension) parameters, and a [`Principal`] put there is who the run is for. Values for the
//! whole application are given to the builder with `.state(value)` and taken as [`State<T>`](State).
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
//! [`allow_origin`](AssistantBuilder::allow_origin); a CORS layer does not replace that list. Tell axum to keep the
//! address of each connection, so that pages which point their own name at this machine are found out:
//!
//! ```no_run
//! # use std::net::SocketAddr;
//! # async fn serve(app: axum::Router) -> std::io::Result<()> {
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
//! axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await
//! # }
//! ```
//!
//! Behind a proxy on the same machine, list the names of the server with
//! [`allowed_hosts`](AssistantBuilder::allowed_hosts).
//!
//! # In production
//!
//! - **How much at the same time:** 4 runs of one named principal and 10,000 of all ([`Limits`]); one more is answered
//!   429 or 503, with `Retry-After`.
//! - **How often, and how much in all:** rate limits and token budgets, in [`throttle`]. The cargo feature `rate-limit`
//!   adds a rate limit by principal.
//! - **Metrics:** [`observe`], and [`Assistant::live_runs`] as a gauge. Spans go through `tracing`.
//! - **Compression:** what is streamed says `content-encoding: identity`, so tower-http's `CompressionLayer` leaves it
//!   alone and events arrive one by one. The other answers it compresses.
//! - **Panics** in tools, hooks and providers are answered or told in the stream; not where the application is built
//!   with `panic = "abort"`.
//! - **Two assistants** in one process have nothing in common.
//!
//! # Cancellation
//!
//! A client that goes away drops the response body, and with it the run: the connection to the model closes and every
//! tool's cancellation token fires.
//!
//! # Shutting down
//!
//! `axum::serve(…).with_graceful_shutdown(…)` waits until every response has ended: with streamed answers, that is as
//! long as a model talks, and for ever where a client does not read. Beside it, [`Assistant::drain`] gives the runs a
//! deadline, and tells the clients of those that are left to send their message again:
//!
//! ```
//! use std::time::Duration;
//!
//! use axum::Router;
//! use omniassist_axum::{Assistant, CancellationToken};
//! use tokio::net::TcpListener;
//!
//! async fn serve(
//!     listener: TcpListener,
//!     app: Router,
//!     assistant: Assistant,
//!     stopped: impl Future<Output = ()>,
//! ) -> std::io::Result<()> {
//!     let stop = CancellationToken::new();
//!     let server = axum::serve(listener, app).with_graceful_shutdown(stop.cancelled());
//!     let drained = async {
//!         stopped.await;
//!         stop.cancel();
//!         assistant.drain(Duration::from_secs(25)).await;
//!         // For the last words to be written; a client that does not read them is not waited for.
//!         tokio::time::sleep(Duration::from_secs(1)).await;
//!     };
//!     tokio::select! {
//!         ended = async { server.await } => ended?,
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

mod extract;
mod router;

pub use extract::AssistantRequest;
pub use omniassist_server::core::{self, ContextMessage, Limits, LlmEvent, LlmPayload, RunRequest};
#[doc(inline)]
pub use omniassist_server::*;
pub use router::router;

/// The README's code compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
