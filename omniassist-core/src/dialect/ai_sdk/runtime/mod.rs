//! Events of another agent runtime, turned into the events that dialects write.
//!
//! For a backend whose agents are run by a runtime of its own: one that reports what it does as events
//! (`agent:text:delta`, `agent:tool`, `node:start` …) and that should be chatted with by an unmodified `useChat`. A
//! [`MessageAccumulator`] takes those events one by one and gives [`RunEvent`](crate::RunEvent)s, which the
//! [`Encoder`](super::Encoder) of this dialect writes, or that of any other. For an assistant whose model is called
//! from here, none of this is needed.
//!
//! | event | its fields | what comes of it in the UI message stream |
//! |---|---|---|
//! | `agent:text:delta` | `content` | `text-start` (where none is open), `text-delta` |
//! | `agent:text` | `content` | `text-end`; the whole text as one part where no delta of it came |
//! | `agent:thinking:delta`, `agent:thinking` | `content` | the same as `reasoning-*` |
//! | `agent:tool` | `toolName`, `toolCallId`, `toolInput`, `toolOutput`, `error` | `tool-input-available`, then `tool-output-available` or `tool-output-error` |
//! | `agent:error` | `message`, `errorType` | `error` |
//! | `agent:complete` | `usage` | the end |
//! | `agent:paused` | | the end |
//! | `agent:aborted` | `reason` | `error` and the end |
//! | `node:start` | `nodeId`, `runId` | `start-step` |
//! | `node:complete` | `nodeId`, `runId`, `output` | `data-node-output`, if asked for; `finish-step` |
//! | `flow:start` | `flowName` | `data-flow-status` (`running`), if asked for |
//! | `flow:paused` | `flowName` | `data-flow-status` (`paused`), if asked for |
//! | `flow:complete` | `flowName`, `status` | `data-flow-status`, if asked for; the end |
//!
//! `start` goes ahead of whatever comes first, so that a message is never empty; `finish` stands at the end. Every
//! agent event has a `runId` and a `nodeId`. Fields that nothing on the wire carries (`result`, `sessionId`,
//! `timestamp` …) are read over, and so are events of other types.
//!
//! # Sending by itself
//!
//! A page that runs tools of its own has `useChat` send their outputs by `sendAutomaticallyWhen:
//! lastAssistantMessageIsCompleteWithToolCalls`. That condition holds as soon as every call of the last step has an
//! output, whoever gave it. A runtime reports calls that it ran itself, and most often in the step that its answer ends
//! with, so the condition holds after every such answer: the page sends it back, the runtime answers once more, and so
//! on without an end. Measured with `ai` 5, 6 and 7, with step markers and without.
//!
//! A page whose runtime runs all tools leaves `sendAutomaticallyWhen` out, which is `useChat`'s default. One that has
//! tools of its own asks for theirs:
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
//! An assistant of this SDK needs nothing of the kind: it writes a further step behind the outputs of its own tools.
//!
//! # Events that are left out
//!
//! An event that lacks what it must have is [skipped](Skipped), and the stream goes on. This crate writes no log: the
//! caller is told of each.
//!
//! ```
//! use bytes::BytesMut;
//! use omniassist_core::dialect::ai_sdk::Framing;
//! use omniassist_core::dialect::ai_sdk::runtime::{MessageAccumulator, TransportOptions};
//! use omniassist_core::event::EventBuf;
//!
//! let options = TransportOptions::new().send_step_markers(false);
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
//! # Ok::<(), omniassist_core::dialect::ai_sdk::runtime::Skipped>(())
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
pub use command::RuntimeCommand;
pub use event::{AgentRun, RuntimeEvent, ToolReport};
pub use flow::FlowStatus;
pub use options::TransportOptions;
pub use parts::PartState;
pub use skipped::{SkipReason, Skipped};
pub use tools::{ToolStage, ToolState};
