//! A bridge between chat clients and an agent runtime that the host already has.
//!
//! Implement [`AgentRuntime`] for a runtime that reports its work as events (`agent:text:delta`, `agent:tool`,
//! `node:start` …). An unmodified `useChat` can then talk to it through a [`Bridge`]. The bridge calls no model and runs
//! no tool; for that, build an [`Assistant`](crate::Assistant).
//!
//! [`omniassist_core::bridge`] lists the result of each event.
//!
//! ```
//! use futures_util::{StreamExt, stream};
//! use omniassist_server::core::bridge::{AgentCommand, AgentEvent, BridgeOptions};
//! use omniassist_server::core::{RunEvent, RunRequest};
//! use omniassist_server::bridge::{AgentRuntime, AgentEvents, BridgeRun, Bridge};
//!
//! struct Echo;
//!
//! impl AgentRuntime for Echo {
//!     fn subscribe(&self, run: &BridgeRun) -> AgentEvents {
//!         // A real runtime listens here. `dispatch` then starts the work.
//!         let said = run.request.messages.last().map(|message| message.text()).unwrap_or_default();
//!         let delta = serde_json::json!(
//!             {"type": "agent:text:delta", "runId": "r1", "nodeId": "echo", "content": said}
//!         );
//!         let complete = r#"{"type": "agent:complete", "runId": "r1", "nodeId": "echo"}"#;
//!         let events = [AgentEvent::parse(delta.to_string()), AgentEvent::parse(complete)];
//!         Box::pin(stream::iter(events))
//!     }
//!
//!     fn dispatch(&self, _run: &BridgeRun, _command: AgentCommand) -> Result<(), omniassist_server::BoxError> {
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bridge = Bridge::new(Echo, BridgeOptions::new());
//! let events: Vec<RunEvent> = bridge.send_messages(RunRequest::prompt("Hello"), Default::default())?.collect().await;
//! assert!(matches!(&events[2], RunEvent::TextDelta { delta, .. } if delta == "Hello"));
//! # Ok(())
//! # }
//! ```
//!
//! In an HTTP handler of the host's framework:
//!
//! ```
//! # use http::{Request, Response};
//! use omniassist_server::http::AssistantBody;
//! use omniassist_server::bridge::Bridge;
//!
//! async fn chat<B: http_body::Body>(bridge: &Bridge, request: Request<B>) -> Response<AssistantBody> {
//!     match bridge.read(request).await {
//!         Ok(posted) => bridge.respond(posted),
//!         Err(refusal) => refusal,
//!     }
//! }
//! ```
//!
//! The response has the headers, framing and keep-alives of the dialect. The posted history reaches the runtime without
//! verification. The handler must authenticate the request; [`access`](crate::access) applies to assistants only.

mod agent_runtime;
mod chunks;
mod serve;
mod stream;

pub use agent_runtime::{AgentEvents, AgentRuntime, BridgeRun, Reconnected};
pub use chunks::BridgeChunks;
pub use serve::Bridge;
pub use stream::BridgeStream;
