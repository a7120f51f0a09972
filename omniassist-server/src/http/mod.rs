//! The assistant over HTTP, without a web framework: a [`tower_service::Service`] over [`http`] types.
//!
//! Adapters map this service onto their framework. Mount it anywhere: it looks at the path below the mount point.
//!
//! | route | what |
//! |---|---|
//! | `POST /` | runs the assistant; the answer is an AI SDK UI message stream, over server-sent events or, on `Accept: application/x-ndjson`, one JSON value a line |
//! | `POST /{chat_id}/stop` | stops the run of a chat of the same principal; `{"stopped": true}`, or `false` where nothing ran |
//! | `GET /{chat_id}/stream` | always 204: runs are not kept, so there is nothing to resume |
//! | `GET /manifest.json` | tools, their JSON Schemas, and the dialects |
//! | `GET /types.d.ts` | TypeScript types of messages and tools |
//!
//! Whatever is wrong with a request is answered before the model is asked, as
//! `{"error": {"code": …, "message": …, "path": …}}`.
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
//! let assistant = Assistant::builder(ScriptedProvider::new()).build()?;
//! let mut service = AssistantService::new(assistant);
//!
//! let request = Request::get("/manifest.json").body(Full::<bytes::Bytes>::default())?;
//! assert_eq!(service.call(request).await?.status(), StatusCode::OK);
//! # Ok(())
//! # }
//! ```

mod body;
mod manifest;
mod posted;
mod read;
mod reply;
mod runtime;
mod service;
mod source;

pub use body::AssistantBody;
pub use posted::PostedRun;
pub use service::{AssistantService, ServiceFuture};
