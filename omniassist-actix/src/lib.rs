//! Mounts an OmniAssist assistant in an [actix-web](actix_web) application.
//!
//! Everything that is needed to build an assistant and its tools is re-exported from this crate.
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
//! /// For `App::configure`: each worker mounts the same assistant.
//! fn routes(assistant: Assistant) -> impl FnOnce(&mut web::ServiceConfig) {
//!     move |app| {
//!         app.service(omniassist_actix::scope("/assistant", assistant));
//!     }
//! }
//! ```
//!
//! # Mounting
//!
//! - Below a path: `.service(scope("/assistant", assistant))`. Both `/assistant` and `/assistant/` begin a run. Within a
//!   scope of the application the path counts from there, and the empty path is that scope itself:
//!   `web::scope("/assistant").wrap(auth).service(scope("", assistant))`.
//! - At the root, behind the application's own routes: `.service(scope("", assistant))`, registered last.
//! - In a handler of the application: the [`AssistantRequest`] extractor.
//! - An agent runtime of the application ([`bridge`]): [`BridgedRequest`] and [`BridgedResponse`].
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
//! Actix's extensions hold values of any type, but tools need values that are `Clone`, `Send` and `Sync`. Name the types
//! that tools need when you mount the assistant. Each request's value is then cloned for the tools, which take it as an
//! [`Extension<T>`](Extension) parameter. A [`Principal`] needs no naming. Values for the whole application can also be
//! given to the builder with `.state(value)` and taken as [`State<T>`](State).
//!
//! | value of the application | when mounting | parameter of the tool |
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
//!             // From the application's authentication.
//!             request.extensions_mut().insert(Principal::new("ann"));
//!             request.extensions_mut().insert(User("Ann".to_owned()));
//!             next.call(request)
//!         });
//! }
//! ```
//!
//! # Authentication
//!
//! A request needs a [`Principal`]: the user or service that it acts for. A middleware of the application inserts one
//! into the request's extensions, as above, or the assistant gets a hook with
//! [`authenticate`](AssistantBuilder::authenticate). Requests without a principal are answered 401, unless
//! [`allow_anonymous`](AssistantBuilder::allow_anonymous) is set. See [`access`] for details.
//!
//! # Pages of other origins (CORS)
//!
//! Pages of the application's own origin may use the assistant. Other origins are listed with
//! [`allow_origin`](AssistantBuilder::allow_origin); CORS middleware of the application does not replace that list.
//!
//! Requests from this machine must name this machine, so that no page that points its own name at 127.0.0.1 can use the
//! assistant (DNS rebinding). Behind a proxy on the same machine, list the names of the server with
//! [`allowed_hosts`](AssistantBuilder::allowed_hosts).
//!
//! # Workers
//!
//! Each actix worker is a tokio runtime, and has its own pool of connections to each provider, so that no token has to
//! wake another thread:
//!
//! - A worker keeps its connections for [`Limits::pool_idle_timeout`] after their last use (default 30 s). Their number
//!   is not limited. With many workers and few requests, a request often has to open a connection first. In this case,
//!   raise that timeout, or set fewer [`workers`](actix_web::HttpServer::workers).
//! - A pool takes about 110 KB with the 140 root certificates of a typical system. Its creation takes about 3 ms, for
//!   which the first request of the worker waits.
//! - A shared pool would cost more: a short answer through another worker's connection took nearly 50 % more processor
//!   time.
//!
//! # Cancellation
//!
//! A client that disconnects drops the response body, and with it the run: the connection to the model closes and every
//! tool's cancellation token fires. A run of a stored conversation goes on instead. The delay until actix notices the
//! disconnect depends on the protocol:
//!
//! - **HTTP/1 with [`HttpServer::h1_allow_half_closed(false)`](actix_web::HttpServer::h1_allow_half_closed):** at once.
//!   Clients that shut down their sending half and continue to read are not served; browsers do not do that.
//! - **HTTP/1 with actix's default:** when a write fails. The first write after a client has left still succeeds, so this
//!   takes two keep-alive comments: 30 s with the default [`Limits::keep_alive`]. Formats without comments (plain text,
//!   one JSON value a line) notice nothing until the model sends output.
//! - **HTTP/2:** at the next write, after one keep-alive comment at the latest. Formats without comments notice nothing
//!   until the model sends output.
//!
//! Therefore, set `h1_allow_half_closed(false)`, and do not raise `Limits::keep_alive` above its default of 15 s. This
//! limit bounds the time that a run continues after its client has left.
//!
//! # Serving
//!
//! The assistant bounds request bodies and runs. The server must set the other limits:
//!
//! | limit | set by | protects from |
//! |---|---|---|
//! | request head | [`client_request_timeout`](actix_web::HttpServer::client_request_timeout), default 5 s | clients that send half a head |
//! | idle connection | [`keep_alive`](actix_web::HttpServer::keep_alive), default 5 s | clients that hold connections open |
//! | request body | [`Limits::body_timeout`] and others of [`Limits`] | clients that withhold a body |
//! | unread response | [`Limits::write_timeout`] ends the run | clients that stop reading |
//! | number of connections | [`max_connections`](actix_web::HttpServer::max_connections), default 25,000 for each worker | floods |
//!
//! Actix has no write timeout: the connection of a client that stops reading stays open until the client reads again or
//! the operating system closes it. Put a proxy with a send timeout in front, or set `TCP_USER_TIMEOUT` on the sockets,
//! in [`on_connect`](actix_web::HttpServer::on_connect).
//!
//! # Shutting down
//!
//! Actix's graceful shutdown waits until every response has ended, for at most
//! [`shutdown_timeout`](actix_web::HttpServer::shutdown_timeout), and then cuts the remaining ones, which for streams are
//! many. [`Assistant::drain`] gives runs a deadline, and tells the clients of the remaining runs to send their message
//! again. Drain before the server stops, because each worker then ends with its last connection, and with it the functions of
//! [`on_finish`](AssistantBuilder::on_finish) that run there. Until the drain returns, posts get 503, and the rest of the
//! application is served.
//!
//! ```
//! use std::time::Duration;
//!
//! use actix_web::{App, HttpServer};
//! use omniassist_actix::Assistant;
//!
//! async fn serve(assistant: Assistant, stopped: impl Future<Output = ()> + Send + 'static) -> std::io::Result<()> {
//!     let (mounted, draining) = (assistant.clone(), assistant.clone());
//!     HttpServer::new(move || {
//!         App::new().service(omniassist_actix::scope("/assistant", mounted.clone()))
//!     })
//!     // Notices at once that a client has left.
//!     .h1_allow_half_closed(false)
//!     // Otherwise a token waits until the client has acknowledged the previous one.
//!     .tcp_nodelay(true)
//!     .shutdown_signal(async move {
//!         stopped.await;
//!         draining.drain(Duration::from_secs(20)).await;
//!     })
//!     // Time to write the last events; a client that does not read them is not waited for.
//!     .shutdown_timeout(3)
//!     .bind(("127.0.0.1", 3000))?
//!     .run()
//!     .await?;
//!     // Tools of runs that ended early may still be winding up.
//!     assistant.shutdown().await;
//!     Ok(())
//! }
//! ```
//!
//! `stopped` is `tokio::signal::ctrl_c()` and, on Unix, `signal(SignalKind::terminate())`; with `shutdown_signal`, actix
//! handles no signal itself. The supervisor of the process must wait longer than both times together, with
//! [`Limits::tool_cancel_grace`] and a second: 20 s and 3 s fit into the 30 s of Kubernetes.
//!
//! Stored runs, which need no connection, are not on the workers. They share a runtime of the process, with a thread for each
//! processor core. A tool of such a run cannot use what belongs to the thread of a worker, such as `System::current()`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod background;
mod bridged;
mod carry;
mod extract;
mod request;
mod response;
mod scope;
#[cfg(feature = "ws")]
mod socket;
#[cfg(feature = "ws")]
mod upgraded;

pub use bridged::{BridgedRequest, BridgedResponse};
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
pub use request::RequestBody;
pub use scope::{AssistantScope, scope};
