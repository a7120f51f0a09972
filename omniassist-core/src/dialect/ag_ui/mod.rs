//! AG-UI, the format of `HttpAgent` (`@ag-ui/client`) and of CopilotKit.
//!
//! [`read_request`] reads a `RunAgentInput`, [`Encoder`] writes the answer as server-sent events. Two generations of
//! clients are about: 1.0 says so in its request, and 0.0.59, which CopilotKit up to 1.75 contains, says nothing
//! ([`Version`]). The encoder writes what both take, and the outcomes that only 1.0 knows to none but 1.0.
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
//! A client keeps one message for each text, each piece of reasoning and each tool result. Calls stand in the message
//! of the text before them. The first assistant message has the id of the whole answer (the
//! [`Message`](crate::Message) that the run writes), all others that id with step and number behind it. The reader puts
//! whatever stands between two messages of somebody else together to one answer again, with a
//! [`StepStart`](crate::message::Part::StepStart) at the head of each step. Sources, files, data and metadata are shown
//! to the client and not posted back.
//!
//! # What becomes of an event
//!
//! | [`RunEvent`](crate::RunEvent) | AG-UI |
//! |---|---|
//! | `Start` | `RUN_STARTED`; metadata as `CUSTOM` `omniassist.metadata` |
//! | `StepStart`, `StepFinish` | `STEP_STARTED`, `STEP_FINISHED`, named `step-1`, `step-2`, … |
//! | text | `TEXT_MESSAGE_START`, `_CONTENT`, `_END` |
//! | reasoning | `REASONING_START`, `REASONING_MESSAGE_START`, `_CONTENT`, `_END`, `REASONING_END` |
//! | a call | `TOOL_CALL_START`, `_ARGS`, `_END`; `metadata.omniassist.providerExecuted` where the provider runs it |
//! | `ToolOutput` | `TOOL_CALL_RESULT`: the content of a string, and any other value as JSON |
//! | a preliminary `ToolOutput` | `CUSTOM` `omniassist.tool-progress` `{toolCallId, output}`; it leaves nothing behind |
//! | `ToolError`, `ToolInputError`, `ToolRefused` | `TOOL_CALL_RESULT` with the text |
//! | `ToolDenied` | `TOOL_CALL_RESULT` with the reason |
//! | `ToolApprovalRequest` | an interrupt of reason `tool_call` in `RUN_FINISHED` (before 1.0: `confirmation`); its id is `<request id>~<signature>` |
//! | `InputRequest` | an interrupt of reason `input_required`; its id is `input-<call id>` |
//! | `OutputSeal`, provider state | `REASONING_ENCRYPTED_VALUE`, see below |
//! | `StateSnapshot`, `StateDelta` | `STATE_SNAPSHOT`, `STATE_DELTA` |
//! | `ActivitySnapshot` | `ACTIVITY_SNAPSHOT` |
//! | `Source` | `CUSTOM` `omniassist.source` `{type: "url", id, url, title?}` or `{type: "document", id, …}` |
//! | `File` | `CUSTOM` `omniassist.file` `{mediaType, url}` |
//! | `Data` | `CUSTOM` with the host's name and data; id and `transient` in `metadata.omniassist` |
//! | `Metadata` | `CUSTOM` `omniassist.metadata` |
//! | `Finish` | `RUN_FINISHED` with outcome `interrupt`, or, to 1.0, `pendingToolCallIds`; `usage`; `metadata.omniassist.finishReason` |
//! | `Error` | `RUN_ERROR` with the code and the safe message |
//! | `Abort` | to 1.0 `RUN_FINISHED` with outcome `cancelled`, otherwise `RUN_ERROR` with code `STOPPED`; of a resumed run `RUN_FINISHED` |
//!
//! A result says in `metadata.omniassist.result` what it is: `output`, `error`, `denied`, `interrupted` or `cut`.
//!
//! A delta that is no JSON Patch, and an activity that is no object, are left out: clients of 1.0 end the run at them.
//! `MESSAGES_SNAPSHOT` is never written: the conversation is the client's, and this server knows of it only what the
//! client posted.
//!
//! Clients run the front-end tools of every call that a run leaves without a result, also of a run that failed or was
//! stopped, and CopilotKit then asks again. So a call whose arguments never arrived whole gets a result that says it
//! was interrupted (`cut`), and so does every call that a stop left without one (`interrupted`). The reader takes these
//! for no result.
//!
//! # What clients post back
//!
//! `HttpAgent` 1.0.0 and 0.0.59 keep the `encryptedValue` of assistant messages, reasoning, tool calls and tool
//! messages, and post all four back. They do the same with `metadata`, which they merge by key from the events of a
//! message or a call. The encoder writes each text as a separate message, so every text, piece of reasoning, call and
//! output has a place for its state. The encoder writes the state as `REASONING_ENCRYPTED_VALUE`, whose value is the
//! JSON of the metadata map. The reader returns it to the part that it came from, and ignores any other value.
//!
//! CopilotKit is different in two ways. It drops every tool message but the first of a call, and it answers a call that
//! an interrupt of reason `tool_call` asks for with the user's decision, so that the real result would be lost. To clients
//! before 1.0, which it contains, the reason is therefore `confirmation`.
//!
//! An interrupted run is resumed by `resume` entries for all open interrupts. A call that an interrupt asks for carries
//! the interrupt's id in its `encryptedValue`, so the reader knows what is open without a memory of its own. What a user
//! says while an interrupt is open comes with the answer to it, since clients send nothing before. The run then settles
//! the calls, and the model reads what was said as if it had been said before them.
//!
//! Clients of both generations hold an interrupt open until a run finishes, and refuse to run without an answer to it. Two
//! things follow. Clients before 1.0 take no run at all once an interrupt's `expiresAt` has passed, so they are not told
//! of it; what they answer too late is asked again. And after a resumed run that failed (`RUN_ERROR`) a page has to set
//! `agent.pendingInterrupts` to an empty array by itself, best in `onRunInitialized`, or it is stuck.

mod client_state;
mod ids;
mod interrupt;
mod read;
mod version;
mod write;

pub use read::{Posted, read_request};
pub use version::Version;
pub use write::{Encoder, HEADERS};
