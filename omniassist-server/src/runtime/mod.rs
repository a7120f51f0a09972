//! Serves an agent runtime of the host's own to AI SDK clients.
//!
//! For a backend that has agents already, run by something else, which reports what it does as events
//! (`agent:text:delta`, `agent:tool`, `node:start` …): implement [`Runtime`] for it, and an unmodified `useChat` can
//! talk to it by a [`RuntimeTransport`]. No model is asked from here and no tool is run. To have both, build an
//! [`Assistant`](crate::Assistant) instead.
//!
//! [`omniassist_core::dialect::ai_sdk::runtime`] tells what becomes of each event.
//!
//! ```
//! use futures_util::{StreamExt, stream};
//! use omniassist_server::core::dialect::ai_sdk::runtime::{RuntimeCommand, RuntimeEvent, TransportOptions};
//! use omniassist_server::core::{RunEvent, RunRequest};
//! use omniassist_server::runtime::{Runtime, RuntimeEvents, RuntimeRun, RuntimeTransport};
//!
//! struct Echo;
//!
//! impl Runtime for Echo {
//!     fn subscribe(&self, run: &RuntimeRun) -> RuntimeEvents {
//!         // A real one listens here, and is told what to do by `dispatch`.
//!         let said = run.request.messages.last().map(|message| message.text()).unwrap_or_default();
//!         let delta = serde_json::json!(
//!             {"type": "agent:text:delta", "runId": "r1", "nodeId": "echo", "content": said}
//!         );
//!         let complete = r#"{"type": "agent:complete", "runId": "r1", "nodeId": "echo"}"#;
//!         let events = [RuntimeEvent::parse(delta.to_string()), RuntimeEvent::parse(complete)];
//!         Box::pin(stream::iter(events))
//!     }
//!
//!     fn dispatch(&self, _run: &RuntimeRun, _command: RuntimeCommand) -> Result<(), omniassist_server::runtime::BoxError> {
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let transport = RuntimeTransport::new(Echo, TransportOptions::new());
//! let events: Vec<RunEvent> = transport.send_messages(RunRequest::prompt("Hello"), Default::default())?.collect().await;
//! assert!(matches!(&events[2], RunEvent::TextDelta { delta, .. } if delta == "Hello"));
//! # Ok(())
//! # }
//! ```
//!
//! Over HTTP, in a handler of the host's framework, it is
//!
//! ```
//! # use http::{Request, Response};
//! # use omniassist_server::core::Limits;
//! use omniassist_server::http::{AssistantBody, PostedRun};
//! use omniassist_server::runtime::RuntimeTransport;
//!
//! async fn chat<B: http_body::Body>(transport: &RuntimeTransport, request: Request<B>) -> Response<AssistantBody> {
//!     match PostedRun::read(request, transport.limits()).await {
//!         Ok(posted) => transport.respond(posted),
//!         Err(refusal) => refusal,
//!     }
//! }
//! ```
//!
//! with the dialect's headers, framing and keep-alives. The posted history is passed on as the client sent it; nothing
//! of it is verified. Who may post is for the handler to say: [`access`](crate::access) is about assistants.

mod chunks;
mod host;
mod stream;
mod transport;

pub use chunks::RuntimeChunks;
pub use host::{BoxError, Reconnected, Runtime, RuntimeEvents, RuntimeRun};
pub use stream::RuntimeStream;
pub use transport::RuntimeTransport;
