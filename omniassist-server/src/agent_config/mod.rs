//! Agents that are configured as data: in files, in tables, or by any [`AgentLoader`].
//!
//! An [`Agent`](crate::Agent) in code needs a release to change. A configuration is loaded while the server runs, for each
//! user if need be. It names what code has registered in an [`AgentCatalog`], so who writes it can combine tools, prompts and
//! agents, and can add none.
//!
//! A loaded agent has the routes, protocols, limits and hooks of one in code; see [`Agent`](crate::Agent). An agent of the
//! builder with the same name takes precedence.
//!
//! - **Changes:** an agent is loaded again after the [`ttl`](AgentCatalog::ttl). A run keeps the version with which it began.
//!   One that another server takes over, or that goes on after an answer of the user, has the version of that time.
//! - **Errors:** while a new version has an error, the last good one is used. Without a good version, clients get 503
//!   `agent_invalid`, or `agents_unavailable` if the loader fails, and lists leave the agents out. Clients see nothing of the
//!   error. It is logged once for each version, and [`Observe::agent_not_loaded`](crate::observe::Observe::agent_not_loaded)
//!   gets it each time. What can be read when the assistant is built is checked then.
//! - **Users:** a loader gets the principal. An agent that it does not return for one is an unknown one for it:
//!   404 `agent_not_found`.
//! - **Other agents:** an agent can ask, and hand off to, those of its graph, those of code that the caller sees, and other
//!   configurations. The names of agents that work in one run must differ.
//!
//! ```
//! use omniassist_server::agent_config::AgentConfig;
//!
//! let error = AgentConfig::from_json(r#"{"id": "sales", "description": "Sells.", "maxSteps": 0}"#).unwrap_err();
//! assert_eq!(error.path(), "maxSteps");
//! ```

mod blueprint;
mod cache;
mod catalog;
mod config;
mod error;
#[cfg(feature = "agent-files")]
mod files;
mod graph;
mod loader;
mod log_once;
mod placeholder;
mod settings;

pub(crate) use blueprint::{Blueprint, Named, RESERVED, is_agent_name};
pub(crate) use cache::{Cache, RETRY, Unavailable};
pub use catalog::AgentCatalog;
pub use config::AgentConfig;
pub use error::AgentConfigError;
pub(crate) use error::Kind;
#[cfg(feature = "agent-files")]
pub use files::FileAgents;
pub use graph::{Edge, EdgeKind, Node};
pub use loader::{AgentFuture, AgentLoader, AgentSummary};
pub(crate) use log_once::LogOnce;
pub(crate) use placeholder::fill;
