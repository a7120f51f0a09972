//! AG-UI, the format of `HttpAgent` (`@ag-ui/client`) and of CopilotKit.
//!
//! [`read_request`] reads a `RunAgentInput`. [`Encoder`] writes the answer as server-sent events. Two versions of the
//! protocol are in use ([`Version`]): clients of 1.0 state their version in the request; clients up to 0.0.59, which
//! CopilotKit up to 1.75 contains, do not. The encoder writes events that both versions accept. Outcomes that only 1.0
//! defines are written only to clients of 1.0.
//!
//! ```
//! use bytes::{Bytes, BytesMut};
//! use omniassist_core::dialect::{DialectEncoder, ag_ui};
//! use omniassist_core::event::BlockId;
//! use omniassist_core::{Limits, RunEvent};
//!
//! let body = Bytes::from_static(br#"{
//!     "threadId": "thread-1", "runId": "run-1",
//!     "messages": [{"id": "m1", "role": "user", "content": "Hi"}],
//!     "context": [{"description": "current_route", "value": "/orders/42"}]
//! }"#);
//! let posted = ag_ui::read_request(body, &Limits::default())?;
//! assert_eq!(posted.request.context[0].kind, "current_route");
//!
//! let mut encoder = posted.encoder();
//! let mut out = BytesMut::new();
//! encoder.encode(&RunEvent::Start { message_id: "msg-2".into(), metadata: None }, &mut out);
//! encoder.encode(&RunEvent::TextStart { id: BlockId(0) }, &mut out);
//! assert_eq!(
//!     out,
//!     "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"thread-1\",\"runId\":\"run-1\"}\n\n\
//!      data: {\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"msg-2\",\"role\":\"assistant\"}\n\n"
//! );
//! # Ok::<(), omniassist_core::Error>(())
//! ```
//!
//! # Answers and messages
//!
//! A client keeps one message for each text, each piece of reasoning and each tool result. A tool call belongs to the
//! message of the preceding text. The first assistant message has the id of the answer, which is the
//! [`Message`](crate::Message) that the run writes. The ids of the others are that id followed by step and number. The
//! reader combines consecutive assistant, reasoning and tool messages into one answer again, with a
//! [`StepStart`](crate::message::Part::StepStart) at the start of each step. Clients display sources, files, data and
//! metadata, but do not post them back.
//!
//! # Mapping of events
//!
//! | [`RunEvent`](crate::RunEvent) | AG-UI |
//! |---|---|
//! | `Start` | `RUN_STARTED`; metadata as `CUSTOM` `omniassist.metadata` |
//! | `StepStart`, `StepFinish` | `STEP_STARTED`, `STEP_FINISHED`, named `step-1`, `step-2`, … |
//! | `StepReset` | the ends of what is open, then `MESSAGES_SNAPSHOT` without it; without a [copy](Encoder::copying), the response is cut off |
//! | text | `TEXT_MESSAGE_START`, `_CONTENT`, `_END` |
//! | reasoning | `REASONING_START`, `REASONING_MESSAGE_START`, `_CONTENT`, `_END`, `REASONING_END` |
//! | tool call | `TOOL_CALL_START`, `_ARGS`, `_END`; `metadata.omniassist.providerExecuted` if the provider executes it |
//! | `ToolOutput` | `TOOL_CALL_RESULT`: the content of a string, or the JSON of any other value |
//! | preliminary `ToolOutput` | `CUSTOM` `omniassist.tool-progress` `{toolCallId, output}`, which clients do not store |
//! | `ToolError`, `ToolInputError`, `ToolRefused` | `TOOL_CALL_RESULT` with the text |
//! | `ToolDenied` | `TOOL_CALL_RESULT` with the reason |
//! | `ToolApprovalRequest` | an interrupt with reason `tool_call` (before 1.0: `confirmation`) and id `<request id>~<signature>` in `RUN_FINISHED` |
//! | `InputRequest` | an interrupt with reason `input_required` and id `input-<call id>` in `RUN_FINISHED` |
//! | `OutputSeal`, provider state | `REASONING_ENCRYPTED_VALUE`, see below |
//! | `StateSnapshot`, `StateDelta` | `STATE_SNAPSHOT`, `STATE_DELTA` |
//! | `ActivitySnapshot` | `ACTIVITY_SNAPSHOT` |
//! | `Source` | `CUSTOM` `omniassist.source` `{type: "url", id, url, title?}` or `{type: "document", id, …}` |
//! | `File` | `CUSTOM` `omniassist.file` `{mediaType, url}` |
//! | `Data` | `CUSTOM` with the host's name and data; `id` and `transient` are in `metadata.omniassist` |
//! | `Metadata` | `CUSTOM` `omniassist.metadata` |
//! | `Finish` | `RUN_FINISHED` with outcome `interrupt` or (1.0) `pendingToolCallIds`; `usage`; `metadata.omniassist.finishReason` |
//! | `Error` | `RUN_ERROR` with the code and the safe message |
//! | `Abort` | 1.0: `RUN_FINISHED` with outcome `cancelled`; before 1.0: `RUN_ERROR` with code `STOPPED`, or `RUN_FINISHED` if the run was resumed |
//!
//! `metadata.omniassist.result` of a tool result states its kind: `output`, `error`, `denied`, `interrupted` or `cut`.
//!
//! The encoder omits state deltas that are not a JSON Patch and activities that are not an object, because clients of
//! 1.0 end the run with an error at them. It writes `MESSAGES_SNAPSHOT` only with a
//! [copy](Encoder::copying) of the conversation, for a run that is stored. Clients keep the reasoning that they have if a
//! snapshot has none, so withdrawn reasoning can stay on the page until it is loaded again.
//!
//! After every run, even one that failed or was stopped, clients execute the front-end tool of each call without a
//! result. CopilotKit then sends another request. The encoder therefore writes a result for each call with incomplete
//! arguments (`cut`), and after a stop for every other call without one (`interrupted`). The reader does not treat
//! these messages as results.
//!
//! # What clients post back
//!
//! `HttpAgent` 1.0.0 and 0.0.59 keep the `encryptedValue` of assistant messages, reasoning, tool calls and tool
//! messages, and post all four back. They do the same with `metadata`, which they merge by key from the events of a
//! message or a call. The encoder writes each text as a separate message, so every text, piece of reasoning, call and
//! output has a place for its state. The encoder writes the state as `REASONING_ENCRYPTED_VALUE`, whose value is the
//! JSON of the metadata map. The reader attaches the state to the part that it belongs to, and ignores any other value.
//!
//! CopilotKit differs in two ways. It keeps only the first tool message of a call. If an interrupt with reason
//! `tool_call` requests approval of a call, it also writes the user's decision as that first message, so that the real
//! result is lost. Clients before 1.0, which CopilotKit contains, therefore get the reason `confirmation`.
//!
//! A client resumes an interrupted run with `resume` entries for all open interrupts. The `encryptedValue` of a call
//! contains the id of the call's interrupt, so the reader finds the open interrupts in the request itself. Clients send
//! no request while an interrupt is unanswered, so a new user message arrives together with the answer. The run then
//! settles the calls, and the model reads the user message before them.
//!
//! Clients of both versions keep an interrupt open until a run finishes, and start no run without an answer to it. This
//! has two consequences:
//!
//! - Clients before 1.0 start no run at all after an interrupt's `expiresAt`. The encoder therefore omits `expiresAt`
//!   for them, and the server asks for approval again if the answer is late.
//! - After a resumed run that failed (`RUN_ERROR`), a page must set `agent.pendingInterrupts` to an empty array, best
//!   in `onRunInitialized`. Otherwise the agent starts no further run.

mod client_state;
mod ids;
mod interrupt;
mod read;
mod version;
mod write;

pub use read::{Posted, read_connect, read_request};
pub use version::Version;
pub use write::{Encoder, HEADERS, timestamp};
