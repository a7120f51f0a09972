//! Mounts an OmniAssist assistant in an [actix-web](actix_web) application.
//!
//! One crate to add: what is needed to build an assistant and its tools is re-exported from here.
//!
//! ```
//! use actix_web::web;
//! use omniassist_actix::{Args, Assistant, LlmProvider, State, Tool, ToolError};
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
//! fn assistant(model: impl LlmProvider) -> Result<Assistant, omniassist_actix::Error> {
//!     Assistant::builder(model)
//!         .system_prompt("You help with orders.")
//!         .state(Orders)
//!         .tool(Tool::new("order_status", "Look up an order by its number", order_status))
//!         .allow_anonymous()
//!         .build()
//! }
//!
//! /// What `App::configure` takes: each worker mounts the same assistant.
//! fn routes(assistant: Assistant) -> impl FnOnce(&mut web::ServiceConfig) {
//!     move |app| {
//!         app.service(omniassist_actix::scope("/assistant", assistant));
//!     }
//! }
//! ```
//!
//! Serve it with [`HttpServer::h1_allow_half_closed(false)`](actix_web::HttpServer::h1_allow_half_closed), for which
//! [Cancellation](#cancellation) says why, and with [`tcp_nodelay(true)`](actix_web::HttpServer::tcp_nodelay): else a token
//! waits until the client has acknowledged the one before it, which takes some of them 40 ms.
//!
//! # Mounting
//!
//! - Below a path: `.service(scope("/assistant", assistant))`. Both `/assistant` and `/assistant/` run it. Within a
//!   scope of your own the path counts from there, and the empty path is that scope itself:
//!   `web::scope("/assistant").wrap(auth).service(scope("", assistant))`.
//! - At the root, behind the application's own routes: `.service(scope("", assistant))`, registered last.
//! - In a handler of your own: the [`AssistantRequest`] extractor.
//! - What has no mount of its own here, an agent runtime of yours above all ([`bridge`]): [`BridgedRequest`] and
//!   [`BridgedResponse`].
//!
//! # The host's data in tools
//!
//! Actix's extensions hold values of any kind; what tools are given must be `Clone`, `Send` and `Sync`. So name the
//! types that tools need when you mount the assistant: each request's value is then cloned for them, and they take it
//! as an [`Extension<T>`](Extension) parameter. A [`Principal`] among a request's extensions is who the run is for;
//! it needs no naming. Values for the whole application can as well be given to the builder with `.state(value)` and
//! taken as [`State<T>`](State).
//!
//! | where the host has it | when mounting | what the tool takes |
//! |---|---|---|
//! | `req.extensions_mut().insert(user)`, in a middleware | [`.extension::<User>()`](AssistantScope::extension) | `Extension<User>` |
//! | `App::app_data(web::Data::new(db))` | [`.data::<Db>()`](AssistantScope::data) | `Extension<web::Data<Db>>` |
//! | `App::app_data(settings)` | [`.app_data::<Settings>()`](AssistantScope::app_data) | `Extension<Settings>` |
//!
//! ```
//! use actix_web::{App, HttpMessage, web};
//! use actix_web::dev::Service;
//! use omniassist_actix::{Assistant, Extension, Principal, ToolError};
//!
//! #[derive(Clone)]
//! struct User(String);
//! struct Db;
//!
//! async fn greet(Extension(user): Extension<User>, Extension(db): Extension<web::Data<Db>>) -> Result<String, ToolError> {
//!     Ok(format!("Hello {}.", user.0))
//! }
//!
//! fn mount(assistant: Assistant) {
//!     let app = App::new()
//!         .app_data(web::Data::new(Db))
//!         .service(omniassist_actix::scope("/assistant", assistant).extension::<User>().data::<Db>())
//!         .wrap_fn(|request, next| {
//!             // What your authentication found out.
//!             request.extensions_mut().insert(Principal::new("ann"));
//!             request.extensions_mut().insert(User("Ann".to_owned()));
//!             next.call(request)
//!         });
//! }
//! ```
//!
//! # Whose request it is
//!
//! A middleware of the application puts a [`Principal`] into the request's extensions, or the assistant gets a hook of its own
//! with [`authenticate`](AssistantBuilder::authenticate). Without either, requests are answered 401, unless
//! [`allow_anonymous`](AssistantBuilder::allow_anonymous) says otherwise. [`access`] tells the rest.
//!
//! # Which pages may use it
//!
//! Those of the application itself. Pages of other origins are listed with
//! [`allow_origin`](AssistantBuilder::allow_origin); a CORS layer does not replace that list. A server that is asked from
//! this machine takes only names of this machine for its own, so that no page that points its name at 127.0.0.1 can
//! reach it: behind a proxy on the same machine, list the names with [`allowed_hosts`](AssistantBuilder::allowed_hosts).
//!
//! # Workers
//!
//! Each worker is a tokio runtime, and a connection to the model stays with the runtime that opened it, so that no token
//! has to wake another thread. Every worker therefore has, for each provider, a pool of its own:
//!
//! - A worker keeps the connections that it needed at the same time, each for [`Limits::pool_idle_timeout`] after its
//!   last answer, 30 s by default. How many there may be is not limited. With many workers and few requests, a request
//!   is more likely to find none and to connect first, which over a network takes longer than anything here: raise that
//!   limit, or have fewer [`workers`](actix_web::HttpServer::workers).
//! - What a pool takes is about 110 KB with the 140 root certificates of a usual system, and once some 3 ms to make,
//!   which the first request of the worker waits for.
//! - Sharing a pool costs more: a short answer through connections of other workers took nearly half as much processor
//!   time again.
//!
//! # Cancellation
//!
//! A client that goes away drops the response body, and with it the run: the connection to the model closes and every
//! tool's cancellation token fires. When that is, depends on when actix notices:
//!
//! - **HTTP/1 as actix is set by default:** only when a write fails, and the first write after a client has left still
//!   succeeds. While the model says nothing, that takes two keep-alive comments, 30 s with the default
//!   [`Limits::keep_alive`]; of formats that have no comments (plain text, one JSON value a line) nothing is noticed
//!   until the model speaks.
//! - **HTTP/1 with
//!   [`HttpServer::h1_allow_half_closed(false)`](actix_web::HttpServer::h1_allow_half_closed):** at once. What it
//!   takes away is serving clients that shut down their sending half and go on reading, which browsers do not do.
//! - **HTTP/2:** at the next write, so after one keep-alive comment at the latest; not until the model speaks in formats
//!   that have no comments (plain text, one JSON value a line, one JSON value in all).
//!
//! So set `h1_allow_half_closed(false)`, and do not raise `Limits::keep_alive` above its 15 s: it is what a client
//! that has left costs at most.
//!
//! ```
//! use actix_web::{App, HttpServer};
//! use omniassist_actix::Assistant;
//!
//! async fn serve(assistant: Assistant) -> std::io::Result<()> {
//!     HttpServer::new(move || App::new().service(omniassist_actix::scope("/assistant", assistant.clone())))
//!         .h1_allow_half_closed(false)
//!         .tcp_nodelay(true)
//!         .bind(("127.0.0.1", 3000))?
//!         .run()
//!         .await
//! }
//! ```
//!
//! # Shutting down
//!
//! Actix's graceful shutdown waits until every response has ended, at most
//! [`shutdown_timeout`](actix_web::HttpServer::shutdown_timeout), and then cuts those that are left: with streamed
//! answers, many are. Beside it, [`Assistant::drain`] gives the runs a deadline, and tells the clients of those that
//! are left to send their message again:
//!
//! ```
//! use std::time::Duration;
//!
//! use actix_web::{App, HttpServer};
//! use omniassist_actix::{Assistant, CancellationToken};
//!
//! async fn serve(assistant: Assistant, stopped: impl Future<Output = ()>) -> std::io::Result<()> {
//!     let stop = CancellationToken::new();
//!     let mounted = assistant.clone();
//!     let mut server = HttpServer::new(move || {
//!         App::new().service(omniassist_actix::scope("/assistant", mounted.clone()))
//!     })
//!     .h1_allow_half_closed(false)
//!     .tcp_nodelay(true)
//!     .shutdown_signal(stop.cancelled())
//!     // Longer than the runs are given; a client that does not read is not waited for.
//!     .shutdown_timeout(28)
//!     .bind(("127.0.0.1", 3000))?
//!     .run();
//!     let drained = async {
//!         stopped.await;
//!         stop.cancel();
//!         assistant.drain(Duration::from_secs(25)).await;
//!     };
//!     tokio::select! {
//!         ended = &mut server => ended?,
//!         () = drained => server.await?,
//!     }
//!     // Where the last client left first, tools may still be winding up.
//!     assistant.shutdown().await;
//!     Ok(())
//! }
//! ```
//!
//! `stopped` is `tokio::signal::ctrl_c()` and, on Unix, `signal(SignalKind::terminate())`; with `shutdown_signal`, actix
//! listens for neither. Whoever supervises the process must give it some seconds more than the deadline: 25 s fit into
//! the 30 s of Kubernetes.

mod bridged;
mod carry;
mod extract;
mod request;
mod response;
mod scope;

pub use bridged::{BridgedRequest, BridgedResponse};
pub use extract::AssistantRequest;
pub use omniassist_server::core::{self, ContextMessage, Limits, LlmEvent, LlmPayload, RunRequest};
#[doc(inline)]
pub use omniassist_server::*;
pub use request::RequestBody;
pub use scope::{AssistantScope, scope};
