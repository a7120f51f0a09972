//! A tree of agents that work at the same time, ask the user, and can be changed while they work.
//!
//! An [`AgentSession`] belongs to one user. It follows the program [`Explore`]: the agent asks what is unclear, divides
//! the task, lets an agent work on each part while it works itself, and summarises. What happens is a stream of
//! [frames](omniassist_core::agent_tree), which `GET /ws` sends over a WebSocket (feature `ws`). In process, it is read as it
//! is.
//!
//! Calls of tools can wait for the user, for an approval or with a form: see [`AgentSession::abilities`]. The page answers with
//! the frame `call-response`, and a host in process with [`AgentSession::call_response`].
//!
//! The agents of a tree end with their session. For an agent that a model or a tool asks during a run, use
//! [`Agent`](crate::Agent) with [`delegates`](crate::AssistantBuilder::delegates) or the extractor
//! [`Agents`](crate::Agents). For agents that are configurations in files or tables, see
//! [`agent_config`](crate::agent_config).
//!
//! ```
//! use futures_util::StreamExt;
//! use omniassist_server::Assistant;
//! use omniassist_server::agents::{AgentSession, Explore};
//! use omniassist_server::core::agent_tree::ServerFrame;
//! use omniassist_server::testing::{ScriptedProvider, text};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ScriptedProvider::new().turn(text("The round one."));
//! let assistant = Assistant::builder(model).build()?;
//! let session = AgentSession::new(assistant).explore(Explore::new().asks(false).sub_questions(0));
//!
//! let frames: Vec<_> = session.agent("Which lamp is brighter?").collect().await;
//! assert!(matches!(frames.last(), Some(ServerFrame::AgentCompleted { .. })));
//! assert_eq!(session.get_agent_tree()[0].result.as_deref(), Some("The round one."));
//! # Ok(())
//! # }
//! ```

pub use crate::engine::{AgentSession, AgentStream, Explore, InterventionError, QueryUser, UserQuery};
#[doc(no_inline)]
pub use omniassist_core::agent_tree::{
    CallResponse, Intervention, NodeState, Requested, ServerFrame, Status,
};
