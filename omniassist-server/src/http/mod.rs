//! The assistant over HTTP, without a web framework: a [`tower_service::Service`] over [`http`] types.
//!
//! Adapters map this service onto their framework. Mount it anywhere: it looks at the path below the mount point.
//!
//! | route | what |
//! |---|---|
//! | `POST /` | runs the assistant; the answer is an AI SDK UI message stream, over server-sent events or, on `Accept: application/x-ndjson`, one JSON value a line, or plain text by `?protocol=text` |
//! | `POST /completion` | `{"prompt": …}` of the AI SDK's `useCompletion`; answered as `POST /` is |
//! | `POST /object/{name}` | one of the [objects](crate::ObjectEndpoint) of the host, for `useObject`: the body is the input, any JSON; the answer is JSON text that grows. `POST /object` where there is only one |
//! | `POST /v1/chat/completions` | the assistant as a model for [OpenAI's clients](crate::OpenAiEndpoint), streamed or not |
//! | `GET /v1/models`, `GET /v1/models/{model}` | that model |
//! | `POST /{chat_id}/stop` | stops the run of a chat of the same principal; `{"stopped": true}`, or `false` where nothing ran |
//! | `GET /{chat_id}/stream` | always 204: runs are not kept, so there is nothing to resume |
//! | `POST /ag-ui` | runs the assistant for an AG-UI client of 1.0 or 0.0.59, over server-sent events |
//! | `/copilotkit/…` | CopilotKit's runtime: `GET /info`, `POST /agent/default/run`, `/connect`, `/suggest`, `/stop/{thread}`, and `POST /copilotkit` for all of them; errors are `{"error": …, "message": …}` |
//! | `GET /manifest.json` | tools, their JSON Schemas, and the dialects |
//! | `GET /types.d.ts` | TypeScript types of messages and tools |
//!
//! Whatever is wrong with a request is answered before the model is asked, as
//! `{"error": {"code": …, "message": …, "path": …}}`, below `/v1` in OpenAI's shape,
//! `{"error": {"message": …, "type": …, "param": …, "code": …}}`, and below `/copilotkit` in that of its runtime,
//! `{"error": …, "message": …}`.
//!
//! Every response says `X-Content-Type-Options: nosniff`; whole ones say `Cache-Control: no-store`, and streams
//! `no-cache, no-transform` and `X-Accel-Buffering: no`, so that nobody in between holds them back.
//!
//! # Refusals
//!
//! Before a route looks at a request, and before anything of its body is read, it is answered
//!
//! | status | code | when |
//! |---|---|---|
//! | 400 | `invalid_host` | it names no host where one is needed, or several, or none that can be read |
//! | 421 | `host_not_allowed` | it names a host that the server [does not answer to](crate::access) |
//! | 403 | `origin_not_allowed` | a page of another origin sent it, or asks whether it may |
//! | 401 | `unauthenticated` | nobody says whose it is, or the host's hook does not believe it; with `WWW-Authenticate` |
//! | 403 | `forbidden` | the hook knows who sent it, and they may not |
//! | 503 | `authentication_unavailable` | the hook cannot tell right now |
//!
//! and then
//!
//! | status | code | when |
//! |---|---|---|
//! | 404 | `not_found`, `object_not_found`, `model_not_found` | there is nothing of this name |
//! | 405 | `method_not_allowed` | with `Allow` |
//! | 415 | `unsupported_media_type` | a body is not said to be JSON; a stop without a body need not say anything |
//! | 413 | `body_too_large` | it is larger than [`max_body_bytes`](omniassist_core::Limits::max_body_bytes) |
//! | 400 | `incomplete_body` | it breaks off |
//! | 400, 409 | that of an [`ErrorCode`](omniassist_core::ErrorCode) | what it says is not acceptable |
//!
//! # Refused for now
//!
//! A run may be refused though nothing is wrong with its request. Each of these answers but the first two has a
//! `Retry-After`, and none has asked a model:
//!
//! | status | code | when |
//! |---|---|---|
//! | 409 | `duplicate_run` | the same message of the same chat is being answered |
//! | 409 | `chat_busy` | the chat has a run under way, and the host lets it finish ([`WhenBusy`](crate::WhenBusy)) |
//! | 429 | `too_many_runs` | the principal has [`max_runs_per_principal`](omniassist_core::Limits::max_runs_per_principal) runs under way |
//! | 429 | `rate_limited`; below `/v1` `rate_limit_exceeded` | the [rate limit](crate::throttle) refuses it |
//! | 429 | `token_budget_exceeded` | the principal has no [tokens](crate::throttle) left |
//! | 503 | `overloaded` | [`max_runs`](omniassist_core::Limits::max_runs) runs are under way |
//! | 503 | `shutting_down` | the assistant is [draining](crate::Assistant::drain); over HTTP/1 with `Connection: close` |
//!
//! # Failures
//!
//! A run that fails is told in the stream. Plain text has no words for it: a run that fails before it says anything is
//! answered with a status and one sentence, and later the body [breaks off](CutAnswer). OpenAI's clients get a status
//! in the first case too, and repeat some requests by themselves; `x-should-retry: false` keeps them from repeating
//! one that has run tools, or that cannot succeed. A response opens at the latest after
//! [`Limits::keep_alive`](omniassist_core::Limits::keep_alive), with the status 200.
//!
//! ```
//! use http::{Request, StatusCode};
//! use http_body_util::Full;
//! use omniassist_server::http::AssistantService;
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::Assistant;
//! use tower_service::Service;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let assistant = Assistant::builder(ScriptedProvider::new()).allow_anonymous().build()?;
//! let mut service = AssistantService::new(assistant);
//!
//! let request = Request::get("/manifest.json").body(Full::<bytes::Bytes>::default())?;
//! assert_eq!(service.call(request).await?.status(), StatusCode::OK);
//! # Ok(())
//! # }
//! ```

mod admit;
mod ag_ui;
mod body;
mod bridge;
mod burst;
mod completion;
mod copilotkit;
mod manifest;
mod mount;
mod object;
mod openai;
mod opening;
mod options;
mod posted;
mod query;
mod read;
mod reply;
mod service;
mod shape;
mod source;
mod suggest;
mod unread;
mod woken;

pub use body::{AssistantBody, CutAnswer};
pub use mount::strip_prefix;
pub use posted::PostedRun;
pub use service::{AssistantService, ServiceFuture};
