//! Conversion of the events of another agent runtime into run events.
//!
//! Use it for a backend that already has an agent runtime, which reports its work as events (`agent:text:delta`,
//! `agent:tool`, `node:start` …), so that an unmodified `useChat` can talk to it. A [`MessageAccumulator`] converts
//! those events into [`RunEvent`](crate::RunEvent)s, which the encoder of any [dialect](crate::dialect) writes. An
//! assistant that calls its model through this SDK does not need it.
//!
//! | event | fields | UI message stream |
//! |---|---|---|
//! | `agent:text:delta` | `content` | `text-start` (if none is open), `text-delta` |
//! | `agent:text` | `content` | `text-end`; the whole text as one part if it had no delta |
//! | `agent:thinking:delta`, `agent:thinking` | `content` | the same as `reasoning-*` |
//! | `agent:tool` | `toolName`, `toolCallId`, `toolInput`, `toolOutput`, `error` | `tool-input-available`, then `tool-output-available` or `tool-output-error` |
//! | `agent:error` | `message`, `errorType` | `error` |
//! | `agent:complete` | `usage` | the end |
//! | `agent:paused` | `sessionId` | `message-metadata` (`paused.sessionId`); the end |
//! | `agent:aborted` | `reason` | `error` and the end |
//! | `node:start` | `nodeId`, `runId` | `start-step` |
//! | `node:complete` | `nodeId`, `runId`, `output` | `data-node-output`, if enabled; `finish-step` |
//! | `flow:start` | `flowName` | `data-flow-status` (`running`), if enabled |
//! | `flow:paused` | `flowName` | `data-flow-status` (`paused`), if enabled |
//! | `flow:complete` | `flowName`, `status` | `data-flow-status`, if enabled; the end |
//!
//! `start` precedes the first chunk, so a message is never empty, and `finish` is the last chunk. Every agent event has
//! a `runId` and a `nodeId`. Other fields (`result`, `timestamp` …) and events of other types are ignored.
//!
//! # Automatic resubmission
//!
//! A page with front-end tools makes `useChat` send their outputs with `sendAutomaticallyWhen:
//! lastAssistantMessageIsCompleteWithToolCalls`. That condition is true if every call of the last step has an output,
//! including calls that the runtime ran itself. Such calls are usually in the last step of an answer, so the page sends
//! every answer back, and the runtime answers again, without end. This applies to `ai` 5, 6 and 7, with and without
//! step markers.
//!
//! If the runtime runs all tools, leave `sendAutomaticallyWhen` out, which is the default. If the page has tools too,
//! test for them:
//!
//! ```js
//! const pageTools = new Set(['tool-navigate']);
//! const sendAutomaticallyWhen = (state) => {
//!   const { parts } = state.messages.at(-1);
//!   const step = parts.slice(parts.findLastIndex((part) => part.type === 'step-start') + 1);
//!   return step.some((part) => pageTools.has(part.type)) && lastAssistantMessageIsCompleteWithToolCalls(state);
//! };
//! ```
//!
//! An assistant of this SDK does not need this, because it writes another step after the outputs of its own tools.
//!
//! # Skipped events
//!
//! An event with a missing or invalid field is [skipped](Skipped), and the stream continues. This crate writes no log;
//! the caller receives each skipped event as an error.
//!
//! ```
//! use bytes::BytesMut;
//! use omniassist_core::dialect::DialectEncoder;
//! use omniassist_core::dialect::ai_sdk::Framing;
//! use omniassist_core::bridge::{MessageAccumulator, BridgeOptions};
//! use omniassist_core::event::EventBuf;
//!
//! let options = BridgeOptions::new().send_step_markers(false);
//! let mut message = MessageAccumulator::new("m2", &options);
//! let mut events = EventBuf::new();
//! message.apply_json(
//!     r#"{"type": "agent:text:delta", "runId": "r1", "nodeId": "writer", "content": "Hello"}"#,
//!     &mut events,
//! )?;
//! let skipped = message.apply_json(r#"{"type": "agent:text:delta", "content": "!"}"#, &mut events);
//! assert_eq!(skipped.unwrap_err().field(), Some("runId"));
//! message.apply_json(r#"{"type": "agent:complete", "runId": "r1", "nodeId": "writer"}"#, &mut events)?;
//! assert!(message.is_closed());
//!
//! let mut encoder = options.encoder(Framing::Ndjson);
//! let mut out = BytesMut::new();
//! for event in events.drain() {
//!     encoder.encode(&event, &mut out);
//! }
//! assert_eq!(
//!     out,
//!     r#"{"type":"start","messageId":"m2"}
//! {"type":"text-start","id":"t0"}
//! {"type":"text-delta","id":"t0","delta":"Hello"}
//! {"type":"text-end","id":"t0"}
//! {"type":"finish","finishReason":"stop"}
//! "#
//! );
//! # Ok::<(), omniassist_core::bridge::Skipped>(())
//! ```

mod accumulator;
mod command;
mod event;
mod flow;
mod options;
mod out;
mod parts;
mod read;
mod skipped;
mod tools;

pub use accumulator::MessageAccumulator;
pub use command::AgentCommand;
pub use event::{AgentEvent, AgentRun, ToolReport};
pub use flow::FlowStatus;
pub use options::BridgeOptions;
pub use parts::PartState;
pub use skipped::{SkipReason, Skipped};
pub use tools::{ToolCallState, ToolStage};
