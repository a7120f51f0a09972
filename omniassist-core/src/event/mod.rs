//! The two event types: events of a model ([`LlmEvent`]) and events of a run ([`RunEvent`]).
//!
//! Providers use only [`LlmEvent`] and dialects only [`RunEvent`]. The run loop converts one into the other.
//!
//! ```
//! use omniassist_core::event::{EventBuf, LlmEvent};
//!
//! let mut events = EventBuf::new();
//! events.push(LlmEvent::TextDelta { block: 0, delta: "Hi".into() });
//! assert!(matches!(events.pop(), Some(LlmEvent::TextDelta { .. })));
//! ```

mod agent;
mod ask;
mod block;
mod buffer;
mod component;
mod literal;
mod llm;
mod run;

pub use agent::{AgentDelta, AgentState, AgentStatus};
pub use ask::{ApprovalRequest, InputRequest};
pub(crate) use block::BlockKind;
pub use buffer::EventBuf;
pub(crate) use component::ComponentData;
pub use component::{ComponentEvent, EmittedEvent, InstanceState, ShownComponent, ShownStatus};
pub use llm::{CallKind, FinishReason, LlmEvent, Source, Usage};
pub use run::{BlockId, RunErrorCode, RunEvent};
